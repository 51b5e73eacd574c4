package budget

import (
	"cmp"
	"math"
	"slices"
)

// This file holds the blurred law of a sum of noise with arbitrary weights, in units of its standard deviation.

const (
	// blur is the largest amount added to S, to either side.
	blur = 1. / 2048
	// usualTolerance is the accuracy of a single probability.
	usualTolerance = 1e-5
)

// blurred is the law of S+Z, for Z the sum of p independent draws, uniform on ±c/p: with s_k = 2πk/L,
//
//	P(|S+Z| ≤ x) = 2x/L + Σ_k (2/πk)·sin(2πkx/L)·φ(s_k)·(sin(s_k·c/p)/(s_k·c/p))^p, k = 1, 2 …,
//
// up to the probability of S+Z beyond L−x, which the right side has in excess. The sum ends at s_k·c/p = π: the
// remainder is at most (2/π)·π^−p/p. Terms for which φ is below a level are dropped, which loses at most
// (2/π)·level·(1+ln K) up to k = K.
type blurred struct {
	tolerance, most float64
	length          float64
	waves           []wave
	lost            float64 // bound on all that is left out
}

// wave is a term of the series, without its sine.
type wave struct{ k, size float64 }

// maxWaves bounds the work for a law. Sums of few draws that are hardly ever different from 0 would take more, since
// their deviation is small compared with one draw.
const maxWaves = 1 << 23

// newBlurred computes the law for x up to most. Each of the three parts that are left out is at most about the
// tolerance. It returns nil if that would be too much work.
func (s *NoiseSum) newBlurred(tolerance, most float64) *blurred {
	if s.last != nil && s.last.tolerance == tolerance && s.last.most >= most {
		return s.last
	}
	order := 8.0
	remains := func() float64 { return 2 / math.Pi * Exp(-order*Log(math.Pi)) / order }
	for remains() > tolerance && order < 30 {
		order += 2
	}
	b := &blurred{tolerance: tolerance, most: most, length: most + s.tailDistance(tolerance) + 2*blur}
	last := math.Ceil(float64(order*b.length) / (2 * blur))
	if !(last <= maxWaves) {
		return nil
	}
	s.last = b
	deep := Log(4 / tolerance)
	b.lost = tolerance + remains() + float64(2/math.Pi*(tolerance/4)*(1+Log(last)))
	openings := s.narrowOpenings(deep)
	step := 2 * math.Pi / b.length
	for k := 1.0; k <= last; k++ {
		theta := float64(step * k)
		if to := openings.nextOpening(theta); to > theta {
			k = math.Max(k, math.Ceil(to/step)-1)
			continue
		}
		exponent := s.negLogCharacteristic(theta, deep)
		if exponent > deep {
			continue
		}
		argument := float64(theta*blur) / order
		kernel := sinPi(argument/math.Pi) / argument
		b.waves = append(b.waves, wave{k, 2 / (math.Pi * k) * Exp(-exponent) * evenPower(kernel, int(order))})
	}
	return b
}

// evenPower returns xⁿ for an even n.
func evenPower(x float64, n int) float64 {
	out := 1.0
	for square := float64(x * x); n > 0; n -= 2 {
		out *= square
	}
	return out
}

// lowerBound returns a lower bound of P(|S| ≤ x).
func (b *blurred) lowerBound(x float64) float64 {
	if x -= blur; !(x > 0) {
		return 0
	}
	turn := 2 * x / b.length
	sum := turn
	for _, w := range b.waves {
		sum += float64(w.size * sinPi(float64(w.k*turn)))
	}
	return math.Max(0, math.Min(1, sum-b.lost))
}

// opening describes where a draw allows φ to be above a level: within half of a multiple of the period.
type opening struct{ period, half float64 }

// openings are the openings of the draws that are open for the smallest fraction of θ.
type openings []opening

// maxOpenings is the number of openings considered.
const maxOpenings = 8

// narrowOpenings returns the openings of draws whose −ln φ exceeds a level except near the multiples of a period.
func (s *NoiseSum) narrowOpenings(deep float64) openings {
	var out openings
	for i := range s.draws {
		d := &s.draws[i]
		if turns := d.draw.openTurns(deep / d.count); turns < 0.45 {
			out = append(out, opening{1 / d.turns, turns / d.turns})
		}
	}
	slices.SortStableFunc(out, func(a, b opening) int { return cmp.Compare(a.half/a.period, b.half/b.period) })
	return out[:min(len(out), maxOpenings)]
}

// nextOpening returns the point up to which φ is below the level, or θ itself if φ may be above it there.
func (w openings) nextOpening(theta float64) float64 {
	out := theta
	for _, one := range w {
		if nearest := math.Floor(theta/one.period + 0.5); math.Abs(theta-float64(nearest*one.period)) > one.half {
			out = math.Max(out, float64(math.Ceil(theta/one.period)*one.period)-one.half)
		}
	}
	return out
}

// leastMargin returns the least x up to high for which the bound is at least the confidence, as it is at high, to a
// resolution of c/16 above it. It uses the method of false position, halving the weight of an end that stays (the
// Illinois rule), within a bracket as in bisection.
func (b *blurred) leastMargin(confidence, high float64) float64 {
	low, below, above := 0.0, -confidence, b.lowerBound(high)-confidence
	stayed := 0 // −1 if the low end stayed, 1 if the high end did
	for high-low > blur/16 {
		x := low - below*(high-low)/(above-below)
		x = math.Max(low+blur/32, math.Min(x, high-blur/32))
		if v := b.lowerBound(x) - confidence; v >= 0 {
			high, above = x, v
			if stayed == -1 {
				below /= 2
			}
			stayed = -1
		} else {
			low, below = x, v
			if stayed == 1 {
				above /= 2
			}
			stayed = 1
		}
	}
	return high
}
