package planner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// This file holds verification: that a plan is what its own spec leads to.

// Read compiles a plan.json, and returns an error unless planning the spec inside it again gives these very bytes. It
// does not plan again what was planned or verified in this process. The errors for bytes that their spec does not
// lead to are those of [compiled.Read] if it also returns one. The plan has no words.
//
// Contract: after a nil error every sensitivity in the plan is the one derived from the spec, and the loss of the
// plan's measurements is within its charge, whoever wrote the file.
func Read(text []byte) (*compiled.Compiled, error) {
	hash := plan.HashOf(text)
	if madeHere.hasHash(hash) {
		c, err := compiled.Read(text)
		if err != nil {
			return nil, err
		}
		return c, verify(c)
	}
	again, failed := planAgain(text)
	if again != nil && again.Hash() == hash {
		return again.WithWords(nil)
	}
	if _, err := compiled.Read(text); err != nil {
		return nil, err
	}
	return nil, cmp.Or(failed, errNotPlanned)
}

// Verify returns a copy of a plan that nobody else holds, read from the plan's bytes. It returns an error unless
// these are what planning their spec leads to, and if the release of the given plan is not what its spec says. It
// keeps the contract of [Read]. Whatever the planner made, the parts of the copy fit together
// ([compiled.Compiled.Copy]): each measurement has noise, and as many answers as its question.
func Verify(c *compiled.Compiled) (*compiled.Compiled, error) {
	own, err := c.Copy()
	switch {
	case err != nil:
		return nil, err
	case !own.Release().EqualButWords(c.Release()):
		return nil, errRelease
	}
	return own, verify(own)
}

var (
	errRelease    = fmt.Errorf("%w: its release is not what its spec says", plan.ErrEdited)
	errNotPlanned = fmt.Errorf(
		"%w, or made by another version (it is not what its own spec leads to): make it again with `dprelease plan`",
		plan.ErrEdited)
)

// verify returns an error unless a plan, whose release is what its spec says, is what that leads to.
func verify(c *compiled.Compiled) error {
	if madeHere.hasPlan(c) {
		return nil
	}
	again, err := planOwned(c.Release())
	if err != nil {
		return fmt.Errorf("planning the spec inside the plan: %w", err)
	}
	if again.Hash() != c.Hash() {
		return errNotPlanned
	}
	return nil
}

// planAgain plans the spec inside a plan.json. It returns nil for bytes that are not a plan of this format, and for
// an invalid spec.
func planAgain(text []byte) (*compiled.Compiled, error) {
	var in struct {
		Format string      `json:"format"`
		Source spec.Source `json:"source"`
	}
	if err := json.Unmarshal(text, &in); err != nil || in.Format != plan.Format {
		return nil, err
	}
	r, err := spec.Parse(in.Source)
	if err != nil {
		return nil, err
	}
	again, err := planOwned(r)
	if err != nil {
		return nil, fmt.Errorf("planning the spec inside the plan: %w", err)
	}
	return again, nil
}

// planOwned plans a release that nobody else holds, and remembers the plan.
func planOwned(r *spec.Release) (*compiled.Compiled, error) {
	d, err := passes(r, nil)
	if err != nil {
		return nil, err
	}
	c := d.compiled()
	madeHere.add(c)
	return c, nil
}

// madeHere remembers the plans that were made in this process from releases that nobody else held meanwhile. Planning
// is a function of the release, so the same bytes of the same release need not be planned again.
var madeHere planRing

// mostRemembered is how many plans are remembered.
const mostRemembered = 8

// planRing holds the most recent plans.
type planRing struct {
	mu   sync.Mutex
	made []madePlan
}

// madePlan is the hash of a plan with the release that it was made from. Others may have changed that release since;
// then it equals no release that was just read, and the plan is not trusted.
type madePlan struct {
	hash    string
	release *spec.Release
}

// add remembers a plan with the release that it was made from.
func (r *planRing) add(c *compiled.Compiled) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made = append(r.made, madePlan{c.Hash(), c.Release()}); len(r.made) > mostRemembered {
		r.made = r.made[1:]
	}
}

// hasHash reports whether a plan of this hash was made.
func (r *planRing) hasHash(hash string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.made, func(m madePlan) bool { return m.hash == hash })
}

// hasPlan reports whether this plan was made from an equal release.
func (r *planRing) hasPlan(c *compiled.Compiled) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.made, func(m madePlan) bool {
		return m.hash == c.Hash() && m.release.EqualButWords(c.Release())
	})
}
