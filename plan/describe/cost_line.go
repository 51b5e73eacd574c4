package describe

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds one line of the cost of a plan.

// CostLine is the exact cost of one line of a plan.
type CostLine struct {
	// Of is the ID of a measurement, "rounds of microdata of TABLE", or the name of what is left of the charge.
	Of        string      `json:"of"`
	Leaf      string      `json:"leaf,omitempty"` // the budget leaf that pays
	Mechanism budget.Kind `json:"mechanism,omitempty"`
	Times     int64       `json:"times,omitempty"` // number of runs of the mechanism
	Each      budget.Cost `json:"each"`            // of one run
	Cost      budget.Cost `json:"cost"`            // of all runs, Times × Each
}

// timesCost returns a cost multiplied by a number.
func timesCost(c budget.Cost, times int64) budget.Cost {
	by := func(r *big.Rat) *big.Rat {
		if r == nil {
			return nil
		}
		return new(big.Rat).Mul(r, big.NewRat(times, 1))
	}
	return budget.Cost{Epsilon: by(c.Epsilon), Rho: by(c.Rho), Delta: by(c.Delta)}
}

// sameLine reports whether two lines are of one leaf and cost the same for the same mechanism.
func (l CostLine) sameLine(m CostLine) bool {
	return l.Leaf == m.Leaf && l.Mechanism == m.Mechanism && l.Each.Equal(m.Each) && l.Mechanism != ""
}
