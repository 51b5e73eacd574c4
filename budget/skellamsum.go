package budget

import "math"

// This file holds Skellam noise as a summand.

// skellamSummand has −ln φ(t) = μ(1 − cos t) = 2μ·sin²(t/2), and E e^{λX} = φ(iλ).
type skellamSummand struct{ variance float64 }

func (skellam) summand(variance float64) summand { return skellamSummand{variance} }

// seriesScale makes the series hold for t up to 1, where what it leaves out is below 1/18!.
func (skellamSummand) seriesScale(weight float64) float64 { return weight / 4 }

func (skellamSummand) pole() float64 { return 0 }

func (d skellamSummand) cumulantSeries(square float64) (out series) {
	next := d.variance // 1 − cos t = t²/2! − t⁴/4! + …
	for k := range out {
		next *= square / float64((2*k+1)*(2*k+2))
		out[k] = next
		next = -next
	}
	return out
}

func (d skellamSummand) negLogCharacteristic(turns float64) float64 {
	sine := sinPi(turns)
	return float64(2 * d.variance * sine * sine)
}

func (skellamSummand) maxTilt(float64) float64 { return math.Inf(1) }

// logMoment: cosh λ − 1 = (e^λ − 1)(1 − e^{−λ})/2.
func (d skellamSummand) logMoment(lambda float64) float64 {
	return float64(d.variance * expm1(lambda) * -expm1(-lambda) / 2)
}

// openTurns: sin πf ≥ 2f for f up to ½.
func (d skellamSummand) openTurns(level float64) float64 {
	return math.Sqrt(level/(2*d.variance)) / 2
}
