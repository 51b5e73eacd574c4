package synth

import "math"

// This file holds the sets of ratios that agree with a noisy numerator and denominator.

// plane maps the directions θ = β/α of a numerator A and a denominator B to positions on a line. Where |θ| is small
// relative to the deviation of A over that of B the position is proportional to θ, from −1 to 1; elsewhere it goes with
// 1/θ, to ±2 at infinity.
type plane struct{ over, under float64 } // deviations of A and B

// infinity is the position of θ = ∞.
const infinity = 2

func (p plane) positionOf(theta float64) float64 {
	small := theta * p.under / p.over
	switch {
	case small > 1:
		return infinity - 1/small
	case small < -1:
		return -infinity - 1/small
	}
	return small
}

// direction returns α and β at a position, scaled so that the larger of the deviations of αA and βB is 1.
func (p plane) direction(position float64) (alpha, beta float64) {
	switch {
	case position > 1:
		return (infinity - position) / p.over, 1 / p.under
	case position < -1:
		return (infinity + position) / p.over, -1 / p.under
	}
	return 1 / p.over, position / p.under
}

// ratioAt returns the ratio at a position.
func (p plane) ratioAt(position float64) float64 {
	alpha, beta := p.direction(position)
	return beta / alpha
}

// figureWithin returns an estimate, at a position, with the set of the positions of a domain for which within is true.
// The figure is [Unbounded] if the set is the whole domain, is not an interval, or reaches an infinite end of the
// domain.
func (p plane) figureWithin(domain Domain, estimate, deviation, at float64, within func(place float64) bool) Figure {
	from, to := p.positionOf(domain.Low), p.positionOf(domain.High)
	low, high, ok := spanWithin(at, from, to, within)
	if !ok || math.IsInf(domain.High, 1) && !(high < to) || math.IsInf(domain.Low, -1) && !(low > from) {
		return unpublishedFigure(Unbounded)
	}
	out := boundedFigure(estimate, deviation, domain.Low, domain.High)
	if low > from {
		out.Low = math.Min(estimate, p.ratioAt(low))
	}
	if high < to {
		out.High = math.Max(estimate, p.ratioAt(high))
	}
	return out
}

// bisections of an interval leave less than 1e-12 of it.
const bisections = 40

// spanWithin returns the set of the positions between from and to for which within is true, given the position of the
// estimate, for which within is true if it lies between them. The set is an interval, two that reach both ends, or
// empty: ok is true for an interval that is not the whole range.
func spanWithin(at, from, to float64, within func(place float64) bool) (low, high float64, ok bool) {
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
