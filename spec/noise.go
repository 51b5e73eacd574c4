package spec

import (
	"cmp"
	"strings"

	"github.com/dprelease/dprelease/spec/shape"
)

// This file holds the laws of noise by their names in a budget.

// Noise is a law of noise, as a budget asks for it.
type Noise string

// The laws: discrete Gaussian noise, which a budget of ρ is spent on, and discrete Laplace noise, which a budget of ε
// is spent on. A budget of ε and δ can be spent on either.
const (
	GaussianNoise Noise = "gaussian"
	LaplaceNoise  Noise = "laplace"
)

// named is a law of noise by its names, and whether it is priced in ε.
type named struct {
	noise Noise
	law   string
	pure  bool
}

// noises are all laws, each with its name within a sentence. One that is priced in ε is for a budget of ε, or of ε and
// δ; others are for a budget of ρ, or of ε and δ. The first of each is the usual one.
var noises = []named{
	{GaussianNoise, "Gaussian", false},
	{LaplaceNoise, "Laplace", true},
}

// Law is the law's name within a sentence, such as "Laplace".
func (n Noise) Law() string {
	one, _ := n.find()
	return cmp.Or(one.law, "Gaussian")
}

// pricedAs reports whether both laws are priced in ε, or both in ρ.
func (n Noise) pricedAs(other Noise) bool {
	a, known := n.find()
	b, _ := other.find()
	return known && a.pure == b.pure
}

func (n Noise) find() (named, bool) {
	for _, one := range noises {
		if one.noise == n {
			return one, true
		}
	}
	return named{}, false
}

// noiseShape is the choice of a law.
func noiseShape() *shape.Shape {
	names := make([]string, len(noises))
	for i, one := range noises {
		names[i] = string(one.noise)
	}
	return shape.Enum(strings.Join(names, " or "), names...)
}
