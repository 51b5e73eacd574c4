package compiled

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the laws of noise that a budget of ε and δ can be spent on, by their names in a spec and in a
// mechanism.

// NoiseLaw is a law of noise, as a spec asks for it and as a mechanism has it.
type NoiseLaw struct {
	Asked spec.Noise
	Kind  budget.Kind
}

// EitherNoise are the usual kinds of noise under ε and δ by their names in a spec.
var EitherNoise = []NoiseLaw{usual(false), usual(true)}

func usual(pure bool) NoiseLaw {
	kind := budget.Usual(pure)
	return NoiseLaw{NoiseAsked(kind), kind}
}

// NoiseAsked is the law of a kind of noise, as a spec asks for it.
func NoiseAsked(kind budget.Kind) spec.Noise { return spec.Noise(kind.Asked()) }
