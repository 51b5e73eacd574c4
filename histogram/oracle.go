package histogram

// This file holds Oracle, which limits what an adaptive method may ask of exact answers that were paid for, and how
// often.

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// Oracle answers the rounds of one adaptive method of a paid plan: in each round, a choice among sets of columns, and
// the counts of the chosen set with their noise. It shows "confidential" however it is printed, and has no getter.
//
// Guarantee: all that it ever gives, to whoever asks whatever questions with whatever mechanisms, each after seeing
// the answers before, is ρ-zCDP for the ρ of the method's block in the plan. Neighbours: those of the release.
// Theorem: a choice is (ε²/8)-zCDP (Cesar & Rogers 2021, lemma 3.2), an answer has the ρ of its noise (Canonne,
// Kamath & Steinke 2020, theorem 14), and ρ adds over what is chosen adaptively, amounts included, as long as the sum
// stays within what was set beforehand (Rogers, Roth, Ullman & Vadhan 2016; Feldman & Zrnic 2021, theorem 4.5).
// Argument: docs/proofs/adaptive.md.
//
// The time that a choice takes depends on the scores and reveals more than the choice, as package noise says of
// selections: it must never be shown.
type Oracle struct {
	answer.Redacted
	inner *oracle // a pointer, of which reflection prints only the address
}

// oracle is what Oracle hides.
type oracle struct {
	opened        *opened
	method        plan.Synthetic
	counts        [][]int64 // by candidate: its counts, by category or, once these are merged, by class
	weights       []int64   // by candidate, of its score
	sensitivities []int64   // by candidate, of its score

	mu      sync.Mutex
	classes [][]int // by column; nil if nothing was merged
	spent   budget.Cost
	next    step
	choice  int                        // the candidate chosen in the round, if next is an answer
	given   map[[sha256.Size]byte]bool // answers given, by the hash of their definitions
}

// step is a step of a method: step 2·round is the round's choice, and step 2·round + 1 its answer.
type step int

// Oracle returns the oracle of an adaptive method, by its index in the plan's Synthetic. It succeeds once for each.
func (o *Opened) Oracle(method int) (*Oracle, error) {
	x := o.inner
	if method < 0 || method >= len(x.exact.plan.Synthetic) {
		return nil, errNoMethod
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Contains(x.oracles, method) {
		return nil, errOracleGiven
	}
	made, err := newOracle(x, method)
	if err != nil {
		return nil, err
	}
	x.oracles, x.exact.candidates[method] = append(x.oracles, method), nil // the oracle owns the counts from now on
	return &Oracle{inner: made}, nil
}

// Reasons for which there is no oracle.
var (
	errNoMethod    = errors.New("the plan has no such adaptive method")
	errOracleGiven = errors.New("the oracle of this adaptive method was given before; each is given once")
)

// newOracle checks that the method's first round, and for MST all rounds together, are within the block that the
// plan's loss counts. It derives weights and sensitivities from the release, and accepts them from nobody.
func newOracle(x *opened, method int) (*oracle, error) {
	p := x.exact.plan
	s := p.Synthetic[method]
	if !withinBlock(s) {
		return nil, errBeyondBlock
	}
	o := &oracle{opened: x, method: s, counts: slices.Clone(x.exact.candidates[method]),
		given: map[[sha256.Size]byte]bool{}}
	neighbours, maxRows := p.Release().Privacy.Neighbours, p.Release().Table(s.Table).Unit.MaxRows
	for _, candidate := range adaptive.Candidates(s) {
		weight := adaptive.Weight(s, candidate)
		o.weights = append(o.weights, weight)
		o.sensitivities = append(o.sensitivities, scoreSensitivity(neighbours, maxRows, weight))
	}
	return o, nil
}

// Merge makes categories of columns be counted together from now on, class by class, in models, scores and answers.
// classes[i] is the class of each category of the i-th column of the method, numbered from 0 without gaps, or nil if
// each category is its own class. It may be called once, before the first round.
//
// Guarantee: nothing is drawn, and nothing revealed. classes are made of answers alone, so they are the same on
// neighbours that gave the same answers.
func (o *Oracle) Merge(classes [][]int) error {
	x := o.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	if classes == nil || x.classes != nil || x.next != 0 {
		return errMerge
	}
	sizes, err := adaptive.Classes(x.opened.exact.plan.Plan(), x.method, classes)
	if err != nil {
		return err
	}
	if x.counts, err = countsByClass(adaptive.Candidates(x.method), x.counts, classes, sizes); err != nil {
		return err
	}
	x.classes = make([][]int, len(classes))
	for i, of := range classes {
		x.classes[i] = slices.Clone(of)
	}
	return nil
}

// Select chooses the candidate of a round among candidates, distinct indexes in [adaptive.Candidates], and returns
// its index there. models[i] is the counts that a public model expects of candidate i: row-major, by classes if these
// were merged, in units of 1/[adaptive.ModelScale], each in [0, 2⁵⁰]. penalties[i], in the same units and in [0,
// 2⁶⁰], is subtracted from its distance; nil subtracts nothing. The further a candidate is from what the model
// expects, the likelier it is chosen: its score is
//
//	weight·(min(Σ_cells |ModelScale·count − model|, 2⁶²) − penalty)
//
// clamped to ±2⁶¹, with [adaptive.Weight], and the choice that of the exponential mechanism with the ε of how, by
// bits that belong to key, method, classes, how, candidates, models, penalties, exact scores and round.
//
// Guarantee: (ε²/8)-zCDP, and bounded range ε; charged before it is drawn. Neighbours: those of the release. Theorem:
// as for [noise.ExponentialMechanism], with the largest scoreSensitivity of the candidates. Argument:
// docs/proofs/adaptive.md.
//
// It returns an error for any step but the next, for more than the block has left, and for candidates, models or
// penalties that are not as described. Whether it fails depends on the questions alone.
func (o *Oracle) Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
	penalties []int64) (choice int, err error) {
	x := o.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.checkStep(round, 2*step(round)); err != nil {
		return -1, err
	}
	if err := x.checkQuestion(candidates, models, penalties); err != nil {
		return -1, err
	}
	scores, hash, err := x.scoreCandidates(ctx, candidates, models, penalties)
	if err != nil {
		return -1, err
	}
	if err := x.charge(how, x.isChoice); err != nil {
		return -1, err
	}
	stream := x.opened.streams.Selection(x.definition(how, candidates), hash, round)
	i, err := noise.ExponentialMechanism(stream, scores, how.Parameter, x.sensitivity(candidates), false)
	if err != nil {
		return -1, err
	}
	x.next, x.choice = x.next+1, candidates[i]
	return x.choice, nil
}

// Measure returns the noisy counts of the candidate that the round has chosen, with the noise of how, which is the
// plan's Noise with any parameter. The noise is drawn as in [Opened.Measure], from a stream of its own: if a
// candidate may be chosen again, the round is part of the measurement's definition ([adaptive.Answer]).
//
// Guarantee: the ρ of how, charged before it is drawn. Neighbours: those of the release. Theorem: Canonne, Kamath &
// Steinke 2020, theorem 14. Argument: docs/proofs/adaptive.md.
//
// It returns an error for any step but the next, for more than the block has left, for another candidate than the
// chosen one, and for the same definition twice. After any other failure nothing was given; a second try draws the
// same noise, and is charged again.
func (o *Oracle) Measure(ctx context.Context, round, choice int, how budget.Mechanism) (measured.Measured, error) {
	x := o.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	a, err := x.answerOf(round, choice, how)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = x.charge(how, x.isAnswer)
	}
	if err != nil {
		return measured.Measured{}, err
	}
	noisy, err := x.opened.noisyAnswer(ctx, a)
	if err != nil {
		return measured.Measured{}, err
	}
	x.noteAnswer(a)
	return noisy, nil
}

// ReplayChoice tells the oracle what an earlier run of the same release has chosen in a round. The choice is charged,
// and the round's answer is the next step. It returns an error if Select would have.
func (o *Oracle) ReplayChoice(round int, how budget.Mechanism, choice int) error {
	x := o.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.checkStep(round, 2*step(round)); err != nil {
		return err
	}
	if choice < 0 || choice >= len(x.counts) {
		return errCandidates
	}
	if err := x.charge(how, x.isChoice); err != nil {
		return err
	}
	x.next, x.choice = x.next+1, choice
	return nil
}

// ReplayAnswer tells the oracle that an earlier run of the same release was given the answer of a round. The answer is
// charged, and not given again. It returns an error if Measure would have.
func (o *Oracle) ReplayAnswer(round, choice int, how budget.Mechanism) error {
	x := o.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	a, err := x.answerOf(round, choice, how)
	if err == nil {
		err = x.charge(how, x.isAnswer)
	}
	if err == nil {
		x.noteAnswer(a)
	}
	return err
}

// answerOf returns the exact answer of a round, if that is the next step.
func (x *oracle) answerOf(round, choice int, how budget.Mechanism) (exactAnswer, error) {
	if err := x.checkStep(round, 2*step(round)+1); err != nil {
		return exactAnswer{}, err
	}
	if choice != x.choice {
		return exactAnswer{}, errOtherChoice
	}
	if !x.isAnswer(how) {
		return exactAnswer{}, errMechanism
	}
	m, err := adaptive.Answer(x.opened.exact.plan.Plan(), x.method, round, choice, x.classes, how)
	if err != nil {
		return exactAnswer{}, err
	}
	a := exactAnswer{measurement: m, definition: m.Canonical(), Answer: answer.Answer{Counts: x.counts[choice]}}
	if x.given[sha256.Sum256(a.definition)] {
		return exactAnswer{}, errGiven
	}
	a.hash = a.Answer.Hash()
	return a, nil
}

// noteAnswer records that an answer is given, which ends the round.
func (x *oracle) noteAnswer(a exactAnswer) {
	x.given[sha256.Sum256(a.definition)] = true
	x.next++
}

// Reasons for which an oracle refuses. None names a value.
var (
	errNoRound     = errors.New("the plan pays for no such round of the adaptive method")
	errOtherStep   = errors.New("this is not the next step of the adaptive method; each is made once, in order")
	errOtherChoice = errors.New("the round has chosen another candidate; measure that one")
	errCandidates  = errors.New("a choice needs candidates, each one of the adaptive method's and each once")
	errModels      = errors.New(
		"a choice needs the model's counts of each candidate, as many as it has cells and each from 0 to 2^50, and " +
			"of each or of none a penalty from 0 to 2^60")
	errMerge     = errors.New("categories are merged once, before the first round")
	errMechanism = errors.New(
		"a choice is made by an exponential mechanism, and an answer has the noise of the plan with a parameter of its own")
	errBeyondBlock = errors.New(
		"the rounds of the adaptive method lose more than the block that was paid for; plan it again with `dprelease plan`")
)

// checkStep returns an error unless a step is the next one, and of one of the plan's rounds. So there are at most
// Rounds choices and Rounds answers, whoever asks.
func (x *oracle) checkStep(round int, asked step) error {
	switch {
	case round < 0 || round >= x.method.Rounds:
		return errNoRound
	case asked != x.next:
		return errOtherStep
	}
	return nil
}

// withinBlock reports whether the first round of a method has no more ρ than its block. For MST, whose rounds have
// equal ρ, it reports whether all of them together have no more.
func withinBlock(s plan.Synthetic) bool {
	if s.Select.Kind != budget.ExponentialMechanism || s.Block.Kind != budget.AdaptiveBlock {
		return false
	}
	rounds := 1
	if s.Method == plan.MST {
		rounds = s.Rounds
	}
	x := oracle{method: s}
	for range rounds {
		if x.charge(s.Select, x.isChoice) != nil || x.charge(s.Noise, x.isAnswer) != nil {
			return false
		}
	}
	return true
}

// isChoice reports whether a mechanism is a choice.
func (x *oracle) isChoice(how budget.Mechanism) bool {
	return how.Kind == budget.ExponentialMechanism && how.Validate() == nil
}

// isAnswer reports whether a mechanism is one of an answer: the plan's Noise with any parameter. The sensitivity of
// an answer is up to the plan.
func (x *oracle) isAnswer(how budget.Mechanism) bool {
	if how.Validate() != nil {
		return false
	}
	how.Parameter = x.method.Noise.Parameter
	return adaptive.RoundMechanisms{Select: x.method.Select, Noise: how}.Equal(
		adaptive.RoundMechanisms{Select: x.method.Select, Noise: x.method.Noise})
}

// charge adds what a mechanism costs to what was spent, exactly, and returns an error if that would be more than the
// block. A charge stays, whatever comes of it.
//
// Guarantee: all that was ever charged is within the ρ of the block. Theorem: that of [budget.Filter]. Argument:
// docs/proofs/adaptive.md.
func (x *oracle) charge(how budget.Mechanism, allowed func(budget.Mechanism) bool) error {
	if !allowed(how) {
		return errMechanism
	}
	asked := budget.Cost{Rho: how.Rho()}
	admitted, err := budget.Filter{Cap: budget.Cost{Rho: x.method.Block.Rho()}}.Admits(x.spent, asked)
	if err == nil && admitted {
		x.spent, err = x.spent.Add(asked)
	}
	if err != nil {
		return err
	}
	if !admitted {
		return errBeyondBlock
	}
	return nil
}

// definition returns the canonical definition of a choice: the method as the plan has it, the classes, the mechanism
// and the candidates.
func (x *oracle) definition(how budget.Mechanism, candidates []int) []byte {
	b, err := json.Marshal(struct {
		Method     plan.Synthetic   `json:"method"`
		Classes    [][]int          `json:"classes"`
		Select     budget.Mechanism `json:"select"`
		Candidates []int            `json:"candidates"`
	}{x.method, x.classes, how, candidates})
	if err != nil {
		panic("histogram: an adaptive method always encodes: " + err.Error())
	}
	return b
}
