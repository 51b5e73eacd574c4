package optimise_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/optimise"
)

// A division is left with a rough size of the budget if that shows it to be worse. Near the point where one kind of
// noise overtakes the other, at about 15 of these tables, the choice equals the choice by full sizes. Far from it the
// other kind is not sized in full.
func TestRoughSizesDecideAsFullOnesDo(t *testing.T) {
	columns, left := "abcdefghij", map[bool]int{}
	for _, tables := range []int{2, 10, 13, 14, 15, 16, 17, 20, 24} {
		var marginals []string
		for i := range tables {
			marginals = append(marginals, fmt.Sprintf("m%d: {by: [%c, %c], weight: %d}", i, columns[i%10],
				columns[(i+1+i/10)%10], 1+i%3))
		}
		b := blueprintOf(t, plantest.TenRelease(t, "{epsilon: 1, delta: 1e-9}", "{"+strings.Join(marginals, ", ")+"}"))
		var full [2]*optimise.Division
		for kind := range full {
			choice := make([]int, len(b.Groups))
			for i, g := range b.Groups {
				choice[i] = g.Best[kind]
			}
			d, err := b.Divide(choice, nil)
			if err != nil {
				t.Fatal(err)
			}
			full[kind] = d
		}
		_, uniform, err := b.ChooseNoise()
		if err != nil {
			t.Fatal(err)
		}
		if uniform[1] == nil { // too many
			continue
		}
		left[uniform[1].About()]++
		if off := uniform[1].Error/full[1].Error - 1; math.Abs(off) > 1e-3 {
			t.Errorf("%d tables: the error with Laplace noise is %v, and roughly off by %v", tables, full[1].Error, off)
		}
		if better := full[1].Less(full[0]); uniform[1].About() && better {
			t.Errorf("%d tables: Laplace noise has the less error, %v and not %v, and was left", tables, full[1].Error,
				full[0].Error)
		}
	}
	if left[true] == 0 || left[false] == 0 {
		t.Errorf("rough sizes were enough for %d of the divisions, and not for %d: expected some of both", left[true],
			left[false])
	}
}

// Ten marginals at ε = 1 and δ = 1e-9: discrete Laplace noise of scale 10 has a standard error of √200 = 14.14; the
// composition of ten discrete Gaussians allows 17.4. The plan takes the first and states the second. For a hundred
// marginals the second is better: Laplace noise would be five times as wide for a tenth of ε each.
func TestNoiseIsChosenUnderTheAccountant(t *testing.T) {
	p := plantest.TenPlan(t, "{epsilon: 1, delta: 1e-9}", "{x: {every: [1], by: [a, b, c, d, e, f, g, h, i, j]}}")
	if len(p.Strategies) != 10 {
		t.Fatalf("%d groups", len(p.Strategies))
	}
	for _, s := range p.Strategies {
		if s.Noise != budget.DiscreteLaplace || math.Abs(s.RMSE-14.14) > .01 {
			t.Errorf("%v has %s noise and error %v, expected Laplace and 14.14", s.Tables, s.Noise, s.RMSE)
		}
		if len(s.Alternatives) != 1 || s.Alternatives[0].Noise != budget.DiscreteGaussian ||
			math.Abs(s.Alternatives[0].RMSE-17.4) > .35 {
			t.Errorf("%v would have %+v instead, expected a discrete Gaussian with 17.4", s.Tables, s.Alternatives)
		}
	}
	for _, m := range p.Measurements {
		if scale, _ := m.Mechanism.Parameter.Float64(); math.Abs(scale-10) > 1e-3 {
			t.Errorf("%s has scale %v", m.ID, scale)
		}
	}
	if o := p.OtherNoise; len(o) != 1 || o[0].Noise != budget.DiscreteGaussian ||
		math.Abs(o[0].Error-17.4/14.14) > .003 ||
		o[0].Charge != "0.01656" {
		t.Errorf("the plan says of other noise %+v, expected 17.4/14.14 of its error and a charge of ρ 0.01656", o)
	}
	p = plantest.TenPlan(t, "{epsilon: 1, delta: 1e-9}", "{x: {every: [1, 2], by: [a, b, c, d, e, f, g, h, i, j]}}")
	if s := p.Strategies[0]; s.Noise != budget.DiscreteGaussian {
		t.Errorf("55 tables have %s noise", s.Noise)
	}
}

// A pure budget has Laplace noise, and a budget in ρ Gaussian noise.
func TestNoiseSuitsTheBudget(t *testing.T) {
	for amount, kind := range map[string]budget.Kind{"{epsilon: 1}": budget.DiscreteLaplace,
		"{rho: 1}": budget.DiscreteGaussian} {
		for _, m := range plantest.TenPlan(t, amount,
			"{x: {every: [1, 2], by: [a, b, c]}, y: {by: [d]}}").Measurements {
			if m.Mechanism.Kind != kind {
				t.Errorf("%s: %s has %s noise", amount, m.ID, m.Mechanism.Kind)
			}
		}
	}
}

// One group of a leaf, with many tables, may have Gaussian noise, and another, with one table of the same weight,
// Laplace noise: that is better than either kind for both. Together they cost at most the ρ of the leaf, where an ε
// costs ε²/2.
func TestNoiseIsMixed(t *testing.T) {
	p := plantest.TenPlan(t, "{epsilon: 1, delta: 1e-9, minimise: sum}",
		"{one: {by: [j], weight: 1000}, x: {every: [2], by: [a, b, c, d, e, f, g, h]}}")
	kinds := map[string]budget.Kind{}
	for _, s := range p.Strategies {
		kinds[s.Tables[0]] = s.Noise
	}
	if kinds["one"] != budget.DiscreteLaplace || kinds["x/a_x_b"] != budget.DiscreteGaussian {
		t.Errorf("the groups have %v", kinds)
	}
	spent := new(big.Rat)
	for _, m := range p.Measurements {
		rho := m.Mechanism.Rho()
		if e, err := m.Mechanism.Epsilon(); err == nil {
			rho = new(big.Rat).Mul(e, e)
			rho.Quo(rho, big.NewRat(2, 1))
		}
		spent.Add(spent, rho)
	}
	if ratio, _ := new(big.Rat).Quo(spent, p.Leaves[0].Amount.Rho).Float64(); ratio > 1 || ratio < .999 {
		t.Errorf("the leaf spends %v of itself", ratio)
	}
}

// No leaf is worse off for what another gains by another kind of noise: a total with half the budget keeps Gaussian
// noise next to many tables, although these would gain by the other kind.
func TestNoLeafPaysForAnother(t *testing.T) {
	const spec = "{total: {by: [], budget: one}, x: {every: [2], by: [a, b, c, d, e, f, g, h], budget: many}}"
	p := plantest.TenPlan(t, "{epsilon: 1, delta: 1e-9, split: {one: 1/2, many: 1/2}}", spec)
	for _, s := range p.Strategies {
		if s.Noise != budget.DiscreteGaussian {
			t.Errorf("%v has %s noise", s.Tables, s.Noise)
		}
	}
}

// A spec can ask for the least largest variance. Every table of a leaf then has the same variance, except for what
// other tables contribute, and it is smaller than with the least sum.
func TestLargestVarianceIsMadeLeast(t *testing.T) {
	const marginals = "{x: {every: [1, 2], by: [a, b, c]}, y: {by: [d]}}"
	for _, kind := range []string{"rho: 1/8", "epsilon: 1"} {
		largest := func(minimise string) (most, sum float64) {
			for _, table := range plantest.TenPlan(t, "{"+kind+minimise+"}", marginals).Tables {
				s := table.Statistics[0]
				most = max(most, max(s.StandardError, s.Uneven))
				sum += s.StandardError * s.StandardError * float64(table.Cells)
			}
			return most, sum
		}
		most, sum := largest(", minimise: largest")
		other, least := largest("")
		if most >= .99*other || sum <= least {
			t.Errorf("%s: the largest error is %v, %v with the least sum; the sums are %v and %v", kind, most, other,
				sum, least)
		}
	}
}
