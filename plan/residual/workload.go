package residual

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// An Axis is a column at a level ≥ 1, with what a marginal shows of it. In a residual Sums is 0.
type Axis struct {
	Column, Level int
	Sums          Sums
}

// Sums says which sums of categories a marginal shows along an axis.
type Sums int

const (
	// Cells are the categories themselves.
	Cells Sums = iota
	// Prefixes are the sums of each category and all before it.
	Prefixes
	// Ranges are the categories, of which a reader may add up those from one to another: the error that counts is the
	// error of all such sums.
	Ranges
)

// A Set is a marginal, or a residual of one: axes of ascending columns. The empty
// set is the total.
type Set []Axis

// Marginal is a requested marginal. Importance is the weight of the variance of each of its cells.
type Marginal struct {
	Axes       Set
	Importance float64
}

// Residual is one residual of a strategy.
type Residual struct {
	Axes Set
	// Squares is the largest squared L2 norm by which one row changes its integers.
	Squares float64
	// Variance is the variance of the noise on each of its integers.
	Variance float64
}

// Workload is the marginals that are planned together, with all residuals that they need. Make one with
// [NewWorkload].
type Workload struct {
	Columns   []*Column
	Marginals []Marginal
	// Residuals are those that occur: by number of axes, then in the order of columns and levels. Their variances are
	// not set.
	Residuals []Residual

	uses       [][]use // by marginal
	cells      []float64
	extensions map[step]int32 // in the order in which residuals were found
	sorted     []int          // from there to the place among Residuals
}

// use is a residual in a marginal: share is the mean over cells of what noise of variance 1 on the residual's
// integers adds to the variance of a cell, and peak the largest.
type use struct {
	residual    int
	share, peak float64
}

// MostResiduals is how many residuals all marginals may have together, each counted in every marginal that it
// contributes to. It bounds the work of planning.
const MostResiduals = 1 << 25

// ErrManyResiduals is the error for marginals with more than [MostResiduals].
var ErrManyResiduals = errors.New("the marginals have too many residuals")

// NewWorkload finds the residuals of marginals. It returns an error for no marginals, for a weight that is not
// positive, and for marginals of so many attributes that their residuals cannot be listed.
func NewWorkload(columns []*Column, marginals []Marginal) (*Workload, error) {
	w := &Workload{Columns: columns, Marginals: marginals, uses: make([][]use, len(marginals)),
		cells: make([]float64, len(marginals))}
	if len(marginals) == 0 {
		return nil, fmt.Errorf("there is no marginal")
	}
	total := 0.0
	for _, m := range marginals {
		if !(m.Importance > 0) || math.IsInf(m.Importance, 1) {
			return nil, fmt.Errorf("a weight must be positive")
		}
		n := 1.0
		for _, a := range m.Axes {
			n *= float64(len(columns[a.Column].ContributingLevels(a.Level)))
		}
		if total += n; total > MostResiduals {
			return nil, ErrManyResiduals
		}
	}
	w.Residuals = []Residual{{Squares: 1}} // the total
	w.extensions = map[step]int32{}
	f := finder{Workload: w, shares: map[Axis][]share{}}
	for i := range marginals {
		f.findResiduals(i)
	}
	f.sortResiduals()
	return w, nil
}

// finder lists the residuals of a workload.
type finder struct {
	*Workload
	shares map[Axis][]share
	own    [][]share // of the axes of one marginal
}

// step leads from a residual to the one with an additional axis. Every residual of a marginal is reached by axes that
// are residuals of it too.
type step struct{ from, column, level int32 }

func stepTo(from int32, a Axis) step { return step{from, int32(a.Column), int32(a.Level)} }

// share is a column's factor of a use of its residual of a level.
type share struct {
	level      int
	mean, peak float64
}

// sharesOf returns the factors of an axis, for the column's residuals that contribute to it.
func (f *finder) sharesOf(a Axis) []share {
	all, ok := f.shares[a]
	if !ok {
		c := f.Columns[a.Column]
		levels := c.ContributingLevels(a.Level)
		for k, r := range c.axisVarianceFactors(a) {
			one := share{levels[k], r.mean, slices.Max(r.each)}
			if levels[k] > 0 && c.Sensitivity(levels[k]).Squares == 0 { // every group has one category
				one.mean, one.peak = 0, 0
			}
			all = append(all, one)
		}
		f.shares[a] = all
	}
	return all
}

// findResiduals lists the residuals of a marginal: each of its axes at its level or a coarser one, or left out.
func (f *finder) findResiduals(marginal int) {
	axes := f.Marginals[marginal].Axes
	shares := slices.Grow(f.own[:0], len(axes))[:len(axes)]
	f.own = shares
	f.cells[marginal] = 1
	count := 1
	for i, a := range axes {
		f.cells[marginal] *= float64(f.Columns[a.Column].Size(a.Level))
		shares[i] = f.sharesOf(a)
		count *= len(shares[i])
	}
	uses := make([]use, 0, count)
	var walk func(i int, at int32, share, peak float64)
	walk = func(i int, at int32, share, peak float64) {
		if i == len(axes) {
			uses = append(uses, use{int(at), share, peak})
			return
		}
		for _, s := range shares[i] {
			next := at
			switch {
			case s.level > 0 && s.peak == 0: // every group has one category: there is no residual
				continue
			case s.level > 0:
				next = f.extend(at, Axis{Column: axes[i].Column, Level: s.level})
			}
			walk(i+1, next, float64(share*s.mean), float64(peak*s.peak))
		}
	}
	walk(0, 0, 1, 1)
	f.uses[marginal] = uses
}

// extend returns the residual with an additional axis, and adds it if it is new.
func (f *finder) extend(from int32, a Axis) int32 {
	key := stepTo(from, a)
	at, ok := f.extensions[key]
	if !ok {
		at = int32(len(f.Residuals))
		axes := make(Set, len(f.Residuals[from].Axes), len(f.Residuals[from].Axes)+1)
		copy(axes, f.Residuals[from].Axes)
		f.extensions[key] = at
		f.Residuals = append(f.Residuals, Residual{
			Axes: append(axes, a), Squares: f.Residuals[from].Squares * float64(
				f.Columns[a.Column].squaredNorm(a.Level)),
		})
	}
	return at
}

// sortResiduals sorts the residuals.
func (f *finder) sortResiduals() {
	order := upTo(len(f.Residuals))
	slices.SortFunc(order, func(a, b int) int { return compareSets(f.Residuals[a].Axes, f.Residuals[b].Axes) })
	sorted, at := make([]Residual, len(order)), make([]int, len(order))
	for i, o := range order {
		sorted[i], at[o] = f.Residuals[o], i
	}
	f.Residuals, f.sorted = sorted, at
	for _, uses := range f.uses {
		for i := range uses {
			uses[i].residual = at[uses[i].residual]
		}
	}
}

// compareSets orders sets by their number of axes, then by columns and levels.
func compareSets(a, b Set) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	for i := range a {
		if d := a[i].Column - b[i].Column; d != 0 {
			return d
		}
		if d := a[i].Level - b[i].Level; d != 0 {
			return d
		}
	}
	return 0
}

// Cells returns the number of cells of a marginal.
func (w *Workload) Cells(marginal int) float64 { return w.cells[marginal] }

// Variance returns the mean variance of the cells of a marginal under a strategy, given by the variances of its
// residuals, and an upper bound for all cells. [Workload.Largest] is the largest variance itself, as the worst cell
// of one residual need not be the worst of another.
func (w *Workload) Variance(marginal int, variances []float64) (mean, bound float64) {
	for _, u := range w.uses[marginal] {
		mean += float64(u.share * variances[u.residual])
		bound += float64(u.peak * variances[u.residual])
	}
	return mean, bound
}

// Shares visits the residuals of a marginal, each with the mean over cells of what noise of variance 1 on its
// integers adds to the variance of a cell.
func (w *Workload) Shares(marginal int, visit func(residual int, share float64)) {
	for _, u := range w.uses[marginal] {
		visit(u.residual, u.share)
	}
}

// CellVariances returns the variances of the cells of a marginal, or of the sums that it shows instead, given those
// of the residuals. The axes may be in any order.
func (w *Workload) CellVariances(axes Set, variances []float64) []float64 {
	perAxis := make([][]varianceFactors, len(axes))
	for i, a := range axes {
		perAxis[i] = w.Columns[a.Column].axisVarianceFactors(a)
	}
	return w.cellVariances(axes, variances, perAxis)
}

// Largest returns the variance of the worst cell of a marginal, given those of the residuals.
func (w *Workload) Largest(marginal int, variances []float64) float64 {
	axes := w.Marginals[marginal].Axes
	perAxis := make([][]varianceFactors, len(axes))
	for i, a := range axes {
		all := w.Columns[a.Column].axisVarianceFactors(a)
		rows := worstRows(all)
		for _, r := range all {
			some := zeroVarianceFactors(len(rows))
			for j, row := range rows {
				some.each[j] = r.each[row]
			}
			perAxis[i] = append(perAxis[i], some)
		}
	}
	return slices.Max(w.cellVariances(axes, variances, perAxis))
}

// cellVariances adds up, over the residuals of a marginal, what their noise adds to each row. It works out one row
// only of axes whose rows are all equal.
func (w *Workload) cellVariances(axes Set, variances []float64, perAxis [][]varianceFactors) []float64 {
	sizes, counted := make([]int, len(axes)), make([]int, len(axes))
	n, all := 1, 1
	for i, r := range perAxis {
		sizes[i], counted[i] = len(r[0].each), len(r[0].each)
		if !slices.ContainsFunc(r, func(one varianceFactors) bool {
			return slices.Min(one.each) != slices.Max(one.each)
		}) {
			counted[i] = 1
		}
		n *= counted[i]
		all *= sizes[i]
	}
	out := make([]float64, n)
	levels, factors := make([]int, len(axes)), make([][]float64, len(axes))
	var walk func(i int)
	walk = func(i int) {
		if i == len(axes) {
			if at := w.Find(residualAt(axes, levels)); at >= 0 { // if not, it is always 0
				addProducts(out, factors, variances[at])
			}
			return
		}
		for k, level := range w.Columns[axes[i].Column].ContributingLevels(axes[i].Level) {
			levels[i], factors[i] = level, perAxis[i][k].each[:counted[i]]
			walk(i + 1)
		}
	}
	walk(0)
	if n == all {
		return out
	}
	return broadcast(out, counted, sizes)
}

// residualAt returns the residual of some axes at these levels, 0 for an axis that is left out.
func residualAt(axes Set, levels []int) Set {
	var out Set
	for i, a := range axes {
		if levels[i] > 0 {
			out = append(out, Axis{Column: a.Column, Level: levels[i]})
		}
	}
	slices.SortFunc(out, func(a, b Axis) int { return a.Column - b.Column })
	return out
}
