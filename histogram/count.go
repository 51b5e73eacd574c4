package histogram

// This file holds the Counter, and Count, which gets the exact answers to what a plan asks.

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
)

// Counter answers questions about the confidential tables of a release exactly. Only the packages that
// internal/structure lists can read what it returns.
//
// Contract: which rows count, and how many rows of each unit, is a function of the plan, the tables and the keys of s
// alone, and not of what is asked, nor of anything that the machine decides. No error holds a value, a row or a
// count. From s it can derive no noise.
type Counter interface {
	Count(ctx context.Context, q Questions, s *noise.RowStreams) (answer.Answers, error)
}

// Questions are what a [Counter] is asked, all at once.
type Questions struct {
	Plan         *plan.Plan         // verified; its release defines the tables and which of their rows count
	Measurements []plan.Measurement // in the order of the answers; a counter ignores their mechanisms
}

// Stamp returns the stamp of answers to these questions, if rows are bounded under the keys of s.
func (q Questions) Stamp(s *noise.RowStreams) (answer.Stamp, error) {
	return stampOf(q.Plan.Hash(), q.Measurements, s)
}

// stampOf returns the stamp of answers to measurements of the plan with a hash.
func stampOf(planHash string, all []plan.Measurement, s *noise.RowStreams) (answer.Stamp, error) {
	h := sha256.New()
	io.WriteString(h, planHash)
	for _, m := range all {
		question, err := json.Marshal(struct { // without the mechanisms, which only the core uses
			ID                string
			Query             plan.Query
			Cells, Impossible int64
			Given             selection.Kind
			Above             int64
		}{m.ID, m.Query, m.Cells, m.Impossible, m.Selection.Kind(), selection.Threshold(m.Selection)})
		if err != nil {
			return answer.Stamp{}, parallel.ErrBug
		}
		definition := sha256.Sum256(question)
		h.Write(definition[:])
	}
	return s.Stamp(h.Sum(nil)), nil
}

// Count has a counter answer everything that a plan may ask: its measurements, and every candidate that an adaptive
// method of the plan may choose. It works on a copy of the plan that nobody else holds, not even the counter, and
// that it has verified against its spec: what is measured later is what was checked here. s bounds the rows, and must
// be passed to [Exact.Open] again.
//
// Contract: the answers are those to the questions of this plan, counted under the keys of s, and have the form on
// which the drawing of noise relies; all of it is checked here, before anything is debited.
//
// Errors: those of the counter.
func Count(ctx context.Context, c *compiled.Compiled, by Counter, s *noise.Streams) (*Exact, error) {
	own, err := planner.Verify(c)
	if err != nil {
		return nil, err
	}
	if own.Release().Collection != nil {
		return nil, errNothingToDraw
	}
	all, err := questionsOf(own.Plan())
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if err := checkCanDraw(own.Release(), m); err != nil {
			return nil, err
		}
	}
	asked, err := questionsOf(c.Plan())
	if err != nil {
		return nil, err
	}
	var counted answer.Answers
	err = parallel.Guarded(func(int) (err error) {
		counted, err = by.Count(ctx, Questions{Plan: c.Plan(), Measurements: asked}, s.Rows())
		return err
	}, 0)
	if err != nil {
		return nil, err
	}
	stamp, err := stampOf(own.Hash(), all, s.Rows())
	if err != nil {
		return nil, err
	}
	if !answer.Has(counted, stamp) {
		return nil, errOtherQuestions
	}
	if !wellFormed(own.Plan(), all, answer.All(counted)) {
		return nil, parallel.ErrBug
	}
	return newExact(own, all, counted, s), nil
}

var errNothingToDraw = errors.New("reports are counted without noise, as the respondents' devices have randomised " +
	"them: this is a bug, please report it")

var errOtherQuestions = errors.New(
	"what was counted is not what the plan asks, or was bounded with another key: this is a bug, please report it")

// wellFormed reports whether there is an answer to each measurement, of the measurement's form. What is drawn, and
// how many figures are released, relies on the form.
func wellFormed(p *plan.Plan, all []plan.Measurement, counts []answer.Answer) bool {
	if len(counts) != len(all) {
		return false
	}
	for i, m := range all {
		a := counts[i]
		legal, formed := m.Check(p.Release().Table(m.Query.Table)) == nil, publicationOf(m).isWellFormed
		if !legal || formed == nil || !formed(m, a) || !a.Bounded() || i >= len(p.Measurements) && !a.AllAtLeast(0) {
			return false
		}
	}
	return true
}

// QuestionsOf returns everything that a plan may ask of its tables.
func QuestionsOf(p *plan.Plan) (Questions, error) {
	all, err := questionsOf(p)
	return Questions{Plan: p, Measurements: all}, err
}

// questionsOf returns everything that a plan may ask of its tables: its measurements in order, followed by the
// candidates of every adaptive method, and the rows of every model. Which of the candidates a method will choose is not
// known before noise is drawn, and tables are read once.
func questionsOf(p *plan.Plan) ([]plan.Measurement, error) {
	all := slices.Clone(p.Measurements)
	for _, s := range p.Synthetic {
		candidates, err := candidatesOf(p, s)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", s.Table, err)
		}
		all = append(all, candidates...)
	}
	for _, m := range p.Models {
		rows, err := p.Rows(m)
		if err != nil {
			return nil, err
		}
		all = append(all, rows)
	}
	return all, nil
}
