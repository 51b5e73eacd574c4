package boosting

// This file holds Descent: how many steps of gradient descent there are, and how far each goes.

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
)

// Descent is the length of a fit by gradient descent with momentum: Rounds times Steps gradients. Of several holders
// each takes Steps steps by itself, and then the mean of all their models is taken, Rounds times.
type Descent struct {
	Rounds int     `json:"rounds"`
	Steps  int     `json:"steps"`
	Rate   float64 `json:"rate"` // share of the longest step that is stable for any rows, in (0, 1]
}

// Gradients returns how many gradients are asked for.
func (d Descent) Gradients() int { return d.Rounds * d.Steps }

// Momentum is the share of a step that is added to the next one (Polyak 1964).
const Momentum = .9

// MostGradients is the most gradients that a descent may ask for.
const MostGradients = 1 << 10

// NewDescent returns the descent for a budget of Gaussian differential privacy μ, an expected number of rows and a
// number of columns, with so many steps a round. It depends on nothing else, so nothing is tuned on confidential data.
//
// With more signal (μ·rows) the steps together are longer: where noise dominates, a short descent shrinks the weights.
// The power and the factor were chosen on one data set (Chicago taxi trips) and checked on another (UCI Adult).
func NewDescent(mu float64, rows int64, columns, steps int) Descent {
	n := float64(max(rows, 1))
	signal := min(max(float64(mu*n)/usualSignal, 1e-9), 1e9)
	length := float64(60 * budget.Exp(.8*budget.Log(signal))) // of all steps, in longest ones
	most := min(max(mostPasses/float64(n*float64(max(columns, 1))), 40), 240)
	gradients := min(max(length/usualRate, 40), most)
	d := Descent{Rounds: max(int(math.Round(gradients/float64(steps))), 1), Steps: steps}
	d.Rate = min(length/float64(d.Gradients()), mostDescentRate)
	return d
}

// The usual rate, and the largest: just below that at which descent may swing.
const usualRate, mostDescentRate = .6, .9

// DescentCountPercent is the share of μ² that the count of rows is worth. The rest is for gradients.
const DescentCountPercent = 2

// Check returns an error if a descent is beyond the limits.
func (d Descent) Check() error {
	switch {
	case d.Rounds < 1 || d.Rounds > MostGradients || d.Steps < 1 || d.Steps > MostGradients/d.Rounds:
		return fmt.Errorf("gradient descent takes 1 to %d steps", MostGradients)
	case !(d.Rate > 0 && d.Rate <= 1):
		return fmt.Errorf("the rate of gradient descent is above 0 and at most 1")
	}
	return nil
}
