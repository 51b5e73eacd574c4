package residual

import (
	"math"

	"github.com/dprelease/dprelease/plan/ranges"
)

// This file holds the tilt: how much the strategy of a ranged column leaves to the total, for the sake of the columns
// beside it.

// Tilted are the columns with the κ of each optimal ranged one for which the weighted sum of the variances of all that
// the marginals show is least, as [Workload.LeastSum] has it, of those in [ranges.Kappas]: column by column with the
// others as they are, until none moves. Other columns stay as they are. It fails as [NewWorkload] does.
func Tilted(columns []*Column, marginals []Marginal) ([]*Column, error) {
	t := tilting{tried: make([][]*Column, len(columns)), weights: make([]float64, len(marginals))}
	found := false
	for i, c := range columns {
		if c.ranged == nil || c.ranged.Method != Optimal {
			continue
		}
		found = true
		for _, kappa := range ranges.Kappas {
			trial, err := c.with(kappa)
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
	t.index()
	// Every move lowers the sum by more than rounding makes, so that this ends.
	for moved := true; moved; {
		moved = false
		for i := range columns {
			moved = t.tried[i] != nil && t.move(i) || moved
		}
	}
	return t.Columns, nil
}

// tilting is a workload whose columns' κ are being chosen.
type tilting struct {
	*Workload
	tried   [][]*Column // by column: itself with each κ; nil for those that stay
	weights []float64   // of marginals, times cells
	of      [][]at      // by column, the marginals that have it
}

// at is a column in a marginal.
type at struct {
	marginal int
	axis     Axis
}

func (t *tilting) index() {
	t.of = make([][]at, len(t.Columns))
	for m, marginal := range t.Marginals {
		for _, a := range marginal.Axes {
			if t.tried[a.Column] != nil {
				t.of[a.Column] = append(t.of[a.Column], at{m, a})
			}
		}
	}
}

// enough is by how much, relatively, a move must lower the sum.
const enough = 1e-9

// move gives a column its best κ with the others as they are.
//
// In S = Σ √(p_τ·v_τ) a residual τ that has the column has p_τ = p·(the column's squares) and v_τ = Σ over axes of
// coefficients × (its residual's reach), one that has not has v_τ = rest + Σ coefficients × (its total's reach).
func (t *tilting) move(column int) bool {
	now := t.Columns[column]
	places := map[Axis]int{} // of the axes on which marginals have the column
	var axes []Axis
	for _, m := range t.of[column] {
		if _, ok := places[m.axis]; !ok {
			places[m.axis] = len(axes)
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
	for _, m := range t.of[column] {
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
	for _, m := range t.of[column] {
		r, place := now.reaches(m.axis), places[m.axis]
		for _, u := range t.uses[m.marginal] {
			coefficients[u.residual*len(axes)+place] += float64(t.weights[m.marginal] * u.share / r[kind(has[u.residual])].mean)
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
				all += float64(coefficients[i*len(axes)+k] * c.reaches(a)[kind(has[i])].mean)
			}
			s += math.Sqrt(float64(p * all))
		}
		return s
	}
	best, least := now, sum(now)
	for _, c := range t.tried[column] {
		if s := sum(c); s < least*(1-enough) {
			best, least = c, s
		}
	}
	if best == now {
		return false
	}
	t.replace(column, best, has)
	return true
}

// kind is the place of a ranged column's residual, or of its total, among the reaches of an axis.
func kind(has bool) int {
	if has {
		return 1
	}
	return 0
}

// replace changes a column, and the shares of all that have it.
func (t *tilting) replace(column int, to *Column, has []bool) {
	now := t.Columns[column]
	for _, m := range t.of[column] {
		before, after := now.reaches(m.axis), to.reaches(m.axis)
		for i := range t.uses[m.marginal] {
			u := &t.uses[m.marginal][i]
			k := kind(has[u.residual])
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
