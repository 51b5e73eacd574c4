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
)

var errOverflow = errors.New("a noisy count does not fit below 2^62: the noise is too large for a count, spend more budget on it")

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

// addNoise adds one draw to every count, in order. On an error it sets all
// counts to zero. The message never holds a count.
func addNoise(counts []int64, draw func() (int64, error)) error {
	for i, count := range counts {
		noise, err := draw()
		if err == nil && (!isSmall(count) || !isSmall(count+noise)) {
			err = errOverflow
		}
		if err != nil {
			clear(counts)
			return err
		}
		counts[i] = count + noise
	}
	return nil
}

func isSmall(x int64) bool { return -overflowLimit < x && x < overflowLimit }

// smallEnough returns x as an int64, or errOverflow from 2⁶² on.
func smallEnough(x *big.Int) (int64, error) {
	if !x.IsInt64() || !isSmall(x.Int64()) {
		return 0, errOverflow
	}
	return x.Int64(), nil
}
