package histogram

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/noise"
)

// This file holds the samplers of the laws of noise.

// sampler draws noise of one law, by its parameter.
type sampler struct {
	// add adds noise to every count.
	add func(b *noise.Bits, parameter *big.Rat, counts []int64) error
	// exceeding returns the law of noise above a threshold.
	exceeding func(parameter *big.Rat, above int64) (*noise.Exceeding, error)
}

var samplers = map[budget.Kind]sampler{
	budget.DiscreteLaplace:  {noise.AddDiscreteLaplace, noise.ExceedingLaplace},
	budget.DiscreteGaussian: {noise.AddDiscreteGaussian, noise.ExceedingGaussian},
}

// samplerOf returns the sampler of a mechanism.
func samplerOf(m budget.Mechanism) (sampler, error) {
	s, ok := samplers[m.Kind]
	if !ok {
		return s, fmt.Errorf("there is no sampler for the mechanism %q", m.Kind)
	}
	return s, nil
}
