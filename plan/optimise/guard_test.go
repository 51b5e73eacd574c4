package optimise_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
)

// pairs12 are the sizes of the columns of the counting benchmark, whose 66 pairs have 45 663 cells.
var pairs12 = []int{2, 2, 3, 5, 7, 9, 15, 16, 42, 51, 85, 100}

// totalError returns Σ variance over all cells of a plan.
func totalError(p *plan.Plan) float64 {
	sum := 0.0
	for _, table := range p.Tables {
		sum += table.Statistics[0].StandardError * table.Statistics[0].StandardError * float64(table.Cells)
	}
	return sum
}

// allWays plans all tables of that many of some columns.
func allWays(t testing.TB, sizes []int, every, amount string) *plan.Plan {
	t.Helper()
	text := strings.Replace(waysOf(t, sizes, "{"+amount+"}").Source.Text, "every: [0, 1, 2]", "every: "+every, 1)
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// TestNoTableIsWorseThanByItself plans the one-way and two-way tables of Adult and the 66 pairs of the counting
// benchmark with the default objective and with the least sum, which makes some tables two or three times as
// uncertain as an equal share does. It prints the price: by how much Σ variance is larger.
func TestNoTableIsWorseThanByItself(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		every  string
		amount string
		price  float64 // at most
	}{
		{"adult14, up to 2-way", plantest.Adult14, "[1, 2]", "rho: 1/2", 1.12},
		{"adult14, up to 2-way", plantest.Adult14, "[1, 2]", "epsilon: 1", 1.21},
		{"adult14, up to 2-way", plantest.Adult14, "[1, 2]", "epsilon: 1, delta: 1e-9", 1.12},
		{"66 pairs", pairs12, "[2]", "rho: 1/2", 1.12},
		{"66 pairs", pairs12, "[2]", "epsilon: 1", 1.4},
		{"66 pairs", pairs12, "[2]", "epsilon: 1, delta: 1e-9", 1.12},
	} {
		guarded, sum := allWays(t, c.sizes, c.every, c.amount), allWays(t, c.sizes, c.every, c.amount+", minimise: sum")
		worst, path := plantest.WorstRatio(t, guarded, plantest.CellByCell)
		before, _ := plantest.WorstRatio(t, sum, plantest.CellByCell)
		price := totalError(guarded) / totalError(sum)
		t.Logf("%s, %s: worst ratio to an equal share %.4f (%s), with the least sum %.3f; price in total variance %.1f %%",
			c.name, c.amount, worst, path, before, 100*(price-1))
		if worst > 1.001 || before < 1.5 || price > c.price || price < 1-1e-4 {
			t.Errorf("%s, %s: worst ratio %v (%s), with the least sum %v, price %v", c.name, c.amount, worst, path,
				before,
				price)
		}
	}
}

// randomWorkload returns a release of up to seven marginals. Its columns have nested and other levels with groups of
// equal and of different sizes; some tables accumulate or need ranges; weights, budget, relation and number of rows
// vary.
func randomWorkload(t testing.TB, rnd *rand.Rand) (r *spec.Release, shown map[string]float64) {
	t.Helper()
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	sizes := map[string]float64{"sex": 2, "kind": 3, "age": 6, "age.half": 2, "age.third": 3, "age.odd": 3,
		"age.same":  2,
		"age.whole": 1}
	shown = map[string]float64{}
	leaves := 1 + rnd.IntN(2)
	var marginals []string
	for i := range leaves + rnd.IntN(6) {
		name := fmt.Sprintf("m%d", i)
		shown[name] = 1
		var by []string
		for _, column := range [][]string{{"sex"}, {"kind"}, {"age", "age.half", "age.third", "age.odd", "age.same",
			"age.whole"}} {
			if rnd.IntN(2) == 0 {
				by = append(by, pick(column...))
			}
		}
		sums := ""
		if n := len(by); n > 0 && sizes[by[n-1]] > 1 && rnd.IntN(5) == 0 {
			sums = fmt.Sprintf(", cumulative: [%s]", by[n-1])
			shown[name] = (sizes[by[n-1]] + 1) / 2
		} else if n > 0 && sizes[by[n-1]] > 1 && rnd.IntN(5) == 0 {
			sums = fmt.Sprintf(", ranges: [%s]", by[n-1])
			shown[name] = (sizes[by[n-1]] + 2) / 3
		}
		marginals = append(marginals, fmt.Sprintf("%s: {by: [%s], budget: l%d, weight: %s%s}", name,
			strings.Join(by, ", "),
			i%leaves, pick("1", "1", "1/3", "100"), sums))
	}
	split := pick("l0: 1", "l0: 1")
	if leaves == 2 {
		split = pick("l0: 1/7, l1: 6/7", "l0: 1/2, l1: 1/2")
	}
	amount := pick("rho: 1/10", "rho: 5", "epsilon: 1", "epsilon: 1, delta: 1e-9")
	text := fmt.Sprintf(plantest.Crossed, pick("add-remove", "replace"), "{"+amount+", split: {"+split+"}}",
		1+rnd.IntN(3),
		"{"+strings.Join(marginals, ", ")+"}")
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return r, shown
}

// TestRandomWorkloadsAreGuarded plans random workloads, 500 of them if DPRELEASE_LONG is set.
func TestRandomWorkloadsAreGuarded(t *testing.T) {
	count := 8
	if os.Getenv("DPRELEASE_LONG") != "" {
		count = 500
	}
	rnd, most := rand.New(rand.NewPCG(21, 1)), 0.0
	kinds := map[strategy.Kind]int{}
	price, priced := 0.0, 0
	for range count {
		r, shown := randomWorkload(t, rnd)
		p, err := planner.New(r)
		if err != nil {
			t.Fatalf("%s\n%v", r.Source.Text, err)
		}
		for _, s := range p.Strategies {
			kinds[s.Kind]++
		}
		worst, path := plantest.WorstRatio(t, p.Plan(), func(table plan.Table) float64 { return shown[table.Marginal] })
		if worst > 1.001 {
			t.Errorf("%s\n%s has %v times the error of an equal share", r.Source.Text, path, worst)
		}
		most = max(most, worst)
		least, err := spec.Parse(spec.Source{Name: "release.yaml", Text: strings.Replace(r.Source.Text, ", split:",
			", minimise: sum, split:", 1)})
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := planner.New(least); err == nil {
			price, priced = price+math.Log(totalError(p.Plan())/totalError(sum.Plan())), priced+1
		}
	}
	t.Logf("%d random workloads: worst ratio to an equal share %.4f; price in total variance %.1f %% on the mean; "+
		"groups by strategy %v", count, most, 100*(math.Exp(price/float64(priced))-1), kinds)
}

// TestTheGuardIsCertified compares the solution with the search's own bound, and checks that none of many random
// amounts within the caps has a sum below the bound.
func TestTheGuardIsCertified(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for _, marginals := range []string{
		"{x: {every: [1, 2], by: [sex, kind, age]}}",
		"{x: {every: [0, 2], by: [sex, kind, age]}, y: {by: [age], weight: 50}}",
		"{x: {by: [sex]}, y: {by: [kind, age], weight: 3}, z: {by: [sex, kind, age]}}",
	} {
		g := blueprintOf(t, plantest.CrossedRelease(t, "add-remove", "{rho: 1}", 1, marginals)).Groups[0]
		d := g.Designs[0]
		found := d.Guard().Solve(d.Amounts())
		if !found.Certified() {
			t.Errorf("%s: Σ variance %v, bound %v, worst ratio %v", marginals, found.Sum(), found.Bound(),
				found.Worst())
		}
		within := 0
		for range 20_000 {
			amounts, all := make([]float64, len(d.Amounts())), 0.0
			for i := range amounts {
				amounts[i] = d.Amounts()[i] * math.Exp(rnd.NormFloat64()*.1)
				all += amounts[i]
			}
			for i := range amounts {
				amounts[i] /= all
			}
			s := optimise.NewGuardSearch(d.Guard(), amounts)
			if s.Look(); s.Best().Worst() <= 1 {
				if within++; s.Best().Sum() < found.Bound() {
					t.Fatalf("%s: Σ variance %v is below the bound %v", marginals, s.Best().Sum(), found.Bound())
				}
			}
		}
		if within == 0 {
			t.Errorf("%s: no random amounts are within the caps", marginals)
		}
	}
}

// TestGuardOfTablesThatShareNothing checks that only an equal split keeps to the caps, whatever the sizes and the
// weights.
func TestGuardOfTablesThatShareNothing(t *testing.T) {
	for _, amount := range []string{"{rho: 1}", "{epsilon: 1}", "{epsilon: 1, delta: 1e-9}"} {
		p := plantest.CrossedPlan(t, "add-remove", amount, 1,
			"{x: {by: [sex], weight: 100}, y: {by: [kind]}, z: {by: [age]}}")
		first, _ := p.Measurements[0].Mechanism.Parameter.Float64()
		for _, m := range p.Measurements {
			if parameter, _ := m.Mechanism.Parameter.Float64(); math.Abs(parameter/first-1) > 1e-3 {
				t.Errorf("%s: %s has parameter %v, %s %v", amount, m.ID, parameter, p.Measurements[0].ID, first)
			}
		}
	}
}

// TestGuardOfLittleNoise checks that no table is worse than by itself even if noise is so small that whole numbers
// have less of it than the formulas say.
func TestGuardOfLittleNoise(t *testing.T) {
	for _, marginals := range []string{"{m0: {by: []}, m1: {by: [age.odd]}}",
		"{x: {every: [0, 1, 2], by: [sex, kind]}}"} {
		for _, amount := range []string{"{rho: 5}", "{rho: 12}", "{epsilon: 6}"} {
			p := plantest.CrossedPlan(t, "add-remove", amount, 1, marginals)
			if worst, path := plantest.WorstRatio(t, p, plantest.CellByCell); worst > 1.001 {
				t.Errorf("%s, %s: %s has %v times the error of an equal share", amount, marginals, path, worst)
			}
		}
	}
}
