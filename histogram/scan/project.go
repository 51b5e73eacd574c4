package scan

import (
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the projection from the counts of a question's cells to the integers of its factors.

// projectAnswers turns the counts of a query's marginal into its answers: the exact integers of the residual along
// each axis whose factor is a residual, in the memory of the counts.
func projectAnswers(r *spec.Release, m plan.Measurement, t answer.Answer) (answer.Answer, error) {
	columns, axes, plain, err := m.Query.Residual(r)
	if err != nil || !slices.Contains(plain, false) || t.Len() == 0 {
		return t, err
	}
	t = t.Expanded()
	t.Counts, err = residual.Exact(columns, axes, plain, t.Counts)
	if err == nil && slices.ContainsFunc(t.Counts, exceedsBits) {
		err = errLargeSum
	}
	return t, err
}
