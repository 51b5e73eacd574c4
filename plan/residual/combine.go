package residual

import (
	"fmt"
	"slices"
)

// A Source is a measurement with independent noise of one variance on every integer. Each of its axes is measured as
// counts (plain) or as its residual: with all axes plain, it is a marginal; with none, it is a residual; with some,
// it is for instance the deviation of each age from the mean, region by region.
type Source struct {
	Axes     Set    // in the order of its integers, the last axis's fastest
	Plain    []bool // by axis
	Variance float64
}

// CountsOf returns the source that is a marginal measured by itself.
func CountsOf(axes Set, variance float64) Source {
	s := ResidualOf(axes, variance)
	for i := range s.Plain {
		s.Plain[i] = true
	}
	return s
}

// ResidualOf returns the source that is a residual.
func ResidualOf(axes Set, variance float64) Source {
	return Source{Axes: axes, Plain: make([]bool, len(axes)), Variance: variance}
}

// Marginal reports whether the source is a marginal. The total is one, and also a residual.
func (s Source) Marginal() bool { return !slices.Contains(s.Plain, false) }

// Residual reports whether the source is a residual.
func (s Source) Residual() bool { return !slices.Contains(s.Plain, true) }

// A Part is the weight of a source in a residual's estimate.
type Part struct {
	Source int // index among the sources
	Weight float64
}

// Combination is the least-squares estimate of every residual from all sources that contribute to it.
type Combination struct {
	// Variances are the variances of noise on the integers of a residual that would make it as uncertain as its
	// estimate is.
	Variances []float64
	Parts     [][]Part // by residual, weights of sum 1
}

// Combine weighs, for every residual, all sources by their inverse variances. A source contains each residual that
// has all its residual axes and any of the others, with noise of the residual's own shape (it is the noise summed
// over the axes left out, and centred along plain ones), and residuals of different axes are uncorrelated: so this is
// the generalised least-squares estimate, exactly.
//
// It returns an error if a residual has no source, and for sources with a plain axis whose counts have noise of
// another shape than the residuals of its column: of a level beyond the first.
func (w *Workload) Combine(sources []Source) (*Combination, error) {
	c := &Combination{Parts: make([][]Part, len(w.Residuals))}
	precisions, err := w.sumPrecisions(sources, func(residual, source int, precision float64) {
		c.Parts[residual] = append(c.Parts[residual], Part{source, precision})
	})
	if err != nil {
		return nil, err
	}
	for i, parts := range c.Parts {
		for j := range parts {
			parts[j].Weight /= precisions[i]
		}
	}
	c.Variances = invert(precisions)
	return c, nil
}

// Estimated returns the variances of the estimates of [Workload.Combine], without their parts.
func (w *Workload) Estimated(sources []Source) ([]float64, error) {
	precisions, err := w.sumPrecisions(sources, func(int, int, float64) {})
	return invert(precisions), err
}

// invert replaces each x by 1/x.
func invert(all []float64) []float64 {
	for i, x := range all {
		all[i] = 1 / x
	}
	return all
}

// sumPrecisions adds up, for every residual, the precisions of the sources that contribute to it, and visits each of
// these.
func (w *Workload) sumPrecisions(sources []Source, visit func(residual, source int, precision float64)) ([]float64,
	error) {
	precisions := make([]float64, len(w.Residuals))
	for i, s := range sources {
		err := w.VisitContributions(s, func(residual int, factor float64) {
			precision := 1 / float64(s.Variance*factor)
			precisions[residual] += precision
			visit(residual, i, precision)
		})
		if err != nil {
			return nil, err
		}
	}
	for i, precision := range precisions {
		if precision == 0 {
			return nil, fmt.Errorf("nothing measures the residual of %v", w.Residuals[i].Axes)
		}
	}
	return precisions, nil
}

// VisitContributions visits the residuals of the workload to which a source contributes, each with the variance on the
// integers of the residual that corresponds to noise of variance 1 on those of the source. It returns an error as
// [Workload.Combine] does for counts whose noise has another shape.
func (w *Workload) VisitContributions(s Source, visit func(residual int, factor float64)) error {
	if err := w.checkShape(s); err != nil {
		return err
	}
	w.visitResiduals(s, visit)
	return nil
}

// checkShape returns an error for sources whose noise has another shape than that of their residuals.
func (w *Workload) checkShape(s Source) error {
	for i, a := range s.Axes {
		if s.Plain[i] && (a.Level > 1 || w.Columns[a.Column].ranged != nil) {
			return fmt.Errorf("counts of %v: noise on a column of several levels, or of ranges, has not the shape of "+
				"its residuals", s.Axes)
		}
	}
	return nil
}

// visitResiduals visits the residuals of the workload that a source contains, each with the variance on its integers
// that corresponds to noise of variance 1 on those of the source: the noise is summed over the plain axes that the
// residual leaves out, n of each, and, as its integers are n times as large as counts, multiplied by n² for those
// that it has.
func (w *Workload) visitResiduals(s Source, visit func(residual int, factor float64)) {
	order := upTo(len(s.Axes))
	slices.SortFunc(order, func(a, b int) int { return s.Axes[a].Column - s.Axes[b].Column })
	var walk func(i int, at int32, factor float64)
	walk = func(i int, at int32, factor float64) {
		if i == len(order) {
			visit(w.sorted[at], factor)
			return
		}
		a, size := s.Axes[order[i]], 1.0
		if s.Plain[order[i]] {
			size = float64(w.Columns[a.Column].Size(a.Level))
			walk(i+1, at, float64(factor*size))
		}
		if next, ok := w.extensions[stepTo(at, a)]; ok {
			walk(i+1, next, float64(float64(factor*size)*size))
		}
	}
	walk(0, 0, 1)
}

// HasResidualOf reports whether a source contains a residual of the workload.
func (w *Workload) HasResidualOf(s Source) bool {
	found := false
	w.visitResiduals(s, func(int, float64) { found = true })
	return found
}

// Find returns the index of a residual, −1 if there is none.
func (w *Workload) Find(axes Set) int {
	at := int32(0)
	for _, a := range axes {
		next, ok := w.extensions[stepTo(at, a)]
		if !ok {
			return -1
		}
		at = next
	}
	return w.sorted[at]
}

// ResidualsOf returns the indices of the residuals of a marginal.
func (w *Workload) ResidualsOf(marginal int) []int {
	out := make([]int, len(w.uses[marginal]))
	for i, u := range w.uses[marginal] {
		out[i] = u.residual
	}
	return out
}

// Figure returns a residual as a source measures it, in units of counts, from the noisy integers of the source:
// summed over the axes that the residual leaves out, and centred.
func (s Source) Figure(columns []*Column, residual Set, noisy []float64) []float64 {
	var sizes, left []int // of the axes that are left, and which they are
	x, stride := slices.Clone(noisy), 1
	for i := len(s.Axes) - 1; i >= 0; i-- {
		column, level := columns[s.Axes[i].Column], s.Axes[i].Level
		size := column.Integers(level)
		if s.Plain[i] {
			size = column.Size(level)
		}
		if slices.ContainsFunc(residual, func(r Axis) bool { return r.Column == s.Axes[i].Column }) {
			sizes, left = append(sizes, size), append(left, i)
			stride *= size
		} else {
			x = sumAlong(x, size, stride)
		}
	}
	slices.Reverse(sizes)
	slices.Reverse(left)
	order, plain := make([]int, len(residual)), make([]bool, len(residual))
	for k, r := range residual {
		order[k] = slices.IndexFunc(left, func(i int) bool { return s.Axes[i].Column == r.Column })
		plain[k] = s.Plain[left[order[k]]]
	}
	return centreResidual(columns, residual, plain, permuted(x, sizes, order))
}
