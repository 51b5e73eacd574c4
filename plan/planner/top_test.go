package planner_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/selection"
)

// topText is a release of one table of 400 cells, by these marginals.
func topText(neighbours, budget, unit, table, marginals string) string {
	return "version: 1\nrelease: busy\nprivacy: {protects: trip, neighbours: " + neighbours + "}\nbudget: " + budget +
		"\ntables:\n  trips:\n    source: {csv: trips.csv}\n" +
		"    unit: " + unit + "\n" + table +
		"    columns:\n      from: {values: {integers: [1, 20]}}\n      to: {values: {integers: [1, 20]}}\n" +
		"marginals:\n" + marginals
}

const tenOf400 = "  busy: {by: [from, to], top: 10}\n"

func topPlan(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plantest.PlanOfText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTopTablesSpendTheirShare adds up what choices and noise cost by the definitions: no more than the budget, and
// less by rounding alone. The kinds of mechanism are those of the privacy definition.
func TestTopTablesSpendTheirShare(t *testing.T) {
	for _, neighbours := range []string{"add-remove", "replace"} {
		p := topPlan(t, topText(neighbours, "{epsilon: 1}", "row", "", tenOf400))
		m := p.Measurements[0]
		if m.Selection.(selection.Top).Select.Kind != budget.PermuteAndFlip ||
			m.Mechanism.Kind != budget.DiscreteLaplace {
			t.Errorf("a pure budget buys %s and %s", m.Selection.(selection.Top).Select.Kind, m.Mechanism.Kind)
		}
		noise := new(big.Rat).Quo(new(big.Rat).SetInt(m.Mechanism.L1), m.Mechanism.Parameter)
		sum := new(big.Rat).Mul(m.Selection.(selection.Top).Select.Parameter, big.NewRat(10, 1))
		if all, _ := sum.Add(sum, noise).Float64(); all > 1 || all < 0.999 {
			t.Errorf("%s: choices and noise cost ε = %g", neighbours, all)
		}
		p = topPlan(t, topText(neighbours, "{rho: 1/8}", "row", "", tenOf400))
		m = p.Measurements[0]
		if m.Selection.(selection.Top).Select.Kind != budget.ExponentialMechanism ||
			m.Mechanism.Kind != budget.DiscreteGaussian {
			t.Errorf("a budget of ρ buys %s and %s", m.Selection.(selection.Top).Select.Kind, m.Mechanism.Kind)
		}
		e, _ := m.Selection.(selection.Top).Select.Parameter.Float64()
		variance, _ := m.Mechanism.Parameter.Float64()
		squares, _ := m.Mechanism.L2Squared.Float64()
		if all := 10*e*e/8 + squares/(2*variance); all > 0.125 || all < 0.1249 {
			t.Errorf("%s: choices and noise cost ρ = %g", neighbours, all)
		}
		p = topPlan(t, topText(neighbours, "{epsilon: 1, delta: 1e-9}", "row", "", tenOf400))
		if k := p.Measurements[0].Selection.(selection.Top).Select.Kind; k != budget.ExponentialMechanism {
			t.Errorf("ε and δ buy %s", k)
		}
		loss, err := budget.Compose(p.Mechanisms()...)
		if err != nil {
			t.Fatal(err)
		}
		if steps := len(p.Mechanisms()); steps != 11 {
			t.Errorf("%d mechanisms are composed", steps)
		}
		if bound, err := loss.EpsilonAt(big.NewRat(1, 1e9)); err != nil || bound.Value > 1 || bound.Value < 0.999 {
			t.Errorf("%s: ε at δ is %v, %v", neighbours, bound, err)
		}
	}
}

// TestTopPlansCanBeRead reads what was planned again, verifies it, and refuses one whose choices were edited.
func TestTopPlansCanBeRead(t *testing.T) {
	p := topPlan(t, topText("replace", "{rho: 1/8}", "{id: id, max_rows: 3}", "", tenOf400))
	again, err := compiled.Read(p.Bytes())
	if err == nil {
		err = plantest.Verify(again.Plan())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []func(*selection.Top){
		func(c *selection.Top) { c.Of = 9 },
		func(c *selection.Top) { c.Sensitivity = 1 },
		func(c *selection.Top) { c.Monotone = true },
		func(c *selection.Top) { c.Select.Parameter = big.NewRat(1, 1) },
	} {
		edited, err := compiled.Read(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		top := edited.Measurements[0].Selection.(selection.Top)
		edit(&top)
		edited.Measurements[0].Selection = top
		if read, err := compiled.Read(edited.Plan().Bytes()); err == nil && plantest.Verify(read.Plan()) == nil {
			t.Error("an edited plan is verified")
		}
	}
}

// TestTopSensitivities says what one unit moves: a score by its rows in one cell, and the counts of the chosen cells by
// its rows in so many.
func TestTopSensitivities(t *testing.T) {
	for _, c := range []struct {
		neighbours, unit, table, marginal string
		score                             int64
		l1, l2Squared                     int64
	}{
		{"add-remove", "row", "", "top: 10", 1, 1, 1},
		{"replace", "row", "", "top: 10", 1, 2, 2},
		{"replace", "row", "", "top: 1", 1, 1, 1},
		{"add-remove", "{id: id, max_rows: 6}", "", "top: 10", 6, 6, 36},
		{"replace", "{id: id, max_rows: 6}", "", "top: 10", 6, 12, 72},
		{"add-remove", "{id: id, max_rows: 6}", "", "top: 10, per_unit: {rows_per_group: 2}", 2, 6, 12},
		{"add-remove", "{id: id, max_rows: 6}", "", "top: 2, per_unit: {rows_per_group: 2}", 2, 4, 8},
		{"add-remove", "{id: id, max_rows: 6}", "", "top: 2, per_unit: {groups: 1, rows_per_group: 2}", 2, 2, 4},
		{"add-remove", "{id: id, max_rows: 6}", "", "top: 4, stats: [units]", 1, 4, 4},
		{"replace", "{id: id, max_rows: 6}", "", "top: 4, stats: [units]", 1, 8, 8},
		{"add-remove", "{id: id, max_rows: 2}", "    weight: {from: w, range: [0, 5], step: 0.5}\n", "top: 4", 20, 20,
			400},
	} {
		m := topPlan(t, topText(c.neighbours, "{rho: 1/8}", c.unit, c.table, "  busy: {by: [from, to], "+c.marginal+
			"}\n")).
			Measurements[0]
		got := fmt.Sprint(m.Selection.(selection.Top).Sensitivity, m.Mechanism.L1, m.Mechanism.L2Squared)
		if want := fmt.Sprint(c.score, c.l1, c.l2Squared); got != want {
			t.Errorf("%s, %s, %s: a unit moves a score and counts by %s, not %s", c.neighbours, c.unit, c.marginal,
				got, want)
		}
		if m.Selection.(selection.Top).Monotone != (c.neighbours == "add-remove") {
			t.Errorf("%s: monotone %v", c.neighbours, m.Selection.(selection.Top).Monotone)
		}
	}
}

// TestTopSplitIsTheBest tries other parts for choosing: with none of them is the sum of squares of both errors smaller
// by more than a 64th of the amount can do.
func TestTopSplitIsTheBest(t *testing.T) {
	for _, money := range []string{"{epsilon: 1}", "{rho: 1/8}"} {
		p := topPlan(t, topText("add-remove", money, "row", "", tenOf400))
		top, s := p.Tables[0].Top, p.Tables[0].Statistics[0]
		share, err := budget.ParseRat(top.Choosing)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := share.Float64()
		power := 1.0 // how the squares of errors fall with an amount
		if money == "{epsilon: 1}" {
			power = 2
		}
		a := math.Pow(top.Shortfall/1.96, 2) * math.Pow(f, power)
		b := math.Pow(s.StandardError, 2) * math.Pow(1-f, power)
		sum := func(f float64) float64 { return a/math.Pow(f, power) + b/math.Pow(1-f, power) }
		for other := 1.0 / 64; other < 1; other += 1.0 / 64 {
			if sum(other) < 0.99*sum(f) {
				t.Errorf("%s: %s for choosing gives %g, and %g/64 %g", money, top.Choosing, sum(f), 64*other,
					sum(other))
			}
		}
	}
}

// TestTopTablesBesideOthers share a leaf with other tables and keep to it, and are told in loss and on the page.
func TestTopTablesBesideOthers(t *testing.T) {
	marginals := tenOf400 + "  starts: {by: [from]}\n  pairs: {by: [from, to]}\n"
	for _, money := range []string{"{epsilon: 1}", "{rho: 1/8}", "{epsilon: 1, delta: 1e-9}",
		"{epsilon: 1, delta: 1e-9, minimise: largest}"} {
		p := topPlan(t, topText("add-remove", money, "row", "", marginals))
		text := &strings.Builder{}
		if err := describe.Explain(compiled.Of(p), text); err != nil {
			t.Fatal(err)
		}
		for _, says := range []string{"by itself, the 10 chosen", "no cell that is left out exceeds one that is here " +
			"by more than", "drawn anew"} {
			if !strings.Contains(text.String(), says) {
				t.Errorf("%s: the page does not say %q:\n%s", money, says, text)
			}
		}
		l, err := describe.PrivacyLoss(compiled.Of(p))
		if err != nil {
			t.Fatal(err)
		}
		m := p.Measured()["busy"]
		alone, err := budget.Compose(append(m.Selection.(selection.Top).Steps(), m.Mechanism)...)
		if err != nil {
			t.Fatal(err)
		}
		if l.Tables[0].Of != "busy" || l.Tables[0].Rho != budget.FormatRat(alone.Rho()) {
			t.Errorf("%s: the loss of the table is ρ %s, not %s", money, l.Tables[0].Rho, budget.FormatRat(alone.Rho()))
		}
		if l.Whole.Rho == l.Tables[0].Rho {
			t.Errorf("%s: the others lose nothing", money)
		}
	}
}

func TestTopTablesThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"impossible cells": {strings.Replace(topText("replace", "{rho: 1}", "row", "", tenOf400), "marginals:",
			"impossible:\n  - {where: {from: 1, to: 2}}\nmarginals:", 1), "impossible cells"},
		"too little": {topText("replace", "{rho: 1e-15}", "row", "", tenOf400), "too little to tell them apart"},
	} {
		if _, err := plantest.PlanOfText(t, c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChoicesCostWhatTheVectorsSay composes choices of the exponential mechanism as a plan does: in ρ exactly the
// vectors' figure, in ε and δ no more than that of another accountant, and no less than one choice alone.
func TestChoicesCostWhatTheVectorsSay(t *testing.T) {
	text, err := os.ReadFile(testkit.Shared(t, "vectors/accounting.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		ID, Kind string
		Inputs   map[string]any
		Expected any
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, v := range vectors {
		if !strings.HasPrefix(v.Kind, "em.") {
			continue
		}
		seen++
		number := func(name string) float64 { x, _ := v.Inputs[name].(float64); return x }
		want, ok := v.Expected.(float64)
		if !ok {
			t.Fatalf("%s: expects %v", v.ID, v.Expected)
		}
		c := selection.Top{Of: 1, Select: budget.Mechanism{Kind: budget.ExponentialMechanism}}
		switch v.Kind {
		case "em.zcdp_rho":
			c.Select.Parameter = new(big.Rat).SetFloat64(number("epsilon"))
			loss, err := budget.Compose(c.Steps()...)
			if err != nil {
				t.Fatal(err)
			}
			if rho, _ := loss.Rho().Float64(); math.Abs(rho-want) > 1e-15*want {
				t.Errorf("%s: ρ is %g, not %g", v.ID, rho, want)
			}
		case "em.epsilon_k":
			c.Of, c.Select.Parameter = int64(number("k")), new(big.Rat).SetFloat64(number("epsilon0"))
			loss, err := budget.Compose(c.Steps()...)
			if err != nil {
				t.Fatal(err)
			}
			bound, err := loss.EpsilonAt(new(big.Rat).SetFloat64(number("delta")))
			if err != nil || math.Abs(bound.Value-want) > want/100 {
				t.Errorf("%s: ε is %v, expected about %g (%v)", v.ID, bound, want, err)
			}
		}
	}
	if seen < 4 {
		t.Errorf("%d vectors of the exponential mechanism", seen)
	}
}
