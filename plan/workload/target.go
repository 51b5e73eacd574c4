package workload

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the goals that targets set: a margin, and the confidence that each cell is to have.

// Relative returns a target's margin as the spec states it, if that is a percentage; "" if it is a number.
func Relative(t *spec.Target) string {
	if t.At == nil {
		return ""
	}
	return budget.Decimal(new(big.Rat).Mul(t.Share, big.NewRat(100, 1))) + "% of " + budget.Decimal(t.At)
}

// Goal is a margin and the confidence that each cell is to have with it.
type Goal struct{ Margin, Confidence float64 }

// Goal returns the goal of a table's target; it reports false if there is none.
func (t *Table) Goal() (Goal, bool) {
	asked := t.Marginal.Target
	if asked == nil {
		return Goal{}, false
	}
	g := Goal{}
	g.Margin, _ = asked.Margin.Float64()
	confidence := asked.Confidence
	if asked.AllCells {
		miss := new(big.Rat).Sub(big.NewRat(1, 1), confidence)
		miss.Quo(miss, big.NewRat(max(t.Possible(), 1), 1))
		confidence = miss.Sub(big.NewRat(1, 1), miss)
	}
	g.Confidence, _ = confidence.Float64()
	return g, true
}

// Variance returns the largest variance of normal noise that keeps a goal.
func (g Goal) Variance() float64 {
	z := budget.NormalQuantile((1 - g.Confidence) / 2)
	return float64(g.Margin/z) * float64(g.Margin/z)
}
