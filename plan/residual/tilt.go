package residual

import (
	"math"

	"github.com/dprelease/dprelease/plan/ranges"
)

// This file holds the tilt: how much the strategy of a ranged column leaves to the total, for the benefit of the
// other columns.

// WithKappas returns the columns with the κ of each optimal ranged one, among [ranges.Kappas], that minimises the
// weighted sum of the variances of all that the marginals show, as [Workload.MinimiseSum] does: column by column with
// the others unchanged, until none changes. Other columns stay unchanged. It returns an error as [NewWorkload] does.
func WithKappas(columns []*Column, marginals []Marginal) ([]*Column, error) {
	t := tilting{tried: make([][]*Column, len(columns)), weights: make([]float64, len(marginals))}
	found := false
	for i, c := range columns {
		if c.ranged == nil || c.ranged.Method != Optimal {
			continue
		}
		found = true
		for _, kappa := range ranges.Kappas {
			trial, err := c.withKappa(kappa)
			if err != nil {
				return nil, err
			}
			t.tried[i] = append(t.tried[i], trial)
		}
	}
	if !found {
		return columns, nil
	}
	var err error
	if t.Workload, err = NewWorkload(append([]*Column{}, columns...), marginals); err != nil {
		return nil, err
	}
	for i, m := range marginals {
		t.weights[i] = float64(m.Importance * t.cells[i])
	}
	t.indexColumns()
	// Every move lowers the sum by more than rounding makes, so that this ends.
	for moved := true; moved; {
		moved = false
		for i := range columns {
			moved = t.tried[i] != nil && t.improve(i) || moved
		}
	}
	return t.Columns, nil
}

// tilting is a workload while its columns' κ are chosen.
type tilting struct {
	*Workload
	tried       [][]*Column   // by column: itself with each κ; nil for other columns
	weights     []float64     // of marginals, times cells
	marginalsOf [][]columnUse // by column, the marginals that have it
}

// columnUse is a column in a marginal.
type columnUse struct {
	marginal int
	axis     Axis
}

func (t *tilting) indexColumns() {
	t.marginalsOf = make([][]columnUse, len(t.Columns))
	for m, marginal := range t.Marginals {
		for _, a := range marginal.Axes {
			if t.tried[a.Column] != nil {
				t.marginalsOf[a.Column] = append(t.marginalsOf[a.Column], columnUse{m, a})
			}
		}
	}
}

// leastGain is by how much, relatively, a change must lower the sum.
const leastGain = 1e-9

// improve gives a column its best κ with the others unchanged. It reports whether that changes the column.
//
// In S = Σ √(p_τ·v_τ) a residual τ that has the column has p_τ = p·(the column's squares) and v_τ = Σ over axes of
// coefficients × (its residual's factor); one that does not has v_τ = rest + Σ coefficients × (its total's factor).
func (t *tilting) improve(column int) bool {
	now := t.Columns[column]
	axisIndex := map[Axis]int{} // of the axes on which marginals have the column
	var axes []Axis
	for _, m := range t.marginalsOf[column] {
		if _, ok := axisIndex[m.axis]; !ok {
			axisIndex[m.axis] = len(axes)
			axes = append(axes, m.axis)
		}
	}
	v := make([]float64, len(t.Residuals)) // of all marginals without the column
	has := make([]bool, len(t.Residuals))
	for i, r := range t.Residuals {
		for _, a := range r.Axes {
			has[i] = has[i] || a.Column == column
		}
	}
	with := make([]bool, len(t.Marginals))
	for _, m := range t.marginalsOf[column] {
		with[m.marginal] = true
	}
	for m, uses := range t.uses {
		for _, u := range uses {
			if !with[m] {
				v[u.residual] += float64(t.weights[m] * u.share)
			}
		}
	}
	coefficients := make([]float64, len(t.Residuals)*len(axes))
	touched := make([]bool, len(t.Residuals))
	for _, m := range t.marginalsOf[column] {
		r, index := now.axisVarianceFactors(m.axis), axisIndex[m.axis]
		for _, u := range t.uses[m.marginal] {
			mean := r[varianceFactorIndex(has[u.residual])].mean
			coefficients[u.residual*len(axes)+index] += float64(t.weights[m.marginal] * u.share / mean)
			touched[u.residual] = true
		}
	}
	sum := func(c *Column) float64 {
		change := float64(c.ranged.figures.Squares) / float64(now.ranged.figures.Squares)
		var s float64
		for i, r := range t.Residuals {
			if !touched[i] {
				continue // the same for all
			}
			all, p := v[i], r.Squares
			if has[i] {
				p = float64(p * change)
			}
			for k, a := range axes {
				all += float64(coefficients[i*len(axes)+k] * c.axisVarianceFactors(a)[varianceFactorIndex(has[i])].mean)
			}
			s += math.Sqrt(float64(p * all))
		}
		return s
	}
	best, least := now, sum(now)
	for _, c := range t.tried[column] {
		if s := sum(c); s < least*(1-leastGain) {
			best, least = c, s
		}
	}
	if best == now {
		return false
	}
	t.replace(column, best, has)
	return true
}

// varianceFactorIndex returns the index of a ranged column's residual, or of its total, among the factors of an axis.
func varianceFactorIndex(has bool) int {
	if has {
		return 1
	}
	return 0
}

// replace changes a column, and the shares of all residuals in marginals that have it.
func (t *tilting) replace(column int, to *Column, has []bool) {
	now := t.Columns[column]
	for _, m := range t.marginalsOf[column] {
		before, after := now.axisVarianceFactors(m.axis), to.axisVarianceFactors(m.axis)
		for i := range t.uses[m.marginal] {
			u := &t.uses[m.marginal][i]
			k := varianceFactorIndex(has[u.residual])
			u.share = float64(u.share / before[k].mean * after[k].mean)
		}
	}
	for i := range t.Residuals {
		if has[i] {
			t.Residuals[i].Squares = float64(t.Residuals[i].Squares / float64(now.ranged.figures.Squares) * float64(
				to.ranged.figures.Squares))
		}
	}
	t.Columns[column] = to
}
