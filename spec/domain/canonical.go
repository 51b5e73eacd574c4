package domain

// This file writes values as canonical texts, which are compared with categories, code books and keys.

import (
	"math"
	"math/big"
	"strconv"
)

// AppendFloat appends the shortest decimal that reads back the same, without an exponent, and zero without a minus
// sign. ok is false for NaN and infinities.
func AppendFloat(dst []byte, v float64) ([]byte, bool) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return dst, false
	case v == 0:
		return append(dst, '0'), true
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64), true
}

// AppendDecimal appends unscaled·10^-scale without trailing zeros after the point. ok is false for a number too long to
// be written in any spec.
func AppendDecimal(dst []byte, unscaled *big.Int, scale int32) ([]byte, bool) {
	if scale > maxQuantityText || scale < -maxQuantityText {
		return dst, false
	}
	x, _ := new(big.Rat).SetString(unscaled.String() + "e" + strconv.Itoa(-int(scale)))
	places, _ := x.FloatPrec()
	return append(dst, x.FloatString(places)...), true
}
