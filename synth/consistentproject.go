package synth

import (
	"context"
	"math"
)

// This file holds the projection of estimates on possible counts: nonnegative, zero where no row can be, and with given
// margins.

// marginal holds sums of the cells of a table that are known.
type marginal struct {
	of   []int32   // of each cell, the index of its sum
	sums []float64 // the known values
	// slack is 0 for fixed sums. A sum with slack may differ from its value by d at a cost of d²/(2·slack), in
	// addition to half the squared distance of the cells.
	slack []float64
}

// projectOnMargins returns the projection of y: the x ≥ 0, zero where impossible, that has the fixed sums and for which
//
//	½·Σ (x−y)² + Σ (sum of x − sum)²/(2·slack)
//
// is least. It is max(0, y + Σ u), where u are the multipliers of the sums that a cell is in. They maximise the concave
// dual, whose derivative by a multiplier is sum − (sum of x) − slack·u. With D the number of cells in a sum plus its
// slack, and u in units of 1/√D, no curvature of the dual is above the number of margins, as each margin's own is a
// projection at most. Gradient steps of one over that number therefore ascend; they are accelerated, and the
// acceleration restarts when they no longer lead upwards (Beck & Teboulle 2009; O'Donoghue & Candès 2015). steps is the
// number of steps made; none begins once the context has ended. The projection ends when no sum is off by more than
// enough, or by more than rounding errors.
//
// Such an x exists if the sums agree with each other and can be joined two at a time ([fitting.Step]).
func projectOnMargins(ctx context.Context, y []float64, impossible []bool, margins []marginal, enough float64) (
	x []float64, steps int) {
	x = make([]float64, len(y))
	if len(margins) == 0 {
		applyMultipliers(x, y, impossible, nil, nil)
		return x, 0
	}
	a := newAscent(y, margins)
	most := max(leastSteps, min(mostSteps, mostWork/(len(y)*len(margins)+1)))
	for steps < most && ctx.Err() == nil {
		applyMultipliers(x, y, impossible, margins, a.ahead)
		steps++
		if a.takeStep(x) <= max(a.tolerance, enough) {
			break
		}
	}
	return x, steps
}

const (
	// mostSteps bounds the work of a projection: rounding makes the sums exact in any case.
	mostSteps = 2000
	// leastSteps are made even for the largest tables, and mostWork bounds cells times margins times steps for the
	// others.
	leastSteps = 100
	mostWork   = 1 << 31
	// relativeTolerance is the error of sums, relative to the largest figure, at which a projection ends.
	relativeTolerance = 1e-11
	// slightError is the error of sums at which a projection ends if the table stays near others within it, as each of
	// these pulls: it is far smaller than the changes by rounding.
	slightError = 1e-2
)

// ascent is the state of the dual ascent.
type ascent struct {
	margins   []marginal
	u, ahead  [][]float64 // multipliers, and the point at which the gradient is taken
	scale     [][]float64 // 1 ÷ (number of margins · D)
	sums      [][]float64
	momentum  float64
	tolerance float64
}

func newAscent(y []float64, margins []marginal) *ascent {
	a := &ascent{margins: margins, momentum: 1}
	largest := 1.0
	for _, v := range y {
		largest = max(largest, math.Abs(v))
	}
	for _, m := range margins {
		counts := make([]float64, len(m.sums))
		for _, s := range m.of {
			counts[s]++
		}
		for s := range counts {
			largest = max(largest, math.Abs(m.sums[s]))
			counts[s] = 1 / float64(float64(len(margins))*(max(counts[s], 1)+m.slackOf(s)))
		}
		a.scale = append(a.scale, counts)
		a.u = append(a.u, make([]float64, len(m.sums)))
		a.ahead = append(a.ahead, make([]float64, len(m.sums)))
		a.sums = append(a.sums, make([]float64, len(m.sums)))
	}
	a.tolerance = float64(largest * relativeTolerance)
	return a
}

func (m marginal) slackOf(s int) float64 {
	if m.slack == nil {
		return 0
	}
	return m.slack[s]
}

// applyMultipliers sets x to the cells that the multipliers u determine.
func applyMultipliers(x, y []float64, impossible []bool, margins []marginal, u [][]float64) {
	copy(x, y)
	for k, m := range margins {
		of := u[k]
		for i, s := range m.of {
			x[i] += of[s]
		}
	}
	for i, v := range x {
		if v < 0 || impossible != nil && impossible[i] {
			x[i] = 0
		}
	}
}

// takeStep makes one step, given the cells x at which the gradient is taken, and returns the largest error of a sum.
func (a *ascent) takeStep(x []float64) (worst float64) {
	along := 0.0
	for k, m := range a.margins {
		sums := a.sums[k]
		clear(sums)
		for i, s := range m.of {
			sums[s] += x[i]
		}
		for s := range sums {
			gradient := m.sums[s] - sums[s] - float64(m.slackOf(s)*a.ahead[k][s])
			worst = max(worst, math.Abs(gradient))
			next := a.ahead[k][s] + float64(gradient*a.scale[k][s])
			along += float64(gradient * (next - a.u[k][s]))
			sums[s] = next
		}
	}
	momentum := (1 + math.Sqrt(1+float64(4*float64(a.momentum*a.momentum)))) / 2
	forth := (a.momentum - 1) / momentum
	if a.momentum = momentum; along < 0 {
		a.momentum, forth = 1, 0
	}
	for k := range a.margins {
		for s, next := range a.sums[k] {
			a.ahead[k][s] = next + float64(forth*(next-a.u[k][s]))
			a.u[k][s] = next
		}
	}
	return worst
}
