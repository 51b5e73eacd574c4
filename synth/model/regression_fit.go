package model

// This file holds least squares from noisy moments: which features are in the fit, their coefficients, and the laws of
// their errors.

import "math"

// clear is how many standard deviations of noise the variation of a feature, given the features before it, must be
// above 0 to be in a fit.
const clear = 4

// rounding is the part of a feature's moment below which variation given the features before it counts as 0.
const rounding = 1e-9

// leastSquares is a fit of the target on some of the features, in units in which these are between −1 and 1.
//
// With the noisy moments Â = A + E of the features and b̂ = b + e with the target, the coefficients of the data are
// w = A⁻¹b, and those of the noisy moments ŵ = Â⁻¹b̂ = w + δ₁ + δ₂ + …, where
//
//	δ₁ = A⁻¹(e − E·w) and δ₂ = −A⁻¹·E·δ₁.
//
// δ₁ has mean 0. The noise is a sum of independent η_q of variance v_q times matrices T_q, of features and target, and
// with the residual r = (−w, 1) of a row e − E·w = Σ η_q·t_q, where t_q has the entries of T_q·r in the features. So
// δ₁ has the covariance A⁻¹·(Σ v_q·t_q·t_q')·A⁻¹, and δ₂ has the mean −Σ v_q·A⁻¹·T_q·A⁻¹·t_q: the bias that noise in
// regressors causes, which is subtracted. The residual sum of squares r'·M·r is off by Σ η_q·r'T_q·r and, as the fit
// minimises it, by −Σ v_q·t_q'·A⁻¹·t_q on average, which is added back. Where A and w are not known, their estimates
// stand in: errors of third order.
//
// Source: Fuller 1987, Measurement Error Models, §2.2, for the expansion; Lin, Slavković & Bhoomireddy 2025 (arXiv
// 2510.16974) for private regression with a correction of bias and intervals, by another mechanism.
type leastSquares struct {
	moments   *RegressionMoments
	features  []int            // in the fit
	on        []bool           // by feature: in the fit
	residual  []float64        // by feature: minus its coefficient, 0 if it is not in the fit, and 1 for the target
	inverse   *symmetricMatrix // of the moments of the features in the fit
	noise     *symmetricMatrix // covariance of the coefficients by noise
	squares   float64          // residual sum of squares
	variation float64          // sum of squares of the target about its mean
}

// fitLeastSquares fits the target on the features of candidates, in their order, that vary clearly given those before.
// There is no feature in the fit where not even the number of rows is clear of its noise.
func (m *RegressionMoments) fitLeastSquares(candidates []int) *leastSquares {
	n := m.matrix.n
	f := &leastSquares{moments: m, on: make([]bool, n), residual: make([]float64, n)}
	f.residual[n-1] = 1
	lower := f.choose(candidates)
	if len(f.features) == 0 {
		return f
	}
	f.inverse = lower.inverse()
	f.setCoefficients(lower.solve(f.gather(m.matrix.row(n - 1))))
	corrected := f.coefficients()
	for i, bias := range f.bias() {
		corrected[i] -= bias
	}
	f.setCoefficients(corrected)
	f.noise = f.noiseCovariance()
	f.squares = m.matrix.form(f.residual, f.residual) + f.optimism()
	mean := m.matrix.at(0, n-1)
	f.variation = m.matrix.at(n-1, n-1) - mean*mean/f.rows()
	return f
}

// choose puts into the fit each feature whose variation given those in it, the pivot d = A_jj − a'A⁻¹a, is clear of its
// noise, and returns the Cholesky factor of their moments. With g = (−A⁻¹a, 1) the noise of d is g'·E·g.
func (f *leastSquares) choose(candidates []int) choleskyFactor {
	m := f.moments
	var lower choleskyFactor
	for _, j := range candidates {
		row := lower.solveLower(f.gather(m.matrix.row(j)))
		pivot := m.matrix.at(j, j) - dotProduct(row, row)
		g := make([]float64, m.matrix.n)
		g[j] = 1
		for k, v := range lower.solveUpper(row) {
			g[f.features[k]] = -v
		}
		if pivot <= max(clear*math.Sqrt(m.formVariance(g)), rounding*m.matrix.at(j, j), 0) {
			continue
		}
		lower = append(lower, append(row, math.Sqrt(pivot)))
		f.features, f.on[j] = append(f.features, j), true
	}
	return lower
}

// gather returns the entries of the features in the fit.
func (f *leastSquares) gather(all []float64) []float64 {
	out := make([]float64, len(f.features))
	for i, j := range f.features {
		out[i] = all[j]
	}
	return out
}

// coefficients returns the coefficients of the features in the fit.
func (f *leastSquares) coefficients() []float64 {
	w := f.gather(f.residual)
	for i := range w {
		w[i] = -w[i]
	}
	return w
}

// setCoefficients sets them.
func (f *leastSquares) setCoefficients(w []float64) {
	for i, j := range f.features {
		f.residual[j] = -w[i]
	}
}

// places returns, by feature, its index in the fit.
func (f *leastSquares) places() []int {
	at := make([]int, len(f.on))
	for i, j := range f.features {
		at[j] = i
	}
	return at
}

// bias returns the mean of δ₂.
func (f *leastSquares) bias() []float64 {
	at, sum := f.places(), make([]float64, len(f.features))
	x := make([]float64, len(f.on))
	var t, u []matrixEntry
	for _, q := range f.moments.noises {
		if t = q.timesOn(f.residual, f.on, t); len(t) == 0 {
			continue
		}
		for i, j := range f.features {
			x[j] = 0
			for _, e := range t {
				x[j] += float64(f.inverse.at(i, at[e.i]) * e.value)
			}
		}
		u = q.timesOn(x, f.on, u)
		for _, e := range u {
			sum[at[e.i]] -= float64(q.variance * e.value)
		}
	}
	return f.inverse.times(sum)
}

// noiseCovariance returns the covariance of δ₁.
func (f *leastSquares) noiseCovariance() *symmetricMatrix {
	at, n := f.places(), len(f.features)
	inner := newSymmetric(n)
	var t []matrixEntry
	for _, q := range f.moments.noises {
		t = q.timesOn(f.residual, f.on, t)
		for _, x := range t {
			for _, y := range t {
				inner.a[at[x.i]*n+at[y.i]] += float64(q.variance * float64(x.value*y.value))
			}
		}
	}
	half, out := make([][]float64, n), newSymmetric(n)
	for i := range half {
		half[i] = inner.times(f.inverse.row(i))
	}
	for i := range n {
		for j := range i + 1 {
			out.a[i*n+j] = dotProduct(half[i], f.inverse.row(j))
			out.a[j*n+i] = out.at(i, j)
		}
	}
	return out
}

// optimism returns by how much the residual sum of squares is too small on average: Σ v_q·t_q'·A⁻¹·t_q.
func (f *leastSquares) optimism() float64 {
	at, sum := f.places(), 0.0
	var t []matrixEntry
	for _, q := range f.moments.noises {
		t = q.timesOn(f.residual, f.on, t)
		for _, x := range t {
			for _, y := range t {
				sum += float64(q.variance * float64(float64(x.value*y.value)*f.inverse.at(at[x.i], at[y.i])))
			}
		}
	}
	return sum
}

// rows returns the noisy number of rows.
func (f *leastSquares) rows() float64 { return f.moments.matrix.at(0, 0) }

// residualVariance returns the estimate of the variance of the target given the features, 0 if the noise has taken it
// below 0.
func (f *leastSquares) residualVariance() float64 {
	return max(0, f.squares) / max(1, f.rows()-float64(len(f.features)))
}
