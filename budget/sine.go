package budget

import "math"

// This file holds the sine in half turns, with the same bits on every architecture, like the functions of float.go.

// sineTerms holds the Taylor coefficients of (sin y − y)/y³ in powers of y², and those of (cos y − 1)/y². For |y| ≤ π/4
// the first terms left out are below 2e-19 of y and 3e-18.
var sineTerms = [2][8]float64{
	{1. / 355687428096000, -1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120,
		-1. / 6},
	{1. / 20922789888000, -1. / 87178291200, 1. / 479001600, -1. / 3628800, 1. / 40320, -1. / 720, 1. / 24, -1. / 2},
}

// sinPi returns sin πx for |x| < 2^51, within 3 ulp of it, the same bits on every architecture. In half turns the
// argument is reduced exactly; sinPi of a whole number is 0.
//
// Sums of waves take most of their time here, with nearly random arguments. The series and the sign are therefore
// selected without branches, which no processor could predict.
func sinPi(x float64) float64 {
	whole := math.Floor(x + 0.5)
	rest := x - whole // exact
	size := math.Abs(rest)
	cosine := 0
	if size > 0.25 {
		cosine = 1
	}
	y := float64(math.Pi * math.Abs([2]float64{0, 0.5}[cosine]-size))
	first := [2]float64{y, 1}[cosine]
	square := float64(y * y)
	c := &sineTerms[cosine]
	sum := float64(c[0]*square) + c[1]
	sum = float64(sum*square) + c[2]
	sum = float64(sum*square) + c[3]
	sum = float64(sum*square) + c[4]
	sum = float64(sum*square) + c[5]
	sum = float64(sum*square) + c[6]
	sum = float64(sum*square) + c[7]
	value := first + float64(first*square*sum)
	const sign = 1 << 63
	odd := uint64(int64(whole)) << 63
	return math.Float64frombits(math.Float64bits(value) ^ math.Float64bits(rest)&sign ^ odd)
}
