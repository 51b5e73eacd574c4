package planner_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/phrase"
)

// Microdata of tables are paid for by nothing: the plan of the tables is the same with and without them, under a pure
// budget too.
func TestMicrodataOfTablesCostNothing(t *testing.T) {
	for _, budget := range []string{"{epsilon: 1}", "{rho: 1/10}"} {
		p, err := plantest.WithoutLeaf(budget, "m: {by: [sex, age, far]}", "{method: tables, files: 3, rows: 40}")
		if err != nil {
			t.Fatal(err)
		}
		s := p.Synthetic[0]
		if s.Adaptive() || s.Files != 3 || s.Rows != 40 || s.Leaf != "" || s.Rounds != 0 || len(s.By) != 3 ||
			len(s.Derived) != 1 || len(p.Mechanisms()) != len(p.Measurements) || p.Adapts() {
			t.Errorf("%s: %+v", budget, s)
		}
		if rho := p.Cost.Rho; rho != nil && rho.Cmp(big.NewRat(1, 10)) > 0 {
			t.Errorf("%s: %v is charged", budget, rho)
		}
		var page strings.Builder
		if err := describe.Explain(compiled.Of(p), &page); err != nil ||
			!strings.Contains(page.String(),
				"they cost nothing: the model is made of 1 table that the release has anyway") ||
			strings.Contains(page.String(), "No table tells of") {
			t.Errorf("%s: %v\n%s", budget, err, page.String())
		}
		again, err := compiled.Read(p.Bytes())
		if err != nil || plantest.Verify(again.Plan()) != nil {
			t.Fatalf("%s: it is not read back: %v", budget, err)
		}
		for name, change := range map[string]func(*plan.Synthetic){
			"with rounds":           func(s *plan.Synthetic) { s.Rounds = 1 },
			"with a leaf":           func(s *plan.Synthetic) { s.Leaf = "x" },
			"with less than none":   func(s *plan.Synthetic) { s.Files = -1 },
			"by rounds that it has": func(s *plan.Synthetic) { s.Method = plan.MST },
		} {
			other, err := compiled.Read(p.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			change(&other.Synthetic[0])
			if _, err := compiled.Read(other.Plan().Bytes()); err == nil {
				t.Errorf("%s: a plan %s is read", budget, name)
			}
		}
	}
}

// Where no leaf is there for microdata, auto takes the tables if they show each two columns together, and is refused if
// not.
func TestAutoTakesTables(t *testing.T) {
	p, err := plantest.WithoutLeaf("{epsilon: 1}", "m: {every: [2], by: [sex, age, far]}", "{}")
	if err != nil || p.Synthetic[0].Method != plan.Tables ||
		!strings.Contains(phrase.InWords(p.Synthetic[0].Why), "each two of their columns") {
		t.Errorf("%+v, %v", p, err)
	}
	split := "{rho: 1, split: {m: 1/2, t: 1/2}}"
	if p, err = plantest.WithoutLeaf(split, "m: {every: [2], by: [sex, age, far]}", "{}"); err != nil ||
		p.Synthetic[0].Method == plan.Tables || p.Synthetic[0].Leaf != "t" {
		t.Errorf("with a leaf: %+v, %v", p, err)
	}
	for name, c := range map[string]struct{ marginals, asked, says string }{
		"a pair missing": {"m: {by: [sex, age]}, n: {by: [age, far]}", "{}", "the budget has no split"},
		"tables of other counts": {"m: {every: [2], by: [sex, age, far], per_unit: {groups: 1}}", "{}",
			"the budget has no split"},
		"tables of no column": {"m: {by: [age]}", "{method: tables, by: [sex, far]}",
			"no table of the release counts rows by any of their columns"},
	} {
		if _, err := plantest.WithoutLeaf("{rho: 1}", c.marginals, c.asked); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
