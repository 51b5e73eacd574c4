package release

// This file holds the fitting of models to confidential rows: every round goes through the journal.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth/model"
)

// train fits a model of the plan, given by its index, and returns the answers to its rounds: of one of several holders,
// its own, masked.
func train(ctx context.Context, p *compiled.Compiled, i int, opened *histogram.Opened, j *journal, held *masking) (
	measured.Training, error) {
	rounds := &journalledRounds{journal: j, model: p.Models[i]}
	var masks *holder.Masks
	if held != nil {
		masks, rounds.others, p = held.masks, held.exchange(p), held.measuredPlan(p)
	}
	m := p.Models[i]
	var err error
	if rounds.exact, err = opened.Trainer(ctx, i, masks); err != nil {
		return measured.Training{}, err
	}
	if !m.Adaptive() {
		d, err := p.Plan().Design(m)
		if err == nil {
			err = rounds.measureMoments(d.Lengths())
		}
		return rounds.training, err
	}
	if rounds.shape, err = p.Plan().Shape(m); err != nil {
		return measured.Training{}, err
	}
	if held != nil {
		if err := held.recordLeaving(ctx, p); err != nil {
			return rounds.training, err
		}
	}
	rounds.step = fmt.Sprintf("fitting the model %s in %s", m.Name, budget.Plural(int64(m.RoundCount()), "round"))
	ctx = progress.Begin(ctx, int64(m.RoundCount()), "%s", rounds.step)
	scores, err := rounds.fit(ctx)
	if err == nil && m.Test != "" {
		err = rounds.testOn(ctx, scores)
	}
	return rounds.training, err
}

// fit fits the model, and returns the scores that it gives to rows.
func (r *journalledRounds) fit(ctx context.Context) (*boosting.Scores, error) {
	if r.model.Additive() {
		fitted, err := model.Train(ctx, r.shape, r)
		if err != nil {
			return nil, err
		}
		return &fitted.Scores, nil
	}
	var fitted *model.Descended
	var err error
	if r.model.Local() {
		fitted, err = model.Federate(ctx, r.shape, r, r)
	} else {
		fitted, err = model.Descend(ctx, r.shape, r)
	}
	if err != nil {
		return nil, err
	}
	return &fitted.Scores, nil
}

// journalledRounds answers the rounds of a model. Each answer is in the journal before anybody sees it.
type journalledRounds struct {
	journal  *journal
	model    plan.Model
	step     string // that is under way, in words
	shape    *boosting.Shape
	exact    *histogram.Trainer
	others   *exchange // with the other holders; nil if the data are in one place
	training measured.Training
}

// Answer returns the answer of a round, from the journal or drawn now: of several holders, the sum of their answers,
// unless each of them keeps its own.
func (r *journalledRounds) Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error) {
	asked, err := hashOfAsked(q)
	if err != nil {
		return nil, err
	}
	answer, err := r.answer(journalEntry{Round: round, Asked: asked, Roll: r.rollOf(!r.model.Local())}, q.Len(r.shape),
		func() ([]int64, error) { return r.exact.Answer(ctx, round, q) }, func() error { return r.exact.Replay(round) })
	if err != nil {
		return nil, err
	}
	progress.Add(ctx, 1)
	if r.model.Local() {
		return answer, nil
	}
	return r.share(ctx, round, asked, answer)
}

// share notes an answer for the sealed folder, and returns the sum of the answers of all holders.
func (r *journalledRounds) share(ctx context.Context, round int, asked string, answer []int64) ([]int64, error) {
	r.training.Rounds = append(r.training.Rounds, answer)
	if r.others == nil {
		return answer, nil
	}
	return r.others.sum(ctx, r.step, roundAnswer{Model: r.model.Name, Round: round, Asked: asked, Masked: answer})
}

// Sum returns the sum of the updates of all holders, each masked.
func (r *journalledRounds) Sum(ctx context.Context, round int, state []float64, own []int64) ([]int64, error) {
	asked, err := hashOfAsked(struct {
		Update int
		State  []float64
	}{round, state})
	if err != nil {
		return nil, err
	}
	masked, err := r.answer(journalEntry{Round: round, Asked: asked, Roll: r.rollOf(true)}, len(own),
		func() ([]int64, error) { return r.exact.MaskUpdate(round, asked, own) }, func() error { return nil })
	if err != nil {
		return nil, err
	}
	return r.share(ctx, round, asked, masked)
}

// rollOf returns the hash of the roll that an answer is masked for if it goes to the other holders; "" if it does not.
func (r *journalledRounds) rollOf(goes bool) string {
	if r.others == nil || !goes {
		return ""
	}
	return r.others.hash
}

// hashOfAsked returns the SHA-256 of a question, in hexadecimal.
func hashOfAsked(asked any) (string, error) {
	text, err := json.Marshal(asked)
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:]), err
}

// measureMoments measures the moments of a regression: so many on the diagonal, and so many off it.
func (r *journalledRounds) measureMoments(diagonal, products int) error {
	asked, err := hashOfAsked(nil)
	if err != nil {
		return err
	}
	for round, integers := range []int{diagonal, products} {
		answer, err := r.answer(journalEntry{Round: round, Asked: asked, Roll: r.rollOf(true)}, integers,
			func() ([]int64, error) { return r.exact.Moments(round) }, func() error { return r.exact.Replay(round) })
		if err != nil {
			return err
		}
		r.training.Rounds = append(r.training.Rounds, answer)
	}
	return nil
}

// testOn counts the held-out rows by their scores.
func (r *journalledRounds) testOn(ctx context.Context, scores *boosting.Scores) error {
	asked, err := hashOfAsked(scores)
	if err != nil {
		return err
	}
	e := journalEntry{Round: len(r.training.Rounds), Asked: asked, Roll: r.rollOf(true)}
	r.training.HeldOut, err = r.answer(e, 2*boosting.ScoreBins,
		func() ([]int64, error) { return r.exact.HeldOut(ctx, scores) }, r.exact.ReplayHeldOut)
	return err
}

// answer returns the answer of an entry, of so many integers, from the journal, or one that is drawn now and recorded.
//
// Of one of several holders the journal has the masked answer. If some have withdrawn since, it is drawn again to be
// masked for the others: the same integers, as noise follows from the key, the question and the exact integers.
func (r *journalledRounds) answer(e journalEntry, integers int, draw func() ([]int64, error), replay func() error) (
	[]int64, error) {
	e.Model = r.model.Name
	old, err := r.journal.replay(e)
	if err != nil {
		return nil, err
	}
	if old != nil && old.Roll == e.Roll {
		if len(old.Answer) != integers {
			return nil, r.journal.doesNotFit("holds an answer to another question than is asked now")
		}
		return old.Answer, replay()
	}
	if e.Answer, err = draw(); err != nil || old != nil {
		return e.Answer, err
	}
	return e.Answer, r.journal.record(e)
}
