package spec

import (
	"cmp"
	"strings"

	"github.com/dprelease/dprelease/spec/shape"
)

// This file holds the noise distributions and their names in a budget.

// Noise is a noise distribution, as a budget names it.
type Noise string

// The distributions: discrete Gaussian noise, which is paid for by a budget of ρ, and discrete Laplace noise, which is
// paid for by a budget of ε. A budget of ε and δ can pay for either.
const (
	GaussianNoise Noise = "gaussian"
	LaplaceNoise  Noise = "laplace"
)

// noiseLaw is a noise distribution with its names, and whether it is priced in ε.
type noiseLaw struct {
	noise Noise
	law   string
	pure  bool
}

// noises are all distributions, each with its name within a sentence. A distribution that is priced in ε is for a
// budget of ε, or of ε and δ; the others are for a budget of ρ, or of ε and δ. The first of each kind is the default.
var noises = []noiseLaw{
	{GaussianNoise, "Gaussian", false},
	{LaplaceNoise, "Laplace", true},
}

// Law returns the distribution's name within a sentence, such as "Laplace".
func (n Noise) Law() string {
	one, _ := n.findLaw()
	return cmp.Or(one.law, "Gaussian")
}

// isPricedAs reports whether both distributions are priced in ε, or both in ρ.
func (n Noise) isPricedAs(other Noise) bool {
	a, known := n.findLaw()
	b, _ := other.findLaw()
	return known && a.pure == b.pure
}

func (n Noise) findLaw() (noiseLaw, bool) {
	for _, one := range noises {
		if one.noise == n {
			return one, true
		}
	}
	return noiseLaw{}, false
}

// noiseShape is the choice of a distribution.
func noiseShape() *shape.Shape {
	names := make([]string, len(noises))
	for i, one := range noises {
		names[i] = string(one.noise)
	}
	return shape.Enum(strings.Join(names, " or "), names...)
}
