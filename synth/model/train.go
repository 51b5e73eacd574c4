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
	Shape *boosting.Shape
	// Scores are centred: under the noisy counts the entries of a column's table have mean 0, and so has each row and
	// each column of a pair's table (Lengerich, Tan, Chang, Hooker & Caruana, AISTATS 2020). What one column adds by
	// itself is in its own table.
	Scores boosting.Scores
	// Errors are standard errors of the entries of Scores, in the same units: how far the noise in the sums of
	// residuals moves them from what the same rounds would make without it. They add up the noise of all rounds, and
	// do not count that later rounds take back part of what noise did before. So they are up to twice too wide if
	// columns are independent, and about right if columns say the same: in simulations 98 % and more of the entries are
	// within 1.96 errors. They do not cover the noise of the counts, the sampling of rows, or a fit that ended early.
	Errors [][]float64
	// Importance is the mean absolute entry of each table under the noisy counts, in the same units; of a pair, as if
	// its columns were independent.
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
// (the rate) of a Newton step, shrunk as far as noise dominates the group's sum. Rounds of pairs come last, for what
// columns leave. How many rows a category of a pair has is not asked but estimated from the counts of both columns.
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
	tables    [][]float64 // the entries, by column and then by pair
	variances [][]float64 // of the centred entries
}

// newTrainer returns a model before the first round.
func newTrainer(shape *boosting.Shape) *trainer {
	t := &trainer{shape: shape, residuals: shape.Residuals()}
	for column := range shape.Tables() {
		t.tables = append(t.tables, make([]float64, shape.Categories(column)))
		t.variances = append(t.variances, make([]float64, shape.Categories(column)))
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
	return boosting.Question{Column: column, Groups: t.shape.Partition(round, t.counts), Scores: t.scores()}
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

// update moves the entries of a column or pair by the noisy sums of residuals of its groups.
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
	rows, scores := t.rowsPerCategory(q.Column), t.standaloneScores(q.Column)
	for k, g := range q.Groups {
		mass[g] += rows[k]
		curvature[g] += float64(rows[k] * max(t.slope(t.intercept+scores[k]), t.slope(t.intercept)))
	}
	sigma2 := t.shape.SumVariance / (boosting.Bound * boosting.Bound)
	factors := make([]float64, len(noisy))
	for g, h := range curvature {
		h = max(h, leastCurvature)
		factors[g] = t.shape.Rate / (h + sigma2/float64(h*square(spread)))
	}
	if pair, ok := t.shape.Pair(q.Column); ok {
		t.addVariancesOfPair(q, pair, factors, sigma2)
	} else {
		t.addVariances(q, factors, mass, sigma2)
	}
	limit := float64(t.residuals.High-t.residuals.Low) / boosting.ScoreUnit
	for k, g := range q.Groups {
		step := float64(factors[g]*float64(noisy[g])) / boosting.Bound
		table[k] = min(max(table[k]+min(max(step, -1), 1), -limit), limit)
	}
}

// leastCurvature is the least curvature of a group: as much as a quarter of a row has.
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

// addVariancesOfPair adds to the variances of the entries of a pair and of its columns what the noise of one round adds
// when the pair is purified.
//
// The noise z_g of group g moves its entries by f_g·z_g. Of that, row a of the table has the mean r_ga·f_g·z_g, where
// r_ga is the share of the row that is in group g, column b has c_gb·f_g·z_g, and the table has s_g·f_g·z_g. So the
// entry of the first column moves by Σ_g (r_ga − s_g)·f_g·z_g, the entry of the second by Σ_g (c_gb − s_g)·f_g·z_g, and
// the entry of the pair by Σ_g ([g is the group of a and b] − r_ga − c_gb + s_g)·f_g·z_g.
func (t *trainer) addVariancesOfPair(q boosting.Question, pair [2]int, factors []float64, sigma2 float64) {
	first, second := t.shares(pair[0]), t.shares(pair[1])
	for g, f := range factors {
		rows, columns := make([]float64, len(first)), make([]float64, len(second))
		for k, group := range q.Groups {
			if a, b := k/len(second), k%len(second); group == g {
				rows[a] += second[b]
				columns[b] += first[a]
			}
		}
		all, variance := 0.0, float64(square(f)*sigma2)
		for a, share := range rows {
			all += float64(first[a] * share)
		}
		for a, share := range rows {
			t.variances[pair[0]][a] += float64(square(share-all) * variance)
		}
		for b, share := range columns {
			t.variances[pair[1]][b] += float64(square(share-all) * variance)
		}
		for k, group := range q.Groups {
			moved := all - rows[k/len(second)] - columns[k%len(second)]
			if group == g {
				moved++
			}
			t.variances[q.Column][k] += float64(square(moved) * variance)
		}
	}
}

// model centres the tables and returns the model.
func (t *trainer) model() *Additive {
	m := &Additive{Shape: t.shape, Counts: t.counts[:len(t.shape.Columns)]}
	for i, pair := range t.shape.Pairs {
		t.purify(t.tables[len(t.shape.Columns)+i], pair)
	}
	for c, table := range t.tables {
		rows := t.rowsPerCategory(c)
		if c < len(t.shape.Columns) { // a pair is centred by now
			mean := meanOver(rows, func(k int) float64 { return table[k] })
			t.intercept += mean
			for k := range table {
				table[k] -= mean
			}
		}
		m.Importance = append(m.Importance,
			float64(boosting.ScoreUnit*meanOver(rows, func(k int) float64 { return math.Abs(table[k]) })))
		errors := make([]float64, len(table))
		for k, v := range t.variances[c] {
			errors[k] = float64(boosting.ScoreUnit * math.Sqrt(v))
		}
		m.Errors = append(m.Errors, errors)
	}
	m.Scores = *t.scores()
	return m
}

// purify moves the means of the rows and of the columns of the table of a pair into the tables of its columns, and the
// mean of the table into the intercept. Means are over the rows as if both columns were independent. No score changes.
func (t *trainer) purify(table []float64, pair [2]int) {
	first, second := t.shares(pair[0]), t.shares(pair[1])
	rows, columns := make([]float64, len(first)), make([]float64, len(second))
	for k, entry := range table {
		rows[k/len(second)] += float64(second[k%len(second)] * entry)
		columns[k%len(second)] += float64(first[k/len(second)] * entry)
	}
	all := meanOver(first, func(a int) float64 { return rows[a] })
	for k := range table {
		table[k] += all - rows[k/len(second)] - columns[k%len(second)]
	}
	for a, mean := range rows {
		t.tables[pair[0]][a] += mean - all
	}
	for b, mean := range columns {
		t.tables[pair[1]][b] += mean - all
	}
	t.intercept += all
}

// standaloneScores returns the score that each category of a column or pair has by itself, without the intercept. The
// score of a pair includes the entries of its two columns.
func (t *trainer) standaloneScores(column int) []float64 {
	pair, ok := t.shape.Pair(column)
	if !ok {
		return t.tables[column]
	}
	first, second := t.tables[pair[0]], t.tables[pair[1]]
	scores := make([]float64, len(t.tables[column]))
	for k, entry := range t.tables[column] {
		scores[k] = entry + first[k/len(second)] + second[k%len(second)]
	}
	return scores
}

// rowsPerCategory returns about how many rows each category of a column or pair has, by the noisy counts.
func (t *trainer) rowsPerCategory(column int) []float64 {
	if pair, ok := t.shape.Pair(column); ok {
		first, second := t.rowsPerCategory(pair[0]), t.shares(pair[1])
		all := make([]float64, 0, len(first)*len(second))
		for _, n := range first {
			for _, share := range second {
				all = append(all, float64(n*share))
			}
		}
		return all
	}
	all := make([]float64, len(t.counts[column]))
	for k, n := range t.counts[column] {
		all[k] = float64(max(n, 0))
	}
	return all
}

// shares returns the share of the rows that each category of a column has, by the noisy counts.
func (t *trainer) shares(column int) []float64 {
	shares, total := t.rowsPerCategory(column), 0.0
	for _, n := range shares {
		total += n
	}
	for k, n := range shares {
		shares[k] = 1 / float64(len(shares))
		if total > 0 {
			shares[k] = n / total
		}
	}
	return shares
}

// meanOver returns the mean of a function of categories over rows, of which each category has so many. Without rows all
// categories have the same weight.
func meanOver(rows []float64, of func(k int) float64) float64 {
	sum, total := 0.0, 0.0
	for k, n := range rows {
		sum += float64(n * of(k))
		total += n
	}
	if total > 0 {
		return sum / total
	}
	for k := range rows {
		sum += of(k)
	}
	return sum / float64(len(rows))
}
