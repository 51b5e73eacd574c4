package noise

import (
	"fmt"
	"math/big"
)

// Bernoulli returns true with a probability that is a float, which is a fraction of a power of 2: exactly with this
// one.
//
// Guarantee: the probability is that of the float itself, whatever its size. Argument: docs/proofs/discover.md.
func Bernoulli(b *Bits, probability float64) bool { return bernoulli(b, probability) }

func bernoulli(c coins, probability float64) bool {
	switch {
	case !(probability >= 0) || probability > 1:
		panic(fmt.Sprintf("noise: %v is no probability", probability)) // a selection that was checked has none
	case probability == 0:
		return false
	case probability == 1:
		return true
	}
	p := new(big.Rat).SetFloat64(probability)
	return c.BernoulliBig(p.Num(), p.Denom())
}
