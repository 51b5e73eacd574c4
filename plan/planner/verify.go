package planner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// This file holds verification: a plan is what its own spec leads to.

// Read compiles a plan.json, and fails unless planning the spec inside it again gives these very bytes. It does not
// plan again what was planned or verified in this process. The errors for bytes that their spec does not lead to are
// those of [compiled.Read] where it fails too.
//
// Contract: after a nil error every sensitivity in the plan is the one derived
// from the spec, and the loss of the plan's measurements is within its charge,
// whoever wrote the file.
func Read(text []byte) (*compiled.Compiled, error) {
	hash := plan.HashOf(text)
	if madeHere.knows(hash) {
		c, err := compiled.Read(text)
		if err != nil {
			return nil, err
		}
		return c, verify(c)
	}
	again, failed := planAgain(text)
	if again != nil && again.Hash() == hash {
		return again, nil
	}
	if _, err := compiled.Read(text); err != nil {
		return nil, err
	}
	return nil, cmp.Or(failed, errNotPlanned)
}

// Verify returns a copy of a plan that nobody else holds, read from the plan's bytes. It fails unless these are what
// planning their spec leads to, and where the release of the plan that it is given is not what its spec says. It holds
// the contract of [Read]. Whatever the planner made, the parts of the copy fit together ([compiled.Compiled.Again]): each
// measurement has noise, and as many answers as its question.
func Verify(c *compiled.Compiled) (*compiled.Compiled, error) {
	own, err := c.Again()
	switch {
	case err != nil:
		return nil, err
	case !reflect.DeepEqual(own.Release(), c.Release()):
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

// verify fails unless a plan, whose release is what its spec says, is what that leads to.
func verify(c *compiled.Compiled) error {
	if madeHere.holds(c) {
		return nil
	}
	again, err := owned(c.Release())
	if err != nil {
		return fmt.Errorf("planning the spec inside the plan: %w", err)
	}
	if again.Hash() != c.Hash() {
		return errNotPlanned
	}
	return nil
}

// planAgain plans the spec inside a plan.json; nil for bytes of no plan of this format, and of no spec.
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
	again, err := owned(r)
	if err != nil {
		return nil, fmt.Errorf("planning the spec inside the plan: %w", err)
	}
	return again, nil
}

// owned plans a release that nobody else holds, and remembers the plan.
func owned(r *spec.Release) (*compiled.Compiled, error) {
	d, err := passes(r, nil)
	if err != nil {
		return nil, err
	}
	c := d.compiled()
	madeHere.add(c)
	return c, nil
}

// madeHere remembers the plans that were made in this process of releases that nobody else held meanwhile. Planning is
// a function of the release, so the same bytes of the same release need not be planned again.
var madeHere ring

// mostRemembered is how many plans are remembered.
const mostRemembered = 8

// ring holds the last plans that were made.
type ring struct {
	mu   sync.Mutex
	made []madePlan
}

// madePlan is the hash of a plan with the release that it was made of. Others may have changed that since: then it is
// equal to no release that was just read, and vouches for nothing.
type madePlan struct {
	hash    string
	release *spec.Release
}

// add remembers a plan with the release that it was made of.
func (r *ring) add(c *compiled.Compiled) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made = append(r.made, madePlan{c.Hash(), c.Release()}); len(r.made) > mostRemembered {
		r.made = r.made[1:]
	}
}

// knows reports whether a plan of this hash was made.
func (r *ring) knows(hash string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.made, func(m madePlan) bool { return m.hash == hash })
}

// holds reports whether this plan was made of an equal release.
func (r *ring) holds(c *compiled.Compiled) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.made, func(m madePlan) bool {
		return m.hash == c.Hash() && reflect.DeepEqual(m.release, c.Release())
	})
}
