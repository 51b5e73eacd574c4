package compiled

import (
	"slices"
	"sync"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds a plan with what follows from it, worked out once in a step and passed on.

// planned is the plan as a Compiled embeds it, under a name that no other package can set to another plan.
type planned = plan.Plan

// Compiled is a plan that is no longer written to, with what follows from it: its canonical bytes, its hash and its
// estimates. A step makes one and passes it on. It may be used by several goroutines.
//
// Its bytes and hash are those of the plan when it was compiled, and nothing outside the package can change them. Go
// lets whoever holds a Compiled write to the plan behind it. So the trusted core uses no plan that it is handed: it
// reads [Compiled.Bytes] for itself ([Compiled.Copy]), as does what is approved and charged, by [Compiled.Hash].
type Compiled struct {
	*planned
	text string
	hash string
	*results
}

// results are what follows from a plan, whatever its words.
type results struct {
	workload  *Workload // nil until it is needed
	estimated sync.Once
	estimates []Estimate
	err       error
}

// Of compiles a plan, which nobody may write to from then on.
func Of(p *plan.Plan) *Compiled {
	text := p.Bytes()
	return &Compiled{planned: p, text: string(text), hash: plan.HashOf(text), results: &results{}}
}

// WithEstimates compiles a plan, as [Of] does, with the estimates that the planner has made for it.
func WithEstimates(p *plan.Plan, estimates []Estimate) *Compiled {
	c := Of(p)
	c.estimated.Do(func() { c.estimates = estimates })
	return c
}

// Copy returns a copy that shares nothing with this one and that nobody else holds, read from the bytes. It returns
// an error if the plan's parts do not fit together, as [Read] does.
func (c *Compiled) Copy() (*Compiled, error) {
	p, err := plan.Read([]byte(c.text))
	if err != nil {
		return nil, err
	}
	w, err := checkedWorkload(p)
	if err != nil {
		return nil, editedError(err)
	}
	return &Compiled{planned: p, text: c.text, hash: c.hash, results: &results{workload: w}}, nil
}

// WithWords returns the plan with these words, nil for none. It returns an error for words of another release.
func (c *Compiled) WithWords(w *spec.Words) (*Compiled, error) {
	p, err := c.planned.WithWords(w)
	if err != nil {
		return nil, err
	}
	return &Compiled{planned: p, text: c.text, hash: c.hash, results: c.results}, nil
}

// WithoutHolders returns the plan as it was measured, without the noise of those who have withdrawn. Its bytes and its
// hash are those of the plan as it was made, and so is what it predicts.
func (c *Compiled) WithoutHolders(withdrawn []string) *Compiled {
	p := *c.planned
	held := *p.Guarantee.Holders
	held.Withdrawn = withdrawn
	p.Guarantee.Holders = &held
	p.Measurements = slices.Clone(p.Measurements)
	for i := range p.Measurements {
		p.Measurements[i].Mechanism.Shares.Added = len(held.TookPart())
	}
	p.Models = slices.Clone(p.Models)
	for i := range p.Models {
		p.Models[i].Rounds = slices.Clone(p.Models[i].Rounds)
		for k := range p.Models[i].Rounds {
			if p.Models[i].Local() {
				break // each draws all of the noise
			}
			p.Models[i].Rounds[k].Noise.Shares.Added = len(held.TookPart())
		}
	}
	return &Compiled{planned: &p, text: c.text, hash: c.hash, results: &results{}}
}

// Plan returns the plan, which nobody may write to.
func (c *Compiled) Plan() *plan.Plan { return c.planned }

// Bytes returns the canonical plan.json.
func (c *Compiled) Bytes() []byte { return []byte(c.text) }

// Hash returns the plan hash: SHA-256 of [Compiled.Bytes], in hexadecimal.
func (c *Compiled) Hash() string { return c.hash }

// Estimates returns how the plan's tables are estimated. A table without an estimate is one measurement, which its
// statistic names. The estimates are the caller's own copies: each caches what is asked of it.
func (c *Compiled) Estimates() ([]Estimate, error) {
	c.estimated.Do(func() {
		if c.workload == nil {
			c.workload, c.err = newWorkload(c.planned)
		}
		if c.err == nil {
			c.estimates, c.err = c.workload.Estimates(c.planned)
		}
	})
	return slices.Clone(c.estimates), c.err
}
