package synth

import "math"

// This file holds variances and standard deviations.

// Variance is the law of v = Σ(x−m)²/N, m the mean, from a noisy count N and noisy sums S of x−c and Q of (x−c)², each
// of independent noise. It is not safe for concurrent use.
//
// With μ = m − c, Q − 2μS + μ²N − vN is noise alone, of a known law; and it is
//
//	Q − S²/N + N·(S/N − μ)² − vN,
//
// which the data give except for the third term. That is the square of noise over N: it is replaced by its mean over
// the noise, Var(S−μN)/N. With q(v) a margin of the noise, for the μ that the data give, the interval is
//
//	{v from 0 to the most it may be : |Q − S²/N + Var(S−μN)/N − vN| ≤ q(v)}.
//
// What that neglects is of the order of the square of the noise over N; q is raised by the square of the ratio of the
// deviation of the noise of N to N. If N is below steadyDeviations deviations of its noise, or if Var(S−μN)/N is more
// than tolerableExcess of the deviation of which q is a multiple, there is no interval.
type Variance struct {
	half      float64 // half the range of x−c
	deviation float64 // of the noise of N
	margins   *tails  // of Q, S and N
}

// tolerableExcess is the largest ratio of the mean of N·(S/N−μ)² to the deviation of Q − 2μS + μ²N − vN.
const tolerableExcess = 1. / 10

// NewVariance returns the law of a variance of values from c−half to c+half, at a confidence.
func NewVariance(count, sum, squares Noise, half, confidence float64) *Variance {
	return &Variance{half: half, deviation: math.Sqrt(count.Variance()), margins: newTails([]Noise{squares, sum, count},
		confidence)}
}

// Figure returns the variance of one cell. Its error is that of the delta method.
func (v *Variance) Figure(count, sum, squares float64) Figure {
	if !(count > 0) {
		return unpublishedFigure(Unbounded)
	}
	most := v.half * v.half
	mu := math.Max(-v.half, math.Min(v.half, sum/count))
	excess := v.margins.variance([]float64{0, 1, -mu}) / count // the mean of N·(S/N−μ)²
	total := squares - float64(sum*sum)/count + excess
	estimate := math.Max(0, math.Min(most, total/count))
	weights := []float64{1, -2 * mu, float64(mu*mu) - estimate}
	deviation := math.Sqrt(v.margins.variance(weights))
	if count < steadyDeviations*v.deviation || excess > tolerableExcess*deviation {
		return unpublishedFigure(Unbounded)
	}
	raised := 1 + squareOf(v.deviation/count)
	low, high, ok := spanWithin(total/count, 0, most, func(x float64) bool {
		weights[2] = float64(mu*mu) - x
		return math.Abs(total-float64(x*count)) <= float64(raised*v.margins.margin(weights))+float64(roundoff*deviation)
	})
	if !ok {
		return unpublishedFigure(Unbounded)
	}
	return boundedFigure(estimate, deviation/count, low, high)
}

// SquareRoot returns the figure's square root: for a variance, the standard deviation. Its error is that of the delta
// method, or √Error if that is less, as |√a − √b| ≤ √|a−b|.
func (f Figure) SquareRoot() Figure {
	value := math.Sqrt(f.Value)
	out := Figure{value, value, math.Sqrt(f.Error), math.Sqrt(f.Low), math.Sqrt(f.High), f.Flag}
	if out.Value > 0 {
		out.Error = math.Min(out.Error, f.Error/(2*out.Value))
	}
	return out
}
