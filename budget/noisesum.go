package budget

import (
	"cmp"
	"math"
	"slices"
)

// This file holds the law of a weighted sum of noise: the error of a figure that is computed from noisy integers.

// NoiseTerm is Count independent draws of the noise of a [Mechanism] with this kind, one of [Laws], and this parameter;
// each draw is multiplied by the weight.
//
// The characteristic function of their sum is φ^Count, with φ for one draw. A Count that is not whole stands for
// shares of an infinitely divisible law ([Shares]): the discrete Laplace and the Skellam law. Any other law needs a
// whole Count.
type NoiseTerm struct {
	Weight    float64
	Count     float64 // of draws, not negative
	Kind      Kind
	Parameter float64
}

// NoiseSum is the law of a sum S of weighted draws, all independent. Its characteristic function is positive and even,
//
//	φ(θ) = Π φ_i(w_i·θ)^n_i,
//
// with the φ_i of each law ([laplaceSummand], [gaussianSummand], [skellamSummand]). The tails are bounded by Chernoff's
// inequality.
//
// If all weights are small multiples of one unit, the probabilities are exact to 1e-11 ([NoiseSum.Whole]). Other sums
// may have values arbitrarily close together, and their probabilities are lower bounds: see [NoiseSum.Within]. So are
// those of sums with a fractional count below 1.6 of a scale above 4000, whose φ falls off too slowly. A NoiseSum is
// not for concurrent use.
type NoiseSum struct {
	draws      []draws  // widest first
	rest       []series // sum of the series of draws[i:], which holds where the series of draws[i] does
	deviation  float64
	unit       float64 // largest unit of which all weights are multiples; 0 if there is none
	least      float64 // smallest absolute weight; 0 without draws
	mixed      bool    // whether weights differ in size
	anyNonZero float64 // bounds P(some draw is not 0): integers other than 0 have squares of at least 1
	moments    [chernoffPoints]moment
	last       *blurred // reused, as successive requests are similar
}

// draws is a term in units of the standard deviation of the sum.
type draws struct {
	term        NoiseTerm
	draw        summand
	count       float64
	turns       float64 // a θ of 1 turns the argument of φ_i by this multiple of 2π
	weight      float64 // absolute weight, in deviations
	seriesScale float64 // the series holds for reach·θ ≤ seriesReach
	pole        float64 // of the draw
}

// chernoffPoints is the number of λ at which E e^{λS} is bounded.
const chernoffPoints = 16

// moment holds λ and a bound of ln E e^{λS}, in units of the standard deviation.
type moment struct{ lambda, log float64 }

// negligibleProbability is small compared with the accuracy of exact probabilities.
const negligibleProbability = 1e-12

// weightTolerance is the relative difference up to which weights are treated as equal: more than the effect of rounding
// on equal weights.
const weightTolerance = 1e-9

// NewNoiseSum returns the law of the sum of these terms. It ignores terms of weight 0.
func NewNoiseSum(terms []NoiseTerm) *NoiseSum {
	s := &NoiseSum{deviation: MomentsOf(terms).Deviation}
	first := true
	for _, t := range terms {
		w := math.Abs(t.Weight)
		if w == 0 || t.Count == 0 {
			continue
		}
		s.anyNonZero += float64(t.Count * t.variance())
		if first || w < s.least {
			s.least = w
		}
		switch {
		case first:
			s.unit, first = w, false
		case !(math.Abs(w-s.unit) <= weightTolerance*s.unit):
			s.unit = 0
		}
	}
	if math.Abs(s.unit-1) <= weightTolerance {
		s.unit = 1
	}
	if s.unit == 0 {
		s.unit = commonUnit(terms)
		s.mixed = s.unit > 0
	}
	if !(s.deviation > 0) {
		return s
	}
	for _, t := range terms {
		if t.Weight != 0 && t.Count != 0 {
			s.draws = append(s.draws, newDraws(t, s.deviation))
		}
	}
	sortWidestFirst(s.draws)
	s.rest = make([]series, len(s.draws)+1)
	for i := len(s.draws) - 1; i >= 0; i-- {
		own := s.draws[i].draw.cumulantSeries(float64(s.draws[i].weight * s.draws[i].weight))
		for k, c := range s.rest[i+1] {
			s.rest[i][k] = c + float64(s.draws[i].count*own[k])
		}
	}
	s.findMoments()
	return s
}

// sortWidestFirst sorts draws by width, stably. It moves each of them only once, as they are large.
func sortWidestFirst(all []draws) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(all[j].seriesScale, all[i].seriesScale),
			i-j)
	})
	out := make([]draws, len(all))
	for i, from := range order {
		out[i] = all[from]
	}
	copy(all, out)
}

// maxMultiple bounds the ratio of a weight to the unit if weights differ in size, as shares in percent do.
const maxMultiple = 100

// commonUnit returns a unit of which all weights are small multiples, within [weightTolerance]; 0 if there is none.
func commonUnit(terms []NoiseTerm) float64 {
	var first float64
	for parts := 1.0; parts <= maxMultiple; parts++ {
		unit, ok := 0.0, true
		for _, t := range terms {
			w := math.Abs(t.Weight)
			if w == 0 || t.Count == 0 {
				continue
			}
			if unit == 0 {
				first = w
				unit = first / parts
			}
			times := w / unit
			whole := math.Floor(times + 0.5)
			if ok = whole >= 1 && whole <= maxMultiple && math.Abs(times-whole) <= weightTolerance; !ok {
				break
			}
		}
		if ok {
			return unit
		}
	}
	return 0
}

// variance returns the variance of one draw.
func (t NoiseTerm) variance() float64 { return t.Kind.law().variance(t.Parameter) }

func newDraws(t NoiseTerm, deviation float64) draws {
	w := math.Abs(t.Weight) / deviation
	one := t.Kind.law().summand(t.Parameter)
	return draws{term: t, draw: one, count: t.Count, weight: w, turns: w / (2 * math.Pi),
		seriesScale: one.seriesScale(w), pole: one.pole()}
}

// negLogCharacteristic returns −ln φ(θ), or a value above most if −ln φ(θ) is above most. For single draws with a pole
// it multiplies the 1/φ_i first and takes one logarithm of the product.
func (s *NoiseSum) negLogCharacteristic(theta, most float64) float64 {
	sum, product := 0.0, 1.0
	for i := range s.draws {
		d := &s.draws[i]
		if float64(d.seriesScale*theta) <= seriesReach {
			sum += s.rest[i].evaluate(float64(theta * theta))
			break
		}
		if d.pole > 0 && d.count == 1 {
			sine := sinPi(float64(d.turns * theta))
			product *= 1 + float64(d.pole*sine*sine)
			for ; product >= 0x1p20; product *= 0x1p-20 {
				sum += 20 * math.Ln2
			}
		} else {
			sum += float64(d.count * d.draw.negLogCharacteristic(float64(d.turns*theta)))
		}
		if sum > most {
			return sum
		}
	}
	return sum + Log(product)
}

// findMoments bounds ln E e^{λS} at some λ.
func (s *NoiseSum) findMoments() {
	top := 8.0
	for _, d := range s.draws {
		top = math.Min(top, d.draw.maxTilt(d.seriesScale))
	}
	for j := range s.moments {
		lambda := top * float64(j+1) / chernoffPoints
		var sum float64
		for i := range s.draws {
			d := &s.draws[i]
			if float64(d.seriesScale*lambda) <= seriesReach {
				sum -= s.rest[i].evaluate(-lambda * lambda)
				break
			}
			sum += float64(d.count * d.draw.logMoment(float64(d.weight*lambda)))
		}
		s.moments[j] = moment{lambda, sum}
	}
}

// tailDistance returns a distance, in deviations, that |S| exceeds with a probability of at most beyond.
func (s *NoiseSum) tailDistance(beyond float64) float64 {
	out := math.Inf(1)
	for _, m := range s.moments {
		out = math.Min(out, (m.log+Log(2/beyond))/m.lambda)
	}
	return out
}

// tailBound returns an upper bound of P(|S| > y) for y deviations.
func (s *NoiseSum) tailBound(y float64) float64 {
	out := 1.0
	for _, m := range s.moments {
		out = math.Min(out, 2*Exp(m.log-float64(m.lambda*y)))
	}
	return out
}

// Deviation returns the standard deviation of S.
func (s *NoiseSum) Deviation() float64 { return s.deviation }

// Whole reports whether S is a sum of integers with weights ±1: its margins are then integers, and its probabilities
// exact.
func (s *NoiseSum) Whole() bool { return s.unit == 1 && !s.mixed }

// Within returns a lower bound of P(|S| ≤ m). If all weights are small multiples of one unit, it is that probability to
// 1e-11.
//
// For other weights it is the bound of [NoiseSum.Margin].
func (s *NoiseSum) Within(m float64) float64 {
	switch {
	case !(s.deviation > 0):
		return 1
	case !(m >= 0):
		return 0
	case s.anyNonZero <= negligibleProbability:
		return 1 - s.anyNonZero
	}
	y := m / s.deviation
	tail := s.tailBound(y)
	if s.unit > 0 && tail > latticeTail {
		whole := math.Floor(m / s.unit)
		if l, ok := s.wholeLaw(whole); ok {
			return l.probabilityWithin(whole)
		}
	}
	least := math.Max(1-tail, 1-s.anyNonZero)
	if 1-least <= usualTolerance {
		return least
	}
	if b := s.newBlurred(usualTolerance, y); b != nil {
		least = math.Max(least, b.lowerBound(y))
	}
	return least
}

// Margin returns a margin m with P(|S| ≤ m) at least the confidence, and a lower bound of that probability, which is at
// least the confidence. If all weights are small multiples of one unit, the probability is exact to 1e-11, and the
// margin is the least such multiple of that size, and a little more ([NoiseSum.marginOf]).
//
// For other weights it is the least margin for which a bound proves it. Blurred by a sum Z of uniform draws with |Z| ≤
// c, c a 2048th of the standard deviation, S has
//
//	P(|S| ≤ m) ≥ P(|S+Z| ≤ m−c) ≥ P(|S| ≤ m−2c)
//
// and the middle is computed to 4e-5, or to a 1200th of what a high confidence leaves. So the margin is at most 2c, 0.1
// % of the standard deviation, above the least, apart from that error and a resolution of c/16. If S has as much
// probability within 2c as a normal law has at its 95 % margin, the bound is within 1e-4 of the truth.
func (s *NoiseSum) Margin(confidence float64) (margin, attained float64) {
	switch {
	case !(s.deviation > 0):
		return s.marginOf(0), 1
	case !(confidence < 1):
		return math.Inf(1), 1
	case s.anyNonZero <= math.Min(negligibleProbability, 1-confidence):
		return s.marginOf(0), 1 - s.anyNonZero
	case s.unit > 0:
		if whole, attained, ok := s.wholeMargin(confidence); ok {
			return s.marginOf(whole), attained
		}
	}
	if s.anyNonZero <= 1-confidence {
		return s.marginOf(0), 1 - s.anyNonZero
	}
	tolerance := math.Min(usualTolerance, math.Max(1e-13, (1-confidence)/5000))
	high := s.tailDistance((1-confidence)/2) + 2*blur
	b := s.newBlurred(tolerance, high)
	if b == nil || !(b.lowerBound(high) >= confidence) {
		y := s.tailDistance(1 - confidence)
		return s.deviation * y, math.Max(confidence, 1-s.tailBound(y))
	}
	high = b.leastMargin(confidence, high)
	if s.unit == 1 {
		whole := math.Ceil(float64(high * s.deviation))
		return s.marginOf(whole), b.lowerBound(whole / s.deviation)
	}
	return float64(high * s.deviation), b.lowerBound(high)
}

// marginOf returns the margin that takes in values of S up to so many units. Integer sums are exact. Other figures with
// this noise are computed in float64 and rounded, and their margins have a little more: without it an interval would
// leave out values at its ends, and all values where there is next to no noise.
func (s *NoiseSum) marginOf(units float64) float64 {
	const small = 0x1p-20 // of a weight: far less than anybody reads, and far more than rounding in tables of 10^8 rows
	switch {
	case s.Whole():
		return units
	case s.unit == 0:
		return float64(s.least * small)
	case s.mixed:
		return float64(s.unit * (units + small))
	}
	return float64(s.unit * (units + 0.5))
}
