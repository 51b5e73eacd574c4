package histogram

// This file holds Exact: the exact counts of a plan, which nothing can read.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Exact holds the exact answers to everything that a plan may ask. It has no getter and shows "confidential" however
// it is printed, logged or marshalled. Open is the only way to use it.
type Exact struct {
	answer.Redacted
	inner *exact // a pointer, of which reflection prints only the address
}

// exact is what Exact hides.
type exact struct {
	plan       *compiled.Compiled // the core's own copy
	answers    []exactAnswer      // by measurement, in the plan's order
	candidates [][][]int64        // by adaptive method, in the order of its candidates
	models     []answer.Answer    // by model: how many rows have each combination of categories
	hash       []byte             // hash of all answers with their definitions
	commitment string             // commitment to hash, under the key that the rows were bounded with
	madeUp     bool

	mu     sync.Mutex
	opened bool
}

// exactAnswer is the exact answer to one measurement.
type exactAnswer struct {
	measurement plan.Measurement
	definition  []byte // canonical
	answer.Answer
	hash []byte // SHA-256 of the counts, and of their places
}

// newExact takes the answers to all questions of a plan, in their order. The hash, and with it what a release is
// debited for, covers all of them, also a candidate that no round will choose.
func newExact(p *compiled.Compiled, all []plan.Measurement, counted answer.Answers, s *noise.Streams) *Exact {
	e := &exact{plan: p, madeUp: answer.IsMadeUp(counted)}
	counts := answer.All(counted)
	hash := sha256.New()
	for i, m := range all {
		a := exactAnswer{measurement: m, definition: m.Canonical(), Answer: counts[i], hash: counts[i].Hash()}
		definition := sha256.Sum256(a.definition)
		hash.Write(definition[:])
		hash.Write(a.hash)
		if i < len(p.Measurements) {
			e.answers = append(e.answers, a)
		}
	}
	e.hash = hash.Sum(nil)
	counts = counts[len(p.Measurements):]
	for _, s := range p.Synthetic {
		candidates := make([][]int64, len(adaptive.Candidates(s)))
		for i := range candidates { // models are compared with the counts of candidates
			candidates[i] = counts[i].Expanded().Counts
		}
		e.candidates, counts = append(e.candidates, candidates), counts[len(candidates):]
	}
	e.models = counts
	out := &Exact{inner: e}
	e.commitment = out.Commitment(s)
	return out
}

// Commitment binds the key of s to the exact answers, in 64 hexadecimal digits. The release is debited for it, so
// that one debit pays for one draw. It may be stored only in the ledger and in the confidential state.
func (e *Exact) Commitment(s *noise.Streams) string {
	c := s.Commitment(e.inner.hash)
	return hex.EncodeToString(c[:])
}

// Reasons for which Open refuses.
var (
	errNoReceipt = errors.New("the ledger has given no receipt for this release; debit it first")
	errOtherPlan = errors.New("the receipt of the ledger is for another plan; debit the plan that is being measured")
	errRehearsal = errors.New("the receipt is from a rehearsal, which pays for made-up rows only; debit an account")
	errMadeUp    = errors.New(
		"the rows are made up, and the receipt is for confidential ones; a rehearsal needs the receipt of a rehearsal")
	errOtherKey  = errors.New("the noise streams are not those that the rows were bounded with; measure with one key")
	errOtherDraw = errors.New(
		"the receipt is for a draw with another key or of other counts; one debit pays for one draw")
	errOtherCost  = errors.New("the receipt is not for what the plan costs; debit the plan's charge")
	errOpenedOnce = errors.New("the exact counts were opened before; one debit pays for one opening")
)

// Open allows the answers to be measured, given the receipt of a debit of the same plan at its full charge, made for
// these very answers and the key they were counted with. Made-up rows open with the receipt of a rehearsal and with
// no other. It succeeds once.
func (e *Exact) Open(r ledger.Receipt, s *noise.Streams) (*Opened, error) {
	x := e.inner
	switch {
	case !r.Valid():
		return nil, errNoReceipt
	case r.PlanHash() != x.plan.Hash():
		return nil, errOtherPlan
	case !x.madeUp && r.Status() == ledger.Rehearsal:
		return nil, errRehearsal
	case x.madeUp && r.Status() != ledger.Rehearsal:
		return nil, errMadeUp
	case e.Commitment(s) != x.commitment:
		return nil, errOtherKey
	case !r.Commits(x.commitment):
		return nil, errOtherDraw
	case !r.Record().Cost.Equal(x.plan.Cost):
		return nil, errOtherCost
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.opened {
		return nil, errOpenedOnce
	}
	x.opened = true
	return &Opened{inner: &opened{exact: x, streams: s, given: make([]bool, len(x.answers))}}, nil
}
