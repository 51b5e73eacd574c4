package domain

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// integersNear draws an integer, often next to others.
func integersNear(t *rapid.T, near ...int64) int64 {
	v := rapid.OneOf(rapid.Int64(), rapid.SampledFrom(append(near, 0, math.MinInt64, math.MaxInt64))).Draw(t, "v")
	if by := rapid.Int64Range(-3, 3).Draw(t, "by"); (v+by > v) == (by > 0) {
		v += by
	}
	return v
}

// Outside its range of integers a domain gives all integers on one side the same code and the same fit.
func TestIntegersOfDomains(t *testing.T) {
	for text, want := range map[string][2]int64{
		"{type: integer, range: [-3, 4]}":                             {-3, 5},
		"{type: integer, range: [0, 99], levels: {ten: {width: 10}}}": {0, 100},
		"{type: decimal, range: [-1.5, 2.25], step: 0.25}":            {-2, 3},
		`{values: ["7", "-12", "007", word, "3"]}`:                    {-12, 7},
		"{values: [word]}": {0, 0},
	} {
		d := readDeclaration(t, text).Domain
		low, high, ok := d.Integers()
		if !ok || [2]int64{low, high} != want {
			t.Errorf("%s: %d to %d, %v, want %d", text, low, high, ok, want)
		}
		rapid.Check(t, func(t *rapid.T) {
			v := integersNear(t, low, high)
			like := min(max(v, low-1), high+1)
			code, fit := d.CodeOfInt(v)
			if c, f := d.CodeOfInt(like); c != code || f != fit {
				t.Fatalf("%s: %d has code %d and fit %v, and %d has %d and %v", text, v, code, fit, like, c, f)
			}
		})
	}
	if _, _, ok := readDeclaration(t, "{type: date, range: [2024-01-01, 2024-02-01]}").Domain.Integers(); ok {
		t.Error("dates have codes for integers")
	}
}

// Outside its range of integers a lattice gives all integers on one side the same index.
func TestIntegersOfLattices(t *testing.T) {
	for _, c := range []struct {
		step      *big.Rat
		low, high int64
	}{{big.NewRat(5, 2), -10, 25}, {big.NewRat(1, 3), -2, 4}} {
		if low, high := newLattice(c.step, -4, 10).Integers(); low != c.low || high != c.high {
			t.Errorf("step %v: %d to %d, want %d to %d", c.step, low, high, c.low, c.high)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		l := drawLattice(t)
		low, high := l.Integers()
		v := integersNear(t, low, high)
		if like := min(max(v, low), high); l.IndexOfInt(like, NoStratum) != l.IndexOfInt(v, NoStratum) {
			t.Fatalf("%d has index %d, and %d has %d", v, l.IndexOfInt(v, NoStratum), like,
				l.IndexOfInt(like, NoStratum))
		}
	})
}
