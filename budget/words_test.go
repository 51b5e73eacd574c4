package budget

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersAreWritten(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Group(0), "0"}, {Group(9999), "9999"}, {Group(10000), "10\u202f000"},
		{Group(-1234567), "\u22121\u202f234\u202f567"},
		{Group(math.MinInt64), "\u22129\u202f223\u202f372\u202f036\u202f854\u202f775\u202f808"},
		{DecimalUp(mustRat(t, "1/3"), 4), "0.3334"}, {DecimalUp(mustRat(t, "1/4"), 4), "0.25"},
		{DecimalUp(mustRat(t, "99999/10000"), 3), "10"},
		{DecimalUp(mustRat(t, "1.00049"), 4), "1.001"}, {DecimalUp(mustRat(t, "0.123456"), 4), "0.1235"},
		{DecimalUp(mustRat(t, "12345.6"), 6), "12\u202f345.6"},
		{DecimalUp(mustRat(t, "0"), 4), "0"}, {DecimalUp(mustRat(t, "1e-9"), 4), "1e-9"},
		{DecimalUp(mustRat(t, "0.00000012345"), 2), "1.3e-7"},
		{DecimalUp(mustRat(t, "123456"), 3), "124\u202f000"}, {DecimalUp(mustRat(t, "1e15"), 3), "1e15"},
		{DecimalUp(mustRat(t, "0.0001"), 3), "0.0001"},
		{DecimalNearest(5.2883, 4), "5.288"}, {DecimalNearest(2.0/3, 2), "0.67"}, {DecimalNearest(12.5, 1), "13"},
		{DecimalNearest(9.9999, 4), "10"},
		{DecimalNearest(0, 4), "0"}, {DecimalNearest(1234567.6, 4), "1\u202f234\u202f568"},
		{DecimalNearest(1e-9, 4), "1e-9"},
		{DecimalNearest(1.25e20, 2), "1.3e20"},
		{DecimalNearest(math.NaN(), 4), "–"}, {DecimalNearest(math.Inf(1), 4), "–"},
		{Percent(0), "0%"}, {Percent(1), "100%"}, {Percent(1.0 / 3), "33.3%"}, {Percent(1e-9), "1e-7%"},
		{Percent(0.9999), ">99.9%"}, {Percent(0.6), "60%"}, {Percent(1.0 / 105), "0.952%"},
		{Plural(1, "table"), "1 table"}, {Plural(0, "table"), "0 tables"},
		{Plural(12000, "table"), "12\u202f000 tables"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestDecimalUpIsNeverBelowAndNeverFar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := big.NewRat(rapid.Int64Range(1, 1<<60).Draw(t, "a"), rapid.Int64Range(1, 1<<60).Draw(t, "b"))
		digits := rapid.IntRange(1, 12).Draw(t, "digits")
		text := DecimalUp(v, digits)
		got, ok := new(big.Rat).SetString(strings.ReplaceAll(text, narrowSpace, ""))
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		limit := new(big.Rat).Mul(v, new(big.Rat).Add(big.NewRat(1, 1), scaleByTen(big.NewInt(1), 1-digits)))
		if got.Cmp(v) < 0 || got.Cmp(limit) > 0 {
			t.Fatalf("%s written as %s", v, text)
		}
	})
}

func TestDecimalNearestIsNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-12, 1e18).Draw(t, "v")
		digits := rapid.IntRange(1, 9).Draw(t, "digits")
		text := DecimalNearest(v, digits)
		got, ok := new(big.Rat).SetString(strings.ReplaceAll(text, narrowSpace, ""))
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		exact := exactly(v)
		off := got.Sub(got, exact)
		half := new(big.Rat).Mul(exact, scaleByTen(big.NewInt(5), -digits))
		if off.Abs(off).Cmp(half) > 0 {
			t.Fatalf("%v written as %s", v, text)
		}
	})
}

func TestRoundUp(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   float64
	}{
		{2.2537219, 4, 2.254}, {2.254, 4, 2.254}, {0.99999999, 3, 1}, {123456.7, 2, 130000},
		{1.00000000000001e-9, 7, 1.000001e-9},
		{0, 3, 0}, {-1.5, 1, -1.5}, {math.Inf(1), 3, math.Inf(1)}, {1, 7, 1},
	} {
		if got := RoundUp(c.v, c.digits); got != c.want {
			t.Errorf("RoundUp(%v, %d) = %v, want %v", c.v, c.digits, got, c.want)
		}
	}
	for range 10000 {
		v := math.Ldexp(1+rand.Float64(), rand.IntN(200)-100)
		if up := RoundUp(v, 7); up < v || up > v*(1+1.0000001e-6) {
			t.Errorf("%v is rounded up to %v", v, up)
		}
	}
}
