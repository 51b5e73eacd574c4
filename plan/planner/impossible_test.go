package planner_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// homeSpec has columns with levels, one of them across another, and rules that overlap.
const homeSpec = `version: 1
release: homes
privacy: {protects: home, neighbours: NEIGHBOURS, account: homes}
budget: BUDGET
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      age: {type: integer, range: [0, 7], levels: {pair: {width: 2}, odd: {edges: [0, 3, 7]}}}
      pair: {derived_from: age.pair}
      kind: {values: [a, b, c]}
      size: {type: integer, range: [1, 4], levels: {half: {width: 2}}}
impossible:
  - {where: {age.pair: [0–1, 2–3], kind: a}, rows: drop}
  - {where: {kind: [a, b], size: 1}}
  - {where: {age.odd: 3–7, size.half: 3–4, kind: c}}
  - {where: {size: 4}, rows: drop}
marginals:
MARGINALS
`

// homes are the release with these marginals, a budget and a relation.
func homes(t *testing.T, budget, neighbours, marginals string) *spec.Release {
	t.Helper()
	text := strings.NewReplacer("BUDGET", budget, "NEIGHBOURS", neighbours, "MARGINALS", marginals).Replace(homeSpec)
	r, err := spec.Parse(spec.Source{Name: "homes.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A cell is impossible if one entry rules out every row that could fall into it: found here by going through all rows.
func TestImpossibleCellsAreThoseWithoutRows(t *testing.T) {
	r := homes(t, "{rho: 1}", "add-remove", "  m: {by: [kind]}")
	named := map[string][]string{"age": {"", "age", "age.pair", "age.odd", "pair"}, "kind": {"", "kind"},
		"size": {"", "size", "size.half"}}
	// The rules once more, of the numbers of a row: age 0–7, kind a b c, size 1–4.
	rules := []func(age, kind, size int) bool{
		func(age, kind, _ int) bool { return age < 4 && kind == 0 },
		func(_, kind, size int) bool { return kind < 2 && size == 1 },
		func(age, kind, size int) bool { return age >= 3 && size >= 3 && kind == 2 },
		func(_, _, size int) bool { return size == 4 },
	}
	tables, found := 0, int64(0)
	for _, age := range named["age"] {
		for _, kind := range named["kind"] {
			for _, size := range named["size"] {
				q := plan.Query{Table: "t"}
				for _, name := range []string{size, age, kind} {
					if name != "" {
						column, level, _ := strings.Cut(name, ".")
						c := attributes.Counted(r.Table("t"), spec.Attribute{Column: column, Level: level})
						q.Factors = append(q.Factors, plan.Factor{Attribute: c.Column, Level: c.Level,
							Basis: plan.Identity})
					}
				}
				want := withoutRows(t, r, q, rules)
				mask, err := impossible.Of(q, r)
				if err != nil {
					t.Fatal(err)
				}
				got := mask.Cells()
				if got == nil {
					got = make([]bool, len(want))
				}
				var n int64
				for _, w := range want {
					if w {
						n++
					}
				}
				if !slices.Equal(got, want) || mask.Count() != n {
					t.Errorf("%v: %v, %d of them; expected %v", q.Factors, got, mask.Count(), want)
				}
				tables, found = tables+1, found+n
			}
		}
	}
	if tables != 30 || found == 0 {
		t.Fatalf("%d tables, %d cells", tables, found)
	}
}

// withoutRows goes through all rows: a cell is impossible if one and the same rule holds for each of its rows.
func withoutRows(t *testing.T, r *spec.Release, q plan.Query, rules []func(age, kind, size int) bool) []bool {
	t.Helper()
	levels, err := q.Levels(r)
	if err != nil {
		t.Fatal(err)
	}
	cells := 1
	for _, l := range levels {
		cells *= l.Size()
	}
	possible := make([][]bool, cells) // by rule: some row of the cell that it lets be
	for i := range possible {
		possible[i] = make([]bool, len(rules))
	}
	for age := range 8 {
		for kind := range 3 {
			for size := range 4 {
				cell := 0
				for i, f := range q.Factors {
					base := map[string]int{"age": age, "kind": kind, "size": size}[f.Attribute]
					cell = cell*levels[i].Size() + levels[i].Category(base)
				}
				for i, rule := range rules {
					possible[cell][i] = possible[cell][i] || !rule(age, kind, size+1)
				}
			}
		}
	}
	out := make([]bool, cells)
	for i, all := range possible {
		out[i] = slices.Contains(all, false)
	}
	return out
}

// A table with impossible cells is measured by itself; its errors are those of its possible cells, and what it takes is
// not put together with others.
func TestTablesWithImpossibleCellsStandAlone(t *testing.T) {
	const marginals = "  kinds: {by: [kind]}\n  sizes: {by: [size.half, age.pair]}\n  both: {by: [kind, age]}\n" +
		"  ages: {by: [age]}\n  total: {by: []}"
	for _, budget := range []string{"{rho: 1}", "{epsilon: 1}", "{epsilon: 1, delta: 1e-9}"} {
		for _, neighbours := range []string{"add-remove", "replace"} {
			p, err := planner.New(homes(t, budget, neighbours, marginals))
			if err != nil {
				t.Fatal(err)
			}
			alone := strategy.Group{}
			for _, s := range p.Strategies {
				if slices.Contains(s.Tables, "both") {
					alone = s
				}
			}
			m, ok := p.Measurement("both")
			if !ok || m.Impossible != 4 || m.Cells != 24 || p.Tables[2].Impossible != 4 || p.Tables[2].Cells != 24 ||
				len(alone.Tables) != 1 || alone.Kind != strategy.Direct {
				t.Fatalf("%s: %+v, %+v, %+v", budget, m, p.Tables[2], alone)
			}
			// One table, so every cell has the error of its noise: the mean over possible cells is that.
			if sd := math.Sqrt(m.Mechanism.Variance()); math.Abs(alone.RMSE/sd-1) > 0.02 ||
				p.Tables[2].Statistics[0].StandardError != sd {
				t.Errorf("%s: error %v, noise %v, table %+v", budget, alone.RMSE, sd, p.Tables[2].Statistics[0])
			}
			for i, behind := range plantest.Must(p.MeasurementsByTable())(t) {
				for _, other := range behind {
					if (other.ID == "both") != (i == 2) {
						t.Errorf("%s: %s rests on %s", budget, p.Tables[i].Path, other.ID)
					}
				}
			}
			var page strings.Builder
			if err := describe.Explain(p, &page); err != nil ||
				!strings.Contains(page.String(), "both: 4 of 24 cells cannot be (impossible), exact zeros") {
				t.Errorf("%v\n%s", err, page.String())
			}
			if err := plantest.Verify(plantest.Must(compiled.Read(p.Bytes()))(t).Plan()); err != nil {
				t.Error(err)
			}
		}
	}
}

// Which integers are measured is part of a measurement's definition: the streams of two plans that differ in it differ.
func TestDefinitionOfAMeasurementHoldsWhatIsImpossible(t *testing.T) {
	m := plan.Measurement{ID: "a", Query: plan.Query{Table: "t", Factors: []plan.Factor{}, Counted: counted.Rows{}},
		Selection: selection.All{}, Mechanism: budget.Mechanism{
			Kind: budget.DiscreteGaussian, Parameter: big.NewRat(1, 1), L1: big.NewInt(1), L2Squared: big.NewInt(1),
		}}
	other := m
	other.Impossible = 2
	if bytes.Equal(m.Canonical(), other.Canonical()) {
		t.Error("one definition")
	}
	if strings.Contains(string(m.Canonical()), "impossible") {
		t.Error("a measurement of a table without impossible cells has another definition than before")
	}
}

// Rules that leave nothing of a table are refused where the table is asked for.
func TestTableOfImpossibleCellsAlone(t *testing.T) {
	text := strings.NewReplacer("BUDGET", "{rho: 1}", "NEIGHBOURS", "add-remove", "MARGINALS",
		"  sizes: {by: [size]}\n  kinds: {by: [kind]}",
		"{where: {size: 4}, rows: drop}",
		"{where: {kind: [a, b]}}\n  - {where: {kind: c}, rows: drop}").Replace(homeSpec)
	r, err := spec.Parse(spec.Source{Name: "homes.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planner.New(r); err == nil || !strings.Contains(err.Error(), "marginals.kinds") ||
		!strings.Contains(err.Error(), "rules out every cell of table kinds") {
		t.Errorf("error %v", err)
	}
}

// What is impossible is a cell by itself: a table that shows sums along a column has none to rule out.
func TestSumsAlongImpossibleCells(t *testing.T) {
	for _, along := range []string{"cumulative", "ranges"} {
		_, err := planner.New(homes(t, "{rho: 1}", "add-remove", "  m: {by: [kind, age], "+along+": [age]}"))
		if err == nil || !strings.Contains(err.Error(), "marginals.m") ||
			!strings.Contains(err.Error(), "table m has impossible cells") {
			t.Errorf("%s: error %v", along, err)
		}
	}
}

// A derived column is counted by its origin, and no subset of `every` has both.
func TestDerivedColumnsAreCountedByTheirOrigins(t *testing.T) {
	p, err := planner.New(homes(t, "{rho: 1}", "add-remove", "  every: {by: [pair, age.odd, kind], every: [1, 2]}"))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, table := range p.Tables {
		paths = append(paths, table.Path)
	}
	if want := []string{"every/pair", "every/age.odd", "every/kind", "every/pair_x_kind",
		"every/age.odd_x_kind"}; !slices.Equal(paths, want) {
		t.Errorf("tables %v, expected %v", paths, want)
	}
	if q, shown := p.Query(p.Tables[0]), p.PublishedQuery(p.Tables[0]); q.Factors[0].String() != "age.pair" ||
		shown.Factors[0].String() != "pair" {
		t.Errorf("counted by %v, shown by %v", q, shown)
	}
	for _, m := range p.Measurements {
		for _, f := range m.Query.Factors {
			if f.Attribute == "pair" {
				t.Errorf("%s measures a column that is not read", m.ID)
			}
		}
	}
	const says = "marginal every leaves out 1 subset with both pair and age.odd: both come from one column"
	if !slices.ContainsFunc(describe.Warnings(language.English, p.Plan()),
		func(w string) bool { return strings.Contains(w, says) }) {
		t.Errorf("warnings %q, expected %q", describe.Warnings(language.English, p.Plan()), says)
	}
	two, err := planner.New(homes(t, "{rho: 1}", "add-remove", "  a: {by: [pair, kind]}\n  b: {by: [kind, age.pair]}"))
	if err != nil || !slices.Contains(describe.Warnings(language.English, two.Plan()),
		"a and b show the same cells: drop one") {
		t.Errorf("%v, warnings %q", err, describe.Warnings(language.English, two.Plan()))
	}
	loss, err := describe.StatedLoss(two)
	if err != nil {
		t.Fatal(err)
	}
	// Sizes are in no table, and decide which rows are left out of both.
	var of []string
	for _, one := range loss.Attributes {
		of = append(of, fmt.Sprint(one.Of, " ", one.Tables))
	}
	if slices.Sort(of); !slices.Equal(of, []string{"age 2", "kind 2", "size 2"}) {
		t.Errorf("losses of %v", of)
	}
}

// A condition on a derived column is met by the values of what decides it: these lose all that is measured of the rows.
func TestDerivedConditionsDropRowsByTheirOrigins(t *testing.T) {
	text := strings.NewReplacer("age.pair: [0–1, 2–3], kind: a", "pair: [0–1, 2–3]", "BUDGET", "{rho: 1}", "NEIGHBOURS",
		"add-remove", "MARGINALS", "  a: {by: [kind]}").Replace(homeSpec)
	r, err := spec.Parse(spec.Source{Name: "homes.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]int{"age": 1, "pair": 0} {
		tables, steps, err := describe.MechanismsOfColumn(p.Plan(), column)
		if err != nil || tables != want || len(steps) != want {
			t.Errorf("%s: %d tables, %d measurements, %v; want %d", column, tables, len(steps), err, want)
		}
	}
	if all := describe.Attributes(p.Plan()); slices.Contains(all, "pair") || !slices.Contains(all, "age") {
		t.Errorf("attributes %v", all)
	}
}

// What no row is and what happens to one that is all the same are among what two plans differ in.
func TestDifferenceOfRules(t *testing.T) {
	before := plantest.Must(planner.New(homes(t, "{rho: 1}", "add-remove", "  m: {by: [kind, age]}")))(t)
	text := strings.NewReplacer("BUDGET", "{rho: 1}", "NEIGHBOURS", "add-remove", "MARGINALS", "  m: {by: [kind, age]}",
		"{where: {size: 4}, rows: drop}", "{where: {size: 4}}", "kind: a}, rows: drop", "kind: b}, rows: drop").
		Replace(homeSpec)
	after := plantest.Must(planner.New(plantest.Must(spec.Parse(spec.Source{Name: "homes.yaml", Text: text}))(t)))(t)
	var page strings.Builder
	if err := describe.Diff(before, after).Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		"t: no row has size = 4: such a row is left out before anything is bounded or counted → such a row stops the " +
			"run, and nothing is spent",
		"t: no row has age.pair = 0–1 or 2–3 with kind = a: gone",
		"t: no row has age.pair = 0–1 or 2–3 with kind = b: new",
	} {
		if !strings.Contains(page.String(), says) {
			t.Errorf("no %q in\n%s", says, page.String())
		}
	}
}
