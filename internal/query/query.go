// Package query answers questions that no published table answers directly, each with an interval, from the published
// measurements of one release or of several. It reads only published folders, spends no budget and writes nothing.
package query

import (
	"context"
	"math"
	"strings"

	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// Question is a question to a published release: a count for every combination of categories of By, of the rows that
// meet all of Where.
type Question struct {
	Table string   // the confidential table whose rows are counted; "" if only one has the columns
	By    []string // attributes
	Where []string // attribute=code, or several codes with commas, or ranges of them, such as 18..24
	// Statistic is the statistic of these rows: "" or count; for [Totals] also sum=COLUMN or mean=COLUMN.
	Statistic string
}

// Answer is the answer of a release's measurements to a question.
type Answer struct {
	Folder  string      `json:"folder"`
	Release string      `json:"release"`
	Status  string      `json:"status"` // RELEASE, or what is printed on everything instead
	From    string      `json:"from"`   // the confidential table whose rows are counted
	By      []string    `json:"by"`
	Where   []Condition `json:"where,omitempty"`
	// Table is the published table whose cells are added up; Others hold the same counts.
	Table     string       `json:"table"`
	Others    []OtherTable `json:"other_tables,omitempty"`
	Statistic string       `json:"statistic"`
	Weighted  bool         `json:"weighted,omitempty"` // the count adds up weights
	// what one noisy integer stands for, if weights are not whole
	Step string `json:"step,omitempty"`
	// which rows of a unit the table counts, if it counts fewer than others
	Bounded string `json:"bounded,omitempty"`
	Above   int64  `json:"above,omitempty"` // threshold of a sparse table
	// whose public figures the table's cells are; then no measurement contributes to them
	Invariant    string      `json:"invariant,omitempty"`
	Measurements []string    `json:"measurements"` // that contribute to any row
	Confidence   float64     `json:"confidence"`
	Rows         []AnswerRow `json:"rows"`
	Covers       string      `json:"interval_covers"`
}

// Condition is a filter: it keeps rows that have one of the codes.
type Condition struct {
	Attribute string   `json:"attribute"`
	Codes     []string `json:"codes"`
	given     []string // codes and ranges of codes, as given
}

// OtherTable is another table that could have answered. StandardError is the root mean square over the rows. Same is
// true if it is reconstructed together with the table that answered, so that its answer is the same.
type OtherTable struct {
	Table         string  `json:"table"`
	StandardError float64 `json:"standard_error"`
	Same          bool    `json:"same_answer"`
}

// AnswerRow is one figure. Attained is the probability with which the interval covers the exact figure.
type AnswerRow struct {
	Keys          []string     `json:"keys"` // codes, in the order of By
	Cells         int          `json:"cells"`
	Unbiased      float64      `json:"unbiased"`
	StandardError float64      `json:"noise_se"`
	Low           float64      `json:"low"`
	High          float64      `json:"high"`
	Law           interval.Law `json:"law"`
	Attained      float64      `json:"attained"`
	// NotAbove is what is known of a cell that a sparse table does not list; nil for other rows. A row with it has no
	// estimate.
	NotAbove *interval.NotAbove `json:"not_above,omitempty"`
}

// answerName names the statistic of every answer, even of one from a table of cumulative counts.
const answerName = "count"

// Query answers a question from a published folder, which is opened as [published.OpenFolder] does.
//
// Errors: *[verdict.Unusable] for what is not a published folder, for a question that names what the release does not
// have, and for one that no table holds; *[published.Altered] for a folder that was changed.
func Query(ctx context.Context, place string, q Question) (*Answer, error) {
	e, err := published.Open(place)
	if err != nil {
		return nil, err
	}
	question, reader, matches, err := findMatches(e.Plan, q)
	if err != nil {
		return nil, &verdict.Unusable{File: place, Err: err}
	}
	best := leastVariance(reader, e.Plan, matches)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.Plan.Release().Collection != nil {
		return collectedAnswer(e, place, q, question, matches[best])
	}
	answers, err := e.Answers(reader.Needed(matches[best].table))
	if err != nil {
		return nil, err
	}
	a := &Answer{
		Folder: place, Release: e.Plan.Name, Status: e.Manifest.Status, From: e.Plan.Tables[matches[best].table].From,
		By: append([]string{}, q.By...), Where: question.conditions, Covers: published.IntervalCoverage(e.Plan.Plan()),
	}
	for i, h := range matches {
		if i != best {
			a.Others = append(a.Others, OtherTable{e.Plan.Tables[h.table].Path, h.deviation,
				reader.Together(h.table, matches[best].table)})
		}
	}
	if _, sparse := reader.Sparse(matches[best].table); sparse {
		return a, a.fillSparse(ctx, e.Plan, reader, question, matches[best], answers)
	}
	return a, a.fill(ctx, e.Plan, reader, question, matches[best], answers)
}

// findMatches resolves a question in a release, and returns the tables that hold it, with a reader for them.
func findMatches(p *compiled.Compiled, q Question) (question *resolvedQuestion, reader *synth.Reader,
	matches []matchingTable, err error) {
	if question, err = resolveQuestion(p, q); err != nil {
		return nil, nil, nil, err
	}
	if reader, err = synth.NewReader(p); err != nil {
		return nil, nil, nil, err
	}
	matches, err = question.matchingTables()
	return question, reader, matches, err
}

// leastVariance computes the mean variance of each table's answer, and returns the index of the least; if several are
// equal up to rounding, that of the table with the fewest cells.
func leastVariance(reader *synth.Reader, p *compiled.Compiled, matches []matchingTable) int {
	best := 0
	if len(matches) == 1 {
		return best
	}
	for i := range matches {
		var sum float64
		variances := reader.Variances(matches[i].table, matches[i].groupings)
		for _, v := range variances {
			sum += v
		}
		unit := p.Tables[matches[i].table].Statistics[0].UnitValue()
		matches[i].deviation = unit * math.Sqrt(sum/float64(max(len(variances), 1)))
		ratio := 1.0 // if neither has noise
		if matches[i].deviation > 0 || matches[best].deviation > 0 {
			ratio = matches[i].deviation / matches[best].deviation
		}
		fewer := p.Tables[matches[i].table].Cells < p.Tables[matches[best].table].Cells
		if ratio < 1-1e-9 || ratio <= 1+1e-9 && fewer {
			best = i
		}
	}
	return best
}

// fill computes the rows.
func (a *Answer) fill(ctx context.Context, p *compiled.Compiled, reader *synth.Reader,
	question *resolvedQuestion, from matchingTable, answers []measured.Measured) error {
	table := p.Tables[from.table]
	figures, err := reader.Statistic(from.table, answers)
	if err != nil {
		return &verdict.Unusable{File: a.Folder, Err: err}
	}
	cells := figures.Unbiased
	shown := reader.ShowsCells(from.table)
	if !shown { // the table shows sums of its cells, which cannot be added up
		if cells, err = reader.Cells(from.table, answers); err != nil {
			return &verdict.Unusable{File: a.Folder, Err: err}
		}
	}
	sums, variances := synth.Sums(cells, from.groupings), reader.Variances(from.table, from.groupings)
	alike := reader.FirstWithSameNoise(from.table, from.groupings)
	a.Table, a.Statistic, a.Confidence = table.Path, answerName, table.Statistics[0].Confidence
	unit := table.Statistics[0].UnitValue()
	if reader.IsInvariant(from.table) {
		unit = 1
	}
	a.Weighted, a.Step, a.Bounded, a.Invariant = table.Weighted, table.Statistics[0].Unit,
		published.CountedRowsText(p.Plan(), table), table.Invariant
	sampling := synth.NewSampling(p.Plan(), table, true)
	laws := map[int]*interval.Interval{}
	bear := map[string]bool{}
	for _, row := range from.questionRows(question) {
		if err := ctx.Err(); err != nil {
			return err
		}
		selected := from.selectedCategories(row.at)
		law, ok := laws[alike[row.at]]
		if !ok {
			contributions := reader.Contributions(from.table, selected)
			cell := from.cellIndex(selected)
			if !shown {
				cell = -1
			}
			law = interval.New(contributions, a.Confidence, figures, cell, unit)
			laws[alike[row.at]] = law
			for _, b := range contributions {
				bear[b.Measurement.ID] = true
			}
		}
		sum := unit * law.Law.Figure(sums[row.at]/unit)
		one := AnswerRow{
			Keys: row.keys, Cells: from.cellsIn(row.at), Unbiased: sum,
			StandardError: unit * math.Sqrt(variances[row.at]),
			Law:           law.Law, Attained: law.Attained,
		}
		if one.Low, one.High = sampling.Interval(sum, law.Margin, one.StandardError); sampling != nil {
			one.StandardError, one.Law, one.Attained = sampling.Error(sum, one.StandardError), interval.Score,
				a.Confidence
		}
		a.Rows = append(a.Rows, one)
	}
	for _, m := range reader.Needed(from.table) {
		if bear[m.ID] {
			a.Measurements = append(a.Measurements, m.ID)
		}
	}
	return nil
}

// String returns the condition as it was asked.
func (c Condition) String() string { return c.Attribute + " = " + strings.Join(c.given, " or ") }
