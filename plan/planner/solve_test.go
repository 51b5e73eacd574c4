package planner_test

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// oneTable is a spec of one table of so many cells, measured by itself.
func oneTable(t *testing.T, amount string, cells int, target string) *spec.Release {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "one.yaml", Text: fmt.Sprintf(`version: 1
release: one
privacy: {protects: trip, neighbours: add-remove}
budget: {%s}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {a: {type: integer, range: [1, %d]}}}}
marginals: {x: {by: [a], target: {%s}}}
`, amount, cells, target)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// missOf is the probability that a noise on a count misses it by more than a margin, summed up term by term.
func missOf(kind budget.Kind, parameter float64, margin int) float64 {
	log := func(x int) float64 { return -float64(x) / parameter }
	if kind == budget.DiscreteGaussian {
		log = func(x int) float64 { return -float64(x) * float64(x) / (2 * parameter) }
	}
	within, beyond := 1.0, 0.0
	for x := 1; log(x) > -50; x++ {
		if x <= margin {
			within += 2 * math.Exp(log(x))
		} else {
			beyond += 2 * math.Exp(log(x))
		}
	}
	return beyond / (within + beyond)
}

// leastByHand is the least amount of four digits whose noise, of a scale rounded up to a multiple of 1/4096, keeps a
// margin: by trying one after the other.
func leastByHand(kind budget.Kind, margin int, miss float64) string {
	keeps := func(amount float64) bool {
		scale := 1 / amount // t = 1/ε
		if kind == budget.DiscreteGaussian {
			scale = 1 / (2 * amount) // σ² = 1/2ρ
		}
		return missOf(kind, math.Ceil(scale*4096*(1-1e-12))/4096, margin) <= miss
	}
	power := 1e3 // the amount is at least that, and less than ten times it
	for keeps(power) {
		power /= 10
	}
	// The first of 9000 that does: by halves, and then one by one over the last ten.
	low, high := 1000, 10000
	for high-low > 10 {
		if middle := (low + high) / 2; keeps(power * float64(middle) / 1000) {
			high = middle
		} else {
			low = middle
		}
	}
	for !keeps(power * float64(low) / 1000) {
		low++
	}
	exact, _ := new(big.Rat).SetString(fmt.Sprintf("%de%d", low, int(math.Round(math.Log10(power)))-3))
	return budget.DecimalUp(exact, 4)
}

// The smallest budget is found for every margin of whole numbers, whatever the budget that the search starts from: it
// is the least amount that keeps the margin, by the law of the noise as it is summed up here.
func TestSolveFindsTheLeastBudget(t *testing.T) {
	testkit.SkipPassed(t)
	for _, cells := range []int{1, 9, 400} {
		for margin := 1; margin <= 200; margin++ {
			miss := .05 // of each cell
			target := fmt.Sprintf("margin: %d", margin)
			if cells != 9 {
				miss = .05 / float64(cells)
				target += ", of: all-cells"
			}
			for kind, amount := range map[budget.Kind]string{budget.DiscreteLaplace: "epsilon: ",
				budget.DiscreteGaussian: "rho: "} {
				amount += []string{"1", "1/50", "20"}[margin%3]
				s, err := planner.Solve(oneTable(t, amount, cells, target))
				if err != nil {
					t.Errorf("%s, %d cells, ±%d: %v", amount, cells, margin, err)
				} else if want := leastByHand(kind, margin, miss); s.Amount != want {
					t.Errorf("%s, %d cells, ±%d: %s, expected %s", amount, cells, margin, s.Amount, want)
				}
			}
		}
	}
}

// Under ε and δ the smallest ε is that of one Laplace noise, a little less than without the δ.
func TestSolveFindsTheLeastEpsilonUnderADelta(t *testing.T) {
	testkit.SkipPassed(t)
	for margin := 1; margin <= 200; margin++ {
		cells, miss, target := 9, .05, fmt.Sprintf("margin: %d", margin)
		if margin%2 == 0 {
			cells, miss, target = 400, .05/400, target+", of: all-cells"
		}
		s, err := planner.Solve(oneTable(t, "epsilon: 1, delta: 1e-9", cells, target))
		if err != nil {
			t.Errorf("%d cells, ±%d: %v", cells, margin, err)
			continue
		}
		pure, _ := strconv.ParseFloat(leastByHand(budget.DiscreteLaplace, margin, miss), 64)
		if got, _ := strconv.ParseFloat(s.Amount, 64); got > pure || got < pure*.999 {
			t.Errorf("%d cells, ±%d: %s, expected %v or just below", cells, margin, s.Amount, pure)
		}
	}
}

// A budget from which leaves take amounts of their own is solved for as well: with the smallest the targets are met,
// and with a thousandth less they are not.
func TestSolveWithWalls(t *testing.T) {
	const leaves = "{x: {by: [a], budget: n, target: {margin: 40}}, y: {by: [b], budget: s}, z: {by: [c], budget: s}}"
	for name, r := range map[string]*spec.Release{
		"amount elsewhere": plantest.TenRelease(t, "{epsilon: 1, split: {s: {epsilon: 1/2}, n: 1}}", leaves),
		"needed":           plantest.TenRelease(t, "{epsilon: 1, split: {s: 1, n: needed}}", leaves),
	} {
		s, err := planner.Solve(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		enough, err := r.WithBudget("epsilon", s.Amount)
		if err == nil {
			_, err = planner.New(enough)
		}
		if err != nil {
			t.Errorf("%s: epsilon %s is not enough: %v", name, s.Amount, err)
		}
		amount, _ := strconv.ParseFloat(s.Amount, 64)
		less, err := r.WithBudget("epsilon", strconv.FormatFloat(amount*.9989, 'g', 5, 64))
		if err == nil {
			_, err = planner.New(less)
		}
		if err == nil {
			t.Errorf("%s: a thousandth less than %s is enough", name, s.Amount)
		}
	}
}

// Tables without a target are named, with their margins before and after.
func TestSolveNamesTablesWithoutTarget(t *testing.T) {
	s, err := planner.Solve(plantest.TenRelease(t, "{epsilon: 3}",
		"{x: {by: [a], target: {margin: 100}}, y: {by: [b]}, z: {every: [1], by: [c, d]}}"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range s.WithoutTarget {
		names = append(names, w.Table)
		if w.Margin < 10*w.Now || w.Now <= 0 {
			t.Errorf("%s: ±%v in place of ±%v, for a budget of %s in place of 3", w.Table, w.Margin, w.Now, s.Amount)
		}
	}
	if strings.Join(names, " ") != "y z/c z/d" {
		t.Errorf("named: %v", names)
	}
	b := &strings.Builder{}
	if err := planner.WriteSolution(b, s); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Tables without a target", "z/c and 1 more"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("nothing is said of %q:\n%s", line, b)
		}
	}
}
