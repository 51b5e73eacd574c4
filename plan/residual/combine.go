package residual

import (
	"fmt"
	"slices"
)

// A Source is something that was measured with independent noise of one variance
// on every integer: a residual of the workload, or one of its marginals directly.
type Source struct {
	Place    int  // among Residuals, or among Marginals
	Direct   bool // a marginal
	Variance float64
}

// A Part is how far a residual's estimate rests on a source.
type Part struct {
	Source int // among the sources
	Weight float64
}

// Combination is the least-squares estimate of every residual from all sources that
// bear on it.
type Combination struct {
	// Variances are those of noise on the integers of a residual that would make it
	// as uncertain as its estimate is.
	Variances []float64
	Parts     [][]Part // by residual, weights of sum 1
}

// flat tells that every column of a marginal has one level.
func (w *Workload) flat(marginal int) bool {
	return !slices.ContainsFunc(w.Marginals[marginal].Axes, func(a Axis) bool { return w.Columns[a.Column].Levels() > 1 })
}

// Combine weighs, for every residual, all sources by their inverse variances. A
// marginal measured directly holds each of its residuals, with noise of the
// residual's own shape (it is the noise summed over the other axes and centred), and
// residuals of different axes are uncorrelated: so this is the generalised
// least-squares estimate, exactly.
//
// It fails where a residual has no source, and for direct sources of columns of
// several levels, whose groups give noise of other shapes.
func (w *Workload) Combine(sources []Source) (*Combination, error) {
	c := &Combination{Variances: make([]float64, len(w.Residuals)), Parts: make([][]Part, len(w.Residuals))}
	add := func(residual, source int, variance float64) {
		c.Parts[residual] = append(c.Parts[residual], Part{source, 1 / variance})
		c.Variances[residual] += 1 / variance // the precision, until all are added
	}
	for i, s := range sources {
		switch {
		case !s.Direct:
			add(s.Place, i, s.Variance)
		case !w.flat(s.Place):
			return nil, fmt.Errorf("marginal %v measured directly: noise on a column of several levels has not the shape of its residuals", w.Marginals[s.Place].Axes)
		default:
			for _, u := range w.uses[s.Place] {
				add(u.residual, i, float64(s.Variance*w.directFactor(s.Place, u.residual)))
			}
		}
	}
	for i, parts := range c.Parts {
		if parts == nil {
			return nil, fmt.Errorf("nothing measures the residual of %v", w.Residuals[i].Axes)
		}
		precision := c.Variances[i]
		for j := range parts {
			parts[j].Weight /= precision
		}
		c.Variances[i] = 1 / precision
	}
	return c, nil
}

// directFactor is the variance on the integers of a residual that noise of variance
// 1 on the cells of a marginal amounts to: it is summed over the other axes and, as
// the integers are n times as large, multiplied by n² of the residual's own.
func (w *Workload) directFactor(marginal, residual int) float64 {
	factor := w.cells[marginal]
	for _, a := range w.Residuals[residual].Axes {
		factor *= float64(w.Columns[a.Column].Size(a.Level))
	}
	return factor
}

// Find is the place of a residual, −1 where there is none.
func (w *Workload) Find(axes Set) int {
	at := int32(0)
	for _, a := range axes {
		next, ok := w.places[step{at, a}]
		if !ok {
			return -1
		}
		at = next
	}
	return w.sorted[at]
}

// Of lists the residuals of a marginal, by their places.
func (w *Workload) Of(marginal int) []int {
	out := make([]int, len(w.uses[marginal]))
	for i, u := range w.uses[marginal] {
		out[i] = u.residual
	}
	return out
}

// Sum adds up the cells of a marginal, of these axes, over all axes but those of a
// residual.
func Sum(columns []*Column, marginal, residual Set, cells []float64) []float64 {
	out := make([]float64, stridesAfter(columns, residual))
	at := []int{0}
	for _, a := range marginal {
		stride := 0
		for i, r := range residual {
			if r.Column == a.Column {
				stride = stridesAfter(columns, residual[i+1:])
			}
		}
		size := columns[a.Column].Size(a.Level)
		next := make([]int, 0, len(at)*size)
		for _, i := range at {
			for j := range size {
				next = append(next, i+stride*j)
			}
		}
		at = next
	}
	for i, v := range cells {
		out[at[i]] += v
	}
	return out
}
