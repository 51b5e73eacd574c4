package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/fitting"
)

// This file holds consistent counts: whole numbers, nonnegative, equal to exact zeros and public figures where the spec
// declares them, and with equal sums wherever two tables show the same.

// Fitted marks a cell whose published count is not its rounded estimate: it was moved so that tables add up.
const Fitted Flag = "fitted"

// Consistent replaces the published counts of the tables that the plan makes consistent: they add up, where rounded
// estimates do not. The unbiased estimates stay, with their errors and intervals. tables come from [Estimate];
// microdata are those of the plan's methods, in its order, and are counted where the plan says so.
//
// Contract: it reads only the plan, the estimates and the microdata, and takes its random choices from the measurements
// ([newStream]); the same input gives the same counts on every machine. It ends with the context. Argument:
// docs/proofs/consistent.md.
func Consistent(ctx context.Context, s *measured.Sealed, tables []Table, microdata []Microdata) error {
	for _, c := range s.Plan.Consistent {
		var counts map[int][]int64
		var err error
		if len(c.Tables) == 0 {
			continue
		}
		ctx := progress.Begin(ctx, 0, "making the counts of %s add up", c.Table)
		if c.Way == plan.Tabulated {
			counts, err = tabulateMicrodata(s.Plan.Plan(), c, microdata)
		} else {
			var f *consistentFit
			if f, err = newFitting(s, c, tables); err == nil {
				progress.SetParts(ctx, int64(2*len(f.Steps)))
				if err = f.projectSteps(ctx); err == nil {
					counts, err = f.roundSteps(ctx, newStream(s, "counts of "+c.Table))
				}
			}
		}
		if err != nil {
			return fmt.Errorf("counts of %s: %w", c.Table, err)
		}
		for at, own := range counts {
			tables[at].Statistics[0].replacePublished(own)
			tables[at].Statistics[0].Tabulated = c.Way == plan.Tabulated
		}
	}
	return nil
}

// ConsistentBytes returns about the memory that [Consistent] takes: each cell has an estimate, its projection, a whole
// number and indexes into the fixed margins.
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

// replacePublished replaces the rounded estimates by other counts.
func (s *Statistic) replacePublished(counts []int64) {
	for i, n := range counts {
		if s.Flags[i] == Plain && n != s.Published.Value(i) {
			s.Flags[i] = Fitted
		}
	}
	s.Published, s.Fitted = int64Column(counts), true
}

// consistentFit is the fit of the tables that count one confidential table.
type consistentFit struct {
	*fitting.Fitting
	reader    *Reader
	masks     [][]bool
	tables    []estimated // by index in Fitting.Tables
	projected [][]float64 // by step: its cells, nonnegative and with the fixed sums
	rounded   [][]int64   // by step: the same, rounded
	steps     int         // total steps of the projections
}

// estimated is the estimate of a table, its cells in the order of its margin.
type estimated struct {
	cells    []float64
	variance float64 // mean over the cells
	indexes  []int32 // of each cell, in the table's own order
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
		st := tables[t.Index].Statistics[0]
		own := estimated{cells: make([]float64, f.Cells(t.Margin)), indexes: f.CellIndices(t)}
		if len(own.indexes) != st.Unbiased.Len() {
			return nil, fmt.Errorf("table %s is not whole", tables[t.Index].Path)
		}
		for cell, at := range own.indexes {
			own.cells[at] = min(max(st.Unbiased.Value(cell), -mostCount), mostCount)
		}
		own.variance = float64(st.StandardError * st.StandardError)
		f.tables[i] = own
	}
	f.projected, f.rounded = make([][]float64, len(f.Steps)), make([][]int64, len(f.Steps))
	return f, nil
}

// projectSteps computes the real cells of every step.
func (f *consistentFit) projectSteps(ctx context.Context) error {
	for i, s := range f.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case s.Given != nil:
			f.setGiven(i)
		case len(s.Fixed) == 0:
			total, _ := f.estimateMargin(s.Margin)
			f.projected[i] = []float64{min(max(total[0], 0), mostCount)}
		case hasImpossible(s):
			f.projected[i] = f.projectPossible(ctx, i)
		case s.Margin.Dimensions() == 1:
			f.projected[i] = f.projectSingle(s)
		default:
			margins := make([]marginal, len(s.Fixed))
			for k, m := range s.Fixed {
				margins[k] = marginal{of: f.Project(s.Margin, m.Margin), sums: f.fixedSums(m)}
			}
			var y []float64
			enough := 0.0
			if s.Table >= 0 {
				y = f.tables[s.Table].cells
				for _, m := range f.innerMargins(s) {
					margins, enough = append(margins, f.projectedMargin(ctx, s, m)), slightError
				}
			} else {
				y, _ = f.estimateMargin(s.Margin)
			}
			var steps int
			f.projected[i], steps = projectOnMargins(ctx, y, nil, margins, enough)
			f.steps += steps
		}
		progress.Add(ctx, 1)
	}
	return ctx.Err()
}

// projectSingle projects the categories of a column so that they add up to a coarser level, or to the total.
func (f *consistentFit) projectSingle(s fitting.Step) []float64 {
	y, _ := f.estimateMargin(s.Margin)
	sums, of := f.fixedSums(s.Fixed[0]), f.Project(s.Margin, s.Fixed[0].Margin)
	x := make([]float64, len(y))
	for group, cells := range groupRows(of, len(sums)) {
		near := make([]float64, len(cells))
		if len(cells) > 0 {
			projectOnSimplex(near, valuesAt(y, cells), slices.Repeat([]float64{1}, len(cells)), sums[group], math.NaN())
		}
		for k, c := range cells {
			x[c] = near[k]
		}
	}
	return x
}

// marginWeight is the factor by which the estimates of margins within a table that no step fixes weigh more than their
// variances imply. A cell is kept at 0 where noise would take it below, which affects all margins that contain it;
// margins that are known much better must not give way to that.
const marginWeight = 100

// projectPossible projects a table with impossible cells. The margins that it shares with earlier steps stay fixed. Its
// own margins that are published or of single columns stay near their estimates, as these must agree with the zeros.
func (f *consistentFit) projectPossible(ctx context.Context, step int) []float64 {
	s := f.Steps[step]
	own := f.tables[s.Table]
	margins := []marginal{{of: f.Project(s.Margin, s.Fixed[0].Margin), sums: f.fixedSums(s.Fixed[0])}}
	for chain := range f.Chains {
		for level := 1; level <= s.Margin[chain]; level++ {
			m := make(fitting.Margin, len(f.Chains))
			m[chain] = level
			if !m.Within(s.Fixed[0].Margin) && !slices.Equal(m, s.Margin) {
				margins = append(margins, f.softMargin(s, m))
			}
		}
	}
	for _, m := range f.innerMargins(s) {
		margins = append(margins, f.softMargin(s, m))
	}
	x, steps := projectOnMargins(ctx, own.cells, f.masks[step], margins, 0)
	f.steps += steps
	return x
}

// innerMargins returns the margins of tables of several chains within the table of a step that no fixed margin
// contains. No step fixes them, although they are known better than sums of the table's cells, so the step stays near
// their estimates.
func (f *consistentFit) innerMargins(s fitting.Step) []fitting.Margin {
	var out []fitting.Margin
	for i, t := range f.Tables {
		m := t.Margin
		if m.Dimensions() < 2 || !m.Within(s.Margin) || slices.Equal(m, s.Margin) ||
			slices.ContainsFunc(s.Fixed, func(o fitting.FixedMargin) bool { return m.Within(o.Margin) }) ||
			slices.ContainsFunc(f.Tables[:i], func(o fitting.Table) bool { return slices.Equal(o.Margin, m) }) {
			continue
		}
		out = append(out, m)
	}
	return out
}

// softMargin returns a margin of a step's table that must stay near what all tables say of it.
func (f *consistentFit) softMargin(s fitting.Step, m fitting.Margin) marginal {
	sums, variances := f.estimateMargin(m)
	for i, v := range variances {
		variances[i] = v / float64(max(f.tables[s.Table].variance, leastCellVariance)*marginWeight)
	}
	return marginal{of: f.Project(s.Margin, m), sums: sums, slack: variances}
}

// projectedMargin returns a soft margin, projected as if it were a step: nonnegative and with the fixed sums. The
// margins that a table stays near therefore do not conflict with the fixed ones.
func (f *consistentFit) projectedMargin(ctx context.Context, s fitting.Step, m fitting.Margin) marginal {
	out := f.softMargin(s, m)
	var stand []marginal
	for _, o := range s.Fixed {
		if shared := m.Meet(o.Margin); shared.Dimensions() > 0 {
			stand = append(stand, marginal{of: f.Project(m, shared),
				sums: sumsBy(f.fixedSums(o), f.Project(o.Margin, shared),
					f.Cells(shared))})
		}
	}
	var steps int
	out.sums, steps = projectOnMargins(ctx, out.sums, nil, stand, slightError)
	f.steps += steps
	return out
}

// fixedSums returns the real cells of a fixed margin.
func (f *consistentFit) fixedSums(m fitting.FixedMargin) []float64 {
	return sumsBy(f.projected[m.From], f.Project(f.Steps[m.From].Margin, m.Margin), f.Cells(m.Margin))
}

// sumsBy adds up cells by the index of the sum that each belongs to.
func sumsBy[N int64 | float64](cells []N, of []int32, sums int) []N {
	out := make([]N, sums)
	for i, s := range of {
		out[s] += cells[i]
	}
	return out
}

// estimateMargin returns the unbiased estimate of a margin with its variances, from the tables that contain it.
// Estimates with independent noise are pooled by inverse variance; of tables that were reconstructed from the same
// estimates, and therefore agree, only the smallest is used.
func (f *consistentFit) estimateMargin(m fitting.Margin) (sums, variances []float64) {
	sums, variances = make([]float64, f.Cells(m)), make([]float64, f.Cells(m))
	weights := make([]float64, len(sums))
	var from []int
	for i, t := range f.Tables {
		if !m.Within(t.Margin) {
			continue
		}
		twin := slices.IndexFunc(from, func(o int) bool { return f.reader.Together(t.Index, f.Tables[o].Index) })
		switch {
		case twin < 0:
			from = append(from, i)
		case len(f.tables[i].cells) < len(f.tables[from[twin]].cells):
			from[twin] = i
		}
	}
	for _, i := range from {
		t := f.Tables[i]
		own := sumsBy(f.tables[i].cells, f.Project(t.Margin, m), len(sums))
		places := f.CellIndices(fitting.Table{Margin: m, Order: orderWithin(t.Order, m)})
		for row, v := range f.reader.Variances(t.Index, f.marginGroupings(t, m)) {
			at := places[row]
			weight := 1 / max(v, leastCellVariance)
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

// leastCellVariance is the variance that stands for that of exact zeros.
const leastCellVariance = 0x1p-40

// orderWithin returns the chains of a table's attributes that a margin has, in the table's order.
func orderWithin(order []int, m fitting.Margin) []int {
	return slices.DeleteFunc(slices.Clone(order), func(chain int) bool { return m[chain] == 0 })
}

// marginGroupings returns the groupings that add a table's categories up to those of a margin.
func (f *consistentFit) marginGroupings(t fitting.Table, m fitting.Margin) []Grouping {
	out := make([]Grouping, len(t.Order))
	for i, chain := range t.Order {
		out[i] = Grouping{RowOf: f.Chains[chain].Within(t.Margin[chain], m[chain]),
			Rows: f.Chains[chain].Size(m[chain])}
	}
	return out
}

// roundSteps rounds the cells of every step to whole numbers, and returns what each table shows, in its own order.
func (f *consistentFit) roundSteps(ctx context.Context, r *stream) (map[int][]int64, error) {
	for i, s := range f.Steps {
		err := ctx.Err()
		switch {
		case err != nil:
		case s.Given != nil: // see setGiven
		case len(s.Fixed) == 0:
			f.rounded[i] = []int64{int64(math.Floor(f.projected[i][0] + 0.5))}
		case len(s.Fixed) == 1:
			f.rounded[i], err = f.apportionStep(i, r)
		default:
			f.rounded[i], err = f.roundCrossed(ctx, i, r)
		}
		if err != nil {
			return nil, err
		}
		progress.Add(ctx, 1)
	}
	out := map[int][]int64{}
	for i, t := range f.Tables {
		cells := sumsBy(f.rounded[t.From], f.Project(f.Steps[t.From].Margin, t.Margin), f.Cells(t.Margin))
		own := make([]int64, len(cells))
		for cell, at := range f.tables[i].indexes {
			own[cell] = cells[at]
		}
		out[t.Index] = own
	}
	return out, nil
}

// fixedCounts returns the whole numbers of a fixed margin.
func (f *consistentFit) fixedCounts(m fitting.FixedMargin) []int64 {
	return sumsBy(f.rounded[m.From], f.Project(f.Steps[m.From].Margin, m.Margin), f.Cells(m.Margin))
}

// apportionStep rounds a step with one fixed margin, sum by sum: each cell is in exactly one sum.
func (f *consistentFit) apportionStep(step int, r *stream) ([]int64, error) {
	s := f.Steps[step]
	sums := f.fixedCounts(s.Fixed[0])
	cells := make([]cell, len(f.projected[step]))
	for i, x := range f.projected[step] {
		cells[i] = newCell(x, r)
	}
	for sum, own := range groupRows(f.Project(s.Margin, s.Fixed[0].Margin), len(sums)) {
		var open []*cell
		for _, c := range own {
			if f.masks[step] == nil || !f.masks[step][c] {
				open = append(open, &cells[c])
			}
		}
		if !adjustSum(open, sums[sum]) {
			return nil, errNoCounts
		}
	}
	return wholeOf(cells), nil
}

// errNoCounts is the error for steps whose fixed margins do not agree.
var errNoCounts = fmt.Errorf("no whole counts have the sums that stand")

// roundCrossed rounds a step with several fixed margins by joining one margin after the other. In every category that
// both margins share, the cells of their join form a table whose rows come from one margin and whose columns come from
// the other.
func (f *consistentFit) roundCrossed(ctx context.Context, step int, r *stream) ([]int64, error) {
	s := f.Steps[step]
	joined, standing := s.Fixed[0].Margin, f.fixedCounts(s.Fixed[0])
	for _, m := range s.Fixed[1:] {
		next := joined.Join(m.Margin)
		real := sumsBy(f.projected[step], f.Project(s.Margin, next), f.Cells(next))
		one, rows, other, columns := m.Margin, f.fixedCounts(m), joined, standing
		if len(rows) < len(columns) { // rows must be the longer side
			one, rows, other, columns = other, columns, one, rows
		}
		shared := one.Meet(other)
		blocks := f.Cells(shared)
		rowsOf, columnsOf := groupRows(f.Project(one, shared), blocks), groupRows(f.Project(other, shared), blocks)
		cellsOf := groupRows(f.Project(next, shared), blocks)
		row, column := f.Project(next, one), f.Project(next, other)
		standing = make([]int64, len(real))
		for b := range blocks {
			places, err := blockCells(cellsOf[b], rowsOf[b], columnsOf[b], row, column)
			if err != nil {
				return nil, err
			}
			cells := make([]cell, len(places))
			for i, at := range places {
				cells[i] = newCell(real[at], r)
			}
			t := newTransport(cells, valuesAt(rows, rowsOf[b]), valuesAt(columns, columnsOf[b]))
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

// blockCells arranges cells as a table of rows × columns, row-major: row and column give the position of each cell. It
// returns an error if the cells do not form such a table.
func blockCells(cells, rows, columns, row, column []int32) ([]int32, error) {
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

func valuesAt[N int64 | float64](all []N, places []int32) []N {
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

// setGiven sets the cells of a step to the public figures of an invariant.
func (f *consistentFit) setGiven(step int) {
	f.rounded[step] = slices.Clone(f.Steps[step].Given)
	f.projected[step] = toFloats(f.rounded[step])
}
