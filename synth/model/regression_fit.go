package model

// This file holds least squares from noisy moments: which terms are in the fit, their coefficients, and the laws of
// their errors.

import "math"

// clear is how many standard deviations of noise the variation of a term, given the terms before it, must be above 0
// to be in a fit.
const clear = 4

// rounding is the part of a term's moment below which variation given the terms before it counts as 0.
const rounding = 1e-9

// leastSquares is a fit of the target on terms, in units in which features are between −1 and 1. A term is a centred
// vector of the features, and all matrices and vectors are of the features: with the terms as columns of C, the moments
// A of the terms are C'MC, and inverse is C·A⁻¹·C'.
//
// With the noisy moments Â = A + E of the terms and b̂ = b + e with the target, the coefficients of the data are
// w = A⁻¹b, and those of the noisy moments ŵ = Â⁻¹b̂ = w + δ₁ + δ₂ + …, where
//
//	δ₁ = A⁻¹(e − E·w) and δ₂ = −A⁻¹·E·δ₁.
//
// δ₁ has mean 0. The noise is a sum of independent η_q of variance v_q times matrices T_q, of features and target, and
// with the residual r = (−w, 1) of a row e − E·w = Σ η_q·t_q, where t_q is T_q·r without the target. So δ₁ has the
// covariance A⁻¹·(Σ v_q·t_q·t_q')·A⁻¹, and δ₂ has the mean −Σ v_q·A⁻¹·T_q·A⁻¹·t_q: the bias that noise in regressors
// causes, which is subtracted. The residual sum of squares r'·M·r is off by Σ η_q·r'T_q·r and, as the fit minimises it,
// by −Σ v_q·t_q'·A⁻¹·t_q on average, which is added back. Where A and w are not known, their estimates stand in: errors
// of third order.
//
// Source: Fuller 1987, Measurement Error Models, §2.2, for the expansion; Lin, Slavković & Bhoomireddy 2025 (arXiv
// 2510.16974) for private regression with a correction of bias and intervals, by another mechanism.
type leastSquares struct {
	moments    *RegressionMoments
	terms      [][]matrixEntry  // in the fit: features with values
	residual   []float64        // minus the coefficient of each feature, and 1 for the target
	inverse    *symmetricMatrix // C·A⁻¹·C'
	spread     *symmetricMatrix // covariance of the coefficients by sampling, if the residual variance is 1
	noise      *symmetricMatrix // covariance of the coefficients by noise
	roughNoise *symmetricMatrix // the same with t as it is: never too small
	squares    float64          // residual sum of squares
	variation  float64          // sum of squares of the target about its mean
}

// noiseVariance returns the variance by noise of a linear function of the coefficients: at least a quarter of the rough
// one, as a difference of noisy matrices need not be positive.
func (f *leastSquares) noiseVariance(x []float64) float64 {
	return max(f.noise.form(x, x), f.roughNoise.form(x, x)/4)
}

// fitLeastSquares fits the target on the candidates, in their order, that vary clearly given those before, and reports
// which these are. There is none where not even the number of rows is clear of its noise.
func (m *RegressionMoments) fitLeastSquares(candidates [][]matrixEntry) (f *leastSquares, in []bool) {
	n := m.matrix.n
	f = &leastSquares{moments: m, residual: make([]float64, n)}
	f.residual[n-1] = 1
	lower, in := f.choose(candidates)
	f.inverse = f.inverseOf(lower)
	w := f.inverse.times(m.matrix.row(n - 1))
	f.setCoefficients(w)
	bias := f.bias()
	for j := range w {
		w[j] -= bias[j]
	}
	f.setCoefficients(w)
	t := m.noiseOf(f.residual)
	f.setLaws(t)
	f.squares = m.matrix.form(f.residual, f.residual)
	for j := range n {
		f.squares += dotProduct(f.inverse.row(j), t.row(j))
	}
	mean := m.matrix.at(0, n-1)
	f.variation = m.matrix.at(n-1, n-1) - mean*mean/max(f.rows(), 1)
	return f, in
}

// choose puts into the fit each candidate whose variation given those in it, the pivot d = A_jj − a'A⁻¹a, is clear of
// its noise, and returns the Cholesky factor of their moments. With g = c_j − C·A⁻¹a the noise of d is g'·E·g.
func (f *leastSquares) choose(candidates [][]matrixEntry) (lower choleskyFactor, in []bool) {
	m := f.moments
	in = make([]bool, len(candidates))
	for j, c := range candidates {
		g := make([]float64, m.matrix.n)
		addTerm(g, c, 1)
		moments := m.matrix.times(g)
		own, with := termProduct(c, moments), make([]float64, len(f.terms))
		for i, t := range f.terms {
			with[i] = termProduct(t, moments)
		}
		row := lower.solveLower(with)
		pivot := own - dotProduct(row, row)
		for i, v := range lower.solveUpper(row) {
			addTerm(g, f.terms[i], -v)
		}
		if pivot <= max(clear*math.Sqrt(m.formVariance(g)), rounding*own, 0) {
			continue
		}
		lower = append(lower, append(row, math.Sqrt(pivot)))
		f.terms, in[j] = append(f.terms, c), true
	}
	return lower, in
}

// addTerm adds v times a term to a vector of features.
func addTerm(to []float64, t []matrixEntry, v float64) {
	for _, e := range t {
		to[e.i] += float64(v * e.value)
	}
}

// termProduct returns the product of a term and a vector of features.
func termProduct(t []matrixEntry, x []float64) float64 {
	sum := 0.0
	for _, e := range t {
		sum += float64(e.value * x[e.i])
	}
	return sum
}

// inverseOf returns C·A⁻¹·C' from the Cholesky factor L of A: the product of the rows of L⁻¹·C'.
func (f *leastSquares) inverseOf(lower choleskyFactor) *symmetricMatrix {
	n := f.moments.matrix.n
	out := newSymmetric(n)
	half := make([][]float64, n) // by feature: L⁻¹ times its row of C
	for j := range n {
		c := make([]float64, len(f.terms))
		for i, t := range f.terms {
			for _, e := range t {
				if e.i == j {
					c[i] += e.value
				}
			}
		}
		half[j] = lower.solveLower(c)
		for k := range j + 1 {
			out.add(j, k, dotProduct(half[j], half[k]))
		}
	}
	return out
}

// setLaws sets the covariances of the coefficients, where t is Σ v_q·t_q·t_q'. Both A⁻¹·t·A⁻¹ and A⁻¹ are too large on
// average where noisy moments stand in: by the noise in A, as E Â⁻¹ is about A⁻¹ + A⁻¹·K·A⁻¹ with the sum K of all
// v_q·T_q·A⁻¹·T_q, and by that in the residual, as E r·r' has the covariance V of the coefficients too much. So
// (Â + K)⁻¹ and t − Σ v_q·T_q·V·T_q take their places.
func (f *leastSquares) setLaws(t *symmetricMatrix) {
	k := f.moments.contract(f.inverse)
	a := newSymmetric(len(f.terms))
	for i, x := range f.terms {
		v := make([]float64, k.n)
		addTerm(v, x, 1)
		moments, more := f.moments.matrix.times(v), k.times(v)
		for j, y := range f.terms[:i+1] {
			a.add(i, j, termProduct(y, moments)+termProduct(y, more))
		}
	}
	f.spread = f.inverseOf(factorise(a))
	f.roughNoise = f.spread.congruent(t)
	less := f.moments.contract(f.roughNoise)
	for i, v := range t.a {
		less.a[i] = v - less.a[i]
	}
	f.noise = f.spread.congruent(less)
}

// contract returns Σ v_q·T_q·x·T_q in the features but the target.
func (m *RegressionMoments) contract(x *symmetricMatrix) *symmetricMatrix {
	out := newSymmetric(x.n)
	var rows []matrixEntry // i and j of T_q, both ways
	for _, q := range m.noises {
		rows = rows[:0]
		for _, e := range q.pattern {
			rows = append(rows, e)
			if e.i != e.j {
				rows = append(rows, matrixEntry{e.j, e.i, e.value})
			}
		}
		for _, a := range rows {
			if a.i == x.n-1 {
				continue
			}
			for _, b := range rows {
				if b.i != x.n-1 {
					out.a[a.i*x.n+b.i] += float64(float64(q.variance*float64(a.value*b.value)) * x.at(a.j, b.j))
				}
			}
		}
	}
	return out
}

// setCoefficients sets the coefficients of all features.
func (f *leastSquares) setCoefficients(w []float64) {
	for j := range len(f.residual) - 1 {
		f.residual[j] = -w[j]
	}
}

// bias returns the mean of δ₂.
func (f *leastSquares) bias() []float64 {
	n := len(f.residual)
	sum, x := make([]float64, n), make([]float64, n)
	var t, u []matrixEntry
	for _, q := range f.moments.noises {
		t = q.times(f.residual, t)
		for _, e := range q.pattern {
			x[e.i], x[e.j] = termProduct(t, f.inverse.row(e.i)), termProduct(t, f.inverse.row(e.j))
		}
		u = q.times(x, u)
		addTerm(sum, u, -q.variance)
		for _, e := range q.pattern {
			x[e.i], x[e.j] = 0, 0
		}
	}
	return f.inverse.times(sum)
}

// noiseOf returns the covariance of the moments' noise times a vector, in the features but the target.
func (m *RegressionMoments) noiseOf(x []float64) *symmetricMatrix {
	out := newSymmetric(m.matrix.n)
	var t []matrixEntry
	for _, q := range m.noises {
		t = q.times(x, t)
		for _, a := range t {
			for _, b := range t {
				out.a[a.i*out.n+b.i] += float64(q.variance * float64(a.value*b.value))
			}
		}
	}
	return out
}

// rows returns the noisy number of rows.
func (f *leastSquares) rows() float64 { return f.moments.matrix.at(0, 0) }

// residualVariance returns the estimate of the variance of the target given the terms, 0 if the noise has taken it
// below 0.
func (f *leastSquares) residualVariance() float64 {
	return max(0, f.squares) / max(1, f.rows()-float64(len(f.terms)))
}
