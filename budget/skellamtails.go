package budget

import (
	"math"
	"math/big"
)

// This file holds the tails of Skellam noise.

// rememberedSkellam holds the tails of Skellam noise, by variance.
var rememberedSkellam = memory[float64, []float64]{capacity: maxRememberedPoints,
	size: func(tails []float64) int { return len(tails) }}

// skellamTails returns P(|X| > m) for m = 0, 1, …, until it is below 1e-300.
func skellamTails(variance float64) []float64 {
	return rememberedSkellam.getOrCompute(variance, func() []float64 {
		last := skellamReach(variance, 700)
		weights := skellamWeights(new(big.Rat).SetFloat64(variance), last)
		sum, sums := newBessel(), make([]*big.Float, last+1)
		for k := last; k > 0; k-- {
			sums[k] = newBessel().Set(sum)
			sum.Add(sum, weights[k])
		}
		sums[0] = sum
		whole := newBessel().Add(sum, sum)
		whole.Add(whole, weights[0])
		whole.Quo(whole, newBessel().SetInt64(2))
		tails := make([]float64, last+1)
		for k, s := range sums {
			tails[k], _ = s.Quo(s, whole).Float64()
		}
		return tails
	})
}

// skellamReach returns an n for which P(X > n) is at most e^(−exponent). By Chernoff's bound with the tilt t =
// arsinh((n+1)/μ), P(X ≥ n+1) ≤ exp(μ(cosh t − 1) − t(n+1)).
func skellamReach(variance, exponent float64) int {
	fits := func(n float64) bool {
		z := (n + 1) / variance
		return float64((n+1)*arsinh(z))-float64(variance*coshMinusOne(z)) >= exponent*(1+0x1p-30)
	}
	low, high := 0.0, 1.0
	for !fits(high) {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if middle := math.Floor((low + high) / 2); fits(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return int(high)
}

// arsinh returns arsinh z for z ≥ 0.
func arsinh(z float64) float64 { return log1p(z + coshMinusOne(z)) }

// coshMinusOne returns cosh t − 1 = √(1+z²) − 1 for z = sinh t.
func coshMinusOne(z float64) float64 {
	square := float64(z * z)
	return square / (1 + math.Sqrt(1+square))
}
