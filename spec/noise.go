package spec

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file holds the laws of noise by the names that a budget gives them.

// Noise is a law of noise, as a budget names it ([budget.Kind.SpecName]); "" if the budget leaves it open.
type Noise string

// NoiseOf returns the law of noise of a kind.
func NoiseOf(kind budget.Kind) Noise { return Noise(kind.SpecName()) }

// Law returns the name of the law within a sentence, such as "Laplace"; of a law that is left open, that of the default
// law that is priced in ρ.
func (n Noise) Law() string {
	kind, ok := budget.LawNamed(string(n))
	if !ok {
		kind = budget.DefaultLaw(false)
	}
	return strings.TrimPrefix(kind.Name(), "discrete ")
}

// noiseShape is the choice of a law of noise.
func noiseShape() *shape.Shape {
	var names []string
	for _, kind := range budget.AllLaws() {
		names = append(names, kind.SpecName())
	}
	slices.Sort(names)
	return shape.Enum(strings.Join(names, " or "), names...)
}
