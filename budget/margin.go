package budget

import "math"

// largestMargin bounds the search: no validated mechanism has noise beyond it with a probability that float64 can
// distinguish from 0.
const largestMargin = 1 << 62

// leastMargin returns the least m ≥ 0 with tail(m) ≤ 1 − confidence, and
// 1 − tail(m). The tail is P(|X| > m), decreasing in m. The smallest m is found
// by doubling and then halving the interval.
func leastMargin(confidence float64, tail func(m int64) float64) (margin int64, attained float64) {
	if !(confidence < 1) {
		return math.MaxInt64, 1
	}
	within := func(m int64) bool { return tail(m) <= 1-confidence }
	if within(0) {
		return 0, 1 - tail(0)
	}
	below, above := int64(0), int64(1)
	for !within(above) && above < largestMargin {
		below, above = above, 2*above
	}
	for above-below > 1 {
		middle := below + (above-below)/2
		if within(middle) {
			above = middle
		} else {
			below = middle
		}
	}
	return above, 1 - tail(above)
}
