package histogram

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/noise"
)

// This file holds the laws of noise, each with the functions that draw from it.

// noiseLaw holds the functions of package noise that draw from one law, given its parameter.
type noiseLaw struct {
	// addTo adds an independent draw to every count.
	addTo func(b *noise.Bits, parameter *big.Rat, counts []int64) error
	// exceeding returns the law of noise above a threshold.
	exceeding func(parameter *big.Rat, above int64) (*noise.Exceeding, error)
}

var noiseLaws = map[budget.Kind]noiseLaw{
	budget.DiscreteLaplace:  {noise.AddDiscreteLaplace, noise.ExceedingLaplace},
	budget.DiscreteGaussian: {noise.AddDiscreteGaussian, noise.ExceedingGaussian},
}

// noiseLawOf returns the law of a mechanism's noise.
func noiseLawOf(m budget.Mechanism) (noiseLaw, error) {
	law, ok := noiseLaws[m.Kind]
	if !ok {
		return law, fmt.Errorf("there is no sampler for the mechanism %q", m.Kind)
	}
	return law, nil
}
