package describe_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

func TestLossOfTablesAndAttributes(t *testing.T) {
	p := plantest.PlanOf(t, "add-remove", "{rho: 1/8, minimise: sum}", "row", "{x: {by: [sex]}, y: {by: [sex, age]}}")
	l, err := describe.PrivacyLoss(compiled.Of(p))
	if err != nil {
		t.Fatal(err)
	}
	if l.Whole.Tables != 2 || l.Conversion != nil || len(l.Tables) != 2 || len(l.Attributes) != 2 ||
		l.Attributes[0].Of != "sex" || l.Attributes[1].Of != "age" {
		t.Fatalf("loss: %+v", l)
	}
	// Residuals: on the total, sex, age and both one row has the squares p = 1, 2, 90, 180, and their noise the weights
	// v = 1/2 + 1/20, half of that, 0.045, 0.0225, so that their parts √(p·v) of ρ are as 0.7416, 0.7416, 2.0125,
	// 2.0125. x is of the first two. Another sex moves the integers of its residual by (2, −2), 8 for 2; another age
	// by 10 and −10, 200 for 90; both together by the product with the other factor.
	const small, large = 0.7416198 / 5.5081602, 2.0124612 / 5.5081602
	for i, c := range []struct {
		got  string
		want float64
	}{
		{l.Whole.Rho, 1. / 8}, {l.Tables[0].Rho, 2 * small / 8}, {l.Tables[1].Rho, 1. / 8},
		{l.Attributes[0].Rho, (small + large) * 4 / 8}, {l.Attributes[1].Rho, 2 * large * (200. / 90) / 8},
	} {
		plantest.AssertNear(t, fmt.Sprint("ρ ", i), c.got, c.want)
	}
	for _, one := range []describe.LossLine{l.Whole, l.Tables[0], l.Attributes[1]} {
		rates := one.TruePositiveRates
		if len(rates) != 2 || !(rates[0].AtMost > 0.01 && rates[1].AtMost > 0.05 && rates[0].AtMost < rates[1].AtMost &&
			rates[1].AtMost < 1) {
			t.Errorf("%s: rates %+v", one.Of, rates)
		}
	}
	// 1/8-zCDP by wide noise is near 1/2-GDP: at 1 % wrongly, Φ(Φ⁻¹(0.01) + ½) = 3.39 %.
	if got := l.Whole.TruePositiveRates[0].AtMost; math.Abs(got-0.0339) > 0.0008 {
		t.Errorf("found at 1 %% wrongly: %v, want about 3.39 %%", got)
	}
}

func TestLossSaysWhatComposingGained(t *testing.T) {
	// where Gaussian noise is the better one
	p := plantest.PlanOf(t, "replace", "{epsilon: 1, delta: 1/20}", "row", "{x: {by: [sex]}}")
	l, err := describe.PrivacyLoss(compiled.Of(p))
	if err != nil {
		t.Fatal(err)
	}
	if e := l.Whole.Epsilons[0]; e.Delta != "1/20" || e.Epsilon > 1 || e.Epsilon < 0.999 {
		t.Errorf("the plan's own ε: %+v", e)
	}
	var page bytes.Buffer
	if err := l.Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the whole release", "sex", "ε at δ = 1/20", "power at 1%",
		"more variance in every cell"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, page.String())
		}
	}
}

func TestPureLossHasItsEpsilon(t *testing.T) {
	p := plantest.PlanOf(t, "add-remove", "{epsilon: 1, minimise: sum}", "row", "{x: {by: [sex]}, y: {by: [age]}}")
	l, err := describe.PrivacyLoss(compiled.Of(p))
	if err != nil {
		t.Fatal(err)
	}
	// 2 and 10 cells: ε is shared in proportion to their cube roots. A row that leaves one cell for another moves two.
	x := math.Cbrt(2) / (math.Cbrt(2) + math.Cbrt(10))
	plantest.AssertNear(t, "the whole", l.Whole.Pure, 1)
	plantest.AssertNear(t, "x", l.Tables[0].Pure, 1) // as its total rests on both
	plantest.AssertNear(t, "sex", l.Attributes[0].Pure, 2*x)
	// Randomized response of ε at 1 % wrongly finds at most e^ε as many.
	epsilon, _ := plan.Amount(l.Tables[0].Pure).Float64()
	if got, most := l.Tables[0].TruePositiveRates[0].AtMost, 0.01*math.Exp(epsilon); got > most+1e-9 ||
		got < most-1e-9 {
		t.Errorf("found %v, want %v", got, most)
	}
}

// TestLossOfAdult compares the figures of 105 tables with those of a continuous Gaussian, which noise this wide is
// close to: δ(1) = 1e-9 at μ = 0.1819748.
func TestLossOfAdult(t *testing.T) {
	p := plantest.PlanOfFile(t, filepath.Join(testkit.Root(t), "examples", "adult", "release.yaml"))
	l, err := describe.LossAt(compiled.Of(p), nil, describe.FalsePositiveRates)
	if err != nil {
		t.Fatal(err)
	}
	// Φ(Φ⁻¹(α) + μ) at α = 0.01 and 0.05.
	for i, want := range []float64{0.0160015, 0.0717503} {
		if got := l.Whole.TruePositiveRates[i].AtMost; math.Abs(got-want) > 3e-5 {
			t.Errorf("true positive rate %v, want %v", got, want)
		}
	}
	if len(l.Attributes) != 14 || l.Attributes[0].Tables != 14 {
		t.Errorf("%d attributes, the first in %d tables", len(l.Attributes), l.Attributes[0].Tables)
	}
}

func TestStatedLossSaysEpsilonWhereTheGuaranteeDoes(t *testing.T) {
	for budget, deltas := range map[string][]string{
		"{epsilon: 1}":              nil,
		"{rho: 1/8}":                {"1e-6"},
		"{epsilon: 1, delta: 1e-7}": {"1/10000000"},
	} {
		p := plantest.PlanOf(t, "add-remove", budget, "row", "{x: {by: [sex]}, y: {by: [sex, age]}}")
		stated, err := describe.StatedLoss(compiled.Of(p))
		if err != nil {
			t.Fatal(err)
		}
		full, err := describe.PrivacyLoss(compiled.Of(p))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(stated.Deltas, deltas) || len(stated.Tables) != 2 || len(stated.Attributes) != 2 {
			t.Fatalf("%s: %+v", budget, stated)
		}
		for i, one := range stated.Attributes {
			if other := full.Attributes[i]; one.Rho != other.Rho || one.Pure != other.Pure ||
				one.TruePositiveRates != nil {
				t.Errorf("%s: %s: %+v, in full %+v", budget, one.Of, one, other)
			}
			for _, e := range one.Epsilons {
				if !slices.Contains(full.Attributes[i].Epsilons, e) {
					t.Errorf("%s: %s: ε at δ = %s is another than in full", budget, one.Of, e.Delta)
				}
			}
		}
	}
}

// TestAttributesLoseAtMostWhatIsSaid checks a claim of the certificate: if neighbours add or remove a unit, an
// attribute loses up to twice the ε of the whole release if that is pure, and up to four times its ρ; if units are
// replaced, no more than the whole.
func TestAttributesLoseAtMostWhatIsSaid(t *testing.T) {
	tables := regexp.MustCompile(`(?m)^synthetic:.*\n`).ReplaceAllString(plantest.Peopled, "")
	pure, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml",
		Text: fmt.Sprintf(tables, "add-remove", "{epsilon: 1, split: {tables: 1}}", "row")})
	if err != nil {
		t.Fatal(err)
	}
	two, asked := "{id: person, max_rows: 2}", "{budget: microdata}"
	for name, c := range map[string]struct {
		p            *plan.Plan
		epsilon, rho *big.Rat // most, as multiples of the whole
	}{
		"pure": {pure, big.NewRat(2, 1), big.NewRat(4, 1)},
		// 4 of the block's two thirds, 2 of the rest: below 3.4
		"microdata": {plantest.MicrodataOf(t, "add-remove", "{rho: 1, split: {tables: 1/100, microdata: 99/100}}",
			two, asked), nil, big.NewRat(17, 5)},
		"microdata, of replace": {plantest.MicrodataOf(t, "replace", "{rho: 1, split: {tables: 1/2, microdata: 1/2}}",
			two,
			asked), nil, big.NewRat(1, 1)},
	} {
		l, err := describe.LossAt(compiled.Of(c.p), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		more := false
		for _, a := range l.Attributes {
			most := new(big.Rat).Mul(plan.Amount(l.Whole.Rho), c.rho)
			if plan.Amount(a.Rho).Cmp(most) > 0 {
				t.Errorf("%s: %s loses ρ %s, the whole %s", name, a.Of, a.Rho, l.Whole.Rho)
			}
			if c.epsilon != nil && plan.Amount(a.Pure).Cmp(new(big.Rat).Mul(plan.Amount(l.Whole.Pure), c.epsilon)) > 0 {
				t.Errorf("%s: %s loses ε %s, the whole %s", name, a.Of, a.Pure, l.Whole.Pure)
			}
			more = more || plan.Amount(a.Rho).Cmp(plan.Amount(l.Whole.Rho)) > 0
		}
		if more != (c.p.Guarantee.Neighbours == "add-remove") {
			t.Errorf("%s: some attribute loses more than the whole: %v", name, more)
		}
	}
}

// Each leaf loses its amount, in all of its measurements and rounds.
func TestLossOfLeaves(t *testing.T) {
	p := plantest.PlanOf(t, "add-remove", "{rho: 1/8, split: {a: 1/4, b: 3/4}}", "row",
		"{x: {by: [sex], budget: a}, y: {by: [age], budget: b}, z: {by: [age.half], budget: b}}")
	l, err := describe.PrivacyLoss(compiled.Of(p))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Leaves) != 2 || l.Leaves[0].Of != "a" || l.Leaves[0].Tables != 1 || l.Leaves[1].Of != "b" ||
		l.Leaves[1].Tables != 2 {
		t.Fatalf("leaves %+v", l.Leaves)
	}
	plantest.AssertNear(t, "a", l.Leaves[0].Rho, 1./32)
	plantest.AssertNear(t, "b", l.Leaves[1].Rho, 3./32)
	// The leaf a is one draw with σ² = 16, near 1/4-GDP: Φ(Φ⁻¹(0.01) + 1/4) = Φ(−2.0763) = 1.893 %.
	if got := l.Leaves[0].TruePositiveRates[0].AtMost; math.Abs(got-0.01893) > 0.0003 {
		t.Errorf("found at 1 %% wrongly: %v, want about 1.893 %%", got)
	}
	var page bytes.Buffer
	if err := l.Write(&page); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^each leaf of the budget alone *$\n^  a +1 +0\.03125 .*\n^  b +2 +0\.09375 `).
		MatchString(page.String()) {
		t.Errorf("the page is\n%s", page.String())
	}

	pure := plantest.PlanOf(t, "add-remove", "{epsilon: 1, split: {a: 1/4, b: 3/4}}", "row",
		"{x: {by: [sex], budget: a}, y: {by: [age], budget: b}}")
	if l, err = describe.PrivacyLoss(compiled.Of(pure)); err != nil {
		t.Fatal(err)
	}
	plantest.AssertNear(t, "a", l.Leaves[0].Pure, 1./4)
	plantest.AssertNear(t, "b", l.Leaves[1].Pure, 3./4)

	rows := plantest.MicrodataOf(t, "add-remove", "{rho: 1, split: {tables: 1/10, microdata: 9/10}}",
		"{id: person, max_rows: 2}", "{budget: microdata}")
	if l, err = describe.LossAt(compiled.Of(rows), nil, nil); err != nil {
		t.Fatal(err)
	}
	if last := l.Leaves[1]; last.Of != "microdata" || last.Tables != 1 {
		t.Errorf("the leaf of the microdata is %+v", last)
	}
	plantest.AssertNear(t, "microdata", l.Leaves[1].Rho, 9./10)

	if l, err = describe.LossAt(compiled.Of(plantest.PlanOf(t, "add-remove", "{rho: 1}", "row", "{x: {by: [sex]}}")),
		nil,
		nil); err != nil || l.Leaves != nil {
		t.Errorf("a budget that is not split has the leaves %+v, %v", l.Leaves, err)
	}
}

// Many tables share a row with the range of their losses.
func TestLossOfManyTablesIsFolded(t *testing.T) {
	l, err := describe.LossAt(compiled.Of(plantest.Wide(t, 10)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := l.Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`(?m)^  … and 7 more +1 each +`, `(?m)^  … and 42 more +1 each +`} {
		if !regexp.MustCompile(want).MatchString(page.String()) {
			t.Errorf("no line %s on the page\n%s", want, page.String())
		}
	}
	if rows := strings.Count(page.String(), "\n  x/"); rows != 2*describe.FirstTables {
		t.Errorf("%d tables have rows of their own", rows)
	}
}

// Between neighbours that add or remove a unit another value is two steps, as the page says. Between units that are
// replaced it is one step, and the page does not mention it.
func TestLossSaysWhyAnAttributeLosesMore(t *testing.T) {
	const why = "It can lose more than the whole release does: up to twice its ε if that is pure, up to four times its ρ."
	for neighbours, want := range map[string]bool{"add-remove": true, "replace": false} {
		l, err := describe.LossAt(compiled.Of(plantest.PlanOf(t, neighbours, "{epsilon: 1}", "row",
			"{x: {by: [sex]}}")), nil,
			nil)
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := l.Write(&page); err != nil {
			t.Fatal(err)
		}
		more := plan.Amount(l.Attributes[0].Pure).Cmp(plan.Amount(l.Whole.Pure)) > 0
		if said := strings.Contains(page.String(), why); said != want || more != want {
			t.Errorf("%s: an attribute loses more: %t, and the page says why: %t\n%s", neighbours, more, said,
				page.String())
		}
	}
}

// One integer can distinguish two categories: in a cumulative column of two, another value changes its one integer by
// at most 2·1024 with two rows, in squares (2048/σ)²/2 in ρ.
func TestLossOfTwoCategoriesThatCountUp(t *testing.T) {
	p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: `version: 1
release: r
privacy: {protects: person, neighbours: replace}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {hiv: {values: ["no", "yes"]}}}}
marginals: {m: {by: [hiv], cumulative: [hiv]}}
`})
	if err != nil {
		t.Fatal(err)
	}
	var want float64
	for _, m := range p.Measurements {
		if len(m.Query.Factors) == 0 {
			continue // everybody is in the total
		}
		columns, axes, plain, err := m.Query.Residual(p.Release())
		if err != nil {
			t.Fatal(err)
		}
		var answers [2]int64
		for value := range answers {
			counts := make([]int64, 2)
			counts[value] = 1
			moved, err := residual.Exact(columns, axes, plain, counts)
			if err != nil {
				t.Fatal(err)
			}
			answers[value] = moved[0]
		}
		variance, _ := m.Mechanism.Parameter.Float64() // σ²
		want += float64(answers[0]-answers[1]) * float64(answers[0]-answers[1]) / (2 * variance)
	}
	l, err := describe.LossAt(compiled.Of(p), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want < 0.1 {
		t.Fatalf("the integers hardly move: ρ %v", want)
	}
	plantest.AssertNear(t, "hiv", l.Attributes[0].Rho, want)
}

// A value for which a row is left out decides for every table, and for microdata, whether the row counts. Its loss is
// the loss of the removal of a unit and the addition of another. A column of one category that leaves rows out loses
// that too.
func TestLossOfColumnsThatLeaveRowsOut(t *testing.T) {
	for _, c := range []struct {
		policy string
		want   float64
	}{{"unknown: drop", 4}, {"null: drop", 4}, {"unknown: error", 0}} {
		p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1, split: {x: 9/10, y: 1/10}}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {sex: {values: [m, f]}, hiv: {values: ["no"], %s}}}}
marginals: {m: {by: [sex], budget: x}, n: {by: [hiv], budget: y}}
`, c.policy)})
		if err != nil {
			t.Fatal(err)
		}
		l, err := describe.LossAt(compiled.Of(p), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(l.Attributes, func(a describe.LossLine) bool { return a.Of == "hiv" })
		if c.want == 0 {
			if at >= 0 && plan.Amount(l.Attributes[at].Rho).Sign() != 0 {
				t.Errorf("%s: hiv, of one category, loses %s", c.policy, l.Attributes[at].Rho)
			}
			continue
		}
		if at < 0 {
			t.Fatalf("%s: hiv is not among the attributes", c.policy)
		}
		plantest.AssertNear(t, c.policy, l.Attributes[at].Rho, c.want)
		if l.Attributes[at].Tables != 2 {
			t.Errorf("%s: hiv decides of %d tables", c.policy, l.Attributes[at].Tables)
		}
	}
}

// TestLossOfColumnsWithSkellamNoise takes measurements whose shifts are known where a unit is added or removed, and not
// where its rows are exchanged: more than 12 single rows, and sums that move by more than 4096. Their columns are
// charged four times the ρ.
func TestLossOfColumnsWithSkellamNoise(t *testing.T) {
	for _, marginal := range []string{"{by: [ward], stats: [units]}", "{by: [ward], per_unit: {rows_per_group: 1}}",
		"{by: [ward], stats: [{sum: cost}]}"} {
		p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
holders: {keys: {a: a.pub, b: b.pub}, units: disjoint, trusted: 2}
budget: {rho: 3}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: id, max_rows: 8}
    columns: {ward: {values: [a, b, c, d, e, f, g, h]}, cost: {type: integer, range: [0, 1000]}}
marginals: {m: %s}
`, marginal), Files: plantest.HolderKeys("a.pub", "b.pub")})
		if err != nil {
			t.Fatal(err)
		}
		l, err := describe.LossAt(compiled.Of(p), []string{"1e-6"}, []float64{0.01})
		if err != nil {
			t.Errorf("%s: %v", marginal, err)
			continue
		}
		whole := plan.Amount(l.Whole.Rho)
		for _, a := range l.Attributes {
			if ratio, _ := new(big.Rat).Quo(plan.Amount(a.Rho), whole).Float64(); ratio > 4*(1+1e-3) {
				t.Errorf("%s: %s loses %v times the ρ of the release", marginal, a.Of, ratio)
			}
		}
	}
}

// TestLossOfColumnsThatNoTableShows checks columns that affect what is measured without being counted by: which rows
// count, what they weigh, and the key of a lookup. A change in one of them may move all of a unit's rows to other
// cells, or leave them out, so it loses what the affected tables lose for a unit that is removed and one that is
// added.
func TestLossOfColumnsThatNoTableShows(t *testing.T) {
	text := `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1, split: {x: 9/10, y: 1/10}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    JOIN
    WHERE
    WEIGHT
    columns:
      sex: {values: [m, f]}
      hiv: {values: ["no", "yes"]}
      COLUMN
marginals: {m: {by: [sex], budget: x}, n: {by: [KEY], budget: y, stats: [STAT]}}
`
	for _, c := range []struct {
		name           string
		join, where    string
		weight, column string
		key, stat      string
		want           map[string]float64 // ρ of attributes
		without        []string
	}{
		{name: "where, of the file alone", where: "where: country == 'de'", want: map[string]float64{"country": 4}},
		{name: "where, a column that no table shows", where: "where: hiv == 'yes'", want: map[string]float64{"hiv": 4}},
		{name: "where, of the file by the name of a column", where: "where: age >= 18",
			column: "age: {from: AGEP, type: integer, range: [0, 9]}",
			key:    "age", want: map[string]float64{"age of the file": 4}, without: []string{"AGEP"}},
		{name: "weight", weight: "weight: {from: w, range: [0, 9], step: 1}", stat: "count",
			want: map[string]float64{"w": 4}},
		{name: "weight that leaves rows out", weight: "weight: {from: w, range: [0, 9], step: 1, null: drop}",
			want: map[string]float64{"w": 4}},
		{name: "key", join: "join: {p: {csv: p.csv, on: place, public: true}}",
			column: "region: {from: p.region, values: [north, south]}",
			key:    "region", want: map[string]float64{"place": 0.2, "region": 0.2}},
		{name: "nothing", without: []string{"country", "w", "place", "hiv"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := strings.NewReplacer("JOIN", c.join, "WHERE", c.where, "WEIGHT", c.weight, "COLUMN", c.column, "KEY",
				cmp.Or(c.key, "sex"), "STAT", cmp.Or(c.stat, "count"))
			p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: of.Replace(text),
				Files: map[string]string{"p.csv": "place,region\na,north\nb,south\n"}})
			if err != nil {
				t.Fatal(err)
			}
			l, err := describe.LossAt(compiled.Of(p), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]describe.LossLine{}
			for _, a := range l.Attributes {
				found[a.Of] = a
			}
			for name, want := range c.want {
				if _, ok := found[name]; !ok {
					t.Errorf("%s is not among the attributes", name)
					continue
				}
				plantest.AssertNear(t, name, found[name].Rho, want)
			}
			for _, name := range c.without {
				if _, ok := found[name]; ok {
					t.Errorf("%s acts on nothing, and is among the attributes", name)
				}
			}
		})
	}
}

// TestLossOfColumnsThatAreDiscovered compares the loss of a column whose categories nobody lists, and which leaves no
// row out, with the loss of its own table. A unit with another value leaves some groups and enters others; both
// change the counts, so the L1 sensitivity doubles and its square is four times as large, and the selection is
// charged twice. If units are replaced, both already cover that.
func TestLossOfColumnsThatAreDiscovered(t *testing.T) {
	for neighbours, times := range map[string]struct{ noise, selection int64 }{"add-remove": {4, 2},
		"replace": {1, 1}} {
		p := plantest.PlanOfWords(t, neighbours, 3)
		l, err := describe.LossAt(compiled.Of(p), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat)
		for _, m := range p.Measurements {
			if m.ID != "pages" {
				continue
			}
			want.Add(want, new(big.Rat).Mul(m.Mechanism.Rho(), big.NewRat(times.noise, 1)))
			for _, step := range m.Selection.Steps() {
				want.Add(want, new(big.Rat).Mul(step.Rho(), big.NewRat(times.selection, 1)))
			}
		}
		at := slices.IndexFunc(l.Attributes, func(a describe.LossLine) bool { return a.Of == "page" })
		if at < 0 || want.Sign() == 0 {
			t.Fatalf("%s: page is not among the attributes", neighbours)
		}
		if got := l.Attributes[at]; plan.Amount(got.Rho).Cmp(want) != 0 || got.Tables != 1 {
			t.Errorf("%s: page loses %s in %d tables, want %s in one", neighbours, got.Rho, got.Tables,
				want.RatString())
		}
	}
}

// Microdata of a column that reads another column's values reveal both: the rounds are charged to both.
func TestMicrodataOfTheSameValuesAreChargedToBothColumns(t *testing.T) {
	for _, neighbours := range []string{"add-remove", "replace"} {
		var want map[string]describe.LossLine
		for _, by := range []string{"age", "other"} {
			p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: `version: 1
release: trips
privacy: {protects: trip, neighbours: ` + neighbours + `, account: trips}
budget: {rho: 1, split: {tables: 1/100, rows: 99/100}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns:
      age: {type: integer, range: [0, 9]}
      other: {from: age, type: integer, range: [0, 9]}
      b: {values: [x, y, z]}
marginals: {ages: {by: [age], budget: tables}}
synthetic: {t: {budget: rows, method: aim, by: [` + by + `, b]}}
`})
			if err != nil {
				t.Fatal(err)
			}
			loss, err := describe.PrivacyLoss(compiled.Of(p))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]describe.LossLine{}
			for _, a := range loss.Attributes {
				got[a.Of] = a
			}
			if want == nil {
				want = got
			}
			for _, name := range []string{"age", by} {
				if a, b := got[name], want["age"]; a.Rho != b.Rho || a.Tables != b.Tables {
					t.Errorf("%s, microdata of %s: %s loses %q in %d tables, want %q in %d", neighbours, by, name,
						a.Rho, a.Tables,
						b.Rho, b.Tables)
				}
			}
		}
	}
}
