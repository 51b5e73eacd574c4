package budget

// This file holds one draw of noise as a summand: what the law of a sum needs to know about each term.

// summand is the law of one draw X as a summand, with its characteristic function φ_i.
type summand interface {
	// seriesScale returns the s for which the series holds as long as s·θ ≤ seriesReach, if X has a weight.
	seriesScale(weight float64) float64
	// pole returns c > 0 if 1/φ_i(t) is 1 + c·sin²(t/2), and 0 if it is not of that form.
	pole() float64
	// cumulantSeries returns the coefficients of −ln φ_i(wθ) in θ², θ⁴ …, given the square of w.
	cumulantSeries(square float64) series
	// negLogCharacteristic returns −ln φ_i(2π·turns).
	negLogCharacteristic(turns float64) float64
	// maxTilt returns the largest λ for which a bound of E e^{λX} is sought, given the series scale.
	maxTilt(reach float64) float64
	// logMoment bounds ln E e^{λX}.
	logMoment(lambda float64) float64
	// openTurns returns the largest distance, in turns, from a multiple of 2π at which −ln φ_i is below a level.
	openTurns(level float64) float64
}

// series holds coefficients of −ln φ in θ², θ⁴ …
type series [seriesTerms]float64

const (
	// seriesTerms and seriesReach leave out less than 2e-12 of −ln φ_i.
	seriesTerms = 8
	seriesReach = 0.25
)

// evaluate returns the series at θ², which may be negative.
func (c *series) evaluate(square float64) float64 {
	var sum float64
	for k := len(c) - 1; k >= 0; k-- {
		sum = float64(sum*square) + c[k]
	}
	return float64(sum * square)
}
