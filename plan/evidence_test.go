package plan

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec"
)

// withoutLeaf is the plan of microdata that no leaf pays for.
func withoutLeaf(budget, marginals, asked string) (*Plan, error) {
	return planOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 9], levels: {half: {width: 5}}}, far: {values: [yes, no]}, same: {derived_from: sex}}}}
marginals: {%s}
synthetic: {t: %s}
`, budget, marginals, asked)})
}

// Microdata of tables are paid for by nothing: the plan of the tables is the same with and without them, under a pure budget too.
func TestMicrodataOfTablesCostNothing(t *testing.T) {
	for _, budget := range []string{"{epsilon: 1}", "{rho: 1/10}"} {
		p, err := withoutLeaf(budget, "m: {by: [sex, age, far]}", "{method: tables, files: 3, rows: 40}")
		if err != nil {
			t.Fatal(err)
		}
		s := p.Synthetic[0]
		if s.Adaptive() || s.Files != 3 || s.Rows != 40 || s.Leaf != "" || s.Rounds != 0 || len(s.By) != 3 || len(s.Derived) != 1 || len(p.Mechanisms()) != len(p.Measurements) || p.Adapts() {
			t.Errorf("%s: %+v", budget, s)
		}
		if rho := p.Cost.Rho; rho != nil && rho.Cmp(big.NewRat(1, 10)) > 0 {
			t.Errorf("%s: %v is charged", budget, rho)
		}
		var page strings.Builder
		if err := p.Explain(&page); err != nil || !strings.Contains(page.String(), "they cost nothing: the model is made of 1 table that the release has anyway") || strings.Contains(page.String(), "No table tells of") {
			t.Errorf("%s: %v\n%s", budget, err, page.String())
		}
		again, err := Read(p.Bytes())
		if err != nil || again.Verify() != nil {
			t.Fatalf("%s: it is not read back: %v", budget, err)
		}
		for name, change := range map[string]func(*Synthetic){
			"with rounds":           func(s *Synthetic) { s.Rounds = 1 },
			"with a leaf":           func(s *Synthetic) { s.Leaf = "x" },
			"with less than none":   func(s *Synthetic) { s.Files = -1 },
			"by rounds that it has": func(s *Synthetic) { s.Method = MST },
		} {
			other, err := Read(p.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			change(&other.Synthetic[0])
			if _, err := Read(other.Bytes()); err == nil {
				t.Errorf("%s: a plan %s is read", budget, name)
			}
		}
	}
}

// What tells of microdata are the tables that count rows and show all cells, by columns that the microdata decide.
func TestEvidence(t *testing.T) {
	for marginals, c := range map[string]struct {
		tables     int
		unmeasured string
		pairwise   bool
	}{
		"m: {by: [sex, age, far]}":                                    {1, "", true},
		"m: {every: [0, 2], by: [sex, age, far]}":                     {4, "", true},
		"m: {every: [2], by: [sex, age.half, far]}":                   {3, "", false},
		"m: {by: [same, age.half]}, n: {by: []}":                      {2, "far", false},
		"m: {by: [sex]}, n: {by: [sex, age], per_unit: {groups: 1}}":  {1, "age, far", false},
		"m: {by: [sex, far]}, n: {by: [far, age], cumulative: [age]}": {1, "age", false},
	} {
		p, err := withoutLeaf("{rho: 1}", marginals, "{method: tables, by: [sex, age, far]}")
		if err != nil {
			t.Errorf("%s: %v", marginals, err)
			continue
		}
		s := p.Synthetic[0]
		if got := p.Evidence(s); len(got) != c.tables || factorsText(p.Unmeasured(s)) != c.unmeasured || p.pairwise(s, []int64{2, 10, 2}) != c.pairwise {
			t.Errorf("%s: %d tables, all but %s, pairwise %t", marginals, len(got), factorsText(p.Unmeasured(s)), p.pairwise(s, []int64{2, 10, 2}))
		}
	}
}

// Where no leaf is there for microdata, auto takes the tables if they show each two columns together, and is refused if not.
func TestAutoTakesTables(t *testing.T) {
	p, err := withoutLeaf("{epsilon: 1}", "m: {every: [2], by: [sex, age, far]}", "{}")
	if err != nil || p.Synthetic[0].Method != Tables || !strings.Contains(p.Synthetic[0].Why, "each two of their columns") {
		t.Errorf("%+v, %v", p, err)
	}
	split := "{rho: 1, split: {m: 1/2, t: 1/2}}"
	if p, err = withoutLeaf(split, "m: {every: [2], by: [sex, age, far]}", "{}"); err != nil || p.Synthetic[0].Method == Tables || p.Synthetic[0].Leaf != "t" {
		t.Errorf("with a leaf: %+v, %v", p, err)
	}
	for name, c := range map[string]struct{ marginals, asked, says string }{
		"a pair missing":         {"m: {by: [sex, age]}, n: {by: [age, far]}", "{}", "the budget has no split"},
		"tables of other counts": {"m: {every: [2], by: [sex, age, far], per_unit: {groups: 1}}", "{}", "the budget has no split"},
		"tables of no column":    {"m: {by: [age]}", "{method: tables, by: [sex, far]}", "no table of the release counts rows by any of their columns"},
	} {
		if _, err := withoutLeaf("{rho: 1}", c.marginals, c.asked); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
