package ledger

// Amounts on an account: the requirements that budget.Cost does not make, and how amounts read in a sentence.

import (
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// maxBits bounds the numerator and the denominator of an amount, so that sums of many stay cheap.
const maxBits = 512

// maxCommonBits bounds the common denominator of all amounts ever requested from an account, so that every sum of some
// of them stays cheap, whatever cancels out. It allows sixteen amounts with coprime denominators of maxBits bits, or
// any number of round ones.
const maxCommonBits = 16 * maxBits

// commonDenominator returns the least common multiple of denominator and the denominators in c.
func commonDenominator(denominator *big.Int, c budget.Cost) *big.Int {
	for _, r := range []*big.Rat{c.Epsilon, c.Rho, c.Delta} {
		if r != nil {
			shared := new(big.Int).GCD(nil, nil, denominator, r.Denom())
			denominator = new(big.Int).Mul(denominator, shared.Quo(r.Denom(), shared))
		}
	}
	return denominator
}

// mainPart returns the ε or ρ of c; 0 if it has neither.
func mainPart(c budget.Cost) *big.Rat {
	switch {
	case c.Epsilon != nil:
		return c.Epsilon
	case c.Rho != nil:
		return c.Rho
	}
	return new(big.Rat)
}

// isSpendable reports whether c is valid, has a positive ε or ρ, and has numerators and denominators of at most maxBits
// bits.
func isSpendable(c budget.Cost) bool {
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

// zeroOf returns the zero cost in a definition.
func zeroOf(definition string) budget.Cost {
	if definition == Rho {
		return budget.Cost{Rho: new(big.Rat)}
	}
	return budget.Cost{Epsilon: new(big.Rat)}
}

// normalForm returns a deep copy of c without a δ of 0.
func normalForm(c budget.Cost) budget.Cost {
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
		return "ε = " + formatExact(c.Epsilon)
	case c.Rho == nil:
		return "nothing"
	case c.Delta != nil && c.Delta.Sign() != 0:
		return "ρ = " + formatExact(c.Rho) + " and δ = " + formatExact(c.Delta)
	case withDelta:
		return "ρ = " + formatExact(c.Rho) + " and δ = 0"
	}
	return "ρ = " + formatExact(c.Rho)
}

// formatExact writes r exactly: as a decimal if at most 12 places suffice, and as a fraction if not. A long fraction
// follows its value to six digits.
func formatExact(r *big.Rat) string {
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
