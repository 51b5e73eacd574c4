package budget

import (
	"math"
	"math/big"
)

// gridBits is the number of fractional bits of every noise parameter.
const gridBits = 12

// roundUpToGrid returns the least multiple of 2⁻¹² that is at least r > 0.
func roundUpToGrid(r *big.Rat) *big.Rat {
	scaled := new(big.Int).Lsh(r.Num(), gridBits)
	quotient, remainder := scaled.QuoRem(scaled, r.Denom(), new(big.Int))
	if remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(quotient, new(big.Int).Lsh(big.NewInt(1), gridBits))
}

// nearest returns the float64 closest to r.
func nearest(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// roundUp returns the least float64 that is at least r.
func roundUp(r *big.Rat) float64 {
	f := nearest(r)
	if math.IsInf(f, 0) || new(big.Rat).SetFloat64(f).Cmp(r) >= 0 {
		return f
	}
	return math.Nextafter(f, math.Inf(1))
}

// roundDown returns the greatest finite float64 that is at most r.
func roundDown(r *big.Rat) float64 {
	f := nearest(r)
	if math.IsInf(f, 1) {
		return math.MaxFloat64
	}
	if new(big.Rat).SetFloat64(f).Cmp(r) <= 0 {
		return f
	}
	return math.Nextafter(f, math.Inf(-1))
}
