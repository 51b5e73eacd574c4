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
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth/model"
)

// train fits a model of the plan, given by its index, and returns the answers to its rounds: of one of several holders,
// its own, masked.
func train(ctx context.Context, p *compiled.Compiled, i int, opened *histogram.Opened, j *journal, held *masking) (
	measured.Training, error) {
	rounds := &journalledRounds{journal: j, model: p.Models[i].Name}
	var masks *holder.Masks
	if held != nil {
		masks, rounds.others, p = held.masks, held.exchange(p), held.measuredPlan(p)
	}
	m := p.Models[i]
	var err error
	if rounds.exact, err = opened.Trainer(ctx, i, masks); err != nil {
		return measured.Training{}, err
	}
	if !m.Additive() {
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
		if err := held.leaving(ctx, p); err != nil {
			return rounds.training, err
		}
	}
	rounds.step = fmt.Sprintf("fitting the model %s in %s", m.Name, budget.Plural(int64(m.RoundCount()), "round"))
	ctx = progress.Begin(ctx, int64(m.RoundCount()), "%s", rounds.step)
	fitted, err := model.Train(ctx, rounds.shape, rounds)
	if err == nil && m.Test != "" {
		err = rounds.testOn(ctx, &fitted.Scores)
	}
	return rounds.training, err
}

// journalledRounds answers the rounds of a model. Each answer is in the journal before anybody sees it.
type journalledRounds struct {
	journal  *journal
	model    string
	step     string // that is under way, in words
	shape    *boosting.Shape
	exact    *histogram.Trainer
	others   *exchange // with the other holders; nil if the data are in one place
	training measured.Training
}

// Answer returns the answer of a round, from the journal or drawn now: of several holders, the sum of their answers.
func (r *journalledRounds) Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error) {
	asked, err := hashOfAsked(q)
	if err != nil {
		return nil, err
	}
	answer, err := r.answer(round, asked, q.Len(r.shape),
		func() ([]int64, error) { return r.exact.Answer(ctx, round, q) }, func() error { return r.exact.Replay(round) })
	if err != nil {
		return nil, err
	}
	r.training.Rounds = append(r.training.Rounds, answer)
	if r.others != nil {
		own := roundAnswer{Model: r.model, Round: round, Asked: asked, Masked: answer}
		if answer, err = r.others.sum(ctx, r.step, own); err != nil {
			return nil, err
		}
	}
	progress.Add(ctx, 1)
	return answer, nil
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
		answer, err := r.answer(round, asked, integers, func() ([]int64, error) { return r.exact.Moments(round) },
			func() error { return r.exact.Replay(round) })
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
	r.training.HeldOut, err = r.answer(len(r.training.Rounds), asked, 2*boosting.ScoreBins,
		func() ([]int64, error) { return r.exact.HeldOut(ctx, scores) }, r.exact.ReplayHeldOut)
	return err
}

// answer returns an answer of so many integers from the journal, or one that is drawn now and recorded.
//
// Of one of several holders the journal has the masked answer. If some have withdrawn since, it is drawn again to be
// masked for the others: the same integers, as noise follows from the key, the question and the exact integers.
func (r *journalledRounds) answer(round int, asked string, integers int, draw func() ([]int64, error),
	replay func() error) ([]int64, error) {
	e := journalEntry{Model: r.model, Round: round, Asked: asked}
	old, err := r.journal.replay(e)
	if err != nil {
		return nil, err
	}
	if r.others != nil {
		e.Roll = r.others.hash
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
