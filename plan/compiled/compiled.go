package compiled

import (
	"slices"
	"sync"

	"github.com/dprelease/dprelease/plan"
)

// This file holds a plan with what follows from it, worked out once in a step and passed on.

// Compiled is a plan that is no longer written to, with what follows from it: its canonical bytes, its hash and its estimates,
// each worked out at most once. A step makes one from what it reads ([Read]) and passes it on. It may be used by several
// goroutines.
//
// What a Compiled says holds for the plan as it was when that was first asked for. So the trusted core takes none on trust: it
// makes its own from the bytes of the plan.
type Compiled struct {
	*plan.Plan

	once      sync.Once
	text      []byte
	hash      string
	estimated sync.Once
	estimates []Estimate
	err       error
}

// Of returns a plan with what follows from it, whose parts fit together.
func Of(p *plan.Plan) *Compiled { return &Compiled{Plan: p} }

// Bytes returns the canonical plan.json, which nobody may write to.
func (c *Compiled) Bytes() []byte {
	c.once.Do(func() {
		c.text = c.Plan.Bytes()
		c.hash = plan.HashOf(c.text)
	})
	return c.text
}

// Hash returns the plan hash: SHA-256 of [Compiled.Bytes], in hexadecimal.
func (c *Compiled) Hash() string {
	c.Bytes()
	return c.hash
}

// Estimates returns how the plan's tables are put together. A table that is not in any estimate is one measurement, which its
// statistic names. The estimates are the caller's own copies: each remembers what is asked of it.
func (c *Compiled) Estimates() ([]Estimate, error) {
	c.estimated.Do(func() { c.estimates, c.err = Estimates(c.Plan) })
	return slices.Clone(c.estimates), c.err
}
