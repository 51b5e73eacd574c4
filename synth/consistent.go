package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/fitting"
)

// This file holds consistent counts: whole, none negative, exact zeros and public figures where the spec says so, and
// of one sum wherever two tables show the same.

// Fitted marks a cell whose published count is not its estimate, rounded: it was moved so that tables add up.
const Fitted Flag = "fitted"

// Consistent gives the tables that the plan says so counts that add up, in the place of each one's estimates, rounded.
// What else there is of them stays: the unbiased estimates with their errors and intervals. tables are those of
// [Estimate]; microdata those of the plan's methods, in its order, of which the counts come where the plan says so.
//
// Contract: it reads the plan, the estimates and the microdata alone, and chance from the measurements ([newStream]);
// the same input gives the same counts on every machine. It ends with the context. Argument: docs/proofs/consistent.md.
func Consistent(ctx context.Context, s *measured.Sealed, tables []Table, microdata []Microdata) error {
	for _, c := range s.Plan.Consistent {
		var counts map[int][]int64
		var err error
		if len(c.Tables) == 0 {
			continue
		}
		if c.Way == plan.Tabulated {
			counts, err = tabulate(s.Plan.Plan(), c, microdata)
		} else {
			var f *consistentFit
			if f, err = newFitting(s, c, tables); err == nil {
				if err = f.project(ctx); err == nil {
					counts, err = f.round(ctx, newStream(s, "counts of "+c.Table))
				}
			}
		}
		if err != nil {
			return fmt.Errorf("counts of %s: %w", c.Table, err)
		}
		for at, own := range counts {
			tables[at].Statistics[0].publish(own)
			tables[at].Statistics[0].Tabulated = c.Way == plan.Tabulated
		}
	}
	return nil
}

// ConsistentBytes is about the memory that [Consistent] takes: a cell is an estimate, its projection, a whole number
// and places in the margins that stand.
func ConsistentBytes(p *plan.Plan) int64 {
	const perCell = 128
	var most int64
	for _, c := range p.Consistent {
		covered := map[string]bool{}
		for _, path := range c.Tables {
			covered[path] = true
		}
		var cells int64
		for _, t := range p.Tables {
			if covered[t.Path] {
				cells += t.Cells
			}
		}
		most = max(most, cells*perCell)
	}
	return most
}

// publish puts other counts into the place of rounded estimates.
func (s *Statistic) publish(counts []int64) {
	for i, n := range counts {
		if s.Flags[i] == Plain && n != s.Published.Value(i) {
			s.Flags[i] = Fitted
		}
	}
	s.Published, s.Fitted = integers(counts), true
}

// consistentFit is the fit of the tables of one confidential table.
type consistentFit struct {
	*fitting.Fitting
	reader *Reader
	masks  [][]bool
	tables []estimated // of each of Fitting.Tables
	real   [][]float64 // of each step its cells, not negative and of the sums that stand
	whole  [][]int64   // and whole
	steps  int         // that projections took
}

// estimated is a table's estimate: its cells in the order of its margin.
type estimated struct {
	cells    []float64
	variance float64 // mean of a cell's
	places   []int32 // of each cell in the table's own order
}

func newFitting(s *measured.Sealed, c plan.Consistency, tables []Table) (*consistentFit, error) {
	order, err := fitting.Of(s.Plan.Plan(), c)
	if err != nil {
		return nil, err
	}
	f := &consistentFit{Fitting: order}
	if f.masks, err = order.Masks(s.Plan.Plan()); err != nil {
		return nil, err
	}
	if f.reader, err = NewReader(s.Plan); err != nil {
		return nil, err
	}
	f.tables = make([]estimated, len(f.Tables))
	for i, t := range f.Tables {
		st := tables[t.At].Statistics[0]
		own := estimated{cells: make([]float64, f.Cells(t.Margin)), places: f.Places(t)}
		if len(own.places) != st.Unbiased.Len() {
			return nil, fmt.Errorf("table %s is not whole", tables[t.At].Path)
		}
		for cell, at := range own.places {
			own.cells[at] = min(max(st.Unbiased.Value(cell), -mostCount), mostCount)
		}
		own.variance = float64(st.StandardError * st.StandardError)
		f.tables[i] = own
	}
	f.real, f.whole = make([][]float64, len(f.Steps)), make([][]int64, len(f.Steps))
	return f, nil
}

// project works out the cells of every step.
func (f *consistentFit) project(ctx context.Context) error {
	for i, s := range f.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case s.Given != nil:
			f.given(i)
		case len(s.Fixed) == 0:
			total, _ := f.estimate(s.Margin)
			f.real[i] = []float64{min(max(total[0], 0), mostCount)}
		case hasImpossible(s):
			f.real[i] = f.projectPossible(ctx, i)
		case s.Margin.Ways() == 1:
			f.real[i] = f.projectSingle(s)
		default:
			margins := make([]marginal, len(s.Fixed))
			for k, m := range s.Fixed {
				margins[k] = marginal{of: f.Project(s.Margin, m.Margin), sums: f.standing(m)}
			}
			var y []float64
			enough := 0.0
			if s.Table >= 0 {
				y = f.tables[s.Table].cells
				for _, m := range f.inner(s) {
					margins, enough = append(margins, f.settled(ctx, s, m)), slight
				}
			} else {
				y, _ = f.estimate(s.Margin)
			}
			var steps int
			f.real[i], steps = nearest(ctx, y, nil, margins, enough)
			f.steps += steps
		}
	}
	return ctx.Err()
}

// projectSingle projects the categories of a column on those of a coarser level, or on the total.
func (f *consistentFit) projectSingle(s fitting.Step) []float64 {
	y, _ := f.estimate(s.Margin)
	sums, of := f.standing(s.Fixed[0]), f.Project(s.Margin, s.Fixed[0].Margin)
	x := make([]float64, len(y))
	for group, cells := range group(of, len(sums)) {
		near := make([]float64, len(cells))
		if len(cells) > 0 {
			project(near, picked(y, cells), slices.Repeat([]float64{1}, len(cells)), sums[group], math.NaN())
		}
		for k, c := range cells {
			x[c] = near[k]
		}
	}
	return x
}

// steadfast is how many times more than their variances say the estimates of margins within a table count that no step
// fixes. A cell is held up at 0 where noise would take it below, which pulls at all that it is a part of; margins that
// are known much better must not give way to that.
const steadfast = 100

// projectPossible projects a table with impossible cells: what it shares with those before stands, and of its own
// margins that are published or single columns it stays near the estimates, as these must agree with the zeros.
func (f *consistentFit) projectPossible(ctx context.Context, step int) []float64 {
	s := f.Steps[step]
	own := f.tables[s.Table]
	margins := []marginal{{of: f.Project(s.Margin, s.Fixed[0].Margin), sums: f.standing(s.Fixed[0])}}
	for chain := range f.Chains {
		for level := 1; level <= s.Margin[chain]; level++ {
			m := make(fitting.Margin, len(f.Chains))
			m[chain] = level
			if !m.Within(s.Fixed[0].Margin) && !slices.Equal(m, s.Margin) {
				margins = append(margins, f.near(s, m))
			}
		}
	}
	for _, m := range f.inner(s) {
		margins = append(margins, f.near(s, m))
	}
	x, steps := nearest(ctx, own.cells, f.masks[step], margins, 0)
	f.steps += steps
	return x
}

// inner are the tables of several chains within that of a step which no fixed margin says: no step fixes them, so they
// are known better than their cells may be, and the step stays near what is known of them.
func (f *consistentFit) inner(s fitting.Step) []fitting.Margin {
	var out []fitting.Margin
	for i, t := range f.Tables {
		m := t.Margin
		if m.Ways() < 2 || !m.Within(s.Margin) || slices.Equal(m, s.Margin) ||
			slices.ContainsFunc(s.Fixed, func(o fitting.FixedMargin) bool { return m.Within(o.Margin) }) ||
			slices.ContainsFunc(f.Tables[:i], func(o fitting.Table) bool { return slices.Equal(o.Margin, m) }) {
			continue
		}
		out = append(out, m)
	}
	return out
}

// near is a margin of a step's table that stays near what all tables say of it.
func (f *consistentFit) near(s fitting.Step, m fitting.Margin) marginal {
	sums, variances := f.estimate(m)
	for i, v := range variances {
		variances[i] = v / float64(max(f.tables[s.Table].variance, least)*steadfast)
	}
	return marginal{of: f.Project(s.Margin, m), sums: sums, slack: variances}
}

// settled is near a margin as it would be if it were a step: not below zero, and of the sums that stand. So the margins
// that a table stays near do not pull against these.
func (f *consistentFit) settled(ctx context.Context, s fitting.Step, m fitting.Margin) marginal {
	out := f.near(s, m)
	var stand []marginal
	for _, o := range s.Fixed {
		if shared := m.Meet(o.Margin); shared.Ways() > 0 {
			stand = append(stand, marginal{of: f.Project(m, shared), sums: added(f.standing(o), f.Project(o.Margin, shared),
				f.Cells(shared))})
		}
	}
	var steps int
	out.sums, steps = nearest(ctx, out.sums, nil, stand, slight)
	f.steps += steps
	return out
}

// standing are the cells of a fixed margin.
func (f *consistentFit) standing(m fitting.FixedMargin) []float64 {
	return added(f.real[m.From], f.Project(f.Steps[m.From].Margin, m.Margin), f.Cells(m.Margin))
}

// added adds up cells by the sums that they are in.
func added[N int64 | float64](cells []N, of []int32, sums int) []N {
	out := make([]N, sums)
	for i, s := range of {
		out[s] += cells[i]
	}
	return out
}

// estimate is the unbiased estimate of a margin with its variances, from the tables that have it: by inverse variance,
// where their noise is independent; of those that were put together from the same estimates, which say the same of it,
// the smallest alone.
func (f *consistentFit) estimate(m fitting.Margin) (sums, variances []float64) {
	sums, variances = make([]float64, f.Cells(m)), make([]float64, f.Cells(m))
	weights := make([]float64, len(sums))
	var from []int
	for i, t := range f.Tables {
		if !m.Within(t.Margin) {
			continue
		}
		twin := slices.IndexFunc(from, func(o int) bool { return f.reader.Together(t.At, f.Tables[o].At) })
		switch {
		case twin < 0:
			from = append(from, i)
		case len(f.tables[i].cells) < len(f.tables[from[twin]].cells):
			from[twin] = i
		}
	}
	for _, i := range from {
		t := f.Tables[i]
		own := added(f.tables[i].cells, f.Project(t.Margin, m), len(sums))
		places := f.Places(fitting.Table{Margin: m, Order: ordered(t.Order, m)})
		for row, v := range f.reader.Variances(t.At, f.groupings(t, m)) {
			at := places[row]
			weight := 1 / max(v, least)
			weights[at] += weight
			sums[at] += float64(weight * own[at])
		}
	}
	for i, w := range weights {
		sums[i] /= w
		variances[i] = 1 / w
	}
	return sums, variances
}

// least is the variance of what has none: exact zeros.
const least = 0x1p-40

// ordered are those chains of a table's attributes that a margin has, in the table's order.
func ordered(order []int, m fitting.Margin) []int {
	return slices.DeleteFunc(slices.Clone(order), func(chain int) bool { return m[chain] == 0 })
}

// groupings add a table's categories up to those of a margin.
func (f *consistentFit) groupings(t fitting.Table, m fitting.Margin) []Grouping {
	out := make([]Grouping, len(t.Order))
	for i, chain := range t.Order {
		out[i] = Grouping{Of: f.Chains[chain].Within(t.Margin[chain], m[chain]), Rows: f.Chains[chain].Size(m[chain])}
	}
	return out
}

// round makes whole numbers of the cells of every step, and is what each table shows, in its own order.
func (f *consistentFit) round(ctx context.Context, r *stream) (map[int][]int64, error) {
	for i, s := range f.Steps {
		err := ctx.Err()
		switch {
		case err != nil:
		case s.Given != nil: // [fitting.given]
		case len(s.Fixed) == 0:
			f.whole[i] = []int64{int64(math.Floor(f.real[i][0] + 0.5))}
		case len(s.Fixed) == 1:
			f.whole[i], err = f.apportion(i, r)
		default:
			f.whole[i], err = f.crossed(ctx, i, r)
		}
		if err != nil {
			return nil, err
		}
	}
	out := map[int][]int64{}
	for i, t := range f.Tables {
		cells := added(f.whole[t.From], f.Project(f.Steps[t.From].Margin, t.Margin), f.Cells(t.Margin))
		own := make([]int64, len(cells))
		for cell, at := range f.tables[i].places {
			own[cell] = cells[at]
		}
		out[t.At] = own
	}
	return out, nil
}

// fixed are the whole numbers of a fixed margin.
func (f *consistentFit) fixed(m fitting.FixedMargin) []int64 {
	return added(f.whole[m.From], f.Project(f.Steps[m.From].Margin, m.Margin), f.Cells(m.Margin))
}

// apportion rounds a step with one fixed margin: sum by sum, whose cells are in no other.
func (f *consistentFit) apportion(step int, r *stream) ([]int64, error) {
	s := f.Steps[step]
	sums := f.fixed(s.Fixed[0])
	cells := make([]cell, len(f.real[step]))
	for i, x := range f.real[step] {
		cells[i] = newCell(x, r)
	}
	for sum, own := range group(f.Project(s.Margin, s.Fixed[0].Margin), len(sums)) {
		var open []*cell
		for _, c := range own {
			if f.masks[step] == nil || !f.masks[step][c] {
				open = append(open, &cells[c])
			}
		}
		if !bring(open, sums[sum]) {
			return nil, errNoCounts
		}
	}
	return wholeOf(cells), nil
}

// errNoCounts is of an order of steps that is none: its fixed margins do not agree.
var errNoCounts = fmt.Errorf("no whole counts have the sums that stand")

// crossed rounds a step with several fixed margins, joining one after the other: the cells of what is joined are, in
// every category that both share, a table of rows from the one and columns from the other.
func (f *consistentFit) crossed(ctx context.Context, step int, r *stream) ([]int64, error) {
	s := f.Steps[step]
	joined, standing := s.Fixed[0].Margin, f.fixed(s.Fixed[0])
	for _, m := range s.Fixed[1:] {
		next := joined.Join(m.Margin)
		real := added(f.real[step], f.Project(s.Margin, next), f.Cells(next))
		one, rows, other, columns := m.Margin, f.fixed(m), joined, standing
		if len(rows) < len(columns) { // rows are the longer side
			one, rows, other, columns = other, columns, one, rows
		}
		shared := one.Meet(other)
		blocks := f.Cells(shared)
		rowsOf, columnsOf := group(f.Project(one, shared), blocks), group(f.Project(other, shared), blocks)
		cellsOf := group(f.Project(next, shared), blocks)
		row, column := f.Project(next, one), f.Project(next, other)
		standing = make([]int64, len(real))
		for b := range blocks {
			places, err := block(cellsOf[b], rowsOf[b], columnsOf[b], row, column)
			if err != nil {
				return nil, err
			}
			cells := make([]cell, len(places))
			for i, at := range places {
				cells[i] = newCell(real[at], r)
			}
			t := newTransport(cells, picked(rows, rowsOf[b]), picked(columns, columnsOf[b]))
			if !t.balance(ctx) {
				return nil, cmp.Or(ctx.Err(), errNoCounts)
			}
			for i, at := range places {
				standing[at] = cells[i].at
			}
		}
		joined = next
	}
	return standing, nil
}

// block puts cells into a table of rows × columns, row-major: row and column say of each cell where it lies. It fails
// where they are none.
func block(cells, rows, columns, row, column []int32) ([]int32, error) {
	if len(cells) != len(rows)*len(columns) {
		return nil, errNoCounts
	}
	places := make([]int32, len(cells))
	for _, c := range cells {
		i, found := slices.BinarySearch(rows, row[c])
		j, also := slices.BinarySearch(columns, column[c])
		if !found || !also {
			return nil, errNoCounts
		}
		places[i*len(columns)+j] = c
	}
	return places, nil
}

func picked[N int64 | float64](all []N, places []int32) []N {
	out := make([]N, len(places))
	for i, at := range places {
		out[i] = all[at]
	}
	return out
}

func wholeOf(cells []cell) []int64 {
	out := make([]int64, len(cells))
	for i, c := range cells {
		out[i] = c.at
	}
	return out
}

// given puts the figures of an invariant into a step of a fitting.
func (f *consistentFit) given(step int) {
	f.whole[step] = slices.Clone(f.Steps[step].Given)
	f.real[step] = floats(f.whole[step])
}
