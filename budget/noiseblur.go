package budget

import (
	"cmp"
	"math"
	"slices"
)

// This file holds the blurred law of a sum of noise with any weights, in units of its standard deviation.

const (
	// blur is the most that is added to S, to either side.
	blur = 1. / 2048
	// usualTolerance is the accuracy of a probability that is asked for by itself.
	usualTolerance = 1e-5
)

// blurred is the law of S+Z, for Z the sum of p independent draws, uniform on ±c/p: with s_k = 2πk/L,
//
//	P(|S+Z| ≤ x) = 2x/L + Σ_k (2/πk)·sin(2πkx/L)·φ(s_k)·(sin(s_k·c/p)/(s_k·c/p))^p, k = 1, 2 …,
//
// but for what S+Z has beyond L−x, which the right side has too much. The sum ends at s_k·c/p = π: what follows is at
// most (2/π)·π^−p/p. Where φ is below some level it is taken for 0, which loses at most (2/π)·level·(1+ln K) up to k =
// K.
type blurred struct {
	tolerance, most float64
	length          float64
	waves           []wave
	lost            float64 // at most, of all that is left out
}

// wave is a summand of the series, without its sine.
type wave struct{ k, size float64 }

// mostBlurred bounds the work of a law. Sums of few draws that are hardly ever other than 0 would take more: their
// deviation is small beside one draw.
const mostBlurred = 1 << 23

// newBlurred works out the law for x up to most, each of the three parts that are left out to about a tolerance; nil
// where that would be too much work.
func (s *NoiseSum) newBlurred(tolerance, most float64) *blurred {
	if s.last != nil && s.last.tolerance == tolerance && s.last.most >= most {
		return s.last
	}
	order := 8.0
	remains := func() float64 { return 2 / math.Pi * Exp(-order*Log(math.Pi)) / order }
	for remains() > tolerance && order < 30 {
		order += 2
	}
	b := &blurred{tolerance: tolerance, most: most, length: most + s.far(tolerance) + 2*blur}
	last := math.Ceil(float64(order*b.length) / (2 * blur))
	if !(last <= mostBlurred) {
		return nil
	}
	s.last = b
	deep := Log(4 / tolerance)
	b.lost = tolerance + remains() + float64(2/math.Pi*(tolerance/4)*(1+Log(last)))
	openings := s.openings(deep)
	step := 2 * math.Pi / b.length
	for k := 1.0; k <= last; k++ {
		theta := float64(step * k)
		if to := openings.leave(theta); to > theta {
			k = math.Max(k, math.Ceil(to/step)-1)
			continue
		}
		exponent := s.exponent(theta, deep)
		if exponent > deep {
			continue
		}
		argument := float64(theta*blur) / order
		kernel := sinPi(argument/math.Pi) / argument
		b.waves = append(b.waves, wave{k, 2 / (math.Pi * k) * Exp(-exponent) * evenPower(kernel, int(order))})
	}
	return b
}

// evenPower is xⁿ for an even n.
func evenPower(x float64, n int) float64 {
	out := 1.0
	for square := float64(x * x); n > 0; n -= 2 {
		out *= square
	}
	return out
}

// bound is a lower bound of P(|S| ≤ x).
func (b *blurred) bound(x float64) float64 {
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

// opening is where draws let φ be above a level: near the multiples of a period.
type opening struct{ period, half float64 }

// openings are those of the draws that leave the least.
type openings []opening

// mostOpenings is how many are looked at.
const mostOpenings = 8

// openings are the draws' that have −ln φ above a level but near the multiples of a period.
func (s *NoiseSum) openings(deep float64) openings {
	var out openings
	for i := range s.draws {
		d := &s.draws[i]
		if turns := d.draw.open(deep / d.count); turns < 0.45 {
			out = append(out, opening{1 / d.turns, turns / d.turns})
		}
	}
	slices.SortStableFunc(out, func(a, b opening) int { return cmp.Compare(a.half/a.period, b.half/b.period) })
	return out[:min(len(out), mostOpenings)]
}

// leave is up to where φ is below the level, θ itself where it may be above.
func (w openings) leave(theta float64) float64 {
	out := theta
	for _, one := range w {
		if nearest := math.Floor(theta/one.period + 0.5); math.Abs(theta-float64(nearest*one.period)) > one.half {
			out = math.Max(out, float64(math.Ceil(theta/one.period)*one.period)-one.half)
		}
	}
	return out
}

// least is the least x up to high for which the bound is at least the confidence, as it is at high, to a resolution of
// c/16 above it: by false position, with halved weights where one end stays (the Illinois rule), in the bracket of
// bisection.
func (b *blurred) least(confidence, high float64) float64 {
	low, below, above := 0.0, -confidence, b.bound(high)-confidence
	stayed := 0 // −1 where the low end did, 1 where the high end
	for high-low > blur/16 {
		x := low - below*(high-low)/(above-below)
		x = math.Max(low+blur/32, math.Min(x, high-blur/32))
		if v := b.bound(x) - confidence; v >= 0 {
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
