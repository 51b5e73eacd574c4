package domain

// This file holds the canonical texts of values, by which these are compared with categories, code books and keys.

import (
	"math"
	"math/big"
	"strconv"
)

// AppendFloat appends the shortest decimal that reads back the same, without an exponent and zero without a minus sign.
// It is false for what is no number.
func AppendFloat(dst []byte, v float64) ([]byte, bool) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return dst, false
	case v == 0:
		return append(dst, '0'), true
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64), true
}

// AppendDecimal appends unscaled·10^-scale without trailing zeros behind the point. It is false for one that is too
// long to be the text of anything in a spec.
func AppendDecimal(dst []byte, unscaled *big.Int, scale int32) ([]byte, bool) {
	if scale > maxQuantityText || scale < -maxQuantityText {
		return dst, false
	}
	x, _ := new(big.Rat).SetString(unscaled.String() + "e" + strconv.Itoa(-int(scale)))
	places, _ := x.FloatPrec()
	return append(dst, x.FloatString(places)...), true
}
