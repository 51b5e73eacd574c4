package spec

// This file holds the holders of a release that several make together.

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// Holders are those who hold the data of a release, each a part, and add up their answers without seeing those of the
// others.
type Holders struct {
	// All are in the order of their names.
	All []Holder
	// Overlap is how many holders can have rows of one unit.
	Overlap int64
	// Trusted is how many holders' noise, by itself, meets the guarantee.
	Trusted int
}

// Holder is one of those who hold the data of a release.
type Holder struct {
	Name string
	// Key is the public key, a line of text as `dprelease holder key` writes it.
	Key string
}

// Shares returns how the noise is divided if all holders take part.
func (h *Holders) Shares() budget.Shares {
	return budget.Shares{Needed: h.Trusted, Added: len(h.All)}
}

// Index returns the index of a holder by name, -1 if there is none.
func (h *Holders) Index(name string) int {
	return slices.IndexFunc(h.All, func(one Holder) bool { return one.Name == name })
}
