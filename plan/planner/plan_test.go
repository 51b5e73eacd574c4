package planner_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

var update = flag.Bool("update", false, "rewrite golden files")

// The claimed sensitivity is the largest shift over all pairs of neighbours,
// found by trying every way in which a unit's rows can fall into cells.
func TestSensitivityIsTheWorstShift(t *testing.T) {
	for cells := int64(1); cells <= 4; cells++ {
		for k := int64(1); k <= 3; k++ {
			units := contributions(cells, k)
			l1, l2 := worst([][]int64{make([]int64, cells)}, units)
			got := sensitivityOfRows(spec.AddRemove, k, cells)
			if got.L1.Int64() != l1 || got.L2Squared.Int64() != l2 {
				t.Errorf("add-remove, %d rows, %d cells: claimed %v, %v; worst shift %d, %d", k, cells, got.L1,
					got.L2Squared, l1,
					l2)
			}
			l1, l2 = worst(units, units)
			assertReached(t, got.Shifts, got.L1, got.L2Squared)
			got = sensitivityOfRows(spec.Replace, k, cells)
			assertReached(t, got.Shifts, got.L1, got.L2Squared)
			if got.L1.Int64() != l1 || got.L2Squared.Int64() != l2 {
				t.Errorf("replace, %d rows, %d cells: claimed %v, %v; worst shift %d, %d", k, cells, got.L1,
					got.L2Squared, l1, l2)
			}
		}
	}
}

// sensitivityOfRows is how far one unit of so many rows can move the counts of so many cells.
func sensitivityOfRows(n spec.Neighbours, rows, cells int64) *counted.Sensitivity {
	return counted.Unit{Table: &spec.Table{Unit: spec.Unit{MaxRows: rows}}, Neighbours: n, Cells: cells}.Counts()
}

// assertReached checks that one worst shift has both norms.
func assertReached(t *testing.T, shifts []budget.Shift, l1, l2Squared *big.Int) {
	t.Helper()
	var sum, squares int64
	for _, d := range shifts[0] {
		sum += d
		squares += d * d
	}
	if len(shifts) != 1 || sum != l1.Int64() || squares != l2Squared.Int64() {
		t.Errorf("shifts %v have not the norms %v and %v", shifts, l1, l2Squared)
	}
}

// contributions lists every vector of cell counts that sums to at most k.
func contributions(cells, k int64) [][]int64 {
	if cells == 0 {
		return [][]int64{{}}
	}
	var all [][]int64
	for n := int64(0); n <= k; n++ {
		for _, rest := range contributions(cells-1, k-n) {
			all = append(all, append([]int64{n}, rest...))
		}
	}
	return all
}

func worst(from, to [][]int64) (l1, l2 int64) {
	for _, a := range from {
		for _, b := range to {
			var s1, s2 int64
			for i := range a {
				d := a[i] - b[i]
				s1 += max(d, -d)
				s2 += d * d
			}
			l1, l2 = max(l1, s1), max(l2, s2)
		}
	}
	return l1, l2
}

// Leaves are walls: what their tables are charged never exceeds the leaf, nor
// the plan its budget, in exact rationals.
func TestBudgetIsKeptExactly(t *testing.T) {
	for _, b := range []string{
		"{epsilon: 1/3, split: {a: 1/7, b: 6/7}}", "{rho: 0.1, split: {a: 1/7, b: 6/7}}",
		"{epsilon: 2, delta: 1e-9, split: {a: 1/7, b: 6/7}}", "{epsilon: 20, split: {a: {epsilon: 1}, b: 1}}",
	} {
		for _, n := range []string{"add-remove", "replace"} {
			p := plantest.PlanOf(t, n, b, "{id: who, max_rows: 3}",
				"{x: {by: [sex], budget: a}, y: {every: [1, 2], by: [sex, age.half], budget: b}}")
			spent := map[string]*big.Rat{}
			total := new(big.Rat)
			for _, m := range p.Measurements {
				cost := m.Mechanism.Rho()
				if p.Cost.Epsilon != nil {
					var err error
					if cost, err = m.Mechanism.Epsilon(); err != nil {
						t.Fatal(err)
					}
				}
				if spent[m.Leaf] == nil {
					spent[m.Leaf] = new(big.Rat)
				}
				spent[m.Leaf].Add(spent[m.Leaf], cost)
				total.Add(total, cost)
			}
			for _, l := range p.Leaves {
				if amount := amountOf(l.Amount); spent[l.Path].Cmp(amount) > 0 ||
					plantest.TooLittle(spent[l.Path], amount) {
					t.Errorf("%s %s: leaf %s spends %s of %s", b, n, l.Path, spent[l.Path].FloatString(12),
						amount.FloatString(12))
				}
			}
			if amount := amountOf(p.Cost); total.Cmp(amount) > 0 {
				t.Errorf("%s %s: spends %s of %s", b, n, total.FloatString(12), amount.FloatString(12))
			}
		}
	}
}

// amountOf is a cost as one number.
func amountOf(c budget.Cost) *big.Rat {
	if c.Epsilon != nil {
		return c.Epsilon
	}
	return c.Rho
}

// Adult at ε = 1, δ = 1e-9: 105 tables over 148 725 cells. The golden μ is
// 0.1819748, of the continuous Gaussian with δ(1) = 1e-9 (Balle & Wang 2018),
// which noise this wide is close to: the residuals share a cost of μ². The least sum is the one with a closed form.
func TestAdultFigures(t *testing.T) {
	source := plantest.PlanOfFile(t, filepath.Join(testkit.Root(t), "examples", "adult", "release.yaml")).Source
	source.Text = strings.Replace(source.Text, "delta: 1e-9}", "delta: 1e-9, minimise: sum}", 1)
	p, err := plantest.PlanOfSource(source)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Tables) != 105 || p.Size.Cells != 148725 {
		t.Errorf("%d tables, %d cells; expected 105 and 148725", len(p.Tables), p.Size.Cells)
	}
	if len(p.Measurements) != 106 || len(p.Strategies) != 1 || p.Strategies[0].Kind != strategy.Residuals {
		t.Fatalf("%d measurements, strategies %+v", len(p.Measurements), p.Strategies)
	}
	one, two := plantest.OptimalWays(plantest.Adult14, 0.1819748*0.1819748)
	at := 0
	for i := range one {
		plantest.AssertStandardError(t, p.Tables[at], one[i])
		at++
	}
	for i := range two {
		for j := i + 1; j < len(two); j++ {
			plantest.AssertStandardError(t, p.Tables[at], two[i][j])
			at++
		}
	}
}

func TestSamePlanSameBytes(t *testing.T) {
	one := plantest.PlanOf(t, "replace", "{rho: 1/8}", "row", "{x: {by: [sex, age]}}")
	two := plantest.PlanOf(t, "replace", "{rho: 1/8}", "row", "{x: {by: [sex, age]}}")
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two plans of one spec differ")
	}
	read, err := compiled.Read(one.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read.Bytes(), one.Bytes()) || read.Hash() != one.Hash() {
		t.Error("a plan that is read differs from the one written")
	}
	if err := plantest.Verify(read.Plan()); err != nil {
		t.Error(err)
	}
}

// A plan of an earlier format names the version that reads it; of one that nobody knows, the version that made it.
func TestPlansOfOtherFormatsNameTheirVersion(t *testing.T) {
	for format, says := range map[string]string{
		"dprelease.plan/2": "use dprelease 0.2.0 or,",
		"dprelease.plan/9": "use the version of dprelease that made it or,",
	} {
		if _, err := plan.Read([]byte(`{"format": "` + format + `"}`)); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// Whatever is changed in a plan file, it is refused before it can be measured.
func TestEditedPlansAreRefused(t *testing.T) {
	p := plantest.PlanOf(t, "add-remove", "{epsilon: 1}", "{id: who, max_rows: 2}", "{x: {by: [sex, age]}}")
	for old, changed := range map[string]string{
		`"parameter": "2"`:       `"parameter": "1"`,
		`"l1": "2"`:              `"l1": "1"`,
		`"epsilon": "1"`:         `"epsilon": "1/2"`,
		`"cells": 20`:            `"cells": 10`,
		`"neighbours": "add`:     `"neighbours": "Add`,
		`max_rows: 2}`:           `max_rows: 3}`,
		`"attribute": "sex"`:     `"attribute": "age"`,
		`"format"`:               `"extra": 1, "format"`,
		`"dprelease.plan/3"`:     `"dprelease.plan/1"`,
		"\n  \"release\": \"r\"": "\n\n  \"release\": \"r\"",
	} {
		edited := strings.Replace(string(p.Bytes()), old, changed, 1)
		if edited == string(p.Bytes()) {
			t.Errorf("the plan does not hold %s", old)
			continue
		}
		read, err := compiled.Read([]byte(edited))
		if err == nil {
			err = plantest.Verify(read.Plan())
		}
		if err == nil {
			t.Errorf("%s for %s passes", changed, old)
		}
	}
}

// A plan that was made here is not planned twice, and is refused all the same once it or its release was changed.
func TestPlansThatWereMadeHereAreVerified(t *testing.T) {
	made := func() *plan.Plan {
		return plantest.PlanOf(t, "add-remove", "{epsilon: 1}", "{id: who, max_rows: 2}", "{x: {by: [sex, age]}}")
	}
	if err := plantest.Verify(made()); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(p *plan.Plan){
		"a measurement": func(p *plan.Plan) { p.Measurements[0].Query.Factors = p.Measurements[0].Query.Factors[:1] },
		"the release":   func(p *plan.Plan) { p.Release().Tables[0].Unit.MaxRows = 1 },
		"the text": func(p *plan.Plan) {
			p.Source.Text = strings.Replace(p.Source.Text, "max_rows: 2", "max_rows: 3",
				1)
		},
	} {
		p := made()
		change(p)
		if plantest.Verify(p) == nil {
			t.Errorf("%s was changed, and nobody noticed", what)
		}
	}
}

// Whatever the planner made, what is counted and drawn by has noise, and parts that fit together.
func TestPlansThatWereMadeHereHaveNoise(t *testing.T) {
	for what, change := range map[string]func(m *plan.Measurement){
		"":                func(*plan.Measurement) {},
		"without noise":   func(m *plan.Measurement) { m.Mechanism.Parameter.SetFrac64(1, 1<<40) },
		"of another size": func(m *plan.Measurement) { m.Cells++ },
	} {
		p := plantest.PlanOf(t, "add-remove", "{epsilon: 1}", "{id: who, max_rows: 2}", "{x: {by: [sex, age]}}")
		change(&p.Measurements[0])
		c := compiled.Of(p)
		planner.MadeHere(c)
		if _, err := planner.Verify(c); (err == nil) != (what == "") {
			t.Errorf("a measurement %s, made here: %v", what, err)
		}
	}
}

// A release that was another while it was planned, and is put back, has no plan that passes: neither here nor as a
// file.
func TestReleasesThatArePutBackAreNoticed(t *testing.T) {
	r := plantest.PlanOf(t, "add-remove", "{epsilon: 1}", "{id: who, max_rows: 10}", "{x: {by: [sex, age]}}").Release()
	r.Tables[0].Unit.MaxRows = 1
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planner.Verify(p); err == nil {
		t.Error("a plan of a release that was changed passes")
	}
	r.Tables[0].Unit.MaxRows = 10
	if _, err := planner.Verify(p); err == nil {
		t.Error("a plan of a release that was changed passes once it is put back")
	}
	_, err = planner.Read(p.Bytes())
	if err == nil {
		t.Error("its file passes")
	}
	r.Tables[0].Unit.MaxRows = 1
	planner.MadeHere(p)
	if _, err := planner.Read(p.Bytes()); err == nil {
		t.Error("its file passes where it counts as made here")
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ budget, marginals, want string }{
		{"{epsilon: 1}", "{x: {every: [1], by: [sex, age]}, x/sex: {by: [sex]}}", "x/sex"},
		{"{epsilon: 1}", "{x: {by: [count]}}", "two columns"},
		{"{epsilon: 1e-30}", "{x: {by: [sex]}}", "x"},
		{"{rho: 1e-60}", "{x: {by: [sex]}}", "x"},
		{"{epsilon: 1}", "{x: {by: [], each: sex}}", "no levels"},
	} {
		_, err := plantest.TryPlan("add-remove", c.budget, "row", c.marginals)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, expected one naming %s", c.budget, c.marginals, err, c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	p := plantest.PlanOf(t, "add-remove", "{epsilon: 1}", "{id: who, max_rows: 1}",
		"{x: {by: [sex]}, y: {every: [1], by: [sex, age]}}")
	if len(describe.Warnings(language.English, p)) != 1 ||
		!strings.Contains(describe.Warnings(language.English, p)[0], "x and y/sex show the same cells: drop one") {
		t.Errorf("warnings %q", describe.Warnings(language.English, p))
	}
}

// The page to sign, held against files that people can read.
func TestExplain(t *testing.T) {
	for name, p := range map[string]*plan.Plan{
		"pure": plantest.PlanOf(t, "add-remove", "{epsilon: 1}", "{id: who, max_rows: 3}",
			"{x: {by: [sex]}, y: {every: [1, 2], by: [sex, age.half]}}"),
		"zcdp": plantest.PlanOf(t, "replace", "{rho: 1/8, split: {a: 25%, b: 3/4}}", "{id: who, max_rows: 1}",
			"{x: {by: [sex], budget: a}, y: {by: [age], budget: b}}"),
		"approximate": plantest.PlanOf(t, "add-remove", "{epsilon: 1, delta: 1e-9}", "row", "{total: {by: []}}"),
		"residuals": plantest.PlanOf(t, "replace", "{rho: 1/8, split: {a: 1/4, b: 3/4}}", "{id: who, max_rows: 2}",
			"{x: {every: [1, 2], by: [sex, age], budget: a, weight: 3}, y: {by: [sex, age.half], budget: b}, all: "+
				"{by: [], budget: b}, z: {by: [sex, age], budget: b, weight: 1/2}}"),
		"many": plantest.PlanOfFile(t, filepath.Join(testkit.Root(t), "examples", "adult", "release.yaml")),
		"microdata-zcdp": plantest.PlanOf(t, "replace", "{rho: 1/8, split: {a: 25%, b: 3/4}}", "{id: who, max_rows: 3}",
			"{x: {by: [sex], budget: a}}\nsynthetic: {t: {budget: b, rows: 60000, method: mst, by: [sex, age.half, count]}}"),
		"microdata-approximate": plantest.PlanOf(t, "add-remove", "{epsilon: 1, delta: 1e-9, split: {a: 1/2, t: 1/2}}",
			"row",
			"{x: {by: [sex], budget: a}, y: {by: [age], budget: a}}\nsynthetic: {t: {}}"),
	} {
		var b bytes.Buffer
		if err := describe.Explain(compiled.Of(p), &b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s: the page is\n%s\nexpected\n%s", name, b.String(), want)
		}
	}
}

// A marginal that is asked of each level is a table at each level that has a leaf for it, and that leaf pays.
func TestEachLevelIsATable(t *testing.T) {
	p, err := plantest.PlanOfText(t, `version: 1
release: areas
privacy: {protects: person, neighbours: replace}
budget: {rho: 3/2, split: {band: {share: 1/3, split: {all: 1/4, sexes: 3/4}}, age: {share: 2/3, split: {sexes: 1}}}}
tables:
  persons:
    source: {csv: persons.csv}
    unit: row
    columns:
      age: {type: integer, range: [0, 9], levels: {band: {width: 5}}}
      sex: {values: [f, m, x]}
marginals:
  all:   {each: age, by: []}
  sexes: {each: age, by: [sex], every: [0, 1]}
`)
	if err != nil {
		t.Fatal(err)
	}
	type table struct {
		path, by string
		cells    int64
	}
	var got []table
	for _, of := range p.Tables {
		got = append(got, table{of.Path, strings.Join(of.By, " "), of.Cells})
	}
	pays := map[string]bool{}
	for _, m := range p.Measurements {
		pays[m.Leaf] = true
	}
	if leaves := slices.Sorted(maps.Keys(pays)); !slices.Equal(leaves, []string{"age.sexes", "band.all", "band.sexes"}) {
		t.Errorf("leaves that pay: %v", leaves)
	}
	want := []table{{"all/band", "age.band", 2}, {"sexes/band/total", "age.band", 2}, {"sexes/band/sex", "age.band sex", 6},
		{"sexes/age/total", "age", 10}, {"sexes/age/sex", "age sex", 30}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tables %v, expected %v", got, want)
	}
}
