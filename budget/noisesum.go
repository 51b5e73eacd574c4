package budget

import (
	"cmp"
	"math"
	"slices"
)

// This file holds the law of a weighted sum of noise: how far what is put together from noisy integers lies from the
// exact figure.

// NoiseTerm is so many independent draws of one noise, each times a weight: of a [Mechanism] of this kind, one of
// [Laws], with this parameter.
type NoiseTerm struct {
	Weight    float64
	Count     int64
	Kind      Kind
	Parameter float64
}

// NoiseSum is the law of a sum S of weighted draws, all independent. Its characteristic function is positive and even,
//
//	φ(θ) = Π φ_i(w_i·θ)^n_i,
//
// with the φ_i of each law ([laplaceDraw], [gaussianDraw]). The tails are bounded by Chernoff's inequality.
//
// Where all weights are few multiples of one unit, the probabilities are exact to 1e-11 ([NoiseSum.Whole]). For others,
// whose sums may lie as close together as one likes, they are lower bounds: see [NoiseSum.Within]. A NoiseSum is not
// for concurrent use.
type NoiseSum struct {
	draws     []draws  // widest first
	rest      []series // what draws[i:] and all after have where their series holds
	deviation float64
	unit      float64 // what all weights are whole multiples of; 0 where there is no such
	mixed     bool    // they are not all of the size of the unit
	any       float64 // P(some draw is not 0) is at most this: whole numbers that are not 0 have squares of 1 and more
	moments   [chernoffPoints]moment
	last      *blurred // as questions of one law are much the same
}

// draws are a term in units of the deviation of the sum.
type draws struct {
	of     NoiseTerm
	draw   draw
	count  float64
	turns  float64 // θ of 1 turns the argument of φ_i by so many times 2π
	weight float64 // its size, in deviations
	reach  float64 // the series holds for reach·θ ≤ seriesReach
	pole   float64 // of the draw
}

// chernoffPoints is at how many λ E e^{λS} is bounded.
const chernoffPoints = 16

// moment is λ and a bound of ln E e^{λS}, in deviations.
type moment struct{ lambda, log float64 }

// negligible is a probability that is nothing beside the accuracy of exact ones.
const negligible = 1e-12

// alikeWeights is by how much weights may differ, relatively, that are taken for equal: more than what rounding makes
// of equal ones.
const alikeWeights = 1e-9

// NewNoiseSum is the law of the sum of these terms. Terms of no weight are nothing.
func NewNoiseSum(terms []NoiseTerm) *NoiseSum {
	s := &NoiseSum{deviation: MomentsOf(terms).Deviation}
	first := true
	for _, t := range terms {
		w := math.Abs(t.Weight)
		if w == 0 || t.Count == 0 {
			continue
		}
		s.any += float64(float64(t.Count) * t.variance())
		switch {
		case first:
			s.unit, first = w, false
		case !(math.Abs(w-s.unit) <= alikeWeights*s.unit):
			s.unit = 0
		}
	}
	if math.Abs(s.unit-1) <= alikeWeights {
		s.unit = 1
	}
	if !(s.deviation > 0) {
		return s
	}
	if s.unit == 0 {
		s.unit = commonUnit(terms)
		s.mixed = s.unit > 0
	}
	for _, t := range terms {
		if t.Weight != 0 && t.Count != 0 {
			s.draws = append(s.draws, newDraws(t, s.deviation))
		}
	}
	sortWidestFirst(s.draws)
	s.rest = make([]series, len(s.draws)+1)
	for i := len(s.draws) - 1; i >= 0; i-- {
		own := s.draws[i].draw.series(float64(s.draws[i].weight * s.draws[i].weight))
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
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(all[j].reach, all[i].reach), i-j) })
	out := make([]draws, len(all))
	for i, from := range order {
		out[i] = all[from]
	}
	copy(all, out)
}

// mostMultiple bounds of how many units a weight is where weights are not of one size: as of shares in percent.
const mostMultiple = 100

// commonUnit is what all weights are few whole multiples of, within [alikeWeights]; 0 where there is no such.
func commonUnit(terms []NoiseTerm) float64 {
	var first float64
	for parts := 1.0; parts <= mostMultiple; parts++ {
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
			if ok = whole >= 1 && whole <= mostMultiple && math.Abs(times-whole) <= alikeWeights; !ok {
				break
			}
		}
		if ok {
			return unit
		}
	}
	return 0
}

// variance is that of one draw.
func (t NoiseTerm) variance() float64 { return t.Kind.law().variance(t.Parameter) }

func newDraws(t NoiseTerm, deviation float64) draws {
	w := math.Abs(t.Weight) / deviation
	one := t.Kind.law().draw(t.Parameter)
	return draws{of: t, draw: one, count: float64(t.Count), weight: w, turns: w / (2 * math.Pi), reach: one.reach(w),
		pole: one.pole()}
}

// exponent is −ln φ(θ), or something above most where it is. Of single draws with a pole 1/φ_i are multiplied first,
// and one logarithm is taken of all.
func (s *NoiseSum) exponent(theta, most float64) float64 {
	sum, product := 0.0, 1.0
	for i := range s.draws {
		d := &s.draws[i]
		if float64(d.reach*theta) <= seriesReach {
			sum += s.rest[i].at(float64(theta * theta))
			break
		}
		if d.pole > 0 && d.count == 1 {
			sine := sinPi(float64(d.turns * theta))
			product *= 1 + float64(d.pole*sine*sine)
			for ; product >= 0x1p20; product *= 0x1p-20 {
				sum += 20 * math.Ln2
			}
		} else {
			sum += float64(d.count * d.draw.exponent(float64(d.turns*theta)))
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
		top = math.Min(top, d.draw.mostTilt(d.reach))
	}
	for j := range s.moments {
		lambda := top * float64(j+1) / chernoffPoints
		var sum float64
		for i := range s.draws {
			d := &s.draws[i]
			if float64(d.reach*lambda) <= seriesReach {
				sum -= s.rest[i].at(-lambda * lambda)
				break
			}
			sum += float64(d.count * d.draw.logMoment(float64(d.weight*lambda)))
		}
		s.moments[j] = moment{lambda, sum}
	}
}

// far is a distance, in deviations, that S exceeds in size with a probability of at most beyond.
func (s *NoiseSum) far(beyond float64) float64 {
	out := math.Inf(1)
	for _, m := range s.moments {
		out = math.Min(out, (m.log+Log(2/beyond))/m.lambda)
	}
	return out
}

// tail is at least P(|S| > y) for y deviations.
func (s *NoiseSum) tail(y float64) float64 {
	out := 1.0
	for _, m := range s.moments {
		out = math.Min(out, 2*Exp(m.log-float64(m.lambda*y)))
	}
	return out
}

// Deviation is the standard deviation of S.
func (s *NoiseSum) Deviation() float64 { return s.deviation }

// Whole tells that S is a sum of integers, each as it is: its margins are whole, and its probabilities exact.
func (s *NoiseSum) Whole() bool { return s.unit == 1 && !s.mixed }

// Within is a lower bound of P(|S| ≤ m). Where all weights are few multiples of one unit it is that probability, to
// 1e-11.
//
// For others it is that of [NoiseSum.Margin].
func (s *NoiseSum) Within(m float64) float64 {
	switch {
	case !(s.deviation > 0):
		return 1
	case !(m >= 0):
		return 0
	case s.any <= negligible:
		return 1 - s.any
	}
	y := m / s.deviation
	tail := s.tail(y)
	if s.unit > 0 && tail > latticeBeyond {
		whole := math.Floor(m / s.unit)
		if l, ok := s.wholeLaw(whole); ok {
			return l.within(whole)
		}
	}
	least := math.Max(1-tail, 1-s.any)
	if 1-least <= usualTolerance {
		return least
	}
	if b := s.newBlurred(usualTolerance, y); b != nil {
		least = math.Max(least, b.bound(y))
	}
	return least
}

// Margin is a margin m with P(|S| ≤ m) at least the confidence, and a lower bound of that probability, which is at
// least the confidence. Where all weights are few multiples of one unit the probability is exact to 1e-11, and the
// margin the least such multiple of that size; but for whole sums half of it is added, so that rounding leaves out no
// value at its end.
//
// For others it is the least for which a bound shows it. Blurred by a sum Z of uniform draws with |Z| ≤ c, c a 2048th
// of the standard deviation, S has
//
//	P(|S| ≤ m) ≥ P(|S+Z| ≤ m−c) ≥ P(|S| ≤ m−2c)
//
// and the middle is worked out to 4e-5, or to a 1200th of what a high confidence leaves. So the margin is at most 2c,
// 0.1 % of the standard deviation, above the least, but for that and for a resolution of c/16; and where S has as much
// in 2c as a normal law has at its 95 % margin, the bound is within 1e-4 of the truth.
func (s *NoiseSum) Margin(confidence float64) (margin, attained float64) {
	switch {
	case !(s.deviation > 0):
		return 0, 1
	case !(confidence < 1):
		return math.Inf(1), 1
	case s.any <= math.Min(negligible, 1-confidence):
		return 0, 1 - s.any
	case s.unit > 0:
		if whole, attained, ok := s.wholeMargin(confidence); ok {
			if s.unit == 1 {
				return whole, attained
			}
			if s.mixed { // a little more, so that rounding leaves out no value at its end
				return float64(s.unit * (whole + 0x1p-20)), attained
			}
			return float64(s.unit * (whole + 0.5)), attained
		}
	}
	if s.any <= 1-confidence {
		return 0, 1 - s.any
	}
	tolerance := math.Min(usualTolerance, math.Max(1e-13, (1-confidence)/5000))
	high := s.far((1-confidence)/2) + 2*blur
	b := s.newBlurred(tolerance, high)
	if b == nil || !(b.bound(high) >= confidence) {
		y := s.far(1 - confidence)
		return s.deviation * y, math.Max(confidence, 1-s.tail(y))
	}
	high = b.least(confidence, high)
	if s.unit == 1 {
		whole := math.Ceil(float64(high * s.deviation))
		return whole, b.bound(whole / s.deviation)
	}
	return float64(high * s.deviation), b.bound(high)
}
