package budget

import "math"

// This file holds the sine, in half turns, with the same bits on every architecture as the functions of float.go.

// sineTerms holds the Taylor coefficients of (sin y − y)/y³ in powers of y², and cosineTerms those of (cos y − 1)/y². For
// |y| ≤ π/4 the first terms left out are below 2e-19 of y and 3e-18.
var (
	sineTerms = [...]float64{
		1. / 355687428096000, -1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120, -1. / 6,
	}
	cosineTerms = [...]float64{
		1. / 20922789888000, -1. / 87178291200, 1. / 479001600, -1. / 3628800, 1. / 40320, -1. / 720, 1. / 24, -1. / 2,
	}
)

// sinPi returns sin πx for |x| < 2^51, within 3 ulp of it, the same bits on every architecture. In half turns the argument
// is reduced exactly; sinPi of a whole number is 0.
func sinPi(x float64) float64 {
	whole := math.Floor(x + 0.5)
	rest := x - whole // exact
	var value float64
	if math.Abs(rest) <= 0.25 {
		y := float64(math.Pi * rest)
		square := float64(y * y)
		value = y + float64(y*square*horner(sineTerms[:], square))
	} else {
		y := float64(math.Pi * (0.5 - math.Abs(rest)))
		square := float64(y * y)
		value = math.Copysign(1+float64(square*horner(cosineTerms[:], square)), rest)
	}
	if half := whole / 2; half != math.Floor(half) {
		return -value
	}
	return value
}
