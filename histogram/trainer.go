package histogram

// This file holds Trainer, which answers the rounds of a model of a paid plan, each once and in order.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/boosted"
	"github.com/dprelease/dprelease/histogram/internal/moments"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
)

// Trainer answers the rounds of one model of a paid plan with noise. It shows "confidential" however it is printed, and
// has no getter.
//
// Of one of several holders it gives shares of the answers, masked: the holder's exact integers plus its share of the
// noise. The masks of all holders cancel in the sum of their answers to the same question, and only there.
//
// Guarantee: all that it ever gives, to whoever asks whatever questions, each after seeing the answers before, loses no
// more privacy than the mechanisms of the model's rounds in the plan, one after another. Neighbours: those of the
// release. Theorem: Zhu, Dong & Wang 2022, theorem 10: dominating pairs compose where mechanisms are fixed beforehand
// and only what they ask is adapted. One row adds at most 1 to one count, at most [boosting.Bound] in absolute value to
// one sum, its features times at most that to a gradient ([design.Design.Gradient]), and moves the moments of a
// regression by their sensitivity ([design.Design.Diagonal]). A row that is held out adds to counts of held-out rows
// alone, which have the noise of the sums. Argument: docs/proofs/models.md. Of several holders all this holds of what
// the trusted ones give together; what one gives is uniform to whoever lacks its key and that of one other, but for the
// answers that a holder of a local model ([plan.Model.Local]) keeps: all this holds of these by themselves. Argument:
// docs/proofs/holders.md.
type Trainer struct {
	answer.Redacted
	inner *trainer // a pointer, of which reflection prints only the address
}

// trainer is what Trainer hides.
type trainer struct {
	opened          *opened
	model           plan.Model
	masks           *holder.Masks // of one of several holders; nil: the data are in one place
	fitted, heldOut *boosted.Rows // of a model whose rounds depend on each other
	moments         [2][]int64    // of a regression by moments, by round

	mu     sync.Mutex
	next   int  // round
	scored bool // the held-out rows were counted
}

// Trainer returns the trainer of a model, by its index in the plan's Models. It succeeds once for each. The masks are
// those of the holder if there are several holders, and nil otherwise.
func (o *Opened) Trainer(ctx context.Context, model int, masks *holder.Masks) (*Trainer, error) {
	x := o.inner
	if model < 0 || model >= len(x.exact.plan.Models) {
		return nil, errNoModel
	}
	if x.exact.plan.Release().Holders != nil && !x.exact.madeUp && masks == nil {
		return nil, errHeld
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Contains(x.trainers, model) {
		return nil, errTrainerGiven
	}
	t := &trainer{opened: x, model: x.exact.plan.Models[model], masks: masks}
	many := x.exact.models[model].Len() >= manyCells
	if many {
		runtime.GC() // so that the trainer's rows can use the memory of what counting has left
	}
	if err := t.take(ctx, x.exact.models[model]); err != nil {
		return nil, fmt.Errorf("model %s: %w", t.model.Name, err)
	}
	// The trainer owns the rows from now on.
	x.trainers, x.exact.models[model] = append(x.trainers, model), answer.Answer{}
	if many {
		runtime.GC() // so that the rounds can use the memory of the joint histogram
	}
	return &Trainer{inner: t}, nil
}

// manyCells is from how many cells of a joint histogram on its memory is freed at once, and not when garbage is
// collected next.
const manyCells = 1 << 20

// take takes the rows of the model, as the numbers of rows with each combination of categories.
func (t *trainer) take(ctx context.Context, rows answer.Answer) error {
	m, p := t.model, t.opened.exact.plan.Plan()
	if !m.Adaptive() {
		d, err := p.Design(m)
		if err == nil {
			t.moments[0], t.moments[1], err = moments.Count(ctx, d, rows.Cells, rows.Counts, runtime.GOMAXPROCS(0))
		}
		return err
	}
	shape, err := p.Shape(m)
	if err != nil {
		return err
	}
	split := boosted.Split{Key: t.opened.streams.HeldOut(m.Name), Denominator: 1}
	if share := plan.Amount(m.Test); share != nil {
		split.Numerator, split.Denominator = share.Num().Uint64(), share.Denom().Uint64()
	}
	t.fitted, t.heldOut, err = boosted.New(ctx, shape, rows.Cells, rows.Counts, split)
	return err
}

// Reasons for which there is no trainer, or no answer. None names a value.
var (
	errNoModel      = errors.New("the plan has no such model")
	errTrainerGiven = errors.New("the trainer of this model was given before; each is given once")
	errNoModelRound = errors.New("this is not the next round of the model; each is answered once, in order")
	errNoMoments    = errors.New("only a regression that is fitted to moments has them")
	errOnlyMoments  = errors.New("a regression that is fitted to moments asks nothing else")
	errNotLocal     = errors.New("only a holder of a local model gives updates of its own")
	errNotHeldOut   = errors.New("held-out rows are counted once, after the last round of a model with a test")
)

// Answer returns the noisy answer to a question of a round. The noise is drawn from a stream that depends on the key,
// the model, the round, the question and the exact integers.
//
// Guarantee: that of the round's mechanism in the plan. It returns an error for any round but the next one, for a
// question that [boosting.Shape.CheckQuestion] refuses, and if the context ends.
func (t *Trainer) Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error) {
	x := t.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	r, err := x.checkRound(round)
	if err != nil {
		return nil, err
	}
	if !x.model.Adaptive() {
		return nil, errOnlyMoments
	}
	exact, err := x.fitted.Answer(ctx, round, q)
	if err != nil {
		return nil, err
	}
	masks := x.masks
	if x.model.Local() {
		masks = nil // the holder keeps the answer, and gives the others what it makes of several
	}
	noisy, err := x.addNoise(exact, r, 1, modelQuestion{Model: x.model, Round: round, Asked: &q}, masks)
	if err == nil {
		x.next++
	}
	return noisy, err
}

// Moments returns the noisy moments of a regression, in the layout of [design.Design]: in round 0 those on the
// diagonal, in round 1 those off it.
//
// Guarantee: that of the round's mechanism in the plan. It returns an error for any round but the next one, and for an
// additive model.
func (t *Trainer) Moments(round int) ([]int64, error) {
	x := t.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	r, err := x.checkRound(round)
	if err != nil {
		return nil, err
	}
	if x.model.Adaptive() {
		return nil, errNoMoments
	}
	noisy, err := x.addNoise(x.moments[round], r, 1, modelQuestion{Model: x.model, Round: round}, x.masks)
	if err == nil {
		x.next++
	}
	return noisy, err
}

// Replay tells the trainer that an earlier run of the same release was given the answer of a round. It returns an error
// for any round but the next one.
func (t *Trainer) Replay(round int) error {
	x := t.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	_, err := x.checkRound(round)
	if err == nil {
		x.next++
	}
	return err
}

// HeldOut returns the numbers of held-out rows by bin of their scores and outcome, the outcome fastest, in units of
// 1/[boosting.Shape.RowUnit] of a row and for each round of residuals once: the sum of as many noisy histograms. It
// succeeds once, after the last round.
//
// Guarantee: nothing more than the sums of residuals lose: no row is in both, one row adds RowUnit to one of the
// counts, and there are as many histograms as sums, with the same noise. Argument: docs/proofs/models.md.
func (t *Trainer) HeldOut(ctx context.Context, scores *boosting.Scores) ([]int64, error) {
	x := t.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.model.Test == "" || x.next != x.model.RoundCount() || x.scored {
		return nil, errNotHeldOut
	}
	exact, err := x.heldOut.Histogram(ctx, scores)
	if err != nil {
		return nil, err
	}
	shape, err := x.opened.exact.plan.Plan().Shape(x.model)
	if err != nil {
		return nil, err
	}
	for i := range exact {
		exact[i] *= shape.RowUnit()
	}
	last := x.model.Rounds[len(x.model.Rounds)-1]
	noisy, err := x.addNoise(exact, last, last.Times, modelQuestion{Model: x.model, Round: x.next, HeldOut: scores},
		x.masks)
	x.scored = err == nil
	return noisy, err
}

// ReplayHeldOut tells the trainer that an earlier run was given the counts of held-out rows.
func (t *Trainer) ReplayHeldOut() error {
	x := t.inner
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.model.Test == "" || x.next != x.model.RoundCount() || x.scored {
		return errNotHeldOut
	}
	x.scored = true
	return nil
}

// MaskUpdate masks what a holder of a local model made of its own noisy answers, with the masks of a round of averaging
// and the state that all holders started it from, given as a hash. In one place it returns the update as it is.
//
// Guarantee: a masked update is uniform to whoever lacks the keys of its holder and of one other, if no other update of
// the same round and state is masked. It returns an error for another model, and as [holder.Masks.Mask] does.
func (t *Trainer) MaskUpdate(round int, state string, update []int64) ([]int64, error) {
	x := t.inner
	if !x.model.Local() {
		return nil, errNotLocal
	}
	if x.masks == nil {
		return update, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	asked := modelQuestion{Model: x.model, Round: round, Update: &modelUpdate{state}}
	masked := slices.Clone(update)
	return masked, mask(x.masks, asked.definition(), masked)
}

// checkRound returns what a round asks, and an error unless it is the next one.
func (x *trainer) checkRound(round int) (plan.ModelRounds, error) {
	r, ok := x.model.Round(round)
	if !ok || round != x.next {
		return r, errNoModelRound
	}
	return r, nil
}

// modelQuestion defines an answer of a model.
type modelQuestion struct {
	Model   plan.Model         `json:"model"`
	Round   int                `json:"round"`
	Asked   *boosting.Question `json:"asked,omitempty"`
	HeldOut *boosting.Scores   `json:"held_out,omitempty"`
	Update  *modelUpdate       `json:"update,omitempty"`
}

// modelUpdate defines what a holder gives of a local model.
type modelUpdate struct {
	State string `json:"state"` // hash of what all holders started from
}

// definition returns the bytes from which the noise stream and the masks of an answer are derived.
func (q modelQuestion) definition() []byte { return canonical.Must(json.Marshal(q)) }

// MomentsDefinition returns the bytes from which the masks of the moments of a regression are derived, for a round.
func MomentsDefinition(m plan.Model, round int) []byte {
	return modelQuestion{Model: m, Round: round}.definition()
}

// addNoise returns the sum of so many answers with the exact integers, each with the noise of a round, and masked if
// masks are given.
func (x *trainer) addNoise(exact []int64, r plan.ModelRounds, times int, asked modelQuestion, masks *holder.Masks) (
	[]int64, error) {
	addTo, err := x.opened.drawing(r.Noise)
	if err != nil {
		return nil, err
	}
	draws := 1
	if x.opened.exact.madeUp { // the noise of all holders is drawn here
		draws = x.opened.exact.plan.Plan().Draws(x.model)
	}
	definition, hash := asked.definition(), answer.HashOf(exact)
	sum := make([]int64, len(exact))
	for i := range times {
		one, stream := slices.Clone(exact), x.opened.streams.Noise(definition, hash, i)
		for range draws {
			if err := addTo(stream, r.Noise.Parameter, one); err != nil {
				return nil, err
			}
		}
		for k, n := range one {
			if sum[k], err = addExactly(sum[k], n); err != nil {
				return nil, err
			}
		}
	}
	if masks == nil {
		return sum, nil
	}
	return sum, mask(masks, definition, sum)
}

// addExactly returns a sum, and an error if it has more than 62 bits.
func addExactly(a, b int64) (int64, error) {
	sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
	if sum.BitLen() > 62 {
		return 0, errors.New("the counts of held-out rows are too large to be added up")
	}
	return sum.Int64(), nil
}
