package compiled

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the laws of noise that a budget of ε and δ can be spent on, by their names in a spec and in a
// mechanism.

// NoiseLaw is a law of noise, by its name in a spec and by its kind of mechanism.
type NoiseLaw struct {
	Requested spec.Noise
	Kind      budget.Kind
}

// EitherNoise are the usual kinds of noise under ε and δ, by their names in a spec.
var EitherNoise = []NoiseLaw{usualLaw(false), usualLaw(true)}

// NoiseUnder returns the kinds of noise that a release of ε and δ can have, [EitherNoise] and, of several holders,
// Skellam noise.
func NoiseUnder(r *spec.Release) []NoiseLaw {
	if r.Holders == nil {
		return EitherNoise
	}
	return append(slices.Clone(EitherNoise), NoiseLaw{spec.NoiseOf(budget.Skellam), budget.Skellam})
}

func usualLaw(pure bool) NoiseLaw {
	kind := budget.DefaultLaw(pure)
	return NoiseLaw{spec.NoiseOf(kind), kind}
}
