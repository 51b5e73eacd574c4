package model

// This file holds Descend, which fits a logistic regression by gradient descent.

import (
	"context"
	"errors"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/design"
)

// Descended is a logistic regression that was fitted by gradient descent.
type Descended struct {
	Shape  *boosting.Shape
	Rows   float64         // noisy number of rows
	Scores boosting.Scores // the weights times the values of features, by category
	// Weights are of the features of the shape's design but for the target, in units in which a feature is at most 1.
	Weights []float64
}

// Descend fits a logistic regression by full-batch gradient descent with momentum (Polyak 1964), by noisy gradients
// (Bassily, Smith & Thakurta, FOCS 2014, with full batches). It asks the rounds of the shape in order: the counts of
// the target's categories, then gradients, each at the weights as the answers so far have made them. The weights are
// the mean over the second half of the steps (Polyak & Juditsky 1992), which takes out most of the noise of single
// ones.
//
// Its questions, and the weights, are a function of the shape and of the answers, to the bit, on every machine. Weights
// are finite whatever the answers are.
//
// It returns an error for a shape that Check refuses or that has no design, for an answer of another length, and if the
// oracle fails.
func Descend(ctx context.Context, shape *boosting.Shape, oracle Oracle) (*Descended, error) {
	d, err := startDescent(ctx, shape, oracle)
	if err != nil {
		return nil, err
	}
	mean := newMeanWeights(d)
	for step := range shape.Descent.Gradients() {
		if err := d.step(ctx, oracle); err != nil {
			return nil, err
		}
		mean.add(step, shape.Descent.Gradients(), d.weights)
	}
	return d.fitted(mean.weights), nil
}

// descent is a logistic regression while it is fitted.
type descent struct {
	shape    *boosting.Shape
	counts   []int64 // noisy, of the target's categories
	round    int     // the next one
	rows     float64 // one more than the noisy number, so that it divides
	weights  []float64
	velocity []float64
}

// startDescent returns a descent before the first gradient: it asks how many rows there are of each outcome. The
// weights are 0 but for the intercept, which gives all rows the same chance.
func startDescent(ctx context.Context, shape *boosting.Shape, oracle Oracle) (*descent, error) {
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if shape.Design == nil {
		return nil, errors.New("only a shape with a design is fitted by gradient descent")
	}
	d := newDescent(shape)
	counts, err := ask(ctx, shape, oracle, 0, boosting.Question{Column: shape.Column(0)})
	if err != nil {
		return nil, err
	}
	return d, d.begin(counts)
}

// newDescent returns a descent before the first round.
func newDescent(shape *boosting.Shape) *descent {
	n := shape.Design.Features() - 1
	return &descent{shape: shape, weights: make([]float64, n), velocity: make([]float64, n)}
}

// begin takes the noisy number of rows of each category of the target.
func (d *descent) begin(counts []int64) error {
	if len(counts) != len(d.shape.Outcomes) {
		return errors.New("there is one count for each category of the target")
	}
	ones := .5 // half a row of either outcome keeps the intercept finite
	d.counts, d.round, d.rows = counts, 1, 1
	for k, n := range counts {
		n := float64(max(n, 0))
		d.rows += n
		ones += float64(n * float64(d.shape.Outcomes[k]))
	}
	d.weights[0] = bounded(budget.Log(ones / (d.rows - ones)))
	return nil
}

// mostDescended bounds weights. Means hardly change beyond.
const mostDescended = 16

// bounded returns a weight within the bound.
func bounded(w float64) float64 { return min(max(w, -mostDescended), mostDescended) }

// step asks for the gradient at the weights, and takes a step.
func (d *descent) step(ctx context.Context, oracle Oracle) error {
	noisy, err := ask(ctx, d.shape, oracle, d.round, boosting.Question{Scores: scoresOf(d.shape, d.weights)})
	if err != nil {
		return err
	}
	d.round++
	rate := d.shape.Descent.Rate * longestStep(d.shape.Design)
	for j, sum := range noisy {
		gradient := float64(sum) / boosting.Bound / design.Scale / d.rows
		d.velocity[j] = float64(boosting.Momentum*d.velocity[j]) + gradient
		d.weights[j] = bounded(d.weights[j] + float64(rate*d.velocity[j]))
	}
	return nil
}

// longestStep returns the longest step, in gradients of a row's mean loss, with which descent is stable for any rows.
// The curvature of the loss is at most a quarter of the largest square of the norm of a row, and descent with momentum
// β is stable in a quadratic of curvature c with steps below 2·(1 + β)/c (Polyak 1964).
func longestStep(d *design.Design) float64 {
	squares := 0.0
	for _, e := range d.Encodings()[:len(d.Encodings())-1] {
		squares += square(float64(e.Unit) / design.Scale)
	}
	return 2 * (1 + boosting.Momentum) / (squares / 4)
}

// scoresOf returns the weights times the values of features, by category.
func scoresOf(shape *boosting.Shape, weights []float64) *boosting.Scores {
	d := shape.Design
	of := &boosting.Scores{Intercept: toUnits(weights[0])}
	for i := range shape.Columns {
		e, first := d.Encodings()[i+1], d.First(i+1)
		table := make([]int32, len(e.Value))
		for code, value := range e.Value {
			table[code] = toUnits(float64(weights[first+e.Offset[code]]*float64(value)) / design.Scale)
		}
		of.Tables = append(of.Tables, table)
	}
	return of
}

// meanWeights is the mean of the weights over the second half of the steps.
type meanWeights struct {
	weights []float64
	n       float64
}

func newMeanWeights(d *descent) *meanWeights {
	return &meanWeights{weights: make([]float64, len(d.weights))}
}

// add adds the weights after a step of so many.
func (m *meanWeights) add(step, of int, weights []float64) {
	if step < of/2 {
		return
	}
	m.n++
	for j, w := range weights {
		m.weights[j] += (w - m.weights[j]) / m.n
	}
}

// fitted returns the regression of weights.
func (d *descent) fitted(weights []float64) *Descended {
	return &Descended{Shape: d.shape, Rows: d.rows - 1, Scores: *scoresOf(d.shape, weights), Weights: weights}
}

// Publish returns the published form of the regression, without the labels of columns.
func (d *Descended) Publish() *Regression {
	of := d.Shape.Design
	target := of.Target()
	r := &Regression{Method: RegressionLogistic, Target: target.Name, Positive: target.Categories[of.Positive()],
		Rows: d.Rows, Flags: []string{RegressionWeightsOnly}}
	intercept := d.Weights[0]
	for i, c := range of.Columns()[:len(d.Shape.Columns)] {
		e, first := of.Encodings()[i+1], of.First(i+1)
		if c.IsNumber() {
			low, high := c.Range()
			slope := float64(2*d.Weights[first]*float64(e.Unit)) / design.Scale / float64(high-low)
			intercept -= float64(slope * float64(float64(low+high)/2))
			r.Terms = append(r.Terms, RegressionTerm{Column: c.Name, Weight: slope})
			continue
		}
		for code, name := range c.Categories {
			weight := float64(d.Weights[first+e.Offset[code]]*float64(e.Value[code])) / design.Scale
			r.Terms = append(r.Terms, RegressionTerm{Column: c.Name, Category: name, Weight: weight})
		}
	}
	r.Terms = append([]RegressionTerm{{Weight: intercept}}, r.Terms...)
	return r
}
