package budget

import "math"

// leastFitting returns the least float64 x ≥ 0 with fits(x), for a predicate that
// turns from false to true, and +Inf if it never does. For a predicate that is
// monotone only to rounding the result still fits.
func leastFitting(fits func(x float64) bool) float64 {
	if fits(0) {
		return 0
	}
	// Floats of one sign are ordered as their bit patterns.
	below, above := uint64(0), math.Float64bits(math.Inf(1))
	for above-below > 1 {
		middle := below + (above-below)/2
		if fits(math.Float64frombits(middle)) {
			above = middle
		} else {
			below = middle
		}
	}
	return math.Float64frombits(above)
}

// leastWithin returns a distance of at least 1 at which a decreasing bound is at most the probability, and the bound
// there. The distance is 1 if that suffices, and the first such whole number from the guess on if not. If there is none
// below 2^62 it returns (2^63−1, 0).
func leastWithin(bound func(distance float64) float64, probability, guess float64) (distance int64, beyond float64) {
	if bound(1) <= probability {
		return 1, bound(1)
	}
	s := math.Ceil(guess)
	for s < 1<<62 && !(bound(s) <= probability) { // by rounding
		s = max(s+1, math.Nextafter(s, math.Inf(1)))
	}
	if !(s < 1<<62) {
		return math.MaxInt64, 0
	}
	return int64(s), bound(s)
}

// raisedBy returns x > 0 enlarged by the given number of units of 2⁻⁵² of it, rounded up. loweredBy reduces and rounds
// down in the same way.
func raisedBy(x, units float64) float64 { return float64(x * (1 + float64((units+1)*0x1p-52))) }

func loweredBy(x, units float64) float64 { return float64(x * (1 - float64((units+1)*0x1p-52))) }

// atMostOne returns x, or 1 if x is larger or not a number: the bound on a probability that always holds.
func atMostOne(x float64) float64 {
	if x < 1 {
		return x
	}
	return 1
}
