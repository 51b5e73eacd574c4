package model

// This file holds the weights with which a regression predicts: shrunk, as noise and rare categories allow.

// scoreRounds is how often the variances of weights and noise are estimated anew.
const scoreRounds = 12

// scoreFloor is the least variance of a moment relative to the number of rows, so that moments without noise have a
// law.
const scoreFloor = 1e-6

// score returns the weights of all features, the intercept first, that predict the target best: the mean of their law
// given the noisy moments.
//
// The noisy moments say b̂ = Â·w + ν, where the noise ν = e − E·w has the covariance S = Σ v_q·t_q·t_q' of
// [leastSquares]. With weights that are a priori independent of variance τ², the mean is
//
//	w = (Â·S⁻¹·Â + I/τ²)⁻¹·Â·S⁻¹·b̂,
//
// without a prior for the intercept. It exists whatever Â is. S follows from the last w, and τ² from the weights and
// their variances (expectation and maximisation), from public starts and over a fixed number of rounds. All categories
// of a column have weights, which add up to 0: none is a reference, so none is shrunk towards another.
func (m *RegressionMoments) score() []float64 {
	n := m.matrix.n - 1
	residual := make([]float64, n+1)
	residual[n] = 1
	moments := m.centred(m.matrix)
	target := moments.row(n)[:n]
	variance, w := 1.0, make([]float64, n)
	for range scoreRounds {
		lower := factorise(m.scoreCovariance(residual))
		half := make([][]float64, n) // S's factor, inverse, times columns of Â
		for i := range n {
			half[i] = lower.solveLower(moments.row(i)[:n])
		}
		known, precision := lower.solveLower(target), newSymmetric(n)
		right := make([]float64, n)
		for i := range n {
			right[i] = dotProduct(half[i], known)
			for j := range i + 1 {
				precision.add(i, j, dotProduct(half[i], half[j]))
			}
			if i > 0 {
				precision.add(i, i, 1/variance)
			}
		}
		posterior := factorise(precision)
		w = posterior.solve(right)
		spread := posterior.inverse()
		variance = 0
		for i := 1; i < n; i++ {
			variance += float64(w[i]*w[i]) + spread.at(i, i)
		}
		variance = max(variance/float64(n-1), 1e-12)
		for i := range n {
			residual[i] = -w[i]
		}
	}
	return w
}

// scoreCovariance returns S of [RegressionMoments.score] for a residual.
func (m *RegressionMoments) scoreCovariance(residual []float64) *symmetricMatrix {
	all := m.centred(m.noiseOf(residual))
	s := newSymmetric(all.n - 1)
	for i := range s.n {
		copy(s.row(i), all.row(i)[:s.n])
		s.add(i, i, float64(scoreFloor*max(m.matrix.at(0, 0), 1)))
	}
	return s
}

// centred returns a matrix between centred vectors: from the rows and columns of each column's indicators their mean is
// subtracted.
func (m *RegressionMoments) centred(x *symmetricMatrix) *symmetricMatrix {
	out := newSymmetric(x.n)
	copy(out.a, x.a)
	for e, c := range m.design.Encodings() {
		if c.Width == 1 {
			continue
		}
		first := m.design.First(e)
		for j := range x.n {
			mean := 0.0
			for k := range c.Width {
				mean += out.at(first+k, j)
			}
			mean /= float64(c.Width)
			for k := range c.Width {
				out.a[(first+k)*x.n+j] -= mean
			}
		}
		for j := range x.n {
			mean := total(out.row(j)[first:first+c.Width]) / float64(c.Width)
			for k := range c.Width {
				out.a[j*x.n+first+k] -= mean
			}
		}
	}
	return out
}
