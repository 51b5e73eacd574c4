package graphical

import (
	"context"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
)

// This file holds the fit of a model to its measurements, by mirror descent.

const (
	stepGrowth    = 1.03 // growth of the step size after an accepted step
	stepReduction = 0.5  // reduction of the step size after a rejected step
	maxMomentum   = 0.9  // largest part of the move before that a step repeats
	deriveEvery   = 50   // steps after which the tables are derived from the terms again
	maxRejected   = 40   // rejected steps in a row after which nothing is left to gain
)

// Fit moves the law, in at most this many steps, towards the one with the least Σ ‖expected − measured‖²/2σ² over the
// measurements. The problem is convex in the expected counts, and a step multiplies the factor of a measurement by
// exp(−α·(expected − measured)/σ²): mirror descent under the entropy, by whose geometry the law stays one of the tree
// (McKenna, Sheldon & Miklau 2019). α is found by backtracking: a step must gain half of what its slope promises. Fit
// returns the remaining Σ.
//
// A step also repeats a part of the move before it, the greater the more steps in a row were accepted (Polyak 1964),
// and must then gain anything at all. If it does not, the step is made without that part, which restarts at zero
// (O'Donoghue & Candès 2015).
//
// No step begins once the context has ended; checking the context is left to the caller.
func (m *Model) Fit(ctx context.Context, steps int) (loss float64) {
	now := m.calibrated()
	if m.next == nil {
		m.next = now.emptyCopy()
	}
	if loss = m.loss(false); m.step == 0 {
		m.step = m.firstStep()
	}
	step := 1
	for accepted, failed := 0, 0; step <= steps && failed < maxRejected && ctx.Err() == nil; step++ {
		progress.Add(ctx, 1)
		if step%deriveEvery == 0 {
			m.deriveTables()
			loss = m.loss(false)
		}
		momentum := min(maxMomentum, float64(accepted)/float64(accepted+3))
		slope, sound := m.tryStep(m.step, momentum)
		after := m.loss(true)
		if !sound || !(after <= loss) || accepted == 0 && !(loss-after >= slope/2) {
			if accepted == 0 {
				m.step *= stepReduction
				failed++
			}
			accepted = 0
			continue
		}
		failed, loss = 0, after
		accepted++
		m.now, m.next = m.next, m.now
		for _, t := range m.terms {
			t.counts, t.trial = t.trial, t.counts
			for i, x := range t.move {
				t.theta[i] += x
			}
		}
		m.step *= stepGrowth
	}
	progress.Add(ctx, int64(steps-step+1)) // those that were not needed
	return loss
}

// firstStep returns a step size that is right at the start: 2 over the sum of the curvatures, times the rows.
func (m *Model) firstStep() float64 {
	weights := 0.0
	for _, t := range m.terms {
		most := 0.0
		for _, w := range t.weight {
			most = max(most, w)
		}
		weights += most
	}
	return 2 / (m.total * max(weights, 1e-300))
}

// loss returns Σ ‖expected − measured‖²/2σ², either of the present law or of the trial law.
func (m *Model) loss(trial bool) float64 {
	loss := 0.0
	for _, t := range m.terms {
		if t.noisy == nil {
			continue
		}
		counts := t.counts
		if trial {
			counts = t.trial
		}
		loss += float64(squaredError(t.weight, counts, t.noisy) / 2)
	}
	return loss
}

// tryStep computes the law that a step leads to, repeating this part of the move before, in m.next and the trial counts
// of the terms. slope is what the step would gain if the loss were linear: ⟨gradient, expected − tried⟩.
func (m *Model) tryStep(step, momentum float64) (slope float64, sound bool) {
	parallel.Each(2, len(m.terms), func(i int) { m.terms[i].propose(step, momentum) })
	if _, sound = m.propagate(m.next, m.now); !sound {
		return 0, false
	}
	slopes := make([]float64, len(m.terms))
	parallel.Each(2, len(m.terms), func(i int) { slopes[i] = m.terms[i].lossSlope() })
	return sum(slopes), true
}

// propose sets the move and the factor of a step.
func (t *term) propose(step, momentum float64) {
	if t.noisy == nil {
		fillWith(t.factor, 1)
		return
	}
	if momentum == 0 {
		clear(t.move) // a failed step may have left anything in it
	}
	for i, c := range t.counts {
		t.move[i] = float64(momentum*t.move[i]) - float64(step*t.weight[i]*(c-t.noisy[i]))
	}
	for i, x := range t.move {
		t.factor[i] = expNearZero(x)
	}
}

func (t *term) lossSlope() float64 {
	s := 0.0
	if t.noisy == nil {
		return s
	}
	for i, c := range t.counts {
		s += float64(t.weight[i] * (c - t.noisy[i]) * (c - t.trial[i]))
	}
	return s
}

// expNearZero returns eˣ to at least 10 digits near 0, where almost all moves of a fit are. The fit corrects the
// difference.
func expNearZero(x float64) float64 {
	if !(x > -0.0625 && x < 0.0625) {
		return budget.Exp(min(x, 700))
	}
	s := x * x
	even := 1 + float64(s*(0.5+float64(s*(1./24+float64(s*(1./720))))))
	odd := 1 + float64(s*(1./6+float64(s*(1./120))))
	return even + float64(x*odd)
}

// squaredError returns Σ w·(a − b)².
func squaredError(w, a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		d := x - b[i]
		s += float64(w[i] * d * d)
	}
	return s
}
