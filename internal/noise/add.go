package noise

import (
	"errors"
	"fmt"
	"math/big"
)

const (
	// overflowLimit bounds counts, noise and their sums in absolute value.
	overflowLimit = 1 << 62
	// maxParameterBits bounds numerator and denominator of a parameter, so that
	// no parameter makes a draw last.
	maxParameterBits = 4096
	// stretch is how many draws are made at a time, to be added while they are in
	// the first-level cache.
	stretch = 1024
)

var bigLimit = big.NewInt(overflowLimit)

var errOverflow = errors.New(
	"a noisy count does not fit below 2^62: the noise is too large for a count, spend more budget on it")

// checkParameter returns an error unless the parameter is positive and of a size
// that can be computed with.
func checkParameter(what string, parameter *big.Rat) error {
	if parameter == nil || parameter.Sign() <= 0 {
		return fmt.Errorf("the %s must be positive", what)
	}
	if parameter.Num().BitLen() > maxParameterBits || parameter.Denom().BitLen() > maxParameterBits {
		return fmt.Errorf("the %s has more than %d bits", what, maxParameterBits)
	}
	return nil
}

// addDraws adds one draw of the law to every count, in order. On an error it sets all counts to zero. The message
// never holds a count.
func (s *sampler) addDraws(b *Bits, counts []int64) error {
	var draws [stretch]int64
	for rest := counts; len(rest) > 0; {
		now := rest[:min(stretch, len(rest))]
		err := s.fill(b, draws[:len(now)])
		if err == nil {
			err = addTo(now, draws[:len(now)])
		}
		if err != nil {
			clear(counts)
			return err
		}
		rest = rest[len(now):]
	}
	return nil
}

// addTo adds noise to counts. It returns an error if a count or a sum is 2⁶² or more in absolute value; noise is not,
// so that no sum wraps round.
func addTo(counts, noise []int64) error {
	counts = counts[:len(noise)]
	for i, x := range noise {
		sum := counts[i] + x
		if !isSmall(counts[i]) || !isSmall(sum) {
			return errOverflow
		}
		counts[i] = sum
	}
	return nil
}

// isSmall reports whether |x| < 2⁶².
func isSmall(x int64) bool { return uint64(x)+(overflowLimit-1) <= 2*(overflowLimit-1) }
