package graphical

import (
	"context"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/parallel"
)

// This file holds the fit of a model to its measurements: mirror descent.

const (
	longer   = 1.03 // what a step grows by after one that was right
	shorter  = 0.5  // what it shrinks to otherwise
	impetus  = 0.9  // the most of a move that is made again
	anew     = 50   // steps after which the tables are made from the terms again
	halvings = 40   // in a row, after which there is nothing to be gained
)

// Fit moves the law towards the one that fits best, by so many steps at most: that with the least Σ ‖expected −
// measured‖²/2σ² over the measurements. The problem is convex in the expected counts, and a step multiplies the factor
// of a measurement by exp(−α·(expected − measured)/σ²): mirror descent under the entropy, by whose geometry the law
// stays one of the tree (McKenna, Sheldon & Miklau 2019). α is found by trying: a step must gain half of what its slope
// promises. It returns how much Σ is left.
//
// To that a step adds a part of the move before it, the greater the longer all went well (Polyak 1964), and must then
// gain anything; where it does not, it is made without, and the part begins at none (O'Donoghue & Candès 2015).
//
// No step is begun once the context has ended: who asks looks at that.
func (m *Model) Fit(ctx context.Context, steps int) (loss float64) {
	now := m.calibrated()
	if m.next == nil {
		m.next = now.twin()
	}
	if loss = m.loss(false); m.step == 0 {
		m.step = m.firstStep()
	}
	for step, well, failed := 1, 0, 0; step <= steps && failed < halvings && ctx.Err() == nil; step++ {
		if step%anew == 0 {
			m.derive()
			loss = m.loss(false)
		}
		again := min(impetus, float64(well)/float64(well+3))
		slope, sound := m.try(m.step, again)
		after := m.loss(true)
		if !sound || !(after <= loss) || well == 0 && !(loss-after >= slope/2) {
			if well == 0 {
				m.step *= shorter
				failed++
			}
			well = 0
			continue
		}
		failed, loss = 0, after
		well++
		m.now, m.next = m.next, m.now
		for _, t := range m.terms {
			t.counts, t.trial = t.trial, t.counts
			for i, x := range t.move {
				t.theta[i] += x
			}
		}
		m.step *= longer
	}
	return loss
}

// firstStep is a step that is right at the start: 2 over the sum of the curvatures, times the rows.
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

// loss is Σ ‖expected − measured‖²/2σ², of the law or of the one that is tried.
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
		loss += float64(squares(t.weight, counts, t.noisy) / 2)
	}
	return loss
}

// try makes the law that a step leads to, with this part of the move before, in next and the trial counts of the terms.
// slope is what the step would gain if the loss were linear: ⟨gradient, expected − tried⟩.
func (m *Model) try(step, again float64) (slope float64, sound bool) {
	parallel.Each(2, len(m.terms), func(i int) { m.terms[i].propose(step, again) })
	if _, sound = m.spread(m.next, m.now); !sound {
		return 0, false
	}
	slopes := make([]float64, len(m.terms))
	parallel.Each(2, len(m.terms), func(i int) { slopes[i] = m.terms[i].slope() })
	return sum(slopes), true
}

// propose sets the move and the factor of a step.
func (t *term) propose(step, again float64) {
	if t.noisy == nil {
		fill(t.factor, 1)
		return
	}
	if again == 0 {
		clear(t.move) // which may be any, of a step that failed
	}
	for i, c := range t.counts {
		t.move[i] = float64(again*t.move[i]) - float64(step*t.weight[i]*(c-t.noisy[i]))
	}
	for i, x := range t.move {
		t.factor[i] = exponential(x)
	}
}

func (t *term) slope() float64 {
	s := 0.0
	if t.noisy == nil {
		return s
	}
	for i, c := range t.counts {
		s += float64(t.weight[i] * (c - t.noisy[i]) * (c - t.trial[i]))
	}
	return s
}

// exponential is eˣ to 10 digits and more near 0, where almost all moves of a fit are. The fit corrects what is
// missing.
func exponential(x float64) float64 {
	if !(x > -0.0625 && x < 0.0625) {
		return budget.Exp(min(x, 700))
	}
	s := x * x
	even := 1 + float64(s*(0.5+float64(s*(1./24+float64(s*(1./720))))))
	odd := 1 + float64(s*(1./6+float64(s*(1./120))))
	return even + float64(x*odd)
}

// squares is Σ w·(a − b)².
func squares(w, a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		d := x - b[i]
		s += float64(w[i] * d * d)
	}
	return s
}
