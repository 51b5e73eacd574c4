package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec"
)

// sized is a spec of a table with 2000 combinations of age and region, with a number of rows that is expected.
const sized = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}%s, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 99], levels: {band: {width: 10}, half: {width: 50}}}, region: {type: integer, range: [1, 20]}}}}
marginals: %s
`

func sizedPlan(t *testing.T, budget string, rows int, marginals string) *Plan {
	t.Helper()
	expect := ""
	if rows > 0 {
		expect = fmt.Sprintf(", expect: {rows: [%d, %d]}", rows-1, rows+1)
	}
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(sized, budget, expect, marginals)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The bands go by margin, median error and standard error against an average cell; each border belongs to the better
// band.
func TestBands(t *testing.T) {
	for _, c := range []struct {
		margin, median, deviation, cell float64
		want                            Band
	}{
		{19, 7, 10, 191, Good}, {19, 7, 10, 190, Good}, {19, 7, 10, 189, Usable}, {19, 7, 10, 20, Usable}, {19, 7, 10, 19.9, Weak}, {19, 7, 10, 7, Weak}, {19, 7, 10, 6.9, MostlyNoise},
		{0, 0, 0.1, 5, Good}, {1, 0, 0.6, 1, Weak},
	} {
		if got := bandOf(Statistic{Margin: c.margin, Median: c.median, StandardError: c.deviation}, c.cell); got != c.want {
			t.Errorf("±%v, median %v, σ %v, a cell of %v: %s, want %s", c.margin, c.median, c.deviation, c.cell, got, c.want)
		}
	}
}

// A table measured by itself with σ² = 1/(2ρ) = 100: a margin of 20 (|X| ≤ 19 has probability 0.949), half of the cells
// within 7 (|X| ≤ 6 has 0.484); 2000 cells.
func TestTablesAreJudgedAgainstAverageCells(t *testing.T) {
	for _, c := range []struct {
		rows     int
		cell     float64
		want     Band
		sentence string
		help     []Help
	}{
		{400000, 200, Good, "Good: the margin is 10% of an average cell (200 if t has 400\u202f000 rows). Verdict on cells of that size: use.", nil},
		{398000, 199, Usable, "Usable: the standard error is 5.03% of an average cell (199 if t has 398\u202f000 rows). Verdict on cells of that size: use.", nil},
		{40000, 20, Usable, "Usable: the standard error is 50% of an average cell (20 if t has 40\u202f000 rows). Verdict on cells of that size: add up first.", nil},
		// half of an average cell: four times the ρ; a tenth or a twentieth of the cells
		{20000, 10, Weak, "Weak: the standard error is 100% of an average cell (10 if t has 20\u202f000 rows). Verdict on cells of that size: do not use cell by cell.",
			[]Help{{"spend 4 times the ρ", 4, 0.5, true}, {"age.band for age", 10, 0.1, false}, {"drop region", 20, 0.05, false}}},
		// a whole average cell: (10/4)² times the ρ
		{8000, 4, MostlyNoise, "Mostly noise: half its cells will be off by more than their size, by 7 or more beside an average cell (4 if t has 8000 rows). Verdict on cells of that size: do not use cell by cell.",
			[]Help{{"spend 6.3 times the ρ", 6.25, 1, true}, {"age.band for age", 10, 0.25, false}, {"drop region", 20, 0.125, false}}},
		// ages by ten do not suffice, halves do; and a twentieth of the cells still does not
		{1600, 0.8, MostlyNoise, "Mostly noise: half its cells will be off by more than their size, by 7 or more beside an average cell (0.8 if t has 1600 rows). Verdict on cells of that size: do not use cell by cell.",
			[]Help{{"drop region", 20, 0.625, false}, {"age.half for age", 50, 0.25, false}, {"spend 160 times the ρ", 156.25, 1, true}}},
		{0, 0, "", "With fewer than 20\u202f000 rows in t an average cell is smaller than its own noise.", nil},
	} {
		p := sizedPlan(t, "{rho: 1/200}", c.rows, "{x: {by: [age, region]}}")
		table := p.Tables[0]
		u := table.Usefulness
		if u.Band != c.want || math.Abs(u.AverageCell-c.cell) > 1e-9 || u.EnoughRows != 20000 || table.Statistics[0].Median != 7 {
			t.Errorf("%d rows: %+v, median error %v", c.rows, *u, table.Statistics[0].Median)
		}
		if !strings.HasSuffix(table.Expectation, c.sentence) {
			t.Errorf("%d rows: the table says\n%s\nwant\n%s", c.rows, table.Expectation, c.sentence)
		}
		if len(u.Help) != len(c.help) {
			t.Fatalf("%d rows: help %+v", c.rows, u.Help)
		}
		for i, h := range u.Help {
			if w := c.help[i]; h.Change != w.Change || h.Budget != w.Budget || !near(h.Factor, w.Factor) || !near(h.Relative, w.Relative) {
				t.Errorf("%d rows: help %+v, want %+v", c.rows, h, w)
			}
		}
		warned := slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.HasPrefix(w, "x is ") })
		if warned != (c.help != nil) {
			t.Errorf("%d rows: warnings %q", c.rows, p.Warnings)
		}
	}
}

// near is equality but for a scale of noise rounded to a multiple of 2⁻¹², and six digits kept.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-4*want }

// A pure ε: with t = 10, a = e^(−1/10), a standard error of √(2a)/(1−a) = 14.136, and half of the cells within 7, as
// 1 − 2a⁸/(1+a) = 0.528 and 1 − 2a⁷/(1+a) = 0.479. The error falls as the ε grows, not as its root.
func TestPureTablesAreJudgedByTheirOwnLaw(t *testing.T) {
	p := sizedPlan(t, "{epsilon: 1/10}", 8000, "{x: {by: [age, region]}}")
	u := p.Tables[0].Usefulness
	if u.Band != MostlyNoise || p.Tables[0].Statistics[0].Median != 7 || len(u.Help) != 3 {
		t.Fatalf("%+v", *u)
	}
	for i, w := range []Help{{"spend 3.6 times the ε", 14.136 / 4, 1, true}, {"age.band for age", 10, 1.4136 / 4, false}, {"drop region", 20, 0.7068 / 4, false}} {
		if h := u.Help[i]; h.Change != w.Change || !near(h.Factor, w.Factor) || !near(h.Relative, w.Relative) {
			t.Errorf("help %+v, want %+v", h, w)
		}
	}
}

// What the plan has already is judged by its own error; and a leaf that can still grow is told by its share.
func TestHelpKnowsThePlan(t *testing.T) {
	p := sizedPlan(t, "{rho: 1/20, split: {a: 1/10, b: 9/10}}", 8000, "{x: {by: [age, region], budget: a}, y: {by: [age.band, region], budget: b}}")
	x, y := p.Tables[0], p.Tables[1]
	if x.Usefulness.Band != MostlyNoise {
		t.Fatalf("%+v", *x.Usefulness)
	}
	for _, h := range x.Usefulness.Help {
		if h.Change == "age.band for age" && !near(h.Relative, y.Statistics[0].StandardError*200/8000) {
			t.Errorf("%+v, of a table with the error %v", h, y.Statistics[0].StandardError)
		}
		if h.Budget && !strings.HasPrefix(h.Change, "give a ") {
			t.Errorf("%+v", h)
		}
	}
}

// Where nothing helps by itself the largest attributes go together; and where nothing does, the table.
func TestHelpWhereOneChangeIsNotEnough(t *testing.T) {
	p := sizedPlan(t, "{rho: 1/200}", 40, "{x: {by: [age, region, sex]}}")
	// 4000 cells for 40 rows: 0.01 a cell, errors of 1000 of it. Without age and region there are 20 rows a cell.
	if h := p.Tables[0].Usefulness.Help; len(h) != 2 || h[0].Change != "drop age and region" || !near(h[0].Relative, 0.5) || !near(h[0].Factor, 2000) {
		t.Errorf("help %+v", h)
	}
	p = sizedPlan(t, "{rho: 1/200}", 40, "{x: {by: [region]}}")
	if want := "Nothing but the budget would help (spend 25 times the ρ): leave the table out."; p.Tables[0].Usefulness.advice() != want {
		t.Errorf("advice %q", p.Tables[0].Usefulness.advice())
	}
}

// Where a table counts up, the mean of its cells is that of the sums 1/n, 2/n … of all rows.
func TestAverageCellsOfTablesThatCountUp(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(sized, "{rho: 1}", "", "{x: {by: [age.band, sex], cumulative: [age.band]}}")})
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i := 1.0; i <= 10; i++ {
		sum += i / 10
	}
	p := For(r)
	x := Table{Marginal: "x", From: "t", By: []string{"age.band", "sex"}, Cells: 20}
	for level, want := range map[string]float64{"band": 20. / 11, "half": 4. / 3} {
		if got := p.evenSize(x, "age.band", spec.Attribute{Column: "age", Level: level}); math.Abs(got-want) > 1e-12 {
			t.Errorf("sums up to each %s divide the rows by %v, want %v", level, got, want)
		}
	}
	if got := p.evenCells(Table{Marginal: "x", From: "t", By: []string{"age.band", "sex"}, Cells: 20}); math.Abs(1/got-sum/10/2) > 1e-12 {
		t.Errorf("an average cell is 1/%v of all rows, want %v", got, sum/10/2)
	}
	if got := p.evenCells(Table{Marginal: "y", From: "t", By: []string{"age.band", "sex"}, Cells: 20, Impossible: 5}); got != 15 {
		t.Errorf("5 of 20 cells are impossible: %v share the rows", got)
	}
}

// Warnings of tables alike are one, with the changes that help most of them first.
func TestWarningsOfUselessTablesAreFolded(t *testing.T) {
	p := sizedPlan(t, "{rho: 1/200}", 1000, "{x: {every: [2], by: [age, region, sex]}}")
	var useless []string
	for _, w := range p.Warnings {
		if strings.Contains(w, "average cell") {
			useless = append(useless, w)
		}
	}
	if len(useless) != 2 || !strings.HasPrefix(useless[0], "x/age_x_region and x/age_x_sex are mostly noise: half their cells will be off by more than their size, with standard errors of ") ||
		!strings.Contains(useless[0], " times an average cell if t has 1000 rows. What would help: age.half for age (helps 1 of them); ") || !strings.HasSuffix(useless[0], " times their budget") ||
		!strings.HasPrefix(useless[1], "x/region_x_sex is weak: its standard error is ") {
		t.Errorf("warnings %q", useless)
	}
}

// Two tables of 2 and 100 cells get shares as √2 to √100. With 1/8 of ρ that is σ² = 32.28 and 4.566; the total of the
// larger table, of variance 456.6, helps the smaller a little: (1/(1/64.57 + 1/456.6) + 64.57)/4 = 30.29 a cell, where half
// of the ρ for each would give 8: √(30.29/8) = 1.946.
func TestTablesThatLoseAreNamed(t *testing.T) {
	const losing = "x has 1.95 times the error that measuring each of the 2 tables by itself with an equal share would give: the planner makes the sum of variances over all cells least, to which tables of few cells add little; a larger weight for its marginal changes that"
	for marginals, want := range map[string]string{
		"{x: {by: [sex]}, y: {by: [age]}}":                                       losing,
		"{x: {by: [sex], weight: 50}, y: {by: [age]}}":                           "",
		"{x: {by: [sex]}, y: {by: [region, age]}, z: {by: [sex]}}":               "x and z have ",
		"{x: {by: [age]}}":                                                       "",
		"{x: {by: [region, sex], cumulative: [region]}, y: {by: [age, region]}}": "", // sums along a column are not compared with cells
		"{every: {every: [1], by: [sex, age]}}":                                  "every/sex has 1.95 times the error that measuring each of the 2 tables by itself with an equal share would give: the planner makes the sum of variances over all cells least, to which tables of few cells add little; a larger weight for its marginal changes that, in a marginal of their own beside the `every`",
	} {
		p := sizedPlan(t, "{rho: 1/8, minimise: sum}", 0, marginals)
		var got []string
		for _, w := range p.Warnings {
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
	p, err := planOfSource(spec.Source{Name: "r.yaml", Text: `version: 1
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
	for _, w := range p.Warnings {
		if strings.Contains(w, "equal share") {
			t.Errorf("warning %q", w)
		}
	}
}

// The cells that need memory are those that are counted.
func TestMemoryIsOfCountedCells(t *testing.T) {
	for _, c := range []struct {
		size       Size
		candidates string
		want       string
	}{
		{Size{Cells: 1 << 28, Bytes: 1 << 32}, "", ""},
		{Size{Cells: 1 << 29, Bytes: 1 << 33}, "", "the tables have 536\u202f870\u202f912 cells in all and need 8.0 GiB of memory"},
		{Size{Cells: 1000, Bytes: 1 << 33}, "", "536\u202f870\u202f912 cells are counted for the tables, which have 1000 cells, and need 8.0 GiB of memory"},
		{Size{Cells: 1000, Bytes: 1 << 33}, "all pairs of columns of the microdata", "the counts of the tables and of all pairs of columns of the microdata, and what is made of them, need 8.0 GiB of memory"},
	} {
		got := strings.Join(large(c.size, c.candidates), "")
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.size, got, c.want)
		}
	}
}

// A table that a pure budget does not measure keeps its noise with fewer cells: its error against an average cell falls as
// these grow, 20 times without the regions and 10 times by bands of ages, and not by the root of that.
func TestHelpOfTablesThatAPureBudgetDoesNotMeasure(t *testing.T) {
	p := sizedPlan(t, "{epsilon: 1/10}", 8000, "{x: {by: [age, region]}, y: {by: [age, region, sex]}}")
	x := p.Tables[0]
	if _, measured := p.Measurement(x.Path); measured || len(p.Measurements) != 1 {
		t.Fatalf("measurements %+v", p.Measurements)
	}
	relative, found := x.Statistics[0].StandardError/4, 0
	for _, h := range x.Usefulness.Help {
		if fewer, ok := map[string]float64{"drop region": 20, "age.band for age": 10}[h.Change]; ok {
			found++
			if !near(h.Relative, relative/fewer) || h.Factor != fewer {
				t.Errorf("%+v, of a table with the relative error %v", h, relative)
			}
		}
	}
	if found != 2 {
		t.Errorf("help %+v", x.Usefulness.Help)
	}
}
