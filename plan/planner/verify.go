package planner

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// This file holds verification: a plan is what its own spec leads to.

// Verified is a copy of the plan that nobody else holds, which is what its spec
// leads to. It fails as [compiled.Read] and [Verify] do.
func Verified(p *plan.Plan) (*plan.Plan, error) {
	own, err := compiled.Read(p.Bytes())
	switch {
	case err != nil:
		return nil, err
	case !reflect.DeepEqual(own.Release(), p.Release()):
		return nil, errRelease
	}
	if err := verify(own.Release(), own.Bytes()); err != nil {
		return nil, err
	}
	return own.Plan, nil
}

// Verify plans the embedded spec again and fails unless the result is this very
// plan. A plan that [New] made here of what the embedded spec says, or [Refilled] of one that was
// verified, and that is as it was made, is not planned twice.
//
// Contract: after a nil return every sensitivity in the plan is the one derived
// from the spec, and the loss of the plan's measurements is within its charge,
// whoever wrote the file.
func Verify(p *plan.Plan) error {
	if r, err := spec.Parse(p.Source); err != nil || !reflect.DeepEqual(r, p.Release()) {
		return errRelease
	}
	return verify(p.Release(), p.Bytes())
}

var errRelease = fmt.Errorf("%w: its release is not what its spec says", plan.ErrEdited)

// verify is Verify of the bytes of a plan whose release is what its spec says.
func verify(r *spec.Release, text []byte) error {
	hash := plan.HashOf(text)
	if madeHere.holds(hash) {
		return nil
	}
	again, err := New(r)
	if err != nil {
		return fmt.Errorf("planning the spec inside the plan: %w", err)
	}
	if !bytes.Equal(again.Bytes(), text) {
		return fmt.Errorf("%w, or made by another version (it is not what its own spec leads to): make it again with `dprelease plan`", plan.ErrEdited)
	}
	madeHere.add(hash)
	return nil
}

// madeHere remembers the plans that were made in this process, or found to be what their specs lead to. Planning is a function
// of the spec, which the plan's bytes hold: the same bytes need not be planned again.
var madeHere hashRing

// mostRemembered is how many plans are remembered.
const mostRemembered = 8

// hashRing holds the hashes of the last plans.
type hashRing struct {
	mu     sync.Mutex
	hashes []string
}

// add remembers a plan.
func (r *hashRing) add(hash string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hashes = append(r.hashes, hash); len(r.hashes) > mostRemembered {
		r.hashes = r.hashes[1:]
	}
}

// holds reports whether a plan is remembered.
func (r *hashRing) holds(hash string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.hashes, hash)
}
