package domain

// This file holds the range of the integers that a domain or a lattice distinguishes, which is public: a program that
// knows the codes of these integers, and of one on either side, knows the codes of all.

import (
	"math"
	"math/big"
	"strconv"
)

// Integers returns a range of integers such that [Domain.CodeOfInt] gives all integers below it the same result, and
// all above it. ok is false if the domain has no codes for integers.
func (d *Domain) Integers() (low, high int64, ok bool) {
	switch {
	case d.gridCells > 0:
		return 0, int64(d.gridCells) - 1, true
	case d.codeOfText != nil:
		none := true
		for text := range d.codeOfText {
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil || !IsInteger(text) {
				continue
			}
			if none {
				low, high, none = v, v, false
			}
			low, high = min(low, v), max(high, v)
		}
		return low, high, true
	case d.isNumeric():
		unit, cuts := big.NewRat(1, d.bins.den), d.bins.cuts
		return floorOfMultiple(unit, cuts[0]), ceilingOfMultiple(unit, cuts[len(cuts)-1]), true
	}
	return 0, 0, false
}

// Integers returns a range of integers such that [Lattice.IndexOfInt] gives all integers below it the same index, and
// all above it, whatever their stratum.
func (l *Lattice) Integers() (low, high int64) {
	return floorOfMultiple(l.Step, l.First), ceilingOfMultiple(l.Step, l.Last)
}

// floorOfMultiple returns the largest integer that is at most n·of, or the int64 that is nearest to it.
func floorOfMultiple(of *big.Rat, n int64) int64 {
	x := new(big.Rat).Mul(of, new(big.Rat).SetInt64(n))
	return clampInt64(new(big.Int).Div(x.Num(), x.Denom())) // which rounds down, as the denominator is positive
}

// ceilingOfMultiple returns the least integer that is at least n·of, or the int64 that is nearest to it.
func ceilingOfMultiple(of *big.Rat, n int64) int64 {
	x := new(big.Rat).Mul(of, new(big.Rat).SetInt64(n))
	x.Neg(x)
	floor := new(big.Int).Div(x.Num(), x.Denom())
	return clampInt64(floor.Neg(floor))
}

// clampInt64 returns the int64 that is nearest to x.
func clampInt64(x *big.Int) int64 {
	switch {
	case x.IsInt64():
		return x.Int64()
	case x.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
