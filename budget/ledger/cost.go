package ledger

// Amounts on an account: what budget.Cost leaves to an account to ask of them, and how they read in a sentence.

import (
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// maxBits bounds the numerator and the denominator of an amount, so that sums of many stay cheap.
const maxBits = 512

// maxCommonBits bounds the common denominator of all amounts that were ever asked of an account, so that every sum of
// some of them stays cheap, whatever cancels out: sixteen amounts as odd as they come, or any number of round ones.
const maxCommonBits = 16 * maxBits

// common is the least common denominator of the amounts that are multiples of 1/of, and of c.
func common(of *big.Int, c budget.Cost) *big.Int {
	for _, r := range []*big.Rat{c.Epsilon, c.Rho, c.Delta} {
		if r != nil {
			shared := new(big.Int).GCD(nil, nil, of, r.Denom())
			of = new(big.Int).Mul(of, shared.Quo(r.Denom(), shared))
		}
	}
	return of
}

// mainPart is the ε or ρ of c; 0 if it has neither.
func mainPart(c budget.Cost) *big.Rat {
	switch {
	case c.Epsilon != nil:
		return c.Epsilon
	case c.Rho != nil:
		return c.Rho
	}
	return new(big.Rat)
}

// spendable reports whether c is valid, asks for some ε or ρ, and is written in at most maxBits bits a side.
func spendable(c budget.Cost) bool {
	if mainPart(c).Sign() <= 0 || c.Validate() != nil {
		return false
	}
	for _, r := range []*big.Rat{c.Epsilon, c.Rho, c.Delta} {
		if r != nil && (r.Num().BitLen() > maxBits || r.Denom().BitLen() > maxBits) {
			return false
		}
	}
	return true
}

// zeroOf is 0 in a definition.
func zeroOf(definition string) budget.Cost {
	if definition == Rho {
		return budget.Cost{Rho: new(big.Rat)}
	}
	return budget.Cost{Epsilon: new(big.Rat)}
}

// normal is c in numbers that nobody else holds, a δ of 0 left out.
func normal(c budget.Cost) budget.Cost {
	own := func(r *big.Rat) *big.Rat {
		if r == nil {
			return nil
		}
		return new(big.Rat).Set(r)
	}
	out := budget.Cost{Epsilon: own(c.Epsilon), Rho: own(c.Rho), Delta: own(c.Delta)}
	if out.Delta != nil && out.Delta.Sign() == 0 {
		out.Delta = nil
	}
	return out
}

// inWords writes c exactly: "ε = 0.5", or "ρ = 1/3 and δ = 0.000001". A δ of 0 is left out unless withDelta.
func inWords(c budget.Cost, withDelta bool) string {
	switch {
	case c.Epsilon != nil:
		return "ε = " + number(c.Epsilon)
	case c.Rho == nil:
		return "nothing"
	case c.Delta != nil && c.Delta.Sign() != 0:
		return "ρ = " + number(c.Rho) + " and δ = " + number(c.Delta)
	case withDelta:
		return "ρ = " + number(c.Rho) + " and δ = 0"
	}
	return "ρ = " + number(c.Rho)
}

// number writes r exactly: as a decimal of at most 12 places, or as a fraction, after six digits of it where that
// is long to read.
func number(r *big.Rat) string {
	if places, exact := r.FloatPrec(); exact && places <= 12 {
		return r.FloatString(places)
	}
	fraction := budget.FormatRat(r)
	if len(fraction) <= 16 {
		return fraction
	}
	near, _ := r.Float64()
	digits := budget.DecimalNearest(near, 6)
	return strings.Join([]string{"about ", digits, " (exactly ", fraction, ")"}, "")
}
