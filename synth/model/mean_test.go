package model

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/boosting"
)

// Mean returns the mean of the outcome that a model expects of a row, by the category of each column: the chance of the
// class, the quantity, or the count.
func (m *Additive) Mean(codes []int) float64 {
	low, span := m.Shape.Range()
	return low + float64(span*meanOf(m.Shape.Link, float64(m.Scores.Of(m.Shape, codes))/boosting.ScoreUnit))
}

// meanOf returns the mean, on the scale of 0 to 1, of a score.
func meanOf(link boosting.Link, score float64) float64 {
	switch link {
	case boosting.Logit:
		return 1 / (1 + budget.Exp(-score))
	case boosting.Log:
		return budget.Exp(min(score, 0))
	}
	return min(max(score, 0), 1)
}
