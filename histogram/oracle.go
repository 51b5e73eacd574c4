package histogram

// This file holds Oracle: what an adaptive method may ask of exact answers that
// were paid for, and how often.

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math/big"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Oracle answers the rounds of one adaptive method of a paid plan: in each a
// choice among pairs of columns, and the counts of the pair with their noise. It
// shows "confidential" however it is printed, and has no getter.
//
// Guarantee: all that it ever gives, to whoever asks whatever questions, each
// after seeing the answers before, is ρ-zCDP for the ρ of the method's block in the
// plan. Neighbours: those of the release. Theorem: a choice is (ε²/8)-zCDP (Cesar &
// Rogers 2021, lemma 3.2), an answer has the ρ of its noise (Canonne, Kamath &
// Steinke 2020, theorem 14), and ρ adds over what is chosen adaptively (Bun &
// Steinke 2016, lemma 2.3). Argument: docs/proofs/adaptive.md.
//
// How long a choice takes depends on the scores, and more than the choice tells,
// as package noise says of selections: it is never to be shown.
type Oracle struct {
	veil
	inner *oracle // behind a pointer, where reflection prints an address
}

// oracle is what Oracle hides.
type oracle struct {
	opened      *opened
	method      plan.Synthetic
	pairs       []answer // in the order of method.Pairs
	sensitivity int64    // of scores

	mu     sync.Mutex
	last   step
	choice int    // of the round in which last is a choice
	given  []bool // by pair
}

// step is a step of a method: 2·round is its choice, 2·round + 1 its answer.
type step int

// Oracle returns the oracle of an adaptive method, by its place in the plan's
// Synthetic. It succeeds once for each.
func (o *Opened) Oracle(method int) (*Oracle, error) {
	x := o.inner
	if method < 0 || method >= len(x.exact.plan.Synthetic) {
		return nil, errNoMethod
	}
	made, err := newOracle(x, method)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Contains(x.oracles, method) {
		return nil, errOracleGiven
	}
	x.oracles = append(x.oracles, method)
	return &Oracle{inner: made}, nil
}

// Reasons for which there is no oracle.
var (
	errNoMethod    = errors.New("the plan has no such adaptive method")
	errOracleGiven = errors.New("the oracle of this adaptive method was given before; each is given once")
	errBeyondBlock = errors.New("the rounds of the adaptive method lose more than the block that was paid for; plan it again with `dprelease plan`")
)

// newOracle checks that all rounds are within the block that the plan's loss
// counts. The sensitivity is derived from the release, and taken from nobody.
func newOracle(x *opened, method int) (*oracle, error) {
	p := x.exact.plan
	s, pairs := p.Synthetic[method], x.exact.pairs[method]
	if !withinBlock(s) {
		return nil, errBeyondBlock
	}
	return &oracle{opened: x, method: s, pairs: pairs, given: make([]bool, len(pairs)), last: -1,
		sensitivity: scoreSensitivity(p.Release().Privacy.Neighbours, p.Release().Table(s.Table).Unit.MaxRows)}, nil
}

// withinBlock tells whether all rounds of a method together, a choice and an
// answer each, have no more ρ than its block.
func withinBlock(s plan.Synthetic) bool {
	if s.Select.Kind != budget.ExponentialMechanism || s.Block.Kind != budget.AdaptiveBlock {
		return false
	}
	choice, answer, block := s.Select.Rho(), s.Noise.Rho(), s.Block.Rho()
	if choice == nil || answer == nil || block == nil {
		return false
	}
	all := new(big.Rat).Add(choice, answer)
	return all.Mul(all, new(big.Rat).SetInt64(int64(s.Rounds))).Cmp(block) <= 0
}

const (
	// scoreLimit is what scores are clamped to.
	scoreLimit = 1 << 62
	// modelLimit is the most that a model may expect of a cell, in units of
	// 1/plan.ModelScale.
	modelLimit = 1 << 50
)

// scoreSensitivity is the most that one unit moves a score: ModelScale for each
// row that it adds or removes, of which there are at most maxRows, and twice that
// many where one unit takes the place of another. No score moves further than
// scoreLimit.
//
// Guarantee: whatever the model. Neighbours: n. Theorem: the triangle inequality;
// clamping is 1-Lipschitz. Argument: docs/proofs/adaptive.md.
func scoreSensitivity(n spec.Neighbours, maxRows int64) int64 {
	perRow := int64(plan.ModelScale)
	if n != spec.AddRemove {
		perRow *= 2
	}
	if maxRows > scoreLimit/perRow {
		return scoreLimit
	}
	return perRow * maxRows
}

// Select chooses the pair of a round among candidates, distinct places in
// [plan.Synthetic.Pairs], and returns its place there. models[i] says what counts a
// public model expects of candidate i: row-major, in units of 1/[plan.ModelScale],
// each in [0, 2⁵⁰]. A pair is the likelier to be chosen the further it is from
// what the model expects: its score is
//
//	min(Σ_cells |ModelScale·count − model|, 2⁶²)
//
// and the choice that of the exponential mechanism with the ε of the plan's
// Select, by bits that belong to key, method, candidates, models, exact scores and
// round.
//
// Guarantee: (ε²/8)-zCDP, and bounded range ε. Neighbours: those of the release.
// Theorem: as for [noise.ExponentialMechanism], with the sensitivity of
// scoreSensitivity. Argument: docs/proofs/adaptive.md.
//
// It is an error to ask for a round beyond the plan's, to go back to a step that
// was made or passed, and to ask with candidates or models that are not as said. Whether
// it fails depends on the questions alone.
func (o *Oracle) Select(ctx context.Context, round int, candidates []int, models [][]int64) (choice int, err error) {
	x := o.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.allows(round, 2*step(round)); err != nil {
		return -1, err
	}
	if err := x.checkCandidates(candidates, models); err != nil {
		return -1, err
	}
	scores, hash, err := x.score(ctx, candidates, models)
	if err != nil {
		return -1, err
	}
	stream := x.opened.streams.Selection(x.definition(candidates), hash, round)
	i, err := noise.ExponentialMechanism(stream, scores, x.method.Select.Parameter, x.sensitivity, false)
	if err != nil {
		return -1, err
	}
	x.last, x.choice = 2*step(round), candidates[i]
	return candidates[i], nil
}

// Measure returns the noisy counts of a round's pair, a place in
// [plan.Synthetic.Pairs], with the plan's Noise, drawn as those of
// [Opened.Measure]. Where the round's choice was made by this oracle, it is that
// pair; a resumed run brings the choice that it had made before.
//
// Guarantee: the ρ of Noise. Neighbours: those of the release. Theorem: Canonne,
// Kamath & Steinke 2020, theorem 14. Argument: docs/proofs/adaptive.md.
//
// It is an error to ask for a round beyond the plan's, to go back to a step that
// was made or passed, and to ask for a pair twice. After another failure nothing
// was given, and a second try draws the same noise.
func (o *Oracle) Measure(ctx context.Context, round, choice int) (measured.Measured, error) {
	x := o.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.allows(round, 2*step(round)+1); err != nil {
		return measured.Measured{}, err
	}
	switch {
	case choice < 0 || choice >= len(x.pairs):
		return measured.Measured{}, errNoPair
	case x.last == 2*step(round) && choice != x.choice:
		return measured.Measured{}, errOtherChoice
	case x.given[choice]:
		return measured.Measured{}, errGiven
	}
	noisy, err := x.opened.noisy(ctx, x.pairs[choice])
	if err != nil {
		return measured.Measured{}, err
	}
	x.last, x.given[choice] = 2*step(round)+1, true
	return noisy, nil
}

// Reasons for which Select and Measure refuse. None names a value.
var (
	errNoRound     = errors.New("the plan pays for no such round of the adaptive method")
	errRoundOver   = errors.New("this step of the adaptive method was made or passed before; each is made once, in order")
	errNoPair      = errors.New("it is none of the pairs of the adaptive method")
	errOtherChoice = errors.New("the round has chosen another pair; measure that one")
	errCandidates  = errors.New("a choice needs candidates, each a pair of the adaptive method and each once")
	errModels      = errors.New("a choice needs the model's counts of each candidate, as many as it has cells and each from 0 to 2^50")
)

// allows tells whether a step may be made: one of the plan's rounds, behind all
// that were made. As each step made is behind the one before, there are at most
// Rounds choices and Rounds answers, whoever asks.
func (x *oracle) allows(round int, next step) error {
	switch {
	case round < 0 || round >= x.method.Rounds:
		return errNoRound
	case next <= x.last:
		return errRoundOver
	}
	return nil
}

// checkCandidates looks at what is public alone.
func (x *oracle) checkCandidates(candidates []int, models [][]int64) error {
	if len(candidates) == 0 || len(candidates) > len(x.pairs) {
		return errCandidates
	}
	seen := make([]bool, len(x.pairs))
	for _, c := range candidates {
		if c < 0 || c >= len(x.pairs) || seen[c] {
			return errCandidates
		}
		seen[c] = true
	}
	if len(models) != len(candidates) {
		return errModels
	}
	for i, model := range models {
		if len(model) != len(x.pairs[candidates[i]].counts) {
			return errModels
		}
		for _, m := range model {
			if m < 0 || m > modelLimit {
				return errModels
			}
		}
	}
	return nil
}

// score returns the candidates' scores, and a hash of candidates, models and
// scores.
func (x *oracle) score(ctx context.Context, candidates []int, models [][]int64) (scores []int64, hash []byte, err error) {
	scores = make([]int64, len(candidates))
	hashes := make([][]byte, len(candidates))
	err = parallel(ctx, runtime.GOMAXPROCS(0), len(candidates), func(i int) error {
		scores[i] = scoreOf(x.pairs[candidates[i]].counts, models[i])
		hashes[i] = hashOf(models[i])
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	all := sha256.New()
	for i, c := range candidates {
		all.Write(hashOf([]int64{int64(c), scores[i]}))
		all.Write(hashes[i])
	}
	return scores, all.Sum(nil), nil
}

// scoreOf is min(Σ|ModelScale·count − model|, scoreLimit) for counts of 0 or more
// and models in [0, modelLimit], exactly: as all terms are 0 or more, a partial sum
// or a term that reaches the limit decides.
func scoreOf(counts, model []int64) int64 {
	sum := int64(0)
	for i, c := range counts {
		high, scaled := bits.Mul64(uint64(c), plan.ModelScale)
		if high != 0 || scaled >= 1<<63 { // the term is 2⁶³ − 2⁵⁰ or more
			return scoreLimit
		}
		term := int64(scaled) - model[i]
		if term < 0 {
			term = -term
		}
		if term >= scoreLimit-sum {
			return scoreLimit
		}
		sum += term
	}
	return sum
}

// definition is the canonical definition of a choice: the method as the plan has
// it, and the candidates.
func (x *oracle) definition(candidates []int) []byte {
	b, err := json.Marshal(struct {
		Method     plan.Synthetic `json:"method"`
		Candidates []int          `json:"candidates"`
	}{x.method, candidates})
	if err != nil {
		panic("histogram: an adaptive method always encodes: " + err.Error())
	}
	return b
}
