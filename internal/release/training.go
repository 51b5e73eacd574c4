package release

// This file holds the fitting of models to confidential rows: every round goes through the journal.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth/model"
)

// train fits a model of the plan, given by its index, and returns the answers to its rounds.
func train(ctx context.Context, p *compiled.Compiled, i int, opened *histogram.Opened, j *journal) (measured.Training,
	error) {
	m := p.Models[i]
	exact, err := opened.Trainer(ctx, i)
	if err != nil {
		return measured.Training{}, err
	}
	rounds := &journalledRounds{journal: j, model: m.Name, exact: exact}
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
	ctx = progress.Begin(ctx, int64(m.RoundCount()), "fitting the model %s in %s", m.Name,
		budget.Plural(int64(m.RoundCount()), "round"))
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
	shape    *boosting.Shape
	exact    *histogram.Trainer
	training measured.Training
}

// Answer returns the answer of a round, from the journal or drawn now.
func (r *journalledRounds) Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error) {
	answer, err := r.answer(round, q, q.Len(r.shape), func() ([]int64, error) { return r.exact.Answer(ctx, round, q) },
		func() error { return r.exact.Replay(round) })
	if err == nil {
		r.training.Rounds = append(r.training.Rounds, answer)
		progress.Add(ctx, 1)
	}
	return answer, err
}

// measureMoments measures the moments of a regression: so many on the diagonal, and so many off it.
func (r *journalledRounds) measureMoments(diagonal, products int) error {
	for round, integers := range []int{diagonal, products} {
		answer, err := r.answer(round, nil, integers, func() ([]int64, error) { return r.exact.Moments(round) },
			func() error { return r.exact.Replay(round) })
		if err != nil {
			return err
		}
		r.training.Rounds = append(r.training.Rounds, answer)
	}
	return nil
}

// testOn counts the held-out rows by their scores.
func (r *journalledRounds) testOn(ctx context.Context, scores *boosting.Scores) (err error) {
	r.training.HeldOut, err = r.answer(len(r.training.Rounds), scores, 2*boosting.ScoreBins,
		func() ([]int64, error) { return r.exact.HeldOut(ctx, scores) }, r.exact.ReplayHeldOut)
	return err
}

// answer returns an answer of so many integers from the journal, or one that is drawn now and recorded.
func (r *journalledRounds) answer(round int, asked any, integers int, draw func() ([]int64, error),
	replay func() error) ([]int64, error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	e := journalEntry{Model: r.model, Round: round, Asked: hex.EncodeToString(hash[:])}
	old, err := r.journal.replay(e)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if len(old.Answer) != integers {
			return nil, r.journal.doesNotFit("holds an answer to another question than is asked now")
		}
		return old.Answer, replay()
	}
	if e.Answer, err = draw(); err != nil {
		return nil, err
	}
	return e.Answer, r.journal.record(e)
}
