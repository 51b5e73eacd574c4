package report

// This file holds how numbers are written.

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersAreWritten(t *testing.T) {
	rat := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatal(s)
		}
		return r
	}
	for _, c := range []struct{ got, want string }{
		{group(0), "0"}, {group(9999), "9999"}, {group(10000), "10\u202f000"}, {group(-1234567), "\u22121\u202f234\u202f567"},
		{group(math.MinInt64), "\u22129\u202f223\u202f372\u202f036\u202f854\u202f775\u202f808"},
		{roundUp(rat("1/3"), 4), "0.3334"}, {roundUp(rat("1/4"), 4), "0.25"}, {roundUp(rat("99999/10000"), 3), "10"},
		{roundUp(rat("0"), 4), "0"}, {roundUp(rat("1e-9"), 4), "1e-9"}, {roundUp(rat("0.00000012345"), 2), "1.3e-7"},
		{roundUp(rat("123456"), 3), "124\u202f000"}, {roundNear(rat("2/3"), 2), "0.67"}, {roundNear(rat("12.5"), 2), "13"},
		{decimal(5.2883), "5.288"}, {decimal(0), "0"}, {decimal(1234567.6), "1\u202f234\u202f568"}, {decimal(math.NaN()), "–"}, {decimal(math.Inf(1)), "–"},
		{share(0), "0%"}, {share(1), "100%"}, {share(1.0 / 3), "33.3%"}, {share(1e-9), "<0.1%"}, {share(0.9999), ">99.9%"}, {share(0.6), "60%"},
		{relative(1.2), "120%"}, {relative(0.012345), "1.2%"}, {relative(0), "0%"}, {relative(123.456), "12\u202f346%"}, {relative(math.NaN()), "0%"},
		{level(0.95), "95%"}, {level(0.9999), "99.9%"}, {level(0.95179), "95.1%"}, {level(1), "100%"},
		{many(1, "table"), "1 table"}, {many(12000, "table"), "12\u202f000 tables"},
		{exactText("1/3"), "0.333334"}, {exactText("6/5"), "1.2"}, {exactText("odd"), "odd"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestRoundUpIsNeverBelowAndNeverFar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := big.NewRat(rapid.Int64Range(1, 1<<60).Draw(t, "a"), rapid.Int64Range(1, 1<<60).Draw(t, "b"))
		digits := rapid.IntRange(1, 12).Draw(t, "digits")
		text := strings.ReplaceAll(roundUp(v, digits), thin, "")
		got, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		limit := new(big.Rat).Mul(v, new(big.Rat).Add(big.NewRat(1, 1), powerOfTen(1-digits)))
		if got.Cmp(v) < 0 || got.Cmp(limit) > 0 {
			t.Fatalf("%s written as %s", v, text)
		}
	})
}

func TestOddsAreUpperBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := big.NewRat(rapid.Int64Range(1, 29_000_000).Draw(t, "ε·10^6"), 1_000_000)
		delta := big.NewRat(rapid.Int64Range(0, 1000).Draw(t, "δ·10^6"), 1_000_000)
		o := oddsOf(epsilon, delta)
		e, _ := epsilon.Float64()
		d, _ := delta.Float64()
		grow := math.Exp(e)
		factor, err := strconv.ParseFloat(strings.ReplaceAll(o.factor, thin, ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		if factor < grow || factor-1 > 1.01*(grow-1)+1e-9 {
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
		{"1", "0", odds{"2.72", 0.732, false}},
		{"1/10", "0", odds{"1.106", 0.525, false}},
		{"2", "1e-6", odds{"7.39", 0.881, false}},
		{"10", "0", odds{"22\u202f100", 1, false}},
		{"11", "0", odds{"59\u202f900", 1, true}},
		{"100", "0", odds{"10^44", 1, true}},
		{"10000", "0", odds{"10^4343", 1, true}},
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
		margin := rapid.Int64Range(0, 40).Draw(t, "margin")
		got := relativeMargin(margin, published)
		var ratios []float64
		for _, v := range published {
			if v > 0 {
				ratios = append(ratios, float64(margin)/float64(v))
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
