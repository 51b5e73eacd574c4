package planner_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// Several tables of a leaf of targets have what they share measured once, where that costs less; every target is met.
func TestNeededLeavesShare(t *testing.T) {
	const marginals = "{x: {every: [1, 2, 3], by: [a, b, c, d], budget: n, target: {margin: 100}}, rest: {by: [j], " +
		"budget: s}}"
	p := plantest.TenPlan(t, "{rho: 1, split: {n: needed, s: 1}}", marginals)
	s := p.Strategies[0]
	if s.Kind != strategy.Residuals || len(s.Alternatives) != 1 || s.Alternatives[0].BudgetNeeded == "" {
		t.Errorf("measured by %s, instead of %+v", s.Kind, s.Alternatives)
	}
	direct, err := budget.ParseRat(s.Alternatives[0].BudgetNeeded)
	if err != nil || direct.Cmp(p.Leaves[0].Amount.Rho) <= 0 {
		t.Errorf("needs ρ %v, each table by itself %s", p.Leaves[0].Amount, s.Alternatives[0].BudgetNeeded)
	}
	widest := 0.0
	for _, table := range p.Tables[:14] {
		widest = max(widest, table.Target.Reached)
		if table.Target.Reached > 100 {
			t.Errorf("%s reaches %v", table.Path, table.Target.Reached)
		}
	}
	if widest < 99 {
		t.Errorf("the widest margin is %v", widest)
	}
}

// All cells at once: each has a confidence of 1 − (1 − c)/cells.
func TestTargetsOfAllCells(t *testing.T) {
	p := plantest.TenPlan(t, "{rho: 1, split: {n: needed}}",
		"{x: {by: [a, b], budget: n, target: {margin: 50, confidence: 90%, of: all-cells}}}")
	m, _ := p.Measurement("x")
	margin, attained := m.Mechanism.Margin(1 - .1/100)
	if margin > 50 || attained < .999 || p.Tables[0].Target.Reached != float64(margin) {
		t.Errorf("margin %d, attained %v; said to reach %v", margin, attained, p.Tables[0].Target.Reached)
	}
	sigma := math.Sqrt(m.Mechanism.Variance())
	if want := 50.5 / 3.2905; math.Abs(sigma/want-1) > .01 { // 99.9 % of a normal law within 3.2905 σ
		t.Errorf("σ %v, expected about %v", sigma, want)
	}
}

// A budget that is too small is refused where it stands, with the smallest that would do and the targets that set it;
// with that one the release is planned, and with a little less it is not.
func TestTooLittleIsRefused(t *testing.T) {
	for _, c := range []struct{ amount, key, marginals, binds string }{
		{"epsilon: 1/100, split: {n: needed, s: 1}", "epsilon", strings.ReplaceAll(plantest.OneOfTen, "%M%", "30"),
			"ages"},
		{"rho: 1/100000, split: {n: needed, s: 1}", "rho", strings.ReplaceAll(plantest.OneOfTen, "%M%", "30"), "ages"},
		{"epsilon: 1/10, delta: 1e-9, split: {n: needed, s: 1}", "epsilon",
			strings.ReplaceAll(plantest.OneOfTen, "%M%", "20"), "ages"},
		{"epsilon: 1/10, delta: 1e-9", "epsilon", "{x: {by: [a], target: {margin: 200}}, y: {by: [b], target: " +
			"{margin: 20}}}",
			"y"},
		{"epsilon: 1", "epsilon", "{x: {every: [1], by: [a, b, c], target: {margin: 5}}}", "x/a, x/b, x/c"},
		{"epsilon: 1/4", "epsilon", "{x: {by: [a], target: {margin: 10}}}", "x"},
		{"rho: 1/1000", "rho", "{x: {by: [a], target: {margin: 7}}}", "x"},
		{"epsilon: 1/10, delta: 1e-9, split: {n: needed}", "epsilon",
			"{x: {by: [a], budget: n, target: {margin: 20}}}", "x"},
	} {
		r := plantest.TenRelease(t, "{"+c.amount+"}", c.marginals)
		_, err := planner.New(r)
		var refused *planner.BudgetTooSmall
		var problems *document.Errors
		if !errors.As(err, &refused) || !errors.As(err, &problems) {
			t.Errorf("%s: error %v", c.amount, err)
			continue
		}
		if p := problems.Problems[0]; p.Line != 4 || !strings.Contains(p.Expected, refused.Least) {
			t.Errorf("%s: the problem is %+v", c.amount, p)
		}
		if refused.Key != c.key || strings.Join(refused.Binds, ", ") != c.binds {
			t.Errorf("%s: the smallest %s is %s, set by %v", c.amount, refused.Key, refused.Least, refused.Binds)
		}
		enough, err := r.WithBudget(c.key, refused.Least)
		if err == nil {
			_, err = planner.New(enough)
		}
		if err != nil {
			t.Errorf("%s: %s %s is not enough: %v", c.amount, c.key, refused.Least, err)
		}
		least, _ := strconv.ParseFloat(refused.Least, 64)
		less, err := r.WithBudget(c.key, strconv.FormatFloat(least*.997, 'g', 6, 64))
		if err == nil {
			_, err = planner.New(less)
		}
		if !errors.As(err, &refused) {
			t.Errorf("%s: a little less than %s is enough: %v", c.amount, refused.Least, err)
		}
	}
}

// A margin below 1 cannot be kept, as noise is whole numbers; a release without targets has no smallest budget.
func TestTargetsThatCannotBe(t *testing.T) {
	_, err := planner.New(plantest.TenRelease(t, "{rho: 1, split: {n: needed, s: 1}}",
		strings.ReplaceAll(plantest.OneOfTen, "%M%", "1/2")))
	if err == nil || !strings.Contains(err.Error(), "marginals.ages.target") ||
		!strings.Contains(err.Error(), "1 or more") {
		t.Errorf("error %v", err)
	}
	if _, err := planner.Solve(plantest.TenRelease(t, "{rho: 1}", "{x: {by: [a]}}")); err == nil ||
		!strings.Contains(err.Error(), "no marginal has a target") {
		t.Errorf("error %v", err)
	}
}

// A leaf of targets whose column another leaf adds up along is planned under every kind of budget, and keeps its
// targets.
func TestTargetsBesideRanges(t *testing.T) {
	for _, budget := range []string{"{epsilon: 6, split: {n: needed, s: 1}}", "{rho: 6, split: {n: needed, s: 1}}",
		"{epsilon: 6, delta: 1e-6, split: {n: needed, s: 1}}"} {
		for _, along := range []string{"ranges: [b]", "cumulative: [b]"} {
			p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: row, columns: {b: {values: [x, y, z]}}}}
marginals: {m: {by: [b], target: {margin: 60}, budget: n}, r: {by: [b], %s, budget: s}}
`, budget, along)})
			if err != nil {
				t.Errorf("%s, %s: %v", budget, along, err)
				continue
			}
			if m := p.Tables[0].Statistics[0].Margin; m > 60 {
				t.Errorf("%s, %s: the margin is %v", budget, along, m)
			}
		}
	}
}

// A budget beyond all reason is planned in no time, or refused where it stands, and what is planned can be read again.
func TestHugeBudgets(t *testing.T) {
	for _, budget := range []string{"{epsilon: 50}", "{epsilon: 300}", "{epsilon: 3000}", "{epsilon: 100000}",
		"{rho: 1000}", "{rho: 1000000}", "{epsilon: 300, delta: 1e-9}"} {
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {a: {values: [x, y]}, b: {values: [x, y]}}}}
marginals: {m: {every: [1, 2], by: [a, b]}}
`, budget)})
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			if problem := new(document.Errors); !errors.As(err, &problem) ||
				!strings.Contains(err.Error(), "would have no noise") {
				t.Errorf("%s: %v", budget, err)
			}
			continue
		}
		if _, err := compiled.Read(p.Bytes()); err != nil {
			t.Errorf("%s: the plan cannot be read: %v", budget, err)
		}
	}
}

// A margin in percent of a size of cell is the number that it comes to, in leaves of targets, with shares, and where
// the smallest budget is looked for; the plan says both.
func TestRelativeTargets(t *testing.T) {
	for _, c := range []struct{ amount, leaf string }{{"{rho: 1, split: {n: needed, s: 1}}", ", budget: n"},
		{"{rho: 1}", ""}} {
		other := strings.ReplaceAll(", y: {by: [b]%L%}", "%L%", strings.ReplaceAll(c.leaf, "n", "s"))
		plain := plantest.TenRelease(t, c.amount, "{x: {by: [a], target: {margin: 50}"+c.leaf+"}"+other+"}")
		relative := plantest.TenRelease(t, c.amount, "{x: {by: [a], target: {margin: 5%, at: 1000}"+c.leaf+"}"+other+
			"}")
		want, err := planner.New(plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := planner.New(relative)
		if err != nil {
			t.Fatal(err)
		}
		if one, two := got.Measurements[0].Mechanism.Parameter,
			want.Measurements[0].Mechanism.Parameter; one.Cmp(two) != 0 {
			t.Errorf("%s: noise of σ² %v for 5%% of 1000, and of %v for 50", c.amount, one, two)
		}
		if text := got.Tables[0].Target.String(); text != "±50 (5% of 1000), 95% sure of each cell" {
			t.Errorf("%s: the target is %s", c.amount, text)
		}
		least, err := planner.Solve(plain)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := planner.Solve(relative); err != nil || s.Amount != least.Amount {
			t.Errorf("%s: %+v, %v; for 50 it is %s", c.amount, s, err, least.Amount)
		}
	}
}

// Targets of several holders whose noise is Skellam noise: the cost of a table is that of the shifts of a replaced
// unit, for which its noise is made.
func TestTargetsOfSkellamNoise(t *testing.T) {
	for _, rows := range []int{3, 20} {
		p := planOfSkellamTarget(t, "replace", rows, 200)
		if reached := p.Tables[0].Target.Reached; !(reached <= 200 && reached >= 195) {
			t.Errorf("of %d rows: reaches %v", rows, reached)
		}
	}
}

// A target beyond the largest variance of Skellam noise takes that one.
func TestTargetsBeyondSkellamNoise(t *testing.T) {
	testkit.SkipPassed(t)
	p := planOfSkellamTarget(t, "add-remove", 1, 1e6)
	if variance := p.Measurements[0].Mechanism.Variance(); variance != 1<<24 || p.Tables[0].Target.Reached > 1e6 {
		t.Errorf("reaches %v by a variance of %v", p.Tables[0].Target.Reached, variance)
	}
}

// planOfSkellamTarget plans one table of two holders with a target, whose units have so many rows.
func planOfSkellamTarget(t *testing.T, neighbours string, rows int, margin float64) *plan.Plan {
	t.Helper()
	p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: %s}
holders: {keys: {a: a.pub, b: b.pub}, units: disjoint, trusted: 2}
budget: {rho: 1, split: {n: needed}}
tables: {t: {source: {csv: t.csv}, unit: {id: id, max_rows: %d}, columns: {ward: {values: [n, s]}}}}
marginals: {m: {by: [ward], budget: n, target: {margin: %v}}}
`, neighbours, rows, margin), Files: plantest.HolderKeys("a.pub", "b.pub")})
	if err != nil {
		t.Fatalf("%s, %d rows, margin %v: %v", neighbours, rows, margin, err)
	}
	return p
}
