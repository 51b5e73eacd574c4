package report

// This file holds how numbers are written.

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersAreWritten(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{decimal(5.2883), "5.288"}, {decimal(1234567.6), "1\u202f234\u202f568"}, {decimal(math.NaN()), "–"},
		{relative(1.2), "120%"}, {relative(0.012345), "1.2%"}, {relative(0), "0%"}, {relative(123.456), "12\u202f346%"},
		{level(0.95), "95%"}, {level(0.9999), "99.9%"}, {level(0.95179), "95.1%"}, {level(1), "100%"},
		{Amount{Epsilon: "1/3"}.String(), "ε ≤ 0.3333334"}, {Amount{Rho: "6/5", Delta: "1e-9"}.String(), "ρ = 1.2 and δ = 1e-9"}, {Amount{}.String(), "nothing"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// Ten times 0.1, whose float64 is a little above it, is nearest to 1, though adding
// them one by one in float64 gives less; 2^53 + 1 is no float64.
func TestTotalsAreExact(t *testing.T) {
	tenth := []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}
	for _, c := range []struct {
		values []float64
		whole  bool
		want   json.Number
		shown  string
	}{
		{tenth, false, "1", "1"},
		{[]float64{1e16, 1, -1e16, 0.25}, false, "1.25", "1.25"},
		{[]float64{-12345.678, 0}, false, "-12345.678", "−12\u202f346"},
		{[]float64{1 << 53, 1}, true, "9007199254740993", "9\u202f007\u202f199\u202f254\u202f740\u202f993"},
		{[]float64{3, -3}, false, "0", "0"},
		{nil, true, "0", "0"},
	} {
		if got := totalOf(c.values, c.whole); got != c.want || number(got) != c.shown {
			t.Errorf("%v: %s, shown as %s, want %s and %s", c.values, got, number(got), c.want, c.shown)
		}
	}
}

// A margin is shown rounded up.
func TestMarginsAreShownRoundedUp(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 11: "11", 2.0001: "3", 12345.5: "12\u202f346"} {
		if got := margin(v); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
	}
}

func TestOddsAreUpperBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := big.NewRat(rapid.Int64Range(1, 26_900_000).Draw(t, "ε·10^6"), 1_000_000)
		delta := big.NewRat(rapid.Int64Range(0, 1000).Draw(t, "δ·10^6"), 1_000_000)
		o := oddsOf(epsilon, delta)
		e, _ := epsilon.Float64()
		d, _ := delta.Float64()
		grow := math.Exp(e)
		factor, err := strconv.ParseFloat(strings.ReplaceAll(o.factor, "\u202f", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		// The last digit that is shown is at most a ninetieth of what is above 1: so it is from 10 on, where 10.000001 is written as 10.1.
		if factor < grow || factor-1 > (1+1.0/90)*(grow-1)+1e-9 {
			t.Fatalf("e^%v = %v written as %s", e, grow, o.factor)
		}
		if p := (grow + d) / (1 + grow); o.guess < p || o.guess > p+0.0011 {
			t.Fatalf("guess at ε = %v, δ = %v is %v, written as %v", e, d, p, o.guess)
		}
	})
}

func TestOddsOfKnownPromises(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		want           odds
	}{
		{"2.312536", "0", odds{"10.2", 0.91, false, 12, 11}}, // e^ε = 10.100006
		{"1", "0", odds{"2.72", 0.732, false, 4, 3}},
		{"1/10", "0", odds{"1.106", 0.525, false, 3, 2}},
		{"2", "1e-6", odds{"7.39", 0.881, false, 9, 8}},
		{"10", "0", odds{"22\u202f100", 1, false, 22028, 1000}},
		{"11", "0", odds{"59\u202f900", 1, true, 59876, 1000}},
		{"100", "0", odds{"10^44", 1, true, 0, 1000}},
		{"10000", "0", odds{"10^4343", 1, true, 0, 1000}},
	} {
		epsilon, _ := new(big.Rat).SetString(c.epsilon)
		delta, _ := new(big.Rat).SetString(c.delta)
		if got := oddsOf(epsilon, delta); got != c.want {
			t.Errorf("ε = %s, δ = %s: got %+v, want %+v", c.epsilon, c.delta, got, c.want)
		}
	}
}

func TestRelativeMarginIsThatOfTheCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		published := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 60).Draw(t, "published")
		margins := rapid.SliceOfN(rapid.Int64Range(0, 40), len(published), len(published)).Draw(t, "margins")
		got := relativeMargin(func(i int) float64 { return float64(margins[i]) }, published)
		var ratios []float64
		for i, v := range published {
			if v > 0 {
				ratios = append(ratios, float64(margins[i])/float64(v))
			}
		}
		if len(ratios) == 0 {
			if got != nil {
				t.Fatal("a spread over no cells")
			}
			return
		}
		// By its definition the nearest-rank quantile is the least ratio that at
		// least that part of the ratios does not exceed.
		for part, q := range map[float64]float64{0.1: got.Q10, 0.5: got.Q50, 0.9: got.Q90} {
			if below(ratios, q, true) < part-1e-12 || below(ratios, q, false) >= part-1e-12 {
				t.Fatalf("%v is not the %v quantile of %v", q, part, ratios)
			}
		}
		if got.Within10 != below(ratios, 0.1, true) || got.Within50 != below(ratios, 0.5, true) {
			t.Fatalf("got %+v of %v", got, ratios)
		}
	})
}

// below is the part of the ratios at most (or less than) a limit.
func below(ratios []float64, limit float64, orEqual bool) float64 {
	n := 0.0
	for _, r := range ratios {
		if r < limit || orEqual && r == limit {
			n++
		}
	}
	return n / float64(len(ratios))
}
