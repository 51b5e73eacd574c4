package synth

import "math"

// This file holds the sets of ratios that a noisy numerator and denominator leave.

// plane puts the directions θ = β/α of a numerator A and a denominator B on a line: where |θ| is small beside the
// deviation of A over that of B the place goes with θ, from −1 to 1, and else with 1/θ, to ±2 at infinity.
type plane struct{ over, under float64 } // deviations of A and B

// infinity is the place of θ = ∞.
const infinity = 2

func (p plane) place(theta float64) float64 {
	small := theta * p.under / p.over
	switch {
	case small > 1:
		return infinity - 1/small
	case small < -1:
		return -infinity - 1/small
	}
	return small
}

// direction is α and β at a place, where the larger of the deviations of αA and βB is 1.
func (p plane) direction(place float64) (alpha, beta float64) {
	switch {
	case place > 1:
		return (infinity - place) / p.over, 1 / p.under
	case place < -1:
		return (infinity + place) / p.over, -1 / p.under
	}
	return 1 / p.over, place / p.under
}

// theta is the ratio at a place.
func (p plane) theta(place float64) float64 {
	alpha, beta := p.direction(place)
	return beta / alpha
}

// figure is an estimate, at a place, with the set of the places of a domain that are within. Where that is all of the
// domain, not an interval, or reaches to where the domain has no end, the figure is [Unbounded].
func (p plane) figure(domain Domain, estimate, deviation, at float64, within func(place float64) bool) Figure {
	from, to := p.place(domain.Low), p.place(domain.High)
	low, high, ok := span(at, from, to, within)
	if !ok || math.IsInf(domain.High, 1) && !(high < to) || math.IsInf(domain.Low, -1) && !(low > from) {
		return unpublished(Unbounded)
	}
	out := bounded(estimate, deviation, domain.Low, domain.High)
	if low > from {
		out.Low = math.Min(estimate, p.theta(low))
	}
	if high < to {
		out.High = math.Max(estimate, p.theta(high))
	}
	return out
}

// bisections of an interval leave less than 1e-12 of it.
const bisections = 40

// span is the set of the places between from and to that are within, for an estimate at a place, which is within where
// it lies between them. It is an interval, two that reach to both ends, or nothing: ok tells the first, unless it is
// all.
func span(at, from, to float64, within func(place float64) bool) (low, high float64, ok bool) {
	edge := func(inside, outside float64) float64 {
		for range bisections {
			if middle := (inside + outside) / 2; within(middle) {
				inside = middle
			} else {
				outside = middle
			}
		}
		return outside
	}
	first, last := within(from), within(to)
	low, high = from, to
	switch between := from <= at && at <= to; {
	case first && last, !first && !last && !between:
		return 0, 0, false
	case first && !between:
		high = edge(from, to)
	case !between:
		low = edge(to, from)
	default:
		if !first {
			low = edge(at, from)
		}
		if !last {
			high = edge(at, to)
		}
	}
	return low, high, true
}
