package planner_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// The columns come first, behind the tables, then rounds for all columns but one; each part is within a third of the
// leaf, and the whole is what the steps cost one by one, in exact rationals.
func TestMicrodataSpendTheirLeaf(t *testing.T) {
	for _, b := range []string{"{rho: 1/10, split: {tables: 2/7, microdata: 5/7}}",
		"{epsilon: 2, delta: 1e-9, split: {tables: 2/7, microdata: 5/7}}"} {
		for _, n := range []string{"add-remove", "replace"} {
			p := plantest.MicrodataOf(t, n, b, "{id: who, max_rows: 3}", "{budget: microdata, method: mst}")
			s, leaf := p.Synthetic[0], new(big.Rat).Mul(p.Cost.Rho, big.NewRat(5, 7))
			if s.Rounds != 2 || s.Method != plan.MST || len(p.Tables) != 2 || len(p.ColumnsOf(0)) != 3 {
				t.Fatalf("%s %s: %+v", b, n, s)
			}
			third := new(big.Rat).Quo(leaf, big.NewRat(3, 1))
			all, columns := new(big.Rat), p.Measurements[len(p.Measurements)-3:]
			for i, m := range columns {
				l2 := squareNorm(n, 3)
				if m.Cells == 1 {
					l2 = 9
				}
				rho := new(big.Rat).Quo(big.NewRat(l2, 2), m.Mechanism.Parameter)
				plantest.Within(t, m.ID, rho, new(big.Rat).Quo(third, big.NewRat(3, 1)))
				if m.ID != s.Column(i) || m.Query.Factors[0] != s.By[i] || m.Leaf != "microdata" ||
					m.Mechanism.Kind != budget.DiscreteGaussian || m.Mechanism.L2Squared.Int64() != l2 {
					t.Errorf("%s %s: column %d is %+v", b, n, i, m)
				}
				all.Add(all, rho)
			}
			choice := new(big.Rat).Mul(s.Select.Parameter, s.Select.Parameter)
			choice.Quo(choice, big.NewRat(8, 1))
			plantest.Within(t, "a choice", choice, new(big.Rat).Quo(third, big.NewRat(2, 1)))
			pair := new(big.Rat).Quo(big.NewRat(squareNorm(n, 3), 2), s.Noise.Parameter)
			plantest.Within(t, "a pair", pair, new(big.Rat).Quo(third, big.NewRat(2, 1)))
			rounds := new(big.Rat).Add(choice, pair)
			rounds.Add(rounds, rounds)
			if s.Block.Kind != budget.AdaptiveBlock || s.Block.Parameter.Cmp(rounds) != 0 ||
				s.Select.Kind != budget.ExponentialMechanism || s.Noise.Kind != budget.DiscreteGaussian {
				t.Errorf("%s %s: the block is %v, the rounds cost %v", b, n, s.Block, rounds)
			}
			plantest.Within(t, "all", all.Add(all, rounds), leaf)
			loss, err := budget.Compose(p.Mechanisms()...)
			if err != nil {
				t.Fatal(err)
			}
			tables := new(big.Rat)
			for _, m := range p.Measurements[:len(p.Measurements)-3] {
				tables.Add(tables, m.Mechanism.Rho())
			}
			if sum := tables.Add(tables, all); loss.Rho().Cmp(sum) != 0 || sum.Cmp(p.Cost.Rho) > 0 {
				t.Errorf("%s %s: composed ρ %v, the steps cost %v of %v", b, n, loss.Rho(), sum, p.Cost.Rho)
			}
		}
	}
}

// squareNorm is by how much k rows of one unit move the counts of a marginal of two or more cells, squared.
func squareNorm(neighbours string, k int64) int64 {
	if neighbours == "replace" {
		return 2 * k * k
	}
	return k * k
}

// An ε,δ budget is met by the composition of all, which buys no less than the conversion of ρ alone would.
func TestMicrodataMeetEpsilonAndDelta(t *testing.T) {
	p := plantest.MicrodataOf(t, "add-remove", "{epsilon: 1, delta: 1e-9, split: {tables: 1/2, microdata: 1/2}}", "row",
		"{budget: microdata, method: mst}")
	loss, err := budget.Compose(p.Mechanisms()...)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := loss.EpsilonAt(big.NewRat(1, 1_000_000_000))
	if err != nil || bound.Value > 1 || bound.Value < 0.999 {
		t.Errorf("ε %v, %v", bound, err)
	}
	plain, err := budget.ParseRat(p.Guarantee.PlainRho)
	if err != nil {
		t.Fatal(err)
	}
	if ratio, _ := new(big.Rat).Quo(p.Cost.Rho, plain).Float64(); ratio < 1-1e-6 { // a charge has seven digits
		t.Errorf("ρ %v, by conversion alone %v", p.Cost.Rho, plain)
	}
	if !strings.Contains(describe.Method(language.English, p), "the rounds of microdata by their cap in ρ") {
		t.Errorf("method %q", describe.Method(language.English, p))
	}
}

// Every pair of columns is counted, and each column; only tables are published cells.
func TestSizeOfMicrodata(t *testing.T) {
	p := plantest.MicrodataOf(t, "add-remove", "{rho: 1, split: {tables: 1/2, microdata: 1/2}}", "row",
		"{budget: microdata, method: mst}")
	// For the tables, the residuals of total, sex, age and both are measured.
	if tables, residuals, columns, pairs := int64(2+20), int64(1+2+10+20), int64(2+10+1),
		int64(20+2+10); p.Size != (plan.Size{Cells: tables, Bytes: (residuals+columns)*16 + pairs*24 + 3*1024}) {
		t.Errorf("size %+v", p.Size)
	}
	for i, cells := range []int64{20, 2, 10} {
		s := p.Synthetic[0]
		m, err := adaptive.Answer(p, s, 0, i, nil, s.Noise)
		if err != nil || m.Cells != cells || m.Mechanism.Parameter.Cmp(s.Noise.Parameter) != 0 ||
			m.Leaf != "microdata" {
			t.Errorf("pair %d is %+v, %v", i, m, err)
		}
	}
}

// A change of a unit's values is one step where units are replaced, and a removal and an addition where they are not,
// of which √ρ adds. The tables x and y have ρ 1/4. Where units are not replaced it is shared by the residuals of total,
// sex, age and both, as in TestLossOfTablesAndAttributes; where they are, each table is better measured by itself, with
// parts as √2 and √20, and x is put together from both.
func TestLossOfMicrodata(t *testing.T) {
	const small, large = 0.7416198 / 5.5081602, 2.0124612 / 5.5081602
	y := math.Sqrt(20) / (math.Sqrt(2) + math.Sqrt(20))
	for n, c := range map[string]struct{ x, sex, age, columns, blocks float64 }{
		"add-remove": {2 * small / 4, (small + large) * 4 / 4, 2 * large * (200. / 90) / 4, 2, 4},
		"replace":    {1. / 4, 1. / 4, y / 4, 1, 1},
	} {
		p := plantest.MicrodataOf(t, n, "{rho: 1, minimise: sum, split: {tables: 1/4, microdata: 3/4}}", "row",
			"{budget: microdata, by: [sex, age.half]}")
		l, err := describe.PrivacyLoss(compiled.Of(p))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := p.Synthetic[0].Block.Parameter.Float64()
		// Columns: ρ 1/8 each. One round: its choice and its pair 1/4 each, ε = √2 rounded down.
		want := []float64{1./4 + 1./4 + block, c.x, 1. / 4, 1./4 + block, c.sex + c.columns/8 + c.blocks*block,
			c.age + c.columns/8 + c.blocks*block}
		all := append(append([]describe.LossLine{l.Whole}, l.Tables...), l.Attributes...)
		names, tables := []string{"the whole release", "x", "y", "microdata/t", "sex", "age"}, []int{3, 1, 1, 1, 3, 2}
		if len(all) != len(want) {
			t.Fatalf("%d losses", len(all))
		}
		for i, one := range all {
			if one.Of != names[i] || one.Tables != tables[i] {
				t.Errorf("%s: loss %d is %s of %d; want %s of %d", n, i, one.Of, one.Tables, names[i], tables[i])
			}
			plantest.AssertNear(t, n+" "+one.Of, one.Rho, want[i])
			if len(one.Epsilons) != 3 || len(one.TruePositiveRates) != 2 {
				t.Errorf("%s: %s has %+v", n, one.Of, one)
			}
		}
		if block > 0.5 || block < 0.5*(1-1e-6) {
			t.Errorf("the block is %v", block)
		}
	}
}

// Whatever is changed of the microdata in a plan file, it is refused before it can be measured.
func TestEditedMicrodataAreRefused(t *testing.T) {
	p := plantest.MicrodataOf(t, "add-remove", "{rho: 1, split: {tables: 1/4, microdata: 3/4}}", "row",
		"{budget: microdata, method: mst, rows: 1000, by: [sex, age.half]}")
	if read, err := compiled.Read(p.Bytes()); err != nil || plantest.Verify(read.Plan()) != nil ||
		read.Hash() != p.Hash() {
		t.Fatalf("reading it again: %v", err)
	}
	text := string(p.Bytes())
	block, choice := budget.FormatRat(p.Synthetic[0].Block.Parameter), budget.FormatRat(p.Synthetic[0].Select.Parameter)
	for old, changed := range map[string]string{
		`"parameter": "` + block + `"`:  `"parameter": "1/4"`,
		`"parameter": "` + choice + `"`: `"parameter": "3"`,
		`"rounds": 1`:                   `"rounds": 2`,
		`"rows": 1000`:                  `"rows": 2000`,
		`"method": "mst"`:               `"method": "aim"`,
		`"microdata": "t"`:              `"microdata": "u"`,
		`"id": "microdata/t/sex"`:       `"id": "microdata/t/xes"`,
	} {
		if strings.Count(text, old) != 1 {
			t.Errorf("the plan does not hold %s once", old)
			continue
		}
		read, err := compiled.Read([]byte(strings.Replace(text, old, changed, 1)))
		if err == nil {
			err = plantest.Verify(read.Plan())
		}
		if err == nil {
			t.Errorf("%s for %s passes", changed, old)
		}
	}
	pair := `"noise": {
        "kind": "discrete-gaussian",
        "parameter": "2"`
	if strings.Count(text, pair) != 1 {
		t.Fatalf("the noise of a pair is not as expected in\n%s", text)
	}
	read, err := compiled.Read([]byte(strings.Replace(text, pair, strings.Replace(pair, `"2"`, `"1"`, 1), 1)))
	if err == nil {
		err = plantest.Verify(read.Plan())
	}
	if err == nil {
		t.Error("less noise on a pair passes")
	}
	// A mechanism that is not there is refused, not met when the plan is written again.
	for name, left := range map[string]string{"block": `,\s*"block": \{[^}]*\}`, "select": `"select": \{[^}]*\},`,
		"noise": `"noise": \{[^}]*\},`} {
		without := regexp.MustCompile(left).ReplaceAllString(text, "")
		if _, err := compiled.Read([]byte(without)); without == text || !errors.Is(err, plan.ErrEdited) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestMicrodataThatCannotBePlanned(t *testing.T) {
	var columns []string
	for i := range 448 {
		columns = append(columns, fmt.Sprintf("c%d: {values: [a, b]}", i))
	}
	const wide = "a: {type: integer, range: [0, 1999999]}, b: {type: integer, range: [0, 1999999]}"
	const shares = "split: {tables: 1/2, t: 1/2}"
	for _, c := range []struct{ budget, columns, want string }{
		{"{rho: 1, " + shares + "}", strings.Join(columns, ", "),
			"microdata of t: 448 columns have 100\u202f128 pairs, more than 100\u202f000: name fewer columns under `by`"},
		{"{rho: 1, " + shares + "}", wide,
			"microdata of t: the pair of a and b would have more than 2^36 cells: use coarser levels under `by`"},
		{"{rho: 1, " + shares + "}", strings.ReplaceAll(wide, "1999999", "199999") +
			", c: {type: integer, range: [0, 199999]}", "together: use coarser levels or fewer columns under `by`"},
		{"{rho: 1, " + shares + "}", "a: {values: [p]}, b: {values: [p]}, a_x_b: {values: [p]}",
			"column a_x_b and the pair of a and b would have one name, microdata/t/a_x_b"},
		{"{rho: 1, " + shares + "}", "a: {values: [p]}, b_x_c: {values: [p]}, a_x_b: {values: [p]}, c: {values: [p]}",
			"would have one name, microdata/t/a_x_b_x_c"},
		{"{rho: 1, " + shares + "}", "a: {values: [p]}, a_label: {values: [p]}",
			"two columns \"a_label\", of a and of a_label"},
		{"{rho: 1e-15, " + shares + "}", "a: {values: [p]}, b: {values: [p]}",
			"microdata of t: a choice among columns gets ρ 1.667e-16, too little"},
		{"{rho: 1e-60, split: {tables: {rho: 9e-61}, t: 1}}", "a: {values: [p]}, b: {values: [p]}",
			"param is above 2^100"},
	} {
		text := fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: replace}\nbudget: %s\n"+
			"tables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\nmarginals: {tables: {by: []}}\n"+
			"synthetic: {t: {method: mst}}\n", c.budget, c.columns)
		_, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: text})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: error %v, expected one with %s", c.columns, err, c.want)
		}
	}
}

// What the spec refuses the planner refuses too, whoever made the release.
func TestMicrodataOfAReleaseThatNoSpecGives(t *testing.T) {
	for want, change := range map[string]func(*spec.Release){
		"leaf \"tables\" pays for the microdata of t and for something else": func(r *spec.Release) {
			r.Synthetic[0].Leaf,
				r.Budget.Leaves = "tables", r.Budget.Leaves[:1]
		},
		"1 column: at least two are needed": func(r *spec.Release) {
			r.Synthetic[0].By = r.Synthetic[0].By[:1]
		},
		"a pure ε budget cannot pay for them": func(r *spec.Release) {
			r.Budget.Epsilon,
				r.Budget.Rho = r.Budget.Rho, nil
		},
		"the budget has no leaf \"none\"": func(r *spec.Release) {
			r.Synthetic[0].Leaf = "none"
		},
		"there is no table \"u\"": func(r *spec.Release) {
			r.Synthetic[0].Table = "u"
		},
	} {
		r := plantest.MicrodataOf(t, "replace", "{rho: 1, split: {tables: 1/2, microdata: 1/2}}", "row",
			"{budget: microdata, method: mst}").Release()
		change(r)
		if _, err := planner.New(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected one with %s", err, want)
		}
	}
}

// A column of microdata that a table shows too is no mistake; a single pair to choose from is worth a word.
func TestWarningsOfMicrodata(t *testing.T) {
	const b, unit = "{rho: 1/8, split: {tables: 1/2, microdata: 1/2}}", "{id: who, max_rows: 1}"
	p := plantest.MicrodataOf(t, "add-remove", b, unit, "{budget: microdata, method: mst}")
	if strings.Contains(strings.Join(describe.Warnings(language.English, p), " "), "microdata of t") {
		t.Errorf("warnings %q", describe.Warnings(language.English, p))
	}
	p = plantest.MicrodataOf(t, "add-remove", b, unit, "{budget: microdata, by: [sex, age]}")
	if strings.Count(strings.Join(describe.Warnings(language.English, p), " "), "single pair of columns") != 1 {
		t.Errorf("warnings %q", describe.Warnings(language.English, p))
	}
}

// What changed in microdata is told in words, and that they are new or gone.
func TestChangesOfMicrodataAreTold(t *testing.T) {
	const b = "{rho: 1, split: {tables: 1/4, microdata: 3/4}}"
	of := func(synthetic string) *plan.Plan { return plantest.MicrodataOf(t, "add-remove", b, "row", synthetic) }
	before := of("{budget: microdata, by: [sex, age]}")
	for synthetic, lines := range map[string][]string{
		"{budget: microdata, by: [sex, age], rows: 1000}": {"  t: rows: as many rows as the noisy total says → 1000 rows"},
		"{budget: microdata, by: [sex, age.half]}":        {"  t: columns: sex, age → sex, age.half"},
		"{budget: microdata, method: mst}": {"  t: columns: sex, age → sex, age, one", "  t: rounds: 1 → 2",
			"  t: noise of a pair: σ² = 2 → σ² = 4",
			"  t: choice of a round: by the exponential mechanism with ε 1.415, ρ 0.25 → by the exponential " +
				"mechanism with ε 1, ρ 0.125",
			"  t: noise of a column: σ² = 4 → σ² = 6"},
	} {
		page := plantest.PageOfDiff(t, before, of(synthetic))
		for _, line := range append(lines, "\nMicrodata\n") {
			if !strings.Contains(page, line) {
				t.Errorf("%s: no line %q in\n%s", synthetic, line, page)
			}
		}
	}
	none, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml",
		Text: strings.Replace(strings.Split(before.Source.Text, "synthetic:")[0],
			"split: {tables: 1/4, microdata: 3/4}",
			"split: {tables: 1}", 1)})
	if err != nil {
		t.Fatal(err)
	}
	page := plantest.PageOfDiff(t, none, before)
	for _, line := range []string{"  t: new: as many rows as the noisy total says of sex, age; 1 round, ρ 0.5",
		"  microdata: new: 75%, ρ = 0.75, for microdata of t",
		"  method: the ρ of all measurements added up (Bun and Steinke 2016) → the ρ of all measurements and the cap " +
			"of all rounds of microdata added up"} {
		if !strings.Contains(page, line) {
			t.Errorf("no line %q in\n%s", line, page)
		}
	}
}
