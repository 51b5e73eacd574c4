package evaluate

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

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
	Columns  int64   `json:"columns"`
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
	Pairs   int64   `json:"pairs"`
	Mean    float64 `json:"mean_absolute_difference"`
}

// propensityTruth is how well a classification tree tells rows of the microdata from true ones.
type propensityTruth struct {
	TrueRows     int64    `json:"true_rows"`
	DrawnRows    int64    `json:"microdata_rows"`
	Leaves       int64    `json:"leaves"`
	PMSE         float64  `json:"pmse"`
	Most         float64  `json:"pmse_most"` // c(1 − c)
	Null         float64  `json:"pmse_null"`
	NullError    float64  `json:"pmse_null_standard_deviation"`
	NullTrees    int64    `json:"permutations"`
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
		one := marginalsTruth{Columns: int64(k) + 1, Of: m.of, Compared: len(m.chosen), TooLarge: m.skipped,
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
	m.Propensity = &propensityTruth{TrueRows: int64(s.TrueRows), DrawnRows: int64(s.DrawnRows), Leaves: int64(s.Leaves),
		PMSE: s.PMSE, Most: c * (1 - c), Null: s.Null, NullError: s.NullError, NullTrees: int64(s.NullTrees)}
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

// FarthestPairs are the pairs of columns that go together least as in the truth.
func (m microdataTrue) FarthestPairs() []pairTruth {
	return m.Pairs[:min(len(m.Pairs), 2*farthestShown)]
}

// Like says between which random parts of the truth the marginals lie.
func (m SharesTruth) Like() string {
	switch {
	case m.PartFrom == 0:
		return "less than " + budget.Percent(m.PartTo)
	case m.PartTo == 1:
		return "more than " + budget.Percent(m.PartFrom)
	}
	return budget.Percent(m.PartFrom) + " to " + budget.Percent(m.PartTo)
}
