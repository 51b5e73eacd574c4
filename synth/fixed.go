package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/tabulation"
)

// This file holds what measurements say of the columns of microdata if no model chose them: the tables of the release,
// together with all measurements of an adaptive method.

// fixedEstimates is what is known of the columns of microdata.
type fixedEstimates struct {
	total   pool // estimates of the number of rows
	sets    []set
	columns []column
	reader  *Reader
	totals  []columnSums
}

// set is the unbiased estimate of the counts of a set of columns, with its source.
type set struct {
	setEstimate
	table int   // index in the plan; −1: measured by an adaptive method
	order []int // by attribute of the table: the index of its column
	unit  float64
	split []int // by column: the index of the partition by which the set divides it
}

// newFixed collects what is known. It returns an error if a measurement is missing or incomplete, and if nothing is
// known. It ends with the context.
func newFixed(ctx context.Context, s *measured.Sealed, synthetic plan.Synthetic, columns []measured.Measured,
	rounds measured.Rounds) (*fixedEstimates, error) {
	f := &fixedEstimates{}
	var err error
	if f.reader, err = NewReader(s.Plan); err != nil {
		return nil, err
	}
	levels, err := plan.Query{Table: synthetic.Table, Factors: synthetic.By}.Levels(s.Plan.Release())
	if err != nil {
		return nil, err
	}
	if err := f.readTables(s, synthetic); err != nil {
		return nil, err
	}
	if columns != nil {
		for _, k := range estimatesOf(synthetic, columns, rounds) {
			if k.measured > 0 {
				f.sets = append(f.sets, set{setEstimate: k, table: -1, unit: 1})
			}
		}
	}
	if len(f.totals) == 0 && len(f.sets) == 0 {
		return nil, fmt.Errorf("the microdata of %s: no table of the release has their columns", synthetic.Table)
	}
	for i := range f.sets {
		f.totals = f.addSums(f.totals, &f.sets[i], -1)
	}
	for _, one := range f.totals {
		f.total.add(one.counts[0], one.variance)
	}
	f.columns = make([]column, len(synthetic.By))
	for i, level := range levels {
		f.columns[i] = newColumn(i, level.Size(), f.sets)
	}
	for i := range f.columns {
		if ctx.Err() == nil {
			f.fitColumn(ctx, i)
		}
	}
	return f, ctx.Err()
}

// readTables reads the estimates of the release's tables.
func (f *fixedEstimates) readTables(s *measured.Sealed, synthetic plan.Synthetic) error {
	byID := measured.ByID(s.Measured)
	together := make([]*reconstruction, len(f.reader.estimates))
	for _, e := range tabulation.Tables(s.Plan.Plan(), synthetic) {
		t := s.Plan.Tables[e.Table]
		st := t.Statistics[0]
		one := set{setEstimate: setEstimate{path: t.Path, measured: 1}, table: e.Table, unit: st.UnitValue()}
		var cells []float64
		if at := f.reader.at[e.Table]; at.estimate < 0 {
			m, ok := byID[st.Measurement]
			if !ok || m.Values == nil || int64(m.Values.Len()) != t.Cells {
				return fmt.Errorf("table %s: measurement %s is missing, or not whole", t.Path, st.Measurement)
			}
			cells = countsOf(m)
			one.sigma = float64(one.unit * math.Sqrt(varianceOf(m)))
			if m.Measurement.Mechanism.Kind.Normal() {
				one.proxy = float64(float64(one.unit*one.unit) * proxyOf(m))
			}
		} else {
			if together[at.estimate] == nil {
				var err error
				if together[at.estimate], err = newReconstruction(f.reader.estimates[at.estimate], byID); err != nil {
					return fmt.Errorf("table %s: %w", t.Path, err)
				}
			}
			r := together[at.estimate]
			cells = r.shownCells(at.marginal, r.Axes[at.marginal])
			one.sigma = max(st.StandardError, math.Sqrt(leastVariance))
			if f.reader.IsInvariant(e.Table) {
				// The plan gives the error of the public figure, but the measured estimate is used.
				groupings := make([]Grouping, len(e.By))
				for i, b := range e.By {
					groupings[i] = Grouping{RowOf: identity[int](b.Categories), Rows: b.Categories}
				}
				v := f.reader.measuredVariances(e.Table, groupings)
				one.sigma = float64(one.unit * math.Sqrt(sum(v)/float64(len(v))))
			}
		}
		if int64(len(cells)) != t.Cells {
			return fmt.Errorf("table %s is not whole", t.Path)
		}
		for i, x := range cells {
			cells[i] = min(max(float64(one.unit*x), -mostCount), mostCount)
		}
		keys, err := keysOf(s.Plan.Release(), levelsOf(synthetic, e.By))
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Path, err)
		}
		one.setCells(e.By, keys, cells)
		if len(e.By) == 0 {
			f.totals = f.addSums(f.totals, &one, -1)
			continue
		}
		f.sets = append(f.sets, one)
	}
	return nil
}

// levelsOf returns a query of columns of microdata at the levels of a table.
func levelsOf(synthetic plan.Synthetic, by []tabulation.Column) plan.Query {
	q := plan.Query{Table: synthetic.Table}
	for _, b := range by {
		q.Factors = append(q.Factors, plan.Factor{Attribute: synthetic.By[b.Column].Attribute, Level: b.Level,
			Basis: plan.Identity})
	}
	return q
}

// setCells stores the cells of a table with its columns in ascending order.
func (s *set) setCells(by []tabulation.Column, keys []Key, cells []float64) {
	axes := identity[int](len(by))
	for _, b := range by {
		s.order = append(s.order, b.Column)
	}
	slices.SortFunc(axes, func(a, b int) int { return cmp.Compare(by[a].Column, by[b].Column) })
	steps := make([]int, len(by)) // by attribute: its stride among the stored cells
	step := 1
	for _, axis := range slices.Backward(axes) {
		steps[axis] = step
		step *= by[axis].Categories
	}
	for _, axis := range axes {
		s.columns, s.sizes = append(s.columns, by[axis].Column), append(s.sizes, by[axis].Categories)
		s.of, s.keys = append(s.of, by[axis].CategoryOf), append(s.keys, keys[axis])
	}
	s.counts = make([]float64, len(cells))
	place, at := make([]int, len(by)), 0
	for _, x := range cells {
		s.counts[at] = x
		for axis := len(by) - 1; axis >= 0; axis-- {
			at += steps[axis]
			if place[axis]++; place[axis] < by[axis].Categories {
				break
			}
			at -= steps[axis] * by[axis].Categories
			place[axis] = 0
		}
	}
}

// columnSums are sums of a set by the classes of one of its columns, or its total.
type columnSums struct {
	from     *set
	split    int // index of the column's partition
	counts   []float64
	variance float64 // mean over the sums
}

// sumSet adds a set up by the classes of its at-th column, or to the total if at is −1.
func (f *fixedEstimates) sumSet(s *set, at int) columnSums {
	size, step := 1, 1
	if at >= 0 {
		size, step = s.sizes[at], product(s.sizes[at+1:])
	}
	out := columnSums{from: s, counts: make([]float64, size)}
	if at >= 0 && s.split != nil {
		out.split = s.split[at]
	}
	for i, x := range s.counts {
		out.counts[i/step%size] += x
	}
	if s.table < 0 {
		out.variance = float64(float64(s.sigma*s.sigma) * float64(len(s.counts)/size))
		return out
	}
	groupings := make([]Grouping, len(s.order))
	for i, column := range s.order {
		own := slices.Index(s.columns, column)
		groupings[i] = Grouping{RowOf: make([]int, s.sizes[own]), Rows: 1}
		if own == at {
			groupings[i] = Grouping{RowOf: identity[int](size), Rows: size}
		}
	}
	variances := f.reader.measuredVariances(s.table, groupings)
	out.variance = max(float64(float64(s.unit*s.unit)*(sum(variances)/float64(len(variances)))), leastVariance)
	return out
}

// addSums adds the sums of a set for one of its columns, or for the total. Of several sets that were reconstructed from
// the same estimates, and therefore agree, it keeps the smallest.
func (f *fixedEstimates) addSums(all []columnSums, s *set, at int) []columnSums {
	for i, other := range all {
		if s.table >= 0 && other.from.table >= 0 && f.reader.Together(s.table, other.from.table) &&
			(at < 0 || other.split == s.split[at]) {
			if len(s.counts) < len(other.from.counts) {
				all[i] = f.sumSet(s, at)
			}
			return all
		}
	}
	return append(all, f.sumSet(s, at))
}
