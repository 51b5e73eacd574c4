package budget

import "math"

// This file holds the law of a sum of integers: of noise whose weights are small multiples of one unit.

// wholeLaw is the law of an integer K: with φ at θ_k = 2πk/L,
//
//	P(|K| ≤ m) = (1/L)·Σ_k φ(θ_k)·sin((2m+1)πk/L)/sin(πk/L), k = 0 … L−1,
//
// up to the probability of K beyond L−m−1: at most 1e-13. On (0, π] φ decreases, so the terms that are dropped, from
// where φ is below 1e-13, add up to at most 1e-13·(1+ln L).
type wholeLaw struct {
	length float64
	phi    []float64 // from k = 1 on; equal at k and L−k
	tail   func(m int64) float64
}

// latticeTail is the probability that is left out twice. The other two bound the number of φ that are computed.
const (
	latticeTail   = 1e-13
	maxWholeWaves = 1 << 17
	maxMixedWaves = 1 << 13
)

// wholeLaw returns the law of S in units of its weights, for margins up to most; false if it takes too many φ.
func (s *NoiseSum) wholeLaw(most float64) (*wholeLaw, bool) {
	if len(s.draws) == 1 && s.draws[0].count == 1 {
		return &wholeLaw{tail: s.draws[0].term.Kind.law().tailFunction(s.draws[0].term.Parameter)}, true
	}
	deep := -Log(latticeTail)
	units := s.deviation / s.unit
	// odd, so that all but k = 0 come in pairs
	l := &wholeLaw{length: 2*math.Ceil((most+float64(s.tailDistance(latticeTail)*units))/2) + 3}
	if s.mixed && l.length > 2*maxMixedWaves {
		return nil, false // the other way takes less work
	}
	for k := 1.0; k < l.length/2; k++ {
		exponent := s.negLogCharacteristic(float64(2*math.Pi*k)/l.length*units, deep)
		if exponent > deep {
			if s.mixed { // φ of a multiple of the unit rises again
				l.phi = append(l.phi, 0)
				continue
			}
			break
		}
		if len(l.phi) == maxWholeWaves {
			return nil, false
		}
		l.phi = append(l.phi, Exp(-exponent))
	}
	return l, true
}

// probabilityWithin returns P(|K| ≤ m).
func (l *wholeLaw) probabilityWithin(m float64) float64 {
	if l.tail != nil {
		return 1 - l.tail(int64(m))
	}
	odd := 2*m + 1
	sum := odd
	for i, phi := range l.phi {
		if phi == 0 {
			continue
		}
		k := float64(i+1) / l.length
		sum += float64(2*phi*sinPi(float64(odd*k))) / sinPi(k)
	}
	return math.Min(1, sum/l.length)
}

// wholeMargin returns the least m with P(|K| ≤ m) at least the confidence, and that probability.
func (s *NoiseSum) wholeMargin(confidence float64) (m, attained float64, ok bool) {
	high := math.Ceil(float64(s.tailDistance(1-confidence)*s.deviation) / s.unit)
	l, ok := s.wholeLaw(high)
	if !ok {
		return 0, 0, false
	}
	if l.tail != nil {
		m, attained := leastMargin(confidence, l.tail)
		return float64(m), attained, true
	}
	low := -1.0
	for high-low > 1 {
		middle := math.Floor((low + high) / 2)
		if middle == low || middle == high { // neighbours among floats, beyond 2^53
			break
		}
		if l.probabilityWithin(middle) >= confidence {
			high = middle
		} else {
			low = middle
		}
	}
	return high, l.probabilityWithin(high), true
}
