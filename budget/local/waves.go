package local

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds complex numbers and the few functions that a characteristic function needs, with the same bits on
// every architecture, as budget/float.go does: products that are added are written float64(x*y), so that no compiler
// fuses them, and of package math only exact functions are used.

// wave is a complex number. (Products of complex128 may be fused.)
type wave struct{ real, imaginary float64 }

func (a wave) times(b wave) wave {
	return wave{float64(a.real*b.real) - float64(a.imaginary*b.imaginary),
		float64(a.real*b.imaginary) + float64(a.imaginary*b.real)}
}

// plus returns a + r·b for a real r.
func (a wave) plus(r float64, b wave) wave {
	return wave{a.real + float64(r*b.real), a.imaginary + float64(r*b.imaginary)}
}

// polar is a complex number other than 0 by its logarithm: ln |z|, and its argument in half turns, arg z / π.
type polar struct{ size, turns float64 }

// times returns the product.
func (a polar) times(b polar) polar { return polar{a.size + b.size, a.turns + b.turns} }

// power returns the number to the power of k.
func (a polar) power(k float64) polar {
	if k == 0 {
		return polar{}
	}
	return polar{float64(k * a.size), float64(k * a.turns)}
}

// wave returns the number itself.
func (a polar) wave() wave {
	turns := a.turns - 2*math.Floor(a.turns/2) // exact
	size := budget.Exp(a.size)
	return wave{float64(size * sine(turns+0.5)), float64(size * sine(turns))}
}

// scoreWave is the characteristic function of a score at a t between 0 and π: the number times e^{it·whole}. So split,
// with a whole number near the mean, the arguments of high powers stay accurate.
type scoreWave struct {
	polar
	whole int64
}

// newBernoulliWave returns the characteristic function of a Bernoulli variable, 1 − p + p·e^{it}, from the sine and the
// cosine of t/2. The logarithm of 0, at p = ½ and t = π, is replaced by a number below that of the least float64.
func newBernoulliWave(p, sineHalf, cosineHalf float64) scoreWave {
	if p > 0.5 {
		w := newBernoulliWave(1-p, sineHalf, cosineHalf)
		return scoreWave{polar{w.size, -w.turns}, 1}
	}
	square := float64(sineHalf * sineHalf)
	size := logOnePlus(-math.Min(1, float64(4*p*(1-p))*square)) / 2
	y, x := float64(2*p*sineHalf*cosineHalf), 1-float64(2*p*square)
	return scoreWave{polar{math.Max(size, -800), halfTurns(math.Max(y, 0), math.Max(x, 0))}, 0}
}

// power returns the number to the power of k, for a t of so many half turns.
func (w scoreWave) power(k, turns float64) polar {
	return w.polar.times(polar{0, float64(turns * float64(w.whole))}).power(k)
}

// sineTerms holds the Taylor coefficients of (sin y − y)/y³ in powers of y², highest first. For |y| ≤ π/2 the
// first term left out is below 1e-18 of y.
var sineTerms = [...]float64{1. / 51090942171709440000, -1. / 121645100408832000, 1. / 355687428096000,
	-1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120, -1. / 6}

// sine returns sin πx for |x| < 2^51, within 4 ulp of it. In half turns the argument is reduced exactly.
func sine(x float64) float64 {
	whole := math.Floor(x + 0.5)
	y := float64(math.Pi * (x - whole))
	if int64(whole)&1 != 0 {
		y = -y
	}
	square := float64(y * y)
	var sum float64
	for _, c := range sineTerms {
		sum = float64(sum*square) + c
	}
	return y + float64(y*square*sum)
}

// cosine returns cos πx for 0 ≤ x ≤ ½, accurate relatively also near ½.
func cosine(x float64) float64 { return sine(0.5 - x) }

// halfTurns returns the argument of x + iy, neither negative, in half turns: from 0 to ½.
func halfTurns(y, x float64) float64 {
	switch {
	case y > x:
		return 0.5 - arcTangent(x/y)/math.Pi
	case y == 0:
		return 0
	}
	return arcTangent(y/x) / math.Pi
}

// angle returns the argument of x + iy in half turns: from −1 to 1.
func angle(y, x float64) float64 {
	turns := halfTurns(math.Abs(y), math.Abs(x))
	if x < 0 {
		turns = 1 - turns
	}
	return math.Copysign(turns, y)
}

// arcTangent returns arctan x for 0 ≤ x ≤ 1, within a few ulp: halving the angle twice leaves an argument below 1/5,
// for which the first term left out of the series is below 1e-17 of it.
func arcTangent(x float64) float64 {
	for range 2 {
		x /= 1 + math.Sqrt(1+float64(x*x))
	}
	square := -float64(x * x)
	var sum float64
	for k := 23; k >= 3; k -= 2 {
		sum = float64((sum + 1/float64(k)) * square)
	}
	return 4 * (x + float64(x*sum))
}

// logOnePlus returns ln(1 + x) for x ≥ −1, accurate relatively also near 0: the error of rounding 1 + x is undone by
// the ratio x/((1+x)−1), since ln(u)/(u−1) varies slowly (Kahan).
func logOnePlus(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return budget.Log(u) * (x / (u - 1))
}
