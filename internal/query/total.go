package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the total: a count, sum or mean over one release or several together, from their measurements.

// Total is a statistic of the rows of all releases together.
//
// Guarantee: the noises of different releases were drawn independently, so the noise of a total is the sum of theirs,
// and its interval is by the law of that sum; a mean's is Fieller's (1954), as in the tables. Every release enters
// once: two publications of one draw are refused.
type Total struct {
	Releases   []TotalRelease `json:"releases"`
	Status     string         `json:"status"`    // RELEASE, or what is printed on everything instead
	From       string         `json:"from"`      // the confidential table whose rows are counted, in every release
	Statistic  string         `json:"statistic"` // count, sum or mean
	Column     string         `json:"column,omitempty"`
	By         []string       `json:"by"`
	Where      []Condition    `json:"where,omitempty"`
	Weighted   bool           `json:"weighted,omitempty"` // rows count by their weights
	Confidence float64        `json:"confidence"`
	Covers     string         `json:"interval_covers"`
	Rows       []TotalRow     `json:"rows"`
}

// TotalRelease is a release of a total, with the published table from which it is read.
type TotalRelease struct {
	Folder  string `json:"folder"`
	Release string `json:"release"`
	Status  string `json:"status"`
	Table   string `json:"table"`
	// which rows of a unit the table counts, if it counts fewer than others
	Bounded      string   `json:"bounded,omitempty"`
	Measurements []string `json:"measurements"` // that contribute to any row
}

// TotalRow is one figure of a total.
type TotalRow struct {
	Release string   `json:"release,omitempty"` // if each release has rows of its own: the release
	Keys    []string `json:"keys"`              // codes, in the order of By
	Cells   int      `json:"cells"`             // number of cells of published tables that are added up
	// unbiased for a count or a sum; null if the noise leaves open every value of a mean
	Value         *float64     `json:"value"`
	StandardError *float64     `json:"noise_se"` // null if a mean has no interval
	Low           *float64     `json:"low"`
	High          *float64     `json:"high"`
	Law           interval.Law `json:"law"`
	// the probability with which the interval covers the figure without noise
	Attained float64 `json:"attained"`
	Flag     string  `json:"flag,omitempty"` // unbounded: the noise leaves open every value of a mean
}

// RatioLaw is the law of a mean, whose interval inverts the law of its sum and count; it attains its confidence.
const RatioLaw interval.Law = "ratio"

// splitStatistic splits what a question asks for into the kind of statistic and its column.
func (q Question) splitStatistic() (kind spec.StatKind, column string, err error) {
	name, column, ofColumn := strings.Cut(cmp.Or(q.Statistic, spec.Count.String()), "=")
	for kind, adds := range adding {
		if kind.String() == name && adds.accepts(column, ofColumn) {
			return kind, column, nil
		}
	}
	return 0, "", fmt.Errorf(
		"statistic %q: expected count, sum=COLUMN or mean=COLUMN; distinct units, chosen cells (top) and quantiles "+
			"do not add up, neither over cells nor over releases", q.Statistic)
}

// Totals answers a question from the published folders of one release or several, each of which must agree with its
// manifest. With each, every release has rows of its own.
//
// Errors: *[verdict.Unusable] for what is not a published folder, for a question that a release does not hold, and for
// releases that cannot be combined; *[published.Altered] for a folder that was changed.
func Totals(ctx context.Context, places []string, q Question, each bool) (*Total, error) {
	kind, column, err := q.splitStatistic()
	if err != nil {
		return nil, &verdict.Unusable{File: strings.Join(places, " "), Err: err}
	}
	var all []*contribution
	for _, place := range places {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := newContribution(place, q, kind, column)
		if err != nil {
			return nil, err
		}
		if err := c.checkCombines(all); err != nil {
			return nil, &verdict.Unusable{File: place, Err: err}
		}
		all = append(all, c)
	}
	first := all[0]
	t := &Total{
		Status: first.edition.Manifest.Status, From: first.plannedTable().From, Statistic: kind.String(),
		Column: column,
		By:     append([]string{}, q.By...), Where: first.question.conditions, Weighted: first.plannedTable().Weighted,
		Confidence: first.plannedTable().Statistics[0].Confidence, Covers: published.NoiseOnly,
	}
	for _, c := range all {
		if published.StatusLine(c.edition.Manifest.Status) != "" {
			t.Status = c.edition.Manifest.Status
		}
		t.Releases = append(t.Releases, c.totalRelease())
	}
	together := len(all)
	if each {
		together = 1
	}
	known := &laws{t.Confidence, map[string]*interval.Interval{}, map[string]*synth.Ratio{}}
	for group := range slices.Chunk(all, together) {
		for i := range first.rows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			row := TotalRow{Keys: first.rows[i].keys}
			if each {
				row.Release = group[0].edition.Plan.Name
			}
			adding[kind].fill(&row, group, i, known)
			t.Rows = append(t.Rows, row)
		}
	}
	return t, nil
}

// contribution is the part of one release in a total.
type contribution struct {
	edition  *published.Release
	question *resolvedQuestion
	from     matchingTable
	reader   *synth.Reader
	rows     []contributed
}

// contributed is the part of a release in one row.
type contributed struct {
	keys  []string
	cells int
	// value is the count or the sum; for a mean, the sum about the centre. rests are the contributions to it, in the
	// unit of the value.
	value float64
	rests []compiled.Contribution
	// count is, for a mean, the divisor of the sum; centre and half are the middle and half the width of the column's
	// range.
	count        float64
	countRests   []compiled.Contribution
	centre, half float64
}

func (c *contribution) plannedTable() plan.Table { return c.edition.Plan.Tables[c.from.table] }

// newContribution computes the rows of one release.
func newContribution(place string, q Question, kind spec.StatKind, column string) (*contribution, error) {
	e, err := published.Open(place)
	if err != nil {
		return nil, err
	}
	refuse := func(err error) (*contribution, error) { return nil, &verdict.Unusable{File: place, Err: err} }
	if err := errors.Join(addsUp(e.Plan.Sample), notCollected(e)); err != nil {
		return refuse(err)
	}
	question, reader, matches, err := findMatches(e.Plan, q)
	if err != nil {
		return refuse(err)
	}
	c := &contribution{edition: e, question: question, reader: reader}
	if c.from, err = adding[kind].from(c, matches, column); err != nil {
		return refuse(err)
	}
	if _, sparse := c.reader.Sparse(c.from.table); sparse {
		return refuse(fmt.Errorf("table %s has the cells above a threshold alone, which do not add up",
			c.plannedTable().Path))
	}
	needed := c.reader.Needed(c.from.table)
	if m, ok := c.reader.ColumnMeasurement(c.from.table, column); ok { // a count has no column
		needed = append(slices.Clone(needed), m)
	}
	answers, err := e.Answers(needed)
	if err != nil {
		return nil, err
	}
	if err := adding[kind].rows(c, column, answers); err != nil {
		return refuse(err)
	}
	return c, nil
}

// withCounts chooses the table whose counts have the least variance.
func (c *contribution) withCounts(matches []matchingTable, _ string) (matchingTable, error) {
	return matches[leastVariance(c.reader, c.edition.Plan, matches)], nil
}

// withSums chooses the table whose sums of a column have the least variance.
func (c *contribution) withSums(matches []matchingTable, column string) (best matchingTable, err error) {
	least := math.Inf(1)
	var lack string
	for _, h := range matches {
		m, ok := c.reader.ColumnMeasurement(h.table, column)
		t := c.edition.Plan.Tables[h.table]
		switch {
		case !ok:
			continue
		case !c.reader.ShowsCells(h.table):
			lack = fmt.Sprintf(": table %s counts up, and has no sums of single cells", t.Path)
		case float64(m.Cells)*m.Mechanism.Variance() < least:
			least, best = float64(m.Cells)*m.Mechanism.Variance(), h
		}
	}
	if math.IsInf(least, 1) {
		var summed []string
		for _, t := range c.edition.Plan.Tables {
			for _, f := range t.Figures {
				if f.Sums != "" && !slices.Contains(summed, f.Column) {
					summed = append(summed, f.Column)
				}
			}
		}
		if !slices.Contains(summed, column) {
			return best, notSummed(c.edition.Plan.Release(), column, summed)
		}
		return best, fmt.Errorf("no published table that holds all of this has the sum or the mean of %s%s", column,
			lack)
	}
	return best, nil
}

// notSummed returns the error for a column of which the release has no sums; summed lists the columns that have some.
func notSummed(r *spec.Release, column string, summed []string) error {
	if !slices.ContainsFunc(r.Tables, func(t *spec.Table) bool { return t.Column(column) != nil }) {
		return published.NoSuch("column with sums", column, summed)
	}
	has := ""
	if len(summed) > 0 {
		has = " (they have sums of " + strings.Join(summed, ", ") + ")"
	}
	return fmt.Errorf("the sum or the mean of %[1]s does not follow from this release: its tables count rows and have no "+
		"sums of %[1]s%[2]s; a spec asks for them by stats: [count, {mean: %[1]s}]", column, has)
}

// setCounts computes the rows of a count.
func (c *contribution) setCounts(answers []measured.Measured) error {
	cells, err := c.reader.Cells(c.from.table, answers)
	if err != nil {
		return err
	}
	sums := synth.Sums(cells, c.from.groupings)
	for _, row := range c.from.questionRows(c.question) {
		c.rows = append(c.rows, contributed{
			keys: row.keys, cells: c.from.cellsIn(row.at), value: sums[row.at],
			rests: c.reader.CountContributions(c.from.table, c.from.selectedCategories(row.at)),
		})
	}
	return nil
}

// setSums computes the rows of a sum.
func (c *contribution) setSums(column string, answers []measured.Measured) error {
	return c.setColumn(column, answers, func(totals *synth.ColumnTotals, r *contributed, selected [][]int) error {
		r.value, r.rests = totals.Sum(selected)
		return nil
	})
}

// setMeans computes the sums and counts of the rows of a mean.
func (c *contribution) setMeans(column string, answers []measured.Measured) error {
	return c.setColumn(column, answers, func(totals *synth.ColumnTotals, r *contributed, selected [][]int) error {
		var one bool
		if r.centre, r.half, one = totals.Centre(selected); !one {
			return fmt.Errorf("the range of %s differs between the cells of table %s that would be added up, and the "+
				"mean over them has no interval: ask by what it depends on, or for sum=%s and the count", column,
				c.plannedTable().Path, column)
		}
		r.value, r.rests = totals.AboutCentre(selected)
		return nil
	})
}

// setColumn computes the rows of a count, and then calls each for what a row needs of a column.
func (c *contribution) setColumn(column string, answers []measured.Measured,
	each func(totals *synth.ColumnTotals, r *contributed, selected [][]int) error) error {
	totals, err := c.reader.ColumnTotals(c.from.table, column, answers)
	if err != nil {
		return err
	}
	if err := c.setCounts(answers); err != nil {
		return err
	}
	for i, row := range c.from.questionRows(c.question) {
		r := &c.rows[i]
		r.count, r.countRests = r.value, r.rests
		if err := each(totals, r, c.from.selectedCategories(row.at)); err != nil {
			return err
		}
	}
	return nil
}

// checkCombines returns an error unless the release can be added to those before it: another draw, of the same table,
// with the same categories, counted in the same way.
func (c *contribution) checkCombines(before []*contribution) error {
	for _, other := range before {
		p, o := c.edition.Plan, other.edition.Plan
		switch {
		case p.Hash() == o.Hash() || c.edition.SameMeasurements(other.edition):
			return fmt.Errorf("holds the same release as %s: its rows and its noise would be counted twice",
				other.edition.NamedPath)
		case p.Corrects == o.Name || o.Corrects == p.Name:
			return fmt.Errorf("and %s are a release and its correction, of the same rows: name one of them",
				other.edition.NamedPath)
		case c.plannedTable().From != other.plannedTable().From:
			return fmt.Errorf("counts rows of %s, and %s counts rows of %s", c.plannedTable().From,
				other.edition.NamedPath, other.plannedTable().From)
		case c.plannedTable().Weighted != other.plannedTable().Weighted:
			return fmt.Errorf("counts rows by weights, or %s does, and not both", other.edition.NamedPath)
		case c.plannedTable().Statistics[0].Confidence != other.plannedTable().Statistics[0].Confidence:
			return fmt.Errorf("has intervals of another confidence than %s", other.edition.NamedPath)
		case !slices.EqualFunc(c.rows, other.rows, func(a, b contributed) bool { return slices.Equal(a.keys, b.keys) }):
			return fmt.Errorf("has other categories of %s than %s: ask by a level that both have",
				strings.Join(c.question.attributeNames(), ", "), other.edition.NamedPath)
		}
	}
	return nil
}

// laws caches the laws of the noise of figures by their noise terms, with the confidence of the intervals.
type laws struct {
	confidence float64
	sums       map[string]*interval.Interval
	ratios     map[string]*synth.Ratio
}

// attributeNames returns the attributes of the question.
func (a *resolvedQuestion) attributeNames() []string {
	var all []string
	for _, by := range a.by {
		all = append(all, by.String())
	}
	return all
}

// totalRelease describes what was read of the release.
func (c *contribution) totalRelease() TotalRelease {
	out := TotalRelease{
		Folder: c.edition.NamedPath, Release: c.edition.Plan.Name, Status: c.edition.Manifest.Status,
		Table:   c.plannedTable().Path,
		Bounded: published.CountedRowsText(c.edition.Plan.Plan(), c.plannedTable()), Measurements: []string{},
	}
	for _, row := range c.rows {
		for _, b := range slices.Concat(row.rests, row.countRests) {
			if !slices.Contains(out.Measurements, b.Measurement.ID) {
				out.Measurements = append(out.Measurements, b.Measurement.ID)
			}
		}
	}
	return out
}

// setSum sets a count or a sum.
func (r *TotalRow) setSum(all []*contribution, i int, known *laws) {
	var value float64
	var rests []compiled.Contribution
	for _, c := range all {
		value += c.rows[i].value
		rests = append(rests, c.rows[i].rests...)
		r.Cells += c.rows[i].cells
	}
	key := fmt.Sprint(compiled.NoiseTerms(rests))
	law, ok := known.sums[key]
	if !ok {
		law = interval.New(rests, known.confidence, synth.Statistic{}, -1, 1)
		known.sums[key] = law
	}
	value = law.Law.Figure(value)
	var variance float64
	for _, b := range rests {
		variance += b.Variance
	}
	r.setFigure(value, math.Sqrt(variance), value-law.Margin, value+law.Margin)
	r.Law, r.Attained = law.Law, law.Attained
}

// setMean sets a mean: with C the centre of the first release's range, C + Σ (sum about c + (c−C)·count) / Σ count.
func (r *TotalRow) setMean(all []*contribution, i int, known *laws) {
	centre := all[0].rows[i].centre
	domain := synth.Domain{Low: math.Inf(1), High: math.Inf(-1)}
	var parts []synth.Part
	var values []float64
	for _, c := range all {
		row := c.rows[i]
		domain.Low, domain.High = min(domain.Low, row.centre-row.half-centre),
			max(domain.High, row.centre+row.half-centre)
		parts = append(parts, synth.Part{Noise: compiled.NoiseTerms(row.rests), Numerator: 1},
			synth.Part{Noise: compiled.NoiseTerms(row.countRests), Numerator: row.centre - centre, Denominator: 1})
		values = append(values, row.value, row.count)
		r.Cells += row.cells
	}
	key := fmt.Sprint(parts, domain)
	ratio, ok := known.ratios[key]
	if !ok {
		ratio = synth.NewRatio(parts, domain, known.confidence)
		known.ratios[key] = ratio
	}
	f := ratio.Figure(values...).Scaled(centre, 1)
	r.setFigure(f.Value, f.Error, f.Low, f.High)
	r.Law, r.Attained, r.Flag = RatioLaw, known.confidence, string(f.Flag)
}

// setFigure sets the figure, and leaves null what is not a number.
func (r *TotalRow) setFigure(value, deviation, low, high float64) {
	for _, f := range []struct {
		of *(*float64)
		v  float64
	}{{&r.Value, value}, {&r.StandardError, deviation}, {&r.Low, low}, {&r.High, high}} {
		if v := f.v; v == v {
			*f.of = &v
		}
	}
}
