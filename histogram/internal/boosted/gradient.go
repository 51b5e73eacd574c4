package boosted

// This file holds the gradient of a logistic regression: sums of features times residuals.

import (
	"context"

	"github.com/dprelease/dprelease/plan/boosting"
)

// sumGradient sums each feature times the residual over all rows: for each column first the residuals of each category,
// as a feature depends on the category alone.
func (r *rows) sumGradient(ctx context.Context, scores *boosting.Scores) ([]int64, error) {
	encodings := r.shape.Design.Encodings()
	encodings = encodings[:len(encodings)-1]
	starts, n := make([]int, len(encodings)), 0 // the first category of each column, all in one slice
	for i, e := range encodings {
		starts[i] = n
		n += len(e.Value)
	}
	total := sums{all: make([]int64, n)}
	update := r.updateTo(scores)
	err := eachChunk(ctx, len(r.counts), func(_, from, to int) error {
		update(from, to)
		of, residuals := make([]int64, n), make([]int64, to-from)
		target := r.columns[len(r.columns)-1]
		for i := range residuals {
			residuals[i] = int64(r.counts[from+i]) * int64(r.residuals.Of(target.at(from+i), r.scores[from+i]))
			of[0] += residuals[i] // of the intercept
		}
		for c, start := range starts[1:] {
			if column := r.columns[c]; column.narrow != nil {
				addByCategory(of[start:], column.narrow[from:to], residuals)
			} else {
				addByCategory(of[start:], column.wide[from:to], residuals)
			}
		}
		total.add(of)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.scored = clone(scores)
	gradient := make([]int64, r.shape.Design.Features()-1)
	for i, e := range encodings {
		first := r.shape.Design.First(i)
		for code, value := range e.Value {
			gradient[first+e.Offset[code]] += value * total.all[starts[i]+code]
		}
	}
	return gradient, nil
}

// addByCategory adds the residual of each entry to the sum of its category.
func addByCategory[C uint8 | uint16](to []int64, of []C, residuals []int64) {
	for i, code := range of {
		to[code] += residuals[i]
	}
}
