package workload

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the goals that targets set: a margin, and the confidence that each cell is to have it with.

// Relative is how a target's margin was asked for where that is a percentage, "" where it is a number.
func Relative(t *spec.Target) string {
	if t.At == nil {
		return ""
	}
	return budget.Decimal(new(big.Rat).Mul(t.Share, big.NewRat(100, 1))) + "% of " + budget.Decimal(t.At)
}

// Goal is a margin and the confidence that each cell is to have it with.
type Goal struct{ Margin, Confidence float64 }

// Goal is that of a table's target, false for none.
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

// Variance is the largest of normal noise that keeps a goal.
func (g Goal) Variance() float64 {
	z := budget.NormalQuantile((1 - g.Confidence) / 2)
	return float64(g.Margin/z) * float64(g.Margin/z)
}
