// Package evaluate compares what a release publishes with the truth, for those who hold it.
//
// It owns the comparison: sums and means of the distances of published figures and microdata from the truth, how well
// models predict true rows, and how many rows of microdata break a rule of their spec. It asks a counter itself. What
// it returns is confidential, because it is computed without noise.
//
// It never opens a [histogram.Exact], and never returns an exact count. It never counts before the ledger holds a
// note of the comparison ([Compare]), and it publishes and writes nothing.
package evaluate

// This file holds the comparison of what a release publishes with the truth. It is the only use of exact counts
// without noise, and only sums and means of them are returned.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
)

// PublishedResults are what a release publishes of the tables that its plan measures.
type PublishedResults struct {
	Tables      []PublishedStatistic
	Rows        []Rows
	Predictions []Prediction
}

// PublishedStatistic is the count of a published table, or a figure shown with it.
type PublishedStatistic struct {
	Path string // path of the table in the plan
	// Figure is the name of a figure of the table, "" for its count.
	Figure string
	// CountsUp says of each key whether the figures are running sums along it; nil for none.
	CountsUp []bool
	// Read returns the figures. It is called once the truth is counted, so that only one table is in memory at a time.
	Read func() (Figures, error)
}

// Figures are the figures of a published table: one per cell in domain order. A sparse table has one for each of
// Cells, the ascending indexes of its rows in that order; a table of chosen cells has the same in the order of their
// choice. Published is nil for figures that are not integers: what is published of these is Unbiased, NaN for a
// figure that is withheld, as is an end of an interval that does not exist.
type Figures struct {
	Cells               []uint64
	Published           []int64
	Unbiased, Low, High []float64
}

// Rows are microdata: codes over the levels of By, by column and then by row. Each of Marginals is a set of indexes
// in By, and so is Whole, the columns in which whole rows are compared; if it is empty, they are not.
type Rows struct {
	Table     string
	By        []plan.Factor
	Codes     [][]uint32
	Marginals [][]int
	Whole     []int
}

// Differences are the result of [Compare], in the order of the published results. They are computed from the
// confidential tables without noise, so they are confidential, and show "confidential" however they are printed or
// marshalled whole.
type Differences struct {
	answer.Redacted
	Tables      []Difference
	Marginals   [][]Distance // by microdata
	Joints      []*Joint     // by microdata; nil if whole rows are not compared
	Predictions []*Predicted
}

// Difference is the distance of a published table from the truth.
type Difference struct {
	answer.Redacted
	Rows    int64 // rows in the truth
	Cells   int64
	L1      float64 // Σ|published − truth| over the cells; of running sums if they count up, as everything below
	Squares float64 // Σ(unbiased − truth)²
	Covered int64   // cells with low ≤ truth ≤ high
	// For a figure shown with the count, everything is over the cells that have one and are published. Bounded of them
	// have an interval. Withheld counts the cells whose figure is not published, and Undefined the cells without a
	// figure because they have no row.
	Bounded, Withheld, Undefined int64
	// For a sparse table, Cells counts the published cells, and Squares and Covered are over these. L1 is over all
	// cells, with 0 for a cell that is not published. Filled is how many cells have rows, Missed how many of these are
	// not published, and False how many published cells have no rows.
	Filled, Missed, False int64
	// For a table of chosen cells, everything except Rows is over these. Right is how many of them are among equally
	// many with the largest counts. Shortfall is the largest amount by which the count of a cell that was not chosen
	// exceeds the count of a chosen one.
	Right     int64
	Shortfall float64
}

// Distance is the distance of a marginal of microdata from the truth.
type Distance struct {
	answer.Redacted
	Rows  int64 // rows in the truth
	Cells int64
	L1    float64 // Σ|share of the microdata − share of the truth|, from 0 to 2
	// Subsample is the mean L1 if the microdata were a random subset of the true rows, of each size in
	// [SubsampleShares].
	Subsample []float64
	// Association is set for a marginal of two columns, else nil.
	Association *Association
}

// leastPass is the least number of cells that are counted in one reading of a table, if the machine has the memory.
const leastPass = 1 << 24

// Compare counts a plan's confidential tables anew, by the plan's own rules, and returns the distance of what its
// release publishes from that. The note must be the ledger's note for the release that was debited under this plan,
// and is used up: each comparison needs its own. Units of more than max_rows rows are bounded by the key of s, so the
// truth has another draw of their rows than the release.
//
// Guarantee: none. What it returns is computed without noise and must not be published. No exact count is returned,
// but for a table of few cells the result reveals them. Nothing is read before the note is in the ledger. Argument:
// docs/proofs/evaluate.md.
//
// Errors: those of [scan.Files.Count], and of the note. Tables are read as often as it takes to count everything
// within the memory.
func Compare(ctx context.Context, note ledger.Comparison, paid *compiled.Compiled, files scan.Files,
	s *noise.RowStreams, claims PublishedResults) (*Differences, error) {
	own, err := planner.Verify(paid)
	if err != nil {
		return nil, err
	}
	p := own.Plan()
	c := &comparison{plan: p, out: &Differences{Tables: make([]Difference, len(claims.Tables)),
		Marginals: make([][]Distance, len(claims.Rows)), Joints: make([]*Joint, len(claims.Rows)),
		Predictions: make([]*Predicted, len(claims.Predictions))}}
	for i, claim := range claims.Tables {
		if err := c.askTable(claim, &c.out.Tables[i]); err != nil {
			return nil, err
		}
	}
	for i, rows := range claims.Rows {
		if err := c.askRows(ctx, rows, &c.out.Marginals[i], &c.out.Joints[i]); err != nil {
			return nil, err
		}
	}
	for i, prediction := range claims.Predictions {
		if err := c.askPrediction(ctx, prediction, &c.out.Predictions[i]); err != nil {
			return nil, err
		}
	}
	have := memory.Available(files.Options.MemoryLimit)
	if err := memory.Check(memory.Bytes(p), have); err != nil {
		return nil, err
	}
	if err := note.Use(own.Hash()); err != nil {
		return nil, err
	}
	pass := max(p.Size.Cells, min(leastPass, have/64))
	for _, table := range p.Release().Tables {
		batches := c.batchesOf(table.Name, pass)
		for i, batch := range batches {
			ctx := ctx
			if len(batches) > 1 {
				ctx = progress.Within(ctx, "part %d of %d", i+1, len(batches))
			}
			if err := c.answerBatch(ctx, files, s, batch); err != nil && !leftOut(batch, err) {
				return nil, err
			}
		}
	}
	return c.out, nil
}

// comparison is a comparison in progress.
type comparison struct {
	plan      *plan.Plan
	questions []question
	out       *Differences
}

// question is one marginal of the truth and how it is compared. Questions may be compared concurrently.
type question struct {
	measurement plan.Measurement
	compare     func(truth answer.Answer) error
	// tooLarge, if not nil, is called if the question's counts do not fit into memory. Such a question is answered in a
	// batch of its own, and left out if they do not fit.
	tooLarge func()
}

// leftOut reports whether a question does not fit into memory and may be left out.
func leftOut(batch []question, err error) bool {
	var short *memory.Error
	if batch[0].tooLarge == nil || !errors.As(err, &short) {
		return false
	}
	batch[0].tooLarge()
	return true
}

var errOtherCells = errors.New("what the release publishes of it does not have its cells")

// askTable asks for the truth of a published table.
func (c *comparison) askTable(claim PublishedStatistic, out *Difference) error {
	i := slices.IndexFunc(c.plan.Tables, func(t plan.Table) bool { return t.Path == claim.Path })
	if i < 0 {
		return fmt.Errorf("table %s is not in the plan of this release", claim.Path)
	}
	t := c.plan.Tables[i]
	if claim.Figure != "" {
		return c.askFigure(claim, t, out)
	}
	m := c.countOf(t)
	levels, err := m.Query.Levels(c.plan.Release())
	if err != nil {
		return err
	}
	if claim.CountsUp != nil && len(claim.CountsUp) != len(levels) {
		return fmt.Errorf("%s: %w", m.ID, errOtherCells)
	}
	shown := shownTable{Table: t, levels: levels, up: claim.CountsUp, unit: t.Statistics[0].UnitValue()}
	selected := shownBy[t.Selects()]
	m.Selection = selected.asks(t)
	c.questions = append(c.questions, question{measurement: m, compare: func(truth answer.Answer) error {
		figures, err := claim.Read()
		if err == nil {
			*out, err = selected.against(shown, figures, truth)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
		return nil
	}})
	return nil
}

// countOf returns the question for what a table counts: rows, weights or units, with the table's bound on rows per
// unit.
func (c *comparison) countOf(t plan.Table) plan.Measurement {
	m := plan.Measurement{ID: "table " + t.Path, Query: c.plan.Query(t), Cells: t.Cells, Selection: selection.All{}}
	m.Query.PerUnit, m.Query.Counted = t.PerUnit, rowsOf(t)
	return m
}

// compareDense compares figures with the truth that they show. Each integer stands for unit.
func (f Figures) compareDense(truth []int64, unit float64) (Difference, error) {
	d := Difference{Cells: int64(len(truth))}
	for _, n := range []int{len(f.Unbiased), len(f.Low), len(f.High)} {
		if n != len(truth) {
			return d, errOtherCells
		}
	}
	if f.Published != nil && len(f.Published) != len(truth) {
		return d, errOtherCells
	}
	for i, t := range truth {
		exact := float64(t) * unit // a number of rows is below 2^53
		off := f.Unbiased[i] - exact
		shown := off
		if f.Published != nil {
			shown = float64(f.Published[i]) - exact
		}
		d.L1 += math.Abs(shown)
		d.Squares += off * off
		if f.Low[i] <= exact && exact <= f.High[i] {
			d.Covered++
		}
	}
	return d, nil
}

// compareSparse compares the figures of a sparse table with the truth, which is 0 for every cell that it does not
// list.
func (f Figures) compareSparse(truth answer.Answer) (Difference, error) {
	d := Difference{Cells: int64(len(f.Cells)), Rows: total(truth.Counts), Filled: int64(len(truth.Cells))}
	for _, n := range []int{len(f.Published), len(f.Unbiased), len(f.Low), len(f.High)} {
		if n != len(f.Cells) {
			return d, errOtherCells
		}
	}
	left := d.Rows // rows in cells that are not published
	d.Missed = d.Filled
	for i, cell := range f.Cells {
		t := int64(0)
		if at, filled := slices.BinarySearch(truth.Cells, cell); filled {
			t = truth.Counts[at]
			d.Missed--
		} else {
			d.False++
		}
		left -= t
		d.L1 += math.Abs(float64(f.Published[i] - t))
		exact := float64(t)
		off := f.Unbiased[i] - exact
		d.Squares += off * off
		if f.Low[i] <= exact && exact <= f.High[i] {
			d.Covered++
		}
	}
	d.L1 += float64(left)
	return d, nil
}

// askRows asks for the truth of every marginal of microdata.
func (c *comparison) askRows(ctx context.Context, r Rows, out *[]Distance, joint **Joint) error {
	levels, err := plan.Query{Table: r.Table, Factors: r.By}.Levels(c.plan.Release())
	if err != nil {
		return err
	}
	if err := r.checkCodes(levels); err != nil {
		return fmt.Errorf("microdata of %s: %w", r.Table, err)
	}
	table := c.plan.Release().Table(r.Table)
	*out = make([]Distance, len(r.Marginals))
	for i, places := range r.Marginals {
		m := plan.Measurement{ID: fmt.Sprintf("microdata of %s, marginal %d", r.Table, i+1),
			Query: plan.Query{Table: r.Table, Counted: counted.Rows{}}, Cells: 1, Selection: selection.All{}}
		for _, place := range places {
			m.Query.Factors = append(m.Query.Factors, r.By[place])
			m.Cells *= int64(levels[place].Size())
		}
		c.questions = append(c.questions, question{measurement: m, compare: func(truth answer.Answer) error {
			drawn := r.marginalCounts(levels, places)
			(*out)[i] = distanceOf(drawn, truth.Counts)
			if len(places) == 2 {
				ordered := !slices.ContainsFunc(places,
					func(place int) bool { return !inOrder(table.Column(r.By[place].Attribute), levels[place]) })
				(*out)[i].Association = associationOf(drawn, truth.Counts, levels[places[0]].Size(), ordered)
			}
			return nil
		}})
	}
	return c.askWhole(ctx, r, levels, joint)
}

// checkCodes returns an error unless all columns have equally many codes, each within its level.
func (r Rows) checkCodes(levels []*domain.Level) error {
	if len(r.Codes) != len(levels) {
		return fmt.Errorf("they have %d columns, where the plan has %d", len(r.Codes), len(levels))
	}
	for i, codes := range r.Codes {
		if len(codes) != len(r.Codes[0]) {
			return errors.New("their columns are not of one length")
		}
		if slices.ContainsFunc(codes, func(c uint32) bool { return int64(c) >= int64(levels[i].Size()) }) {
			return fmt.Errorf("a code of %s is not one of its level", r.By[i])
		}
	}
	return nil
}

// marginalCounts returns a marginal of the rows, row-major.
func (r Rows) marginalCounts(levels []*domain.Level, places []int) []int64 {
	cells := 1
	for _, place := range places {
		cells *= levels[place].Size()
	}
	counts := make([]int64, cells)
	rows := 0
	if len(r.Codes) > 0 {
		rows = len(r.Codes[0])
	}
	for row := range rows {
		cell := 0
		for _, place := range places {
			cell = cell*levels[place].Size() + int(r.Codes[place][row])
		}
		counts[cell]++
	}
	return counts
}

// distanceOf returns the distance of the shares of counts from the shares of the truth. Without any rows all shares
// are 0.
func distanceOf(drawn, truth []int64) Distance {
	d := Distance{Cells: int64(len(truth)), Rows: total(truth)}
	of := float64(max(total(drawn), 1))
	whole := float64(max(d.Rows, 1))
	for i, t := range truth {
		d.L1 += math.Abs(float64(drawn[i])/of - float64(t)/whole)
	}
	d.Subsample = subsampleDistances(truth)
	return d
}

func total(counts []int64) int64 {
	sum := int64(0)
	for _, c := range counts {
		sum += c
	}
	return sum
}

// batchesOf splits the questions about a table into batches. No batch has more cells than a pass may count, except
// for a single question.
func (c *comparison) batchesOf(table string, pass int64) [][]question {
	var all [][]question
	cells := pass + 1
	for _, q := range c.questions {
		if q.measurement.Query.Table != table {
			continue
		}
		held := compiled.IntegersInMemory(c.plan, q.measurement)
		if cells += held; cells > pass || q.tooLarge != nil {
			all, cells = append(all, nil), held
		}
		if q.tooLarge != nil {
			cells = pass + 1 // in a batch of its own
		}
		all[len(all)-1] = append(all[len(all)-1], q)
	}
	return all
}

// answerBatch has a batch of questions about one table answered, and compares the answers.
func (c *comparison) answerBatch(ctx context.Context, files scan.Files, s *noise.RowStreams, batch []question) error {
	asked := histogram.Questions{Plan: c.plan}
	for _, q := range batch {
		asked.Measurements = append(asked.Measurements, q.measurement)
	}
	counted, err := files.Count(ctx, asked, s)
	if err != nil {
		return err
	}
	truth := answer.All(counted)
	ctx = progress.BeginConfidential(ctx, int64(len(batch)), "comparing %s", batch[0].measurement.Query.Table)
	return parallel.Do(ctx, runtime.GOMAXPROCS(0), len(batch), func(i int) error {
		defer progress.Add(ctx, 1)
		return batch[i].compare(truth[i].Expanded())
	})
}
