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

// This file holds what is known of the columns of microdata from measurements that nothing was chosen by: the tables of
// the release, and beside them all that an adaptive method has measured.

// fixed is that for the columns of microdata.
type fixed struct {
	total   pool // of the number of rows
	sets    []set
	columns []column
	reader  *Reader
	totals  []single
}

// set is the unbiased estimate of the counts of a set of columns.
type set struct {
	known
	table int   // its place in the plan; −1: measured by an adaptive method
	order []int // of the table's attributes, the column of each
	unit  float64
	split []int // of each column, which of its partitions the set tells apart
}

// newFixed gathers what is known. It fails where a measurement is missing or not whole, and where nothing is known; and
// it ends with the context.
func newFixed(ctx context.Context, s *measured.Sealed, asked plan.Synthetic, columns []measured.Measured,
	rounds measured.Rounds) (*fixed, error) {
	f := &fixed{}
	var err error
	if f.reader, err = NewReader(s.Plan); err != nil {
		return nil, err
	}
	levels, err := plan.Query{Table: asked.Table, Factors: asked.By}.Levels(s.Plan.Release())
	if err != nil {
		return nil, err
	}
	if err := f.read(s, asked); err != nil {
		return nil, err
	}
	if columns != nil {
		for _, k := range knownOf(asked, columns, rounds) {
			if k.measured > 0 {
				f.sets = append(f.sets, set{known: k, table: -1, unit: 1})
			}
		}
	}
	if len(f.totals) == 0 && len(f.sets) == 0 {
		return nil, fmt.Errorf("the microdata of %s: no table of the release tells of their columns", asked.Table)
	}
	for i := range f.sets {
		f.totals = f.add(f.totals, &f.sets[i], -1)
	}
	for _, one := range f.totals {
		f.total.add(one.counts[0], one.variance)
	}
	f.columns = make([]column, len(asked.By))
	for i, level := range levels {
		f.columns[i] = newColumn(i, level.Size(), f.sets)
	}
	for i := range f.columns {
		if ctx.Err() == nil {
			f.learn(ctx, i)
		}
	}
	return f, ctx.Err()
}

// read reads the estimates of the release's tables.
func (f *fixed) read(s *measured.Sealed, asked plan.Synthetic) error {
	byID := measured.ByID(s.Measured)
	together := make([]*reconstruction, len(f.reader.estimates))
	for _, e := range tabulation.Of(s.Plan.Plan(), asked) {
		t := s.Plan.Tables[e.Table]
		st := t.Statistics[0]
		one := set{known: known{path: t.Path, measured: 1}, table: e.Table, unit: st.UnitValue()}
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
			cells = r.shown(at.marginal, r.Axes[at.marginal])
			one.sigma = max(st.StandardError, math.Sqrt(leastVariance))
			if f.reader.Held(e.Table) { // the plan says the error of what is published, and read are the estimates
				groupings := make([]Grouping, len(e.By))
				for i, b := range e.By {
					groupings[i] = Grouping{Of: identity[int](b.Categories), Rows: b.Categories}
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
		keys, err := keysOf(s.Plan.Release(), levelsOf(asked, e.By))
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Path, err)
		}
		one.arrange(e.By, keys, cells)
		if len(e.By) == 0 {
			f.totals = f.add(f.totals, &one, -1)
			continue
		}
		f.sets = append(f.sets, one)
	}
	return nil
}

// levelsOf are columns of microdata at the levels that a table has.
func levelsOf(asked plan.Synthetic, by []tabulation.Column) plan.Query {
	q := plan.Query{Table: asked.Table}
	for _, b := range by {
		q.Factors = append(q.Factors, plan.Factor{Attribute: asked.By[b.Column].Attribute, Level: b.Level,
			Basis: plan.Identity})
	}
	return q
}

// arrange takes the cells of a table, whose columns come to lie in ascending order.
func (s *set) arrange(by []tabulation.Column, keys []Key, cells []float64) {
	axes := identity[int](len(by))
	for _, b := range by {
		s.order = append(s.order, b.Column)
	}
	slices.SortFunc(axes, func(a, b int) int { return cmp.Compare(by[a].Column, by[b].Column) })
	steps := make([]int, len(by)) // of each attribute, among the arranged cells
	step := 1
	for _, axis := range slices.Backward(axes) {
		steps[axis] = step
		step *= by[axis].Categories
	}
	for _, axis := range axes {
		s.columns, s.sizes = append(s.columns, by[axis].Column), append(s.sizes, by[axis].Categories)
		s.of, s.keys = append(s.of, by[axis].Of), append(s.keys, keys[axis])
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

// single is what is known of the sums of a set: by the classes of one of its columns, or of all rows.
type single struct {
	from     *set
	split    int // of the column
	counts   []float64
	variance float64 // mean of a sum's
}

// sums adds a set up by the classes of one of its columns, the at-th, or to the total for −1.
func (f *fixed) sums(s *set, at int) single {
	size, step := 1, 1
	if at >= 0 {
		size, step = s.sizes[at], product(s.sizes[at+1:])
	}
	out := single{from: s, counts: make([]float64, size)}
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
		groupings[i] = Grouping{Of: make([]int, s.sizes[own]), Rows: 1}
		if own == at {
			groupings[i] = Grouping{Of: identity[int](size), Rows: size}
		}
	}
	variances := f.reader.measuredVariances(s.table, groupings)
	out.variance = max(float64(float64(s.unit*s.unit)*(sum(variances)/float64(len(variances)))), leastVariance)
	return out
}

// add adds what a set says of a column, or of the total. Of several that were put together from the same estimates,
// which all say the same of it, the smallest stays.
func (f *fixed) add(all []single, s *set, at int) []single {
	for i, other := range all {
		if s.table >= 0 && other.from.table >= 0 && f.reader.Together(s.table, other.from.table) &&
			(at < 0 || other.split == s.split[at]) {
			if len(s.counts) < len(other.from.counts) {
				all[i] = f.sums(s, at)
			}
			return all
		}
	}
	return append(all, f.sums(s, at))
}
