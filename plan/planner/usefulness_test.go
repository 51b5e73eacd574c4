package planner_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// helped is a change that helps, with its words.
type helped struct {
	Change           string
	Factor, Relative float64
	Budget           bool
}

// The bands go by margin, median error and standard error against an average cell; each border belongs to the better
// band.
func TestBands(t *testing.T) {
	for _, c := range []struct {
		margin, median, deviation, cell float64
		want                            usefulness.Band
	}{
		{19, 7, 10, 191, usefulness.Good}, {19, 7, 10, 190, usefulness.Good}, {19, 7, 10, 189, usefulness.Usable},
		{19, 7, 10, 20, usefulness.Usable},
		{19, 7, 10, 19.9, usefulness.Weak}, {19, 7, 10, 7, usefulness.Weak}, {19, 7, 10, 6.9, usefulness.MostlyNoise},
		{0, 0, 0.1, 5, usefulness.Good}, {1, 0, 0.6, 1, usefulness.Weak},
	} {
		s := plan.Statistic{Margin: c.margin, Median: c.median, StandardError: c.deviation}
		if got := compiled.BandOf(s, c.cell); got != c.want {
			t.Errorf("±%v, median %v, σ %v, a cell of %v: %s, want %s", c.margin, c.median, c.deviation, c.cell, got,
				c.want)
		}
	}
}

// A table measured by itself with σ² = 1/(2ρ) = 100: a margin of 20 (|X| ≤ 19 has probability 0.949), half of the cells
// within 7 (|X| ≤ 6 has 0.484); 2000 cells.
func TestTablesAreJudgedAgainstAverageCells(t *testing.T) {
	for _, c := range []struct {
		rows     int
		cell     float64
		want     usefulness.Band
		sentence string
		help     []helped
	}{
		{400000, 200, usefulness.Good,
			"Good: the margin is 10% of an average cell (200 if t has 400\u202f000 rows). Verdict on cells of that size: use.",
			nil},
		{398000, 199, usefulness.Usable,
			"Usable: the standard error is 5.03% of an average cell (199 if t has 398\u202f000 rows). Verdict on " +
				"cells of that size: use.", nil},
		{40000, 20, usefulness.Usable,
			"Usable: the standard error is 50% of an average cell (20 if t has 40\u202f000 rows). Verdict on cells " +
				"of that size: add up first.", nil},
		// half of an average cell: four times the ρ; a tenth or a twentieth of the cells
		{20000, 10, usefulness.Weak,
			"Weak: the standard error is 100% of an average cell (10 if t has 20\u202f000 rows). Verdict on cells of " +
				"that size: do not use cell by cell.",
			[]helped{{Change: "spend 4 times the ρ", Factor: 4, Relative: 0.5, Budget: true},
				{Change: "age.band for age", Factor: 10, Relative: 0.1, Budget: false},
				{Change: "drop region", Factor: 20, Relative: 0.05, Budget: false}}},
		// a whole average cell: (10/4)² times the ρ
		{8000, 4, usefulness.MostlyNoise,
			"Mostly noise: half its cells will be off by 7 or more, which is more than an average cell (4 if t has " +
				"8000 rows). Verdict on cells of that size: do not use cell by cell.",
			[]helped{{Change: "spend 6.3 times the ρ", Factor: 6.25, Relative: 1, Budget: true},
				{Change: "age.band for age", Factor: 10, Relative: 0.25, Budget: false},
				{Change: "drop region", Factor: 20, Relative: 0.125, Budget: false}}},
		// ages by ten do not suffice, halves do; and a twentieth of the cells still does not
		{1600, 0.8, usefulness.MostlyNoise,
			"Mostly noise: half its cells will be off by 7 or more, which is more than an average cell (0.8 if t has " +
				"1600 rows). Verdict on cells of that size: do not use cell by cell.",
			[]helped{{Change: "drop region", Factor: 20, Relative: 0.625, Budget: false},
				{Change: "age.half for age", Factor: 50, Relative: 0.25, Budget: false},
				{Change: "spend 160 times the ρ", Factor: 156.25, Relative: 1, Budget: true}}},
		{0, 0, "", "With fewer than 20\u202f000 rows in t an average cell is smaller than its own noise.", nil},
	} {
		p := plantest.SizedPlan(t, "{rho: 1/200}", c.rows, "{x: {by: [age, region]}}")
		table := p.Tables[0]
		u := table.Usefulness
		if u.Band != c.want || math.Abs(u.AverageCell-c.cell) > 1e-9 || u.EnoughRows != 20000 ||
			table.Statistics[0].Median != 7 {
			t.Errorf("%d rows: %+v, median error %v", c.rows, *u, table.Statistics[0].Median)
		}
		if !strings.HasSuffix(describe.ExpectationOf(language.English, p, table), c.sentence) {
			t.Errorf("%d rows: the table says\n%s\nwant\n%s", c.rows,
				describe.ExpectationOf(language.English, p, table), c.sentence)
		}
		if len(u.Help) != len(c.help) {
			t.Fatalf("%d rows: help %+v", c.rows, u.Help)
		}
		for i, h := range u.Help {
			if w := c.help[i]; h.Change.String() != w.Change || h.Budget != w.Budget ||
				!plantest.Near(h.Factor, w.Factor) ||
				!plantest.Near(h.Relative, w.Relative) {
				t.Errorf("%d rows: help %+v, want %+v", c.rows, h, w)
			}
		}
		warned := slices.ContainsFunc(describe.Warnings(language.English, p),
			func(w string) bool { return strings.HasPrefix(w, "x is ") })
		if warned != (c.help != nil) {
			t.Errorf("%d rows: warnings %q", c.rows, describe.Warnings(language.English, p))
		}
	}
}

// A pure ε: with t = 10, a = e^(−1/10), a standard error of √(2a)/(1−a) = 14.136, and half of the cells within 7, as
// 1 − 2a⁸/(1+a) = 0.528 and 1 − 2a⁷/(1+a) = 0.479. The error falls as the ε grows, not as its root.
func TestPureTablesAreJudgedByTheirOwnLaw(t *testing.T) {
	p := plantest.SizedPlan(t, "{epsilon: 1/10}", 8000, "{x: {by: [age, region]}}")
	u := p.Tables[0].Usefulness
	if u.Band != usefulness.MostlyNoise || p.Tables[0].Statistics[0].Median != 7 || len(u.Help) != 3 {
		t.Fatalf("%+v", *u)
	}
	for i, w := range []helped{{Change: "spend 3.6 times the ε", Factor: 14.136 / 4, Relative: 1, Budget: true},
		{Change: "age.band for age", Factor: 10, Relative: 1.4136 / 4, Budget: false},
		{Change: "drop region", Factor: 20, Relative: 0.7068 / 4, Budget: false}} {
		if h := u.Help[i]; h.Change.String() != w.Change || !plantest.Near(h.Factor, w.Factor) ||
			!plantest.Near(h.Relative, w.Relative) {
			t.Errorf("help %+v, want %+v", h, w)
		}
	}
}

// What the plan has already is judged by its own error; and a leaf that can still grow is told by its share.
func TestHelpKnowsThePlan(t *testing.T) {
	p := plantest.SizedPlan(t, "{rho: 1/20, split: {a: 1/10, b: 9/10}}", 8000,
		"{x: {by: [age, region], budget: a}, y: {by: [age.band, region], budget: b}}")
	x, y := p.Tables[0], p.Tables[1]
	if x.Usefulness.Band != usefulness.MostlyNoise {
		t.Fatalf("%+v", *x.Usefulness)
	}
	for _, h := range x.Usefulness.Help {
		if h.Change.String() == "age.band for age" &&
			!plantest.Near(h.Relative, y.Statistics[0].StandardError*200/8000) {
			t.Errorf("%+v, of a table with the error %v", h, y.Statistics[0].StandardError)
		}
		if h.Budget && !strings.HasPrefix(h.Change.String(), "give a ") {
			t.Errorf("%+v", h)
		}
	}
}

// Where a table counts up, the mean of its cells is that of the sums 1/n, 2/n … of all rows.
func TestAverageCellsOfTablesThatCountUp(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(plantest.Sized, "{rho: 1}", "",
		"{x: {by: [age.band, sex], cumulative: [age.band]}}")})
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i := 1.0; i <= 10; i++ {
		sum += i / 10
	}
	p := plan.NewEmpty(r)
	x := plan.Table{Marginal: "x", From: "t", By: []string{"age.band", "sex"}, Cells: 20}
	for level, want := range map[string]float64{"band": 20. / 11, "half": 4. / 3} {
		got := planner.EvenSize(p, x, "age.band", spec.Attribute{Column: "age", Level: level})
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("sums up to each %s divide the rows by %v, want %v", level, got, want)
		}
	}
	got := compiled.CellsForAverage(p, plan.Table{Marginal: "x", From: "t", By: []string{"age.band", "sex"}, Cells: 20})
	if math.Abs(1/got-sum/10/2) > 1e-12 {
		t.Errorf("an average cell is 1/%v of all rows, want %v", got, sum/10/2)
	}
	if got := compiled.CellsForAverage(p, plan.Table{Marginal: "y", From: "t", By: []string{"age.band", "sex"},
		Cells:      20,
		Impossible: 5}); got != 15 {
		t.Errorf("5 of 20 cells are impossible: %v share the rows", got)
	}
}

// Warnings of tables alike are one, with the changes that help most of them first.
func TestWarningsOfUselessTablesAreFolded(t *testing.T) {
	p := plantest.SizedPlan(t, "{rho: 1/200}", 1000, "{x: {every: [2], by: [age, region, sex]}}")
	var useless []string
	for _, w := range describe.Warnings(language.English, p) {
		if strings.Contains(w, "average cell") {
			useless = append(useless, w)
		}
	}
	if len(useless) != 2 || !strings.HasPrefix(useless[0],
		"x/age_x_region and x/age_x_sex are mostly noise: half their cells will be off by more than their size, with "+
			"standard errors of ") ||
		!strings.Contains(useless[0],
			" times an average cell if t has 1000 rows. What would help: age.half for age (helps 1 of them); ") ||
		!strings.HasSuffix(useless[0], " times their budget") ||
		!strings.HasPrefix(useless[1], "x/region_x_sex is weak: its standard error is ") {
		t.Errorf("warnings %q", useless)
	}
}

// Two tables of 2 and 100 cells get shares as √2 to √100. With 1/8 of ρ that is σ² = 32.28 and 4.566; the total of the
// larger table, of variance 456.6, helps the smaller a little: (1/(1/64.57 + 1/456.6) + 64.57)/4 = 30.29 a cell, where
// half of the ρ for each would give 8: √(30.29/8) = 1.946.
func TestTablesThatLoseAreNamed(t *testing.T) {
	const losing = "x has 1.95 times the error that measuring each of the 2 tables by itself with an equal share " +
		"would give: the planner makes the sum of variances over all cells least, to which tables of few cells add " +
		"little; a larger weight for its marginal changes that"
	for marginals, want := range map[string]string{
		"{x: {by: [sex]}, y: {by: [age]}}":                         losing,
		"{x: {by: [sex], weight: 50}, y: {by: [age]}}":             "",
		"{x: {by: [sex]}, y: {by: [region, age]}, z: {by: [sex]}}": "x and z have ",
		"{x: {by: [age]}}":                                         "",
		// sums along a column are not compared with cells
		"{x: {by: [region, sex], cumulative: [region]}, y: {by: [age, region]}}": "",
		"{every: {every: [1], by: [sex, age]}}": "every/sex has 1.95 times the " +
			"error that measuring each of the 2 tables by itself with an equal share would give: the planner makes " +
			"the sum of variances over all cells least, to which tables of few cells add little; a larger weight for " +
			"its marginal changes that, in a marginal of their own beside the `every`",
	} {
		p := plantest.SizedPlan(t, "{rho: 1/8, minimise: sum}", 0, marginals)
		var got []string
		for _, w := range describe.Warnings(language.English, p) {
			if strings.Contains(w, "equal share") {
				got = append(got, w)
			}
		}
		if want == "" && got != nil || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want)) {
			t.Errorf("%s: warnings %q, want %q", marginals, got, want)
		}
	}
}

// No weight makes one diagnostic more exact than another, so none is said to lose; the table beside them is as it was.
func TestDiagnosticsDoNotLose(t *testing.T) {
	p, err := plantest.PlanOfSource(spec.Source{Name: "r.yaml", Text: `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
diagnostics: {share: 10%}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 7}, columns: {sex: {values: [f, m]}}}}
marginals: {sexes: {by: [sex]}}
`})
	if err != nil {
		t.Fatal(err)
	}
	units, rows := p.Tables[1].Statistics[0].StandardError, p.Tables[2].Statistics[0].StandardError
	if rows < 2*units {
		t.Fatalf("standard errors %g and %g: neither loses much", units, rows)
	}
	for _, w := range describe.Warnings(language.English, p) {
		if strings.Contains(w, "equal share") {
			t.Errorf("warning %q", w)
		}
	}
}

// A table that a pure budget does not measure keeps its noise with fewer cells: its error against an average cell falls
// as these grow, 20 times without the regions and 10 times by bands of ages, and not by the root of that.
func TestHelpOfTablesThatAPureBudgetDoesNotMeasure(t *testing.T) {
	p := plantest.SizedPlan(t, "{epsilon: 1/10}", 8000, "{x: {by: [age, region]}, y: {by: [age, region, sex]}}")
	x := p.Tables[0]
	if _, measured := p.Measurement(x.Path); measured || len(p.Measurements) != 1 {
		t.Fatalf("measurements %+v", p.Measurements)
	}
	relative, found := x.Statistics[0].StandardError/4, 0
	for _, h := range x.Usefulness.Help {
		if fewer, ok := map[string]float64{"drop region": 20, "age.band for age": 10}[h.Change.String()]; ok {
			found++
			if !plantest.Near(h.Relative, relative/fewer) || h.Factor != fewer {
				t.Errorf("%+v, of a table with the relative error %v", h, relative)
			}
		}
	}
	if found != 2 {
		t.Errorf("help %+v", x.Usefulness.Help)
	}
}
