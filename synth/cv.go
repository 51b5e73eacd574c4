package synth

import "math"

// This file holds coefficients of variation.

// Variation is the law of a coefficient of variation √v/|m|, v the variance and m the mean, from a noisy count N and
// noisy sums S of x−c and Q of (x−c)², each of independent noise. It is not safe for concurrent use.
//
// With T = Σx = S + cN, U = Σx² = Q + 2cS + c²N and k = m²/(m²+v), the coefficient is √(1/k − 1), and without noise
// kU = T²/N. As T²/N = 2mT − m²N + N·(T/N − m)², the noise of
//
//	kU − T²/N + N·(T/N − m)²
//
// is linear, of a known law for every k: Q has the weight k, S 2kc − 2m, and N kc² − 2mc + m². The last term is the
// square of noise over N: as in [Variance] it is replaced by its mean, for the m that the data give, and q is raised
// and refused by the same rules. With q(k) a margin of the noise, the interval is that of
//
//	{k in its range : |kU − T²/N + Var(T−mN)/N| ≤ q(k)}.
//
// It has no end where k may be 0, as where the mean may be.
type Variation struct {
	Variance
	centre float64
}

// NewVariation returns the law of a coefficient of variation of values from centre−half to centre+half, at a
// confidence.
func NewVariation(count, sum, squares Noise, centre, half, confidence float64) *Variation {
	return &Variation{*NewVariance(count, sum, squares, half, confidence), centre}
}

// Figure returns the coefficient of variation of one cell. Its error is that of the delta method, or the root of that
// of its square if that is less.
func (v *Variation) Figure(count, sum, squares float64) Figure {
	if !(count > 0) {
		return unpublishedFigure(Unbounded)
	}
	c := v.centre
	mu := math.Max(-v.half, math.Min(v.half, sum/count))
	m := c + mu
	total := sum + float64(c*count)
	totalSquares := squares + float64(2*c*sum) + float64(c*c*count)
	excess := v.margins.variance([]float64{0, 1, -mu}) / count // the mean of N·(T/N−m)²
	level := float64(total*total)/count - excess               // an estimate of kU
	least := v.least()
	k := level / totalSquares
	if !(totalSquares > 0) || !(k > 0) {
		return unpublishedFigure(Unbounded)
	}
	weights := func(k float64) []float64 {
		return []float64{k, float64(2*k*c) - 2*m, float64(k*c*c) - float64(2*m*c) + float64(m*m)}
	}
	estimate := math.Max(least, math.Min(1, k))
	deviation := math.Sqrt(v.margins.variance(weights(estimate)))
	if count < steadyDeviations*v.deviation || excess > tolerableExcess*deviation {
		return unpublishedFigure(Unbounded)
	}
	raised := 1 + squareOf(v.deviation/count)
	low, high, ok := spanWithin(k, least, 1, func(x float64) bool {
		return math.Abs(float64(x*totalSquares)-level) <=
			float64(raised*v.margins.margin(weights(x)))+float64(roundoff*deviation)
	})
	if !ok || !(low > 0) {
		return unpublishedFigure(Unbounded)
	}
	return boundedFigure(1/estimate-1, deviation/float64(totalSquares*estimate*estimate), 1/high-1,
		1/low-1).SquareRoot()
}

// least is the least that k can be: 4ab/(a+b)² of values from a to b, both of one sign, which half of Σx at either end
// attain; 0 of others.
func (v *Variation) least() float64 {
	if math.Abs(v.centre) <= v.half {
		return 0
	}
	return 1 - squareOf(v.half/v.centre)
}
