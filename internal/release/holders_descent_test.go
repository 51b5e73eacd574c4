package release

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/design"
	"github.com/dprelease/dprelease/synth/model"
)

// This file holds regressions of several holders by gradient descent: with one gradient of all holders a step, and with
// steps of each holder by itself.

// descentSpec is a release of two regressions. STEPS stands for the number of steps that a holder takes between two
// averages.
const descentSpec = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, account: persons}
budget: {epsilon: EPSILON, delta: 1e-9, split: {risk: 1/2, averaged: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 1}
    columns:
      x: {type: integer, range: [0, 39]}
      c: {values: [CATEGORIES]}
      back: {values: ["no", "yes"]}
models:
  risk: {predict: {back: "yes"}, by: [x, c], method: gradient, test: 20%}
  averaged: {predict: {back: "yes"}, by: [x, c], method: fedavg, steps: STEPS, test: 20%}
`

// descentOf returns three holders, of whom two are trusted, who have signed a release of regressions.
func descentOf(t *testing.T, epsilon string, categories, steps int) federation {
	t.Helper()
	var names []string
	for i := range categories {
		names = append(names, fmt.Sprint("c", i))
	}
	f := newFederation(t, trustText{3, 2, "disjoint"}, strings.NewReplacer("EPSILON", epsilon, "CATEGORIES",
		strings.Join(names, ", "), "STEPS", fmt.Sprint(steps)).Replace(descentSpec))
	f.sign(t)
	return f
}

// giveRows gives each holder the rows of [withRows].
func (f federation) giveRows(t *testing.T) {
	t.Helper()
	for i := range f.holders {
		rows := &strings.Builder{}
		rows.WriteString("who,x,c,back\n")
		for n := range 600 {
			x, c, back := rowOf(i, n)
			fmt.Fprintf(rows, "%d-%d,%d,c%d,%s\n", i, n, x, c, map[bool]string{true: "yes", false: "no"}[back])
		}
		f.give(t, i, rows.String())
	}
}

// TestDescentOfHoldersIsOfAllRows publishes and verifies a release of three holders: both regressions have learned, and
// say so of held-out rows.
func TestDescentOfHoldersIsOfAllRows(t *testing.T) {
	testkit.SkipPassed(t)
	f := descentOf(t, "9", 3, 4)
	f.giveRows(t)
	f.measureModels(t)
	out := f.publish(t)
	for _, name := range []string{"risk", "averaged"} {
		var r model.Regression
		readModel(t, out, name, &r)
		// Rows are back with a chance that rises from 0 at x = 0 to .95 at x = 39.
		if slope := r.Terms[1].Weight; r.Terms[1].Column != "x" || slope < .05 || slope > .3 {
			t.Errorf("%s: the weight of x is %v", name, slope)
		}
		if math.Abs(r.Rows-1800*.8) > 200 {
			t.Errorf("%s: fitted to %v rows", name, r.Rows)
		}
		if r.Performance == nil || r.Performance.AUC == nil || !(r.Performance.AUC.Estimate > .7) {
			t.Errorf("%s: the held-out rows show %+v", name, r.Performance)
		}
	}
}

// TestErrorsOfDescentOfHoldersHaveTheirLaw adds up the answers of holders without rows, which are noise alone. Of
// gradients of all holders it is discrete Gaussian noise of 3/2 of the plan's σ². Of a local model each of the three
// holders draws all of the noise. With one step, three updates add up to three gradients, and what the momentum adds is
// known. There the holders have rows of one category, and the weights of the other categories are tested.
//
// Failures by chance: χ² is rejected beyond 6.7 standard deviations of a normal law, which happens with probability
// 2.1e-11; there are 4 such checks. Power: of holders who share the noise of one, χ² of the local model has half of its
// mean or less; over 2100 gradients that is 16 standard deviations off, and a third more or less is 10.8.
func TestErrorsOfDescentOfHoldersHaveTheirLaw(t *testing.T) {
	testkit.SkipPassed(t)
	const holders, needed = 3, 2
	f := descentOf(t, "20", 80, 1)
	for i := range f.holders {
		f.give(t, i, "who,x,c,back\n")
	}
	f.measureModels(t)
	empty := f.sum(t)
	f = descentOf(t, "20", 80, 1)
	for i := range f.holders {
		rows := &strings.Builder{}
		rows.WriteString("who,x,c,back\n")
		for n := range 400 {
			fmt.Fprintf(rows, "%d-%d,%d,c0,%s\n", i, n, n%40, []string{"no", "yes"}[n%2])
		}
		f.give(t, i, rows.String())
	}
	f.measureModels(t)
	full := f.sum(t)
	for i, m := range f.plan.Models {
		last := m.Rounds[1]
		parameter, _ := last.Noise.Parameter.Float64()
		errs, variance := slices.Concat(empty.Training[i].Rounds[1:]...), parameter*holders/needed
		if m.Local() {
			errs, variance = gradientsIn(full.Training[i].Rounds[1:]), parameter*holders
		}
		if len(errs) < 2100 {
			t.Fatalf("%s: %d gradients are too few", m.Name, len(errs))
		}
		if off := chiSquare(errs, variance); math.Abs(off) > 6.7 {
			t.Errorf("%s: χ² over %d gradients is off by %.1f deviations", m.Name, len(errs), off)
		}
		if off := chiSquare(empty.Training[i].HeldOut, variance*float64(last.Times)); math.Abs(off) > 6.7 {
			t.Errorf("%s: χ² over held-out rows is off by %.1f deviations", m.Name, off)
		}
	}
}

// gradientsIn returns the sums of gradients in sums of updates after one step each, but for the weights of the
// intercept, the number and the first category.
func gradientsIn(updates [][]int64) (all []int64) {
	n := (len(updates[0]) - 1) / 2
	momentum := make([]float64, n)
	for _, u := range updates {
		rows := float64(u[0])
		for j, sum := range u[1+n:] {
			if j > 2 {
				moved := float64(sum)/(1<<12) - boosting.Momentum*momentum[j]*rows
				all = append(all, int64(math.Round(moved*boosting.Bound*design.Scale)))
			}
			momentum[j] = float64(sum) / (1 << 12) / rows
		}
	}
	return all
}

// TestAHolderIsCutOffBetweenAverages stops a holder after some rounds of averaging. It resumes with the same updates,
// and pays once.
func TestAHolderIsCutOffBetweenAverages(t *testing.T) {
	testkit.SkipPassed(t)
	f := descentOf(t, "9", 3, 4)
	f.giveRows(t)
	f.isCutOff(t, f.answer(t, 1, "averaged", 3))
	f.publish(t)
}

// TestAHolderWithdrawsBeforeAverages has the last holder withdraw while the others wait for its counts. They sign
// again, keep what they have drawn, and fit the model without it.
func TestAHolderWithdrawsBeforeAverages(t *testing.T) {
	f := newFederation(t, trustText{3, 2, "disjoint"}, strings.NewReplacer("EPSILON", "9", "CATEGORIES", "c0, c1, c2",
		"STEPS", "4", ", split: {risk: 1/2, averaged: 1/2}", "",
		"  risk: {predict: {back: \"yes\"}, by: [x, c], method: gradient, test: 20%}\n", "").Replace(descentSpec))
	f.sign(t)
	f.giveRows(t)
	cut, stop := context.WithCancel(t.Context())
	done := make(chan []error)
	go func() { done <- f.measureTogether(cut, cut) }()
	for i := range 2 {
		m, err := f.options(i).maskingFor(f.plan)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, m.exchange(f.plan).path(roundAnswer{Model: "averaged"}, f.holders[i].Name))
	}
	stop()
	if errs := <-done; errs[0] == nil || errs[1] == nil {
		t.Fatal(errs)
	}
	left := f.withdraw(t, 1)
	left.measureModels(t)
	s := left.sum(t)
	if m := s.Plan.Models[0]; s.Plan.Plan().Draws(m) != 2 || m.Rounds[1].Noise.Shares.Needed != 0 {
		t.Errorf("noise of %d holders, in shares %+v", s.Plan.Plan().Draws(m), m.Rounds[1].Noise.Shares)
	}
	var r model.Regression
	readModel(t, left.publish(t), "averaged", &r)
	if math.Abs(r.Rows-1200*.8) > 200 {
		t.Errorf("fitted to %v rows", r.Rows)
	}
}

// TestSpaceForDescents: the numbers of a journal, own answers and updates, are no more than there is space for.
func TestSpaceForDescents(t *testing.T) {
	for _, steps := range []int{1, 4} {
		p := descentOf(t, "9", 30, steps).plan
		for _, m := range p.Models {
			const weights = 1 + 1 + 30 // of the intercept, of x and of c
			kept := 2 + m.Descent.Gradients()*weights + 2*boosting.ScoreBins
			if m.Local() {
				kept += 2 + m.Descent.Rounds*(1+2*weights)
			}
			if n, err := p.Plan().ModelAnswers(m); err != nil || n < int64(kept) {
				t.Errorf("%s, %d steps: space for %d numbers, and there are %d: %v", m.Name, steps, n, kept, err)
			}
		}
	}
}
