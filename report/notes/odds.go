package notes

// This file computes what an (ε, δ) means for somebody who guesses.

import (
	"math"
	"math/big"
	"strconv"

	"github.com/dprelease/dprelease/budget"
)

// weakEpsilon is the ε above which a guarantee is called weak.
const weakEpsilon = 10

// slack covers the rounding of [budget.Exp] and of the few operations after it.
const slack = 1e-12

// odds is the meaning of an (ε, δ) guarantee, every figure rounded up.
type odds struct {
	factor string  // e^ε, in steps of at most a ninetieth of its excess over 1
	guess  float64 // probability of guessing right at even odds, in steps of 0.001, at most 1
	weak   bool
	// wrongOnce is the least n for which such a guess is wrong at least once in n, on average; 0 if that is more than a
	// million.
	wrongOnce int64
	// inThousand is how many times in a thousand a result may occur that occurs once in a thousand without the unit, at
	// most 1000.
	inThousand int64
}

// oddsOf computes the odds of an (ε, δ)-differentially private release.
//
// Guarantee: for two neighbouring inputs and any set of results, P(S) ≤ e^ε·P'(S) + δ (Dwork and Roth 2014, definition
// 2.4), so any test of one against the other at even odds is right with probability at most (e^ε + δ)/(1 + e^ε)
// (Kairouz, Oh and Viswanath 2015, theorem 2.1).
func oddsOf(epsilon, delta *big.Rat) odds {
	e, d := floatUp(epsilon), floatUp(delta)
	return odds{factor: factorText(e), guess: guessProbability(e, d), weak: e > weakEpsilon, wrongOnce: wrongOnce(e, d),
		inThousand: inThousand(e, d)}
}

// wrongOnce returns (1 + e^ε)/(1 − δ), rounded up: a guess is wrong with a probability of at least (1 − δ)/(1 + e^ε).
func wrongOnce(epsilon, delta float64) int64 {
	if epsilon > 13 || delta >= 0.5 { // e^13 is about 440 000
		return 0
	}
	return roundUp(float64((1 + budget.Exp(epsilon)) / (1 - delta) * (1 + slack)))
}

// inThousand returns e^ε + 1000·δ, rounded up: for P' = 1/1000 it bounds 1000·P by P ≤ e^ε·P' + δ.
func inThousand(epsilon, delta float64) int64 {
	if epsilon > 7 || delta >= 1 { // e^7 is above 1000
		return 1000
	}
	return min(1000, roundUp(float64((budget.Exp(epsilon)+float64(1000*delta))*(1+slack))))
}

func roundUp(v float64) int64 {
	return int64(math.Ceil(v))
}

// floatUp returns the least float64 not below r, short of subnormals.
func floatUp(r *big.Rat) float64 {
	f, exact := r.Float64()
	if exact {
		return f
	}
	return float64(f * (1 + slack))
}

// factorText writes e^ε, rounded up: with three significant digits or, below 2, three of the part above 1, and as a
// power of ten if it would be longer than a line.
func factorText(epsilon float64) string {
	const longest = 27 // e^27 has 12 digits
	if epsilon > longest {
		// 0.4342944819032519 is above log10(e).
		return "10^" + strconv.FormatInt(int64(float64(epsilon*0.4342944819032519))+1, 10)
	}
	f := new(big.Rat).SetFloat64(float64(budget.Exp(epsilon) * (1 + slack)))
	if f == nil || f.Cmp(big.NewRat(1, 1)) <= 0 {
		return "1"
	}
	digits, excess := 3, new(big.Rat).Sub(f, big.NewRat(1, 1))
	for step := big.NewRat(1, 1); excess.Cmp(step) < 0; step.Quo(step, big.NewRat(10, 1)) {
		digits++
	}
	return budget.DecimalUp(f, digits)
}

// guessProbability returns (e^ε + δ)/(1 + e^ε) = 1 − (1 − δ)/(1 + e^ε), rounded up to a multiple of 0.001.
func guessProbability(epsilon, delta float64) float64 {
	if epsilon > 30 || delta >= 1 {
		return 1
	}
	grow := budget.Exp(epsilon)
	p := float64(float64((grow+delta)/(1+grow)) * (1 + slack))
	return min(1, float64(roundUp(float64(p*1000)))/1000)
}
