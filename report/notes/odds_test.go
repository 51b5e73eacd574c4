package notes

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
		// The last digit that is shown is at most a ninetieth of the part above 1: from 10 on, 10.000001 is written as
		// 10.1.
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
