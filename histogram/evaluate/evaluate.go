// Package evaluate compares what a release publishes with the truth, for those who hold it.
//
// It owns the comparison: sums and means of how far published figures and microdata lie from the truth, and how many
// rows of microdata break a rule of their spec. It asks a counter itself. What it returns is confidential, as it is
// computed without noise.
//
// It never opens a [histogram.Exact], and never lets an exact count out. It never counts before the ledger holds a
// note of the comparison ([Compare]), and it publishes and writes nothing.
package evaluate

// This file holds the comparison of what a release publishes with the truth: the
// only way in which exact counts are looked at without noise, and of them nothing
// but sums and means leaves.

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
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
)

// Claims are what a release publishes of the tables that its plan asks of.
type Claims struct {
	Tables []Claim
	Rows   []Rows
}

// Claim is the count of a published table, or a figure beside it.
type Claim struct {
	Path string // of the table in the plan
	// Figure is the name of a figure of the table, "" for its count.
	Figure string
	// CountsUp says of each key whether the figures are running sums along it; nil for none.
	CountsUp []bool
	// Read gives the figures, once the truth is counted: tables are held one by one.
	Read func() (Figures, error)
}

// Figures are those of a published table, one per cell in domain order; of a sparse table one for each of Cells, the
// places of its rows in that order, ascending; of one of chosen cells the same in the order of their choice. Published
// is nil of figures that are no integers: what is published of these is Unbiased, NaN where it is withheld, as an end
// of an interval is where there is none.
type Figures struct {
	Cells               []uint64
	Published           []int64
	Unbiased, Low, High []float64
}

// Rows are microdata: codes over the levels of By, by column and then by row. Each
// of Marginals is a set of places in By, and so is Whole, by which whole rows are
// compared: those of none are not.
type Rows struct {
	Table     string
	By        []plan.Factor
	Codes     [][]uint32
	Marginals [][]int
	Whole     []int
}

// Differences are what [Compare] tells, in the order of its claims. They are
// computed from the confidential tables without noise, so they are confidential,
// and show "confidential" however they are printed or marshalled whole.
type Differences struct {
	answer.Redacted
	Tables    []Difference
	Marginals [][]Distance // of each of the microdata
	Joints    []*Joint     // the same; nil where whole rows are not compared
}

// Difference is how far a published table lies from the truth.
type Difference struct {
	answer.Redacted
	Rows    int64 // that the truth counts
	Cells   int64
	L1      float64 // Σ|published − truth| over the cells; where they count up, of running sums, as all below
	Squares float64 // Σ(unbiased − truth)²
	Covered int64   // cells with low ≤ truth ≤ high
	// Of a figure beside the count, all is over the cells that have one and are published; Bounded of them have an
	// interval, Withheld are others that are not published, and Undefined those that have none, as no row is there.
	Bounded, Withheld, Undefined int64
	// Of a sparse table Cells are those that are published, of which Squares and Covered are; L1 is over all, with 0 for
	// one that is not published. Filled is how many cells have rows, Missed how many of these are not published, and False
	// how many that are published have no rows.
	Filled, Missed, False int64
	// Of a table of chosen cells all but Rows is over these. Right is how many of them are among as many with the largest
	// counts, and Shortfall by how much the count of a cell that was not chosen exceeds that of one that was, at most.
	Right     int64
	Shortfall float64
}

// Distance is how far a marginal of microdata lies from the truth.
type Distance struct {
	answer.Redacted
	Rows  int64 // that the truth counts
	Cells int64
	L1    float64 // Σ|share of the microdata − share of the truth|, from 0 to 2
	// Subsample is what L1 would be on average if the microdata were a random part
	// of the true rows, of each size in [SubsampleShares].
	Subsample []float64
	// Association is of a marginal of two columns, else nil.
	Association *Association
}

// leastPass is how many cells are counted in one reading of a table, at least,
// where the machine has the memory.
const leastPass = 1 << 24

// Compare counts a plan's confidential tables anew, by the plan's own rules, and
// says how far what its release publishes lies from that. The note must be one of
// the ledger for the release that was debited under this plan, and is taken: each
// comparison needs its own. Units of more than max_rows rows are bounded by the
// key of s, so the truth is that of another draw of their rows than the release's.
//
// Guarantee: none. What it returns is computed without noise and must not be
// published; no exact count is among it, but where a table has few cells it tells
// of them. Nothing is read before the note is in the ledger.
// Argument: docs/proofs/evaluate.md.
//
// Errors: those of [scan.Files.Count], and of the note. Tables are read as often as it takes to
// count everything within the memory.
func Compare(ctx context.Context, note ledger.Comparison, paid *compiled.Compiled, files scan.Files,
	s *noise.RowStreams, claims Claims) (*Differences, error) {
	own, err := planner.Verify(paid)
	if err != nil {
		return nil, err
	}
	p := own.Plan()
	c := &comparison{plan: p, out: &Differences{Tables: make([]Difference, len(claims.Tables)),
		Marginals: make([][]Distance, len(claims.Rows)), Joints: make([]*Joint, len(claims.Rows))}}
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
	have := memory.Available(files.Options.MemoryLimit)
	if err := memory.Check(memory.Bytes(p), have); err != nil {
		return nil, err
	}
	if err := note.Use(own.Hash()); err != nil {
		return nil, err
	}
	pass := max(p.Size.Cells, min(leastPass, have/64))
	for _, table := range p.Release().Tables {
		for _, batch := range c.batches(table.Name, pass) {
			if err := c.answer(ctx, files, s, batch); err != nil && !spared(batch, err) {
				return nil, err
			}
		}
	}
	return c.out, nil
}

// comparison is a comparison under way.
type comparison struct {
	plan      *plan.Plan
	questions []question
	out       *Differences
}

// question is one marginal of the truth and what is done with its counts; it may be
// done at the same time as others.
type question struct {
	measurement plan.Measurement
	compare     func(truth answer.Answer) error
	// tooLarge, where not nil, is called where its counts do not fit the memory: it is answered by itself, and left out
	// then.
	tooLarge func()
}

// spared tells that a question does not fit the memory, and is one that is left out then.
func spared(batch []question, err error) bool {
	var short *memory.Error
	if batch[0].tooLarge == nil || !errors.As(err, &short) {
		return false
	}
	batch[0].tooLarge()
	return true
}

var errOtherCells = errors.New("what the release publishes of it does not have its cells")

// askTable asks for the truth of a published table.
func (c *comparison) askTable(claim Claim, out *Difference) error {
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

// countOf asks for what a table counts: rows, weights or units, of as many rows of a unit as it allows.
func (c *comparison) countOf(t plan.Table) plan.Measurement {
	m := plan.Measurement{ID: "table " + t.Path, Query: c.plan.Query(t), Cells: t.Cells, Selection: selection.All{}}
	m.Query.PerUnit, m.Query.Counted = t.PerUnit, rowsOf(t)
	return m
}

// against holds figures against the truth that they show, of which each integer stands for so much.
func (f Figures) against(truth []int64, unit float64) (Difference, error) {
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

// againstSparse holds the figures of a sparse table against the truth, which is 0 of every cell that it does not list.
func (f Figures) againstSparse(truth answer.Answer) (Difference, error) {
	d := Difference{Cells: int64(len(f.Cells)), Rows: total(truth.Counts), Filled: int64(len(truth.Cells))}
	for _, n := range []int{len(f.Published), len(f.Unbiased), len(f.Low), len(f.High)} {
		if n != len(f.Cells) {
			return d, errOtherCells
		}
	}
	left := d.Rows // of cells that are not published
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
	if err := r.fit(levels); err != nil {
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
			drawn := r.counts(levels, places)
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

// fit fails unless every column has as many codes, each of its level.
func (r Rows) fit(levels []*domain.Level) error {
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

// Counts is a marginal of the rows, row-major.
func (r Rows) counts(levels []*domain.Level, places []int) []int64 {
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

// distanceOf is how far the shares of counts lie from those of the truth. No rows at
// all have no shares: all of them are 0.
func distanceOf(drawn, truth []int64) Distance {
	d := Distance{Cells: int64(len(truth)), Rows: total(truth)}
	of := float64(max(total(drawn), 1))
	whole := float64(max(d.Rows, 1))
	for i, t := range truth {
		d.L1 += math.Abs(float64(drawn[i])/of - float64(t)/whole)
	}
	d.Subsample = subsampled(truth)
	return d
}

func total(counts []int64) int64 {
	sum := int64(0)
	for _, c := range counts {
		sum += c
	}
	return sum
}

// batches parts the questions on a table so that none has more cells than a pass
// may count, but for a single question.
func (c *comparison) batches(table string, pass int64) [][]question {
	var all [][]question
	cells := pass + 1
	for _, q := range c.questions {
		if q.measurement.Query.Table != table {
			continue
		}
		held := compiled.Held(c.plan, q.measurement)
		if cells += held; cells > pass || q.tooLarge != nil {
			all, cells = append(all, nil), held
		}
		if q.tooLarge != nil {
			cells = pass + 1 // by itself
		}
		all[len(all)-1] = append(all[len(all)-1], q)
	}
	return all
}

// asked has a batch of questions to one table answered, and compares the answers.
func (c *comparison) answer(ctx context.Context, files scan.Files, s *noise.RowStreams, batch []question) error {
	asked := histogram.Questions{Plan: c.plan}
	for _, q := range batch {
		asked.Measurements = append(asked.Measurements, q.measurement)
	}
	counted, err := files.Count(ctx, asked, s)
	if err != nil {
		return err
	}
	truth := answer.All(counted)
	return parallel.Do(ctx, runtime.GOMAXPROCS(0), len(batch), func(i int) error {
		return batch[i].compare(truth[i].Wide())
	})
}
