package budget

// This file holds one draw of noise as a summand: what the law of a sum asks of each of its terms.

// draw is the law of one draw X as a summand, with its characteristic function φ_i.
type draw interface {
	// reach is so much that the series holds for reach·θ ≤ seriesReach where X has a weight.
	reach(weight float64) float64
	// pole is c > 0 where 1/φ_i(t) is 1 + c·sin²(t/2), else 0.
	pole() float64
	// series are the coefficients of −ln φ_i(wθ) in θ², θ⁴ …, by the square of w.
	series(square float64) series
	// exponent is −ln φ_i(2π·turns).
	exponent(turns float64) float64
	// mostTilt is up to which λ a bound of E e^{λX} is looked for, by the reach.
	mostTilt(reach float64) float64
	// logMoment bounds ln E e^{λX}.
	logMoment(lambda float64) float64
	// open is how many turns from a multiple of 2π −ln φ_i is below a level at most.
	open(level float64) float64
}

// series are coefficients of −ln φ in θ², θ⁴ …
type series [seriesTerms]float64

const (
	// seriesTerms and seriesReach leave out less than 2e-12 of −ln φ_i.
	seriesTerms = 8
	seriesReach = 0.25
)

// at is the series at θ², which may be negative.
func (c *series) at(square float64) float64 {
	var sum float64
	for k := len(c) - 1; k >= 0; k-- {
		sum = float64(sum*square) + c[k]
	}
	return float64(sum * square)
}
