package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/evaluate"
)

// This file holds what an evaluation says of microdata: their marginals, columns, pairs of columns and whole rows
// beside those of the truth, and the rules of the spec that they break.

// farthestShown bounds the marginals of a size, and the pairs of columns, that the page lists.
const farthestShown = 5

// microdataTrue is how far microdata lie from the truth.
type microdataTrue struct {
	Table    string           `json:"table"`
	Rows     int64            `json:"rows"`      // drawn
	TrueRows int64            `json:"true_rows"` // counted
	Sizes    []marginalsTruth `json:"marginals"`
	// Columns are the single columns, the farthest first, and Pairs the pairs of columns, those first whose association is
	// farthest from the truth's.
	Columns []columnTruth `json:"univariate"`
	Pairs   []pairTruth   `json:"pairwise"`
	// MeanGaps are the means over the pairs by measure.
	MeanGaps   []gapTruth       `json:"pairwise_mean,omitempty"`
	Propensity *propensityTruth `json:"propensity,omitempty"`
	Unique     *uniqueTruth     `json:"unique_matches,omitempty"`
	// Whole are the columns by which whole rows are compared, and LeftOut those that they leave out for want of bits.
	Whole    []string    `json:"whole_rows_by"`
	LeftOut  []string    `json:"whole_rows_without,omitempty"`
	TooLarge bool        `json:"whole_rows_too_many,omitempty"` // for the memory: they are not compared
	Rules    []ruleTruth `json:"rules"`
}

// marginalsTruth is how far the marginals of one size lie from the truth: on average
// over those compared, between shares.
type marginalsTruth struct {
	Columns  int     `json:"columns"`
	Of       float64 `json:"of"` // how many marginals of this size there are
	Compared int     `json:"compared"`
	TooLarge int     `json:"too_large"` // left out for their cells
	*SharesTruth
	Parts     []partTruth     `json:"random_parts,omitempty"`
	Farthest  []marginalTruth `json:"farthest"`
	distances []evaluate.Distance
}

// SharesTruth is how far shares lie from those of the truth. There is none where no row
// was drawn or the truth has none: no rows have no shares.
type SharesTruth struct {
	L1       float64 `json:"l1"`
	TVD      float64 `json:"total_variation_distance"`
	Score    float64 `json:"k_marginal_score"` // 500·(2 − L1)
	PartFrom float64 `json:"random_part_from"` // a random part of the true rows of this size scores no more,
	PartTo   float64 `json:"random_part_to"`   // and one of this size no less
}

// partTruth is what a simple random sample of so large a part of the true rows has on average.
type partTruth struct {
	Part  float64 `json:"part"`
	L1    float64 `json:"l1"`
	Score float64 `json:"k_marginal_score"`
}

// marginalTruth is how far one marginal lies from the truth.
type marginalTruth struct {
	Columns []string `json:"columns"`
	L1      float64  `json:"l1"`
}

// columnTruth is how far a column lies from the truth.
type columnTruth struct {
	Column string  `json:"column"`
	L1     float64 `json:"l1"`
	TVD    float64 `json:"total_variation_distance"`
}

// pairTruth is how two columns go together. Of a column of one category alone there is no association.
type pairTruth struct {
	Columns []string `json:"columns"`
	Measure string   `json:"measure"`
	Truth   *float64 `json:"truth,omitempty"`
	Drawn   *float64 `json:"microdata,omitempty"`
	Gap     *float64 `json:"difference,omitempty"` // |microdata − truth|
}

// gapTruth is the mean difference of the pairs of a measure.
type gapTruth struct {
	Measure string  `json:"measure"`
	Pairs   int     `json:"pairs"`
	Mean    float64 `json:"mean_absolute_difference"`
}

// propensityTruth is how well a classification tree tells rows of the microdata from true ones.
type propensityTruth struct {
	TrueRows     int      `json:"true_rows"`
	DrawnRows    int      `json:"microdata_rows"`
	Leaves       int      `json:"leaves"`
	PMSE         float64  `json:"pmse"`
	Most         float64  `json:"pmse_most"` // c(1 − c)
	Null         float64  `json:"pmse_null"`
	NullError    float64  `json:"pmse_null_standard_deviation"`
	NullTrees    int      `json:"permutations"`
	Ratio        *float64 `json:"pmse_ratio,omitempty"`        // pmse/null
	Standardised *float64 `json:"pmse_standardised,omitempty"` // (pmse − null)/its standard deviation
}

// uniqueTruth is which unique rows of the truth the microdata meet.
type uniqueTruth struct {
	Unique      int64   `json:"unique_in_truth"`
	Matched     int64   `json:"met_in_microdata"`
	Independent float64 `json:"met_by_independent_columns"` // on average
}

// ruleTruth is how many rows of the microdata break a rule of the spec.
type ruleTruth struct {
	Rule   string `json:"rule"`
	Rows   int64  `json:"rows"`
	Untold string `json:"untold,omitempty"` // why it cannot be told; then rows is 0
}

// wholeColumns are the columns by which whole rows are compared: each in turn by which all rows that there could be
// still have places in 63 bits. The choice is of the plan alone.
func wholeColumns(cells []int64) (places []int) {
	all := uint64(1)
	for place, size := range cells {
		if high, low := bits.Mul64(all, uint64(size)); high == 0 && low <= math.MaxInt64 {
			all, places = low, append(places, place)
		}
	}
	return places
}

// truth is how far microdata lie from the truth.
func (p product) truth(all []evaluate.Distance, whole *evaluate.Joint) microdataTrue {
	out := microdataTrue{Table: p.table, Rows: int64(p.rows), Columns: []columnTruth{}, Pairs: []pairTruth{},
		Whole: []string{}, Rules: p.rules}
	for k, m := range p.sizes {
		one := marginalsTruth{Columns: k + 1, Of: m.of, Compared: len(m.chosen), TooLarge: m.skipped,
			Farthest: []marginalTruth{}}
		one.distances, all = all[:len(m.chosen)], all[len(m.chosen):]
		if len(one.distances) == 0 {
			continue
		}
		out.TrueRows = one.distances[0].Rows
		if out.Rows == 0 || out.TrueRows == 0 {
			out.Sizes = append(out.Sizes, one)
			continue
		}
		one.average()
		for i, d := range one.distances {
			far := marginalTruth{L1: d.L1}
			for _, place := range m.chosen[i] {
				far.Columns = append(far.Columns, p.by[place])
			}
			one.Farthest = append(one.Farthest, far)
			if k == 0 {
				out.Columns = append(out.Columns, columnTruth{far.Columns[0], d.L1, d.L1 / 2})
			}
			if a := d.Association; a != nil {
				out.Pairs = append(out.Pairs, pairTruth{far.Columns, a.Measure, present(a.Truth), present(a.Drawn),
					present(math.Abs(a.Drawn - a.Truth))})
			}
		}
		slices.SortStableFunc(one.Farthest, func(a, b marginalTruth) int { return cmp.Compare(b.L1, a.L1) })
		one.Farthest = one.Farthest[:min(len(one.Farthest), farthestShown)]
		out.Sizes = append(out.Sizes, one)
	}
	slices.SortStableFunc(out.Columns, func(a, b columnTruth) int { return cmp.Compare(b.TVD, a.TVD) })
	out.compareGaps()
	out.wholeRows(p, whole)
	return out
}

// present is a number that may not be there.
func present(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// compareGaps sorts the pairs and works out the means of their differences.
func (m *microdataTrue) compareGaps() {
	gap := func(p pairTruth) float64 {
		if p.Gap == nil {
			return -1
		}
		return *p.Gap
	}
	slices.SortStableFunc(m.Pairs, func(a, b pairTruth) int { return cmp.Compare(gap(b), gap(a)) })
	for _, measure := range []string{evaluate.CramersV, evaluate.KendallTauB} {
		one := gapTruth{Measure: measure}
		for _, p := range m.Pairs {
			if p.Measure == measure && p.Gap != nil {
				one.Pairs++
				one.Mean += *p.Gap
			}
		}
		if one.Pairs > 0 {
			one.Mean /= float64(one.Pairs)
			m.MeanGaps = append(m.MeanGaps, one)
		}
	}
}

// wholeRows says what whole rows tell.
func (m *microdataTrue) wholeRows(p product, j *evaluate.Joint) {
	for place, name := range p.by {
		if slices.Contains(p.whole, place) {
			m.Whole = append(m.Whole, name)
		} else {
			m.LeftOut = append(m.LeftOut, name)
		}
	}
	switch {
	case j == nil:
		return
	case j.TooLarge:
		m.TooLarge = true
		return
	}
	m.Unique = &uniqueTruth{j.Unique, j.Matched, j.Independent}
	s := j.Propensity
	if s == nil {
		return
	}
	c := float64(s.DrawnRows) / float64(s.DrawnRows+s.TrueRows)
	m.Propensity = &propensityTruth{TrueRows: s.TrueRows, DrawnRows: s.DrawnRows, Leaves: s.Leaves, PMSE: s.PMSE,
		Most: c * (1 - c), Null: s.Null, NullError: s.NullError, NullTrees: s.NullTrees}
	if s.Null > 0 {
		ratio := s.PMSE / s.Null
		m.Propensity.Ratio = &ratio
	}
	if s.NullError > 0 {
		standardised := (s.PMSE - s.Null) / s.NullError
		m.Propensity.Standardised = &standardised
	}
}

// average works out the means over the marginals, and between which random parts of
// the true rows they lie.
func (m *marginalsTruth) average() {
	m.SharesTruth = &SharesTruth{PartTo: 1}
	n := float64(len(m.distances))
	parts := make([]float64, len(evaluate.SubsampleShares))
	for _, d := range m.distances {
		m.L1 += d.L1 / n
		for i, l1 := range d.Subsample {
			parts[i] += l1 / n
		}
	}
	m.TVD, m.Score = m.L1/2, score(m.L1)
	for i, share := range evaluate.SubsampleShares {
		m.Parts = append(m.Parts, partTruth{share, parts[i], score(parts[i])})
		if parts[i] >= m.L1 {
			m.PartFrom = share
		} else {
			m.PartTo = min(m.PartTo, share)
		}
	}
}

// score is the k-marginal score of a mean distance.
func score(l1 float64) float64 { return 500 * (2 - l1) }

func (m microdataTrue) page(b *strings.Builder) {
	fmt.Fprintf(b, "## Microdata of %s\n\n%s were drawn, the truth counts %s. ", markdownText(m.Table),
		budget.Plural(m.Rows, "row"), budget.Plural(m.TrueRows, "row"))
	b.WriteString(`L1 is the sum of |share of the microdata − share of the truth| over the cells of a marginal,
from 0 to 2, and TVD its half: both on average over the marginals of so many columns. The score is 500·(2 − L1), from 0 to
1000, as the k-marginal score of the literature (SDNist). "Like" says between which parts of the true rows, drawn at
random, that lies.

| columns | marginals | of | too large | L1 | TVD | score | like |
|--:|--:|--:|--:|--:|--:|--:|:--|
`)
	for _, s := range m.Sizes {
		l1, tvd, score, like := "–", "–", "–", "–"
		if s.SharesTruth != nil {
			l1, tvd, score, like = fourDigits(s.L1), fourDigits(s.TVD), fourDigits(s.Score), s.like()
		}
		fmt.Fprintf(b, "| %d | %d | %s | %d | %s | %s | %s | %s |\n", s.Columns, s.Compared, budget.Group(int64(s.Of)),
			s.TooLarge, l1, tvd, score, like)
	}
	if m.Rows == 0 || m.TrueRows == 0 {
		b.WriteString("\nThere is nothing to compare: no rows have no shares.\n\n")
		m.rulesPage(b)
		return
	}
	m.partsPage(b)
	b.WriteString("\nFarthest from the truth:\n\n| columns | L1 |\n|:--|--:|\n")
	for _, s := range m.Sizes {
		for _, f := range s.Farthest {
			fmt.Fprintf(b, "| %s | %s |\n", markdownText(strings.Join(f.Columns, ", ")), fourDigits(f.L1))
		}
	}
	m.columnsPage(b)
	m.pairsPage(b)
	m.wholePage(b)
	m.rulesPage(b)
}

// partsPage is what random parts of the truth score.
func (m microdataTrue) partsPage(b *strings.Builder) {
	b.WriteString("\nScores of random parts of the true rows, which protect nobody, on average:\n\n| part |")
	for _, s := range m.Sizes {
		fmt.Fprintf(b, " %s |", budget.Plural(int64(s.Columns), "column"))
	}
	b.WriteString("\n|--:|" + strings.Repeat("--:|", len(m.Sizes)) + "\n")
	for i, share := range evaluate.SubsampleShares {
		fmt.Fprintf(b, "| %s |", budget.Percent(share))
		for _, s := range m.Sizes {
			fmt.Fprintf(b, " %s |", fourDigits(s.Parts[i].Score))
		}
		b.WriteString("\n")
	}
}

// columnsPage lists the columns, the worst first.
func (m microdataTrue) columnsPage(b *strings.Builder) {
	b.WriteString("\n### Columns of " + markdownText(m.Table) +
		"\n\nThe farthest first.\n\n| column | TVD | L1 |\n|:--|--:|--:|\n")
	for _, c := range m.Columns {
		fmt.Fprintf(b, "| %s | %s | %s |\n", markdownText(c.Column), fourDigits(c.TVD), fourDigits(c.L1))
	}
}

// measureNames are the measures of association as the literature has them.
var measureNames = map[string]string{evaluate.CramersV: "Cramér's V", evaluate.KendallTauB: "Kendall's τ-b"}

// pairsPage lists the pairs of columns that go together least as in the truth.
func (m microdataTrue) pairsPage(b *strings.Builder) {
	if len(m.Pairs) == 0 {
		return
	}
	b.WriteString("\n### Pairs of columns of " + markdownText(m.Table) + `

How two columns go together: Kendall's τ-b where both are in order (numbers, dates), else Cramér's V. A column of one category goes
with nothing, and has a dash. The pairs with the largest differences:

| columns | measure | truth | microdata | difference |
|:--|:--|--:|--:|--:|
`)
	text := func(x *float64) string {
		if x == nil {
			return "–"
		}
		return fourDigits(*x)
	}
	for _, p := range m.Pairs[:min(len(m.Pairs), 2*farthestShown)] {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", markdownText(strings.Join(p.Columns, ", ")), measureNames[p.Measure],
			text(p.Truth), text(p.Drawn), text(p.Gap))
	}
	b.WriteString("\n")
	for _, g := range m.MeanGaps {
		fmt.Fprintf(b, "Mean difference of %s, over %s: %s.\n", measureNames[g.Measure],
			budget.Plural(int64(g.Pairs), "pair"), fourDigits(g.Mean))
	}
}

// wholePage is of whole rows.
func (m microdataTrue) wholePage(b *strings.Builder) {
	b.WriteString("\n### Whole rows of " + markdownText(m.Table) + "\n\n")
	if len(m.LeftOut) > 0 {
		fmt.Fprintf(b, "By %s; without %s, with which the rows that there could be have no places in 63 bits.\n\n",
			markdownText(strings.Join(m.Whole, ", ")), markdownText(strings.Join(m.LeftOut, ", ")))
	}
	if m.TooLarge {
		b.WriteString("They are not compared: the different rows of the truth do not fit the memory.\n")
	}
	if s := m.Propensity; s != nil {
		fmt.Fprintf(b, "Propensity score: a classification tree that tells %s of the microdata from %s of the truth has %s and a mean squared error pMSE of %s, where 0 is telling nothing apart and %s telling everything. Its null expectation, of %s grown with the two names dealt out by lot, is %s, with a standard deviation of %s",
			budget.Plural(int64(s.DrawnRows), "row"), budget.Plural(int64(s.TrueRows), "row"), leaves(s.Leaves),
			fourDigits(s.PMSE), fourDigits(s.Most), budget.Plural(int64(s.NullTrees), "tree"), fourDigits(s.Null),
			fourDigits(s.NullError))
		if s.Ratio != nil {
			fmt.Fprintf(b, "; the pMSE ratio is %s", fourDigits(*s.Ratio))
		}
		if s.Standardised != nil {
			fmt.Fprintf(b, ", the standardised pMSE %s", fourDigits(*s.Standardised))
		}
		b.WriteString(" (Snoke et al. 2018).\n\n")
	}
	if u := m.Unique; u != nil {
		fmt.Fprintf(b, "Unique matches: of %s of the truth that no other equals, the microdata have %s. Columns that are drawn each by itself would have %s on average. More than that is what rows must have that keep how columns go together; it is an alarm to look into, and neither it nor a small number is evidence of privacy, which rests on the guarantee alone.\n",
			budget.Plural(u.Unique, "row"), budget.Group(u.Matched), fourDigits(u.Independent))
	}
}

// leaves is a number of them.
func leaves(n int) string {
	if n == 1 {
		return "1 leaf"
	}
	return budget.Group(int64(n)) + " leaves"
}

// rulesPage is of the rules that the microdata break.
func (m microdataTrue) rulesPage(b *strings.Builder) {
	b.WriteString("\n### Rules for rows of " + markdownText(m.Table) + "\n\n")
	if len(m.Rules) == 0 {
		b.WriteString("The spec has none.\n\n")
		return
	}
	b.WriteString("| rule | rows that break it |\n|:--|:--|\n")
	for _, r := range m.Rules {
		says := budget.Group(r.Rows)
		if r.Untold != "" {
			says = "cannot be told: " + r.Untold
		}
		fmt.Fprintf(b, "| %s | %s |\n", markdownText(r.Rule), markdownText(says))
	}
	b.WriteString("\n")
}

// like says between which random parts of the truth the marginals lie.
func (m SharesTruth) like() string {
	switch {
	case m.PartFrom == 0:
		return "less than " + budget.Percent(m.PartTo)
	case m.PartTo == 1:
		return "more than " + budget.Percent(m.PartFrom)
	}
	return budget.Percent(m.PartFrom) + " to " + budget.Percent(m.PartTo)
}
