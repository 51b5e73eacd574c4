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
	// addShareTo adds an independent share to every count, of which so many add up to a draw.
	addShareTo func(b *noise.Bits, parameter *big.Rat, needed int, counts []int64) error
	// exceeding returns the law of noise above a threshold; nil if no plan has such noise.
	exceeding func(parameter *big.Rat, above int64) (*noise.Exceeding, error)
}

var noiseLaws = map[budget.Kind]noiseLaw{
	budget.DiscreteLaplace:  {noise.AddDiscreteLaplace, noise.AddLaplaceShare, noise.ExceedingLaplace},
	budget.DiscreteGaussian: {noise.AddDiscreteGaussian, noise.AddGaussianShare, noise.ExceedingGaussian},
	budget.Skellam:          {noise.AddSkellam, noise.AddSkellamShare, nil},
}

// noiseLawOf returns the law of a mechanism's noise.
func noiseLawOf(m budget.Mechanism) (noiseLaw, error) {
	law, ok := noiseLaws[m.Kind]
	if !ok {
		return law, fmt.Errorf("there is no sampler for the mechanism %q", m.Kind)
	}
	return law, nil
}
