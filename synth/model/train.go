package model

// This file holds Train, which fits an additive model by boosting.

import (
	"context"
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/boosting"
)

// Oracle answers the rounds of a model with noise, in order.
type Oracle interface {
	// Answer returns the noisy integers that answer a question: [boosting.Question.Len] of them.
	Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error)
}

// Additive is a fitted additive model.
type Additive struct {
	Shape  *boosting.Shape
	Scores boosting.Scores // centred: the entries of a table have mean 0 under the noisy counts
	// Errors are standard errors of the entries of Scores, in the same units: how far the noise in the sums of
	// residuals moves them from what the same rounds would make without it. They add up the noise of all rounds, and
	// do not count that later rounds take back part of what noise did before. So they are up to twice too wide if
	// columns are independent, and about right if columns say the same: in simulations 98 % and more of the entries are
	// within 1.96 errors. They do not cover the noise of the counts, the sampling of rows, or a fit that ended early.
	Errors [][]float64
	// Importance is the mean absolute entry of each column under the noisy counts, in the same units.
	Importance []float64
	// Counts are the noisy numbers of rows with each category, by column.
	Counts [][]int64
}

// ask returns the answer to the question of a round.
func ask(ctx context.Context, shape *boosting.Shape, oracle Oracle, round int, q boosting.Question) ([]int64, error) {
	noisy, err := oracle.Answer(ctx, round, q)
	if err == nil && len(noisy) != q.Len(shape) {
		err = fmt.Errorf("%d integers are no answer to a question of %d", len(noisy), q.Len(shape))
	}
	if err != nil {
		return nil, fmt.Errorf("round %d of a model: %w", round+1, err)
	}
	return noisy, nil
}

// Train fits an additive model by cyclic boosting (Nori, Caruana, Bu, Shen & Kulkarni, ICML 2021, with rounds as in
// Friedman 2001). It asks the rounds of the shape in order: the counts of each column and of the target, then sums of
// residuals, each for the model as the answers so far have made it. A round moves the entries of each group by a share
// (the rate) of a Newton step, shrunk as far as noise dominates the group's sum.
//
// Its questions, and the model, are a function of the shape and of the answers, to the bit, on every machine. Entries
// are finite whatever the answers are.
//
// It returns an error for a shape that Check refuses, for an answer of another length, and if the oracle fails.
func Train(ctx context.Context, shape *boosting.Shape, oracle Oracle) (*Additive, error) {
	if err := shape.Check(); err != nil {
		return nil, err
	}
	t := newTrainer(shape)
	for round := range shape.Rounds() {
		q := t.question(round)
		noisy, err := ask(ctx, shape, oracle, round, q)
		if err != nil {
			return nil, err
		}
		if q.Scores == nil {
			t.counts = append(t.counts, noisy)
		} else {
			t.update(q, noisy)
		}
	}
	return t.model(), nil
}

// trainer is a model that is being fitted.
type trainer struct {
	shape     *boosting.Shape
	residuals *boosting.Residuals
	counts    [][]int64 // noisy, by column; the last is the target's
	intercept float64
	tables    [][]float64 // the entries, by column
	variances [][]float64 // of the centred entries
}

// newTrainer returns a model before the first round.
func newTrainer(shape *boosting.Shape) *trainer {
	t := &trainer{shape: shape, residuals: shape.Residuals()}
	for _, c := range shape.Columns {
		t.tables = append(t.tables, make([]float64, c.Categories))
		t.variances = append(t.variances, make([]float64, c.Categories))
	}
	return t
}

// question returns the question of a round.
func (t *trainer) question(round int) boosting.Question {
	column := t.shape.Column(round)
	if round < t.shape.CountRounds() {
		return boosting.Question{Column: column}
	}
	if round == t.shape.CountRounds() {
		t.intercept = t.base()
	}
	return boosting.Question{Column: column, Groups: t.shape.Partition(round, t.counts[column]), Scores: t.scores()}
}

// scores returns the tables as integers.
func (t *trainer) scores() *boosting.Scores {
	of := &boosting.Scores{Intercept: toUnits(t.intercept)}
	for _, table := range t.tables {
		units := make([]int32, len(table))
		for k, x := range table {
			units[k] = toUnits(x)
		}
		of.Tables = append(of.Tables, units)
	}
	return of
}

// toUnits rounds a score to units of 1/[boosting.ScoreUnit].
func toUnits(score float64) int32 { return int32(math.Round(float64(score * boosting.ScoreUnit))) }

// base returns the score that has the mean of the target's noisy counts.
func (t *trainer) base() float64 {
	sum, total := 0.0, 0.0
	for k, n := range t.counts[len(t.counts)-1] {
		n := float64(max(n, 0))
		sum += float64(n * float64(t.residuals.Outcomes[k]))
		total += float64(n * boosting.Bound)
	}
	// Half a row at either end of the outcomes keeps the score finite.
	mean := (sum + boosting.Bound/2) / (total + boosting.Bound)
	score := mean
	switch t.shape.Link {
	case boosting.Logit:
		score = budget.Log(mean / (1 - mean))
	case boosting.Log:
		score = budget.Log(mean)
	}
	return t.clamp(score)
}

// clamp clamps a score to the range beyond which means do not change.
func (t *trainer) clamp(score float64) float64 {
	return min(max(score, float64(t.residuals.Low)/boosting.ScoreUnit), float64(t.residuals.High)/boosting.ScoreUnit)
}

// slope returns the derivative of the mean by the score: the curvature of the loss in one row.
func (t *trainer) slope(score float64) float64 {
	score = t.clamp(score)
	switch t.shape.Link {
	case boosting.Logit:
		p := 1 / (1 + budget.Exp(-score))
		return float64(p * (1 - p))
	case boosting.Log:
		return budget.Exp(score)
	}
	return 1
}

// update moves the entries of a column by the noisy sums of residuals of its groups.
//
// A group whose rows have curvature H in total, and whose entries are all off by d, has the sum H·d and noise of
// variance σ². With d of variance τ² beforehand, its mean given the noisy sum is sum·/(H + σ²/(H·τ²)).
func (t *trainer) update(q boosting.Question, noisy []int64) {
	spread := 1.0 // τ: how far entries are off, beforehand
	if t.shape.Link == boosting.Identity {
		spread = .25 // of the range of outcomes
	}
	table := t.tables[q.Column]
	curvature, mass := make([]float64, len(noisy)), make([]float64, len(noisy))
	for k, g := range q.Groups {
		n := float64(max(t.counts[q.Column][k], 0))
		mass[g] += n
		curvature[g] += float64(n * max(t.slope(t.intercept+table[k]), t.slope(t.intercept)))
	}
	sigma2 := t.shape.SumVariance / (boosting.Bound * boosting.Bound)
	factors := make([]float64, len(noisy))
	for g, h := range curvature {
		h = max(h, leastCurvature)
		factors[g] = t.shape.Rate / (h + sigma2/float64(h*square(spread)))
	}
	t.addVariances(q, factors, mass, sigma2)
	limit := float64(t.residuals.High-t.residuals.Low) / boosting.ScoreUnit
	for k, g := range q.Groups {
		step := float64(factors[g]*float64(noisy[g])) / boosting.Bound
		table[k] = min(max(table[k]+min(max(step, -1), 1), -limit), limit)
	}
}

// leastCurvature is the least curvature of a group: that of a quarter of a row.
const leastCurvature = 1.0 / 16

// addVariances adds to the variances of a column's centred entries what the noise of one round adds.
//
// The noise z_g of group g moves its entries by f_g·z_g, and the mean of the column by w_g·f_g·z_g, where w_g is the
// share of the group's rows. So the centred entries of group g move by f_g·z_g − Σ_h w_h·f_h·z_h.
func (t *trainer) addVariances(q boosting.Question, factors, mass []float64, sigma2 float64) {
	total := 0.0
	for _, m := range mass {
		total += m
	}
	total = max(total, 1)
	all := 0.0
	for g, f := range factors {
		all += square(float64(f * mass[g] / total))
	}
	for k, g := range q.Groups {
		share := float64(factors[g] * mass[g] / total)
		own := max(all-square(share), 0) + square(factors[g]-share)
		t.variances[q.Column][k] += float64(own * sigma2)
	}
}

// square returns x².
func square(x float64) float64 { return float64(x * x) }

// model centres the tables and returns the model.
func (t *trainer) model() *Additive {
	m := &Additive{Shape: t.shape, Counts: t.counts[:len(t.tables)]}
	for c, table := range t.tables {
		mean := t.mean(c, func(k int) float64 { return table[k] })
		t.intercept += mean
		for k := range table {
			table[k] -= mean
		}
		m.Importance = append(m.Importance,
			float64(boosting.ScoreUnit*t.mean(c, func(k int) float64 { return math.Abs(table[k]) })))
		errors := make([]float64, len(table))
		for k, v := range t.variances[c] {
			errors[k] = float64(boosting.ScoreUnit * math.Sqrt(v))
		}
		m.Errors = append(m.Errors, errors)
	}
	m.Scores = *t.scores()
	return m
}

// mean returns the mean of a function of a column's categories under the noisy counts.
func (t *trainer) mean(column int, of func(k int) float64) float64 {
	sum, total := 0.0, 0.0
	for k, n := range t.counts[column] {
		n := float64(max(n, 0))
		sum += float64(n * of(k))
		total += n
	}
	if total > 0 {
		return sum / total
	}
	for k := range t.counts[column] {
		sum += of(k)
	}
	return sum / float64(len(t.counts[column]))
}
