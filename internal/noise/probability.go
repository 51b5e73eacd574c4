package noise

import (
	"fmt"
	"math/big"
)

// Bernoulli returns true with exactly the probability that the float is, a fraction with a power of 2 as its
// denominator.
//
// Guarantee: the probability is that of the float itself, whatever its size. Argument: docs/proofs/discover.md.
func Bernoulli(b *Bits, probability float64) bool { return bernoulliFloat(b, probability) }

func bernoulliFloat(c coins, probability float64) bool {
	switch {
	case !(probability >= 0) || probability > 1:
		panic(fmt.Sprintf("noise: %v is no probability", probability)) // a checked selection has only probabilities
	case probability == 0:
		return false
	case probability == 1:
		return true
	}
	p := new(big.Rat).SetFloat64(probability)
	return c.BernoulliBig(p.Num(), p.Denom())
}
