package describe_test

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// The stated loss, in words and as the sum of the costs, is never less than what is spent.
func TestLossesAreRoundedUp(t *testing.T) {
	for _, c := range []struct{ budget, says, cost string }{
		{"{epsilon: 1.00049}", "ε = 1.00049 (pure", "ε 1.001"},
		{"{rho: 0.123456}", "ρ = 0.123456 (zero", "ρ 0.1235"},
		{"{epsilon: 1/3}", "ε ≤ 0.3333334 (pure", "ε 0.3334"},
		{"{epsilon: 1.00049, delta: 1e-9}", "ε = 1.00049 and δ = 1e-9 (approximate", "ε 1.001"},
	} {
		p := plantest.PlanOf(t, "add-remove", c.budget, "{id: who, max_rows: 1}", "{x: {by: [sex]}}")
		page := plantest.PageOf(t, p)
		if !strings.Contains(page, c.says) || !strings.Contains(page, c.cost) {
			t.Errorf("%s: the page says\n%s\nexpected %q and %q", c.budget, page, c.says, c.cost)
		}
		if at := regexp.MustCompile(`e-0|e\+`).FindString(page); at != "" {
			t.Errorf("%s: the page writes powers of ten as %s", c.budget, at)
		}
		page = regexp.MustCompile(`be charged ρ \S+ instead`).ReplaceAllString(page, "") // of what was not chosen
		for _, shown := range regexp.MustCompile(`[ερδ] ([0-9.e\x{202f}-]+)`).FindAllStringSubmatch(page, -1) {
			amount, err := budget.ParseRat(strings.TrimRight(strings.ReplaceAll(shown[1], "\u202f", ""), "."))
			if err != nil {
				t.Fatal(err)
			}
			loss := p.Measurements[0].Mechanism.Rho()
			if epsilon, err := p.Measurements[0].Mechanism.Epsilon(); err == nil {
				loss = epsilon
			}
			if amount.Cmp(loss) < 0 {
				t.Errorf("%s: a cost of %s is shown as %s", c.budget, loss.FloatString(12), shown[1])
			}
		}
	}
}

// An ε implied at a δ is a bound, so its text may not be smaller.
func TestImpliedEpsilonsAreRoundedUp(t *testing.T) {
	p := plantest.PlanOf(t, "add-remove", "{rho: 0.123456}", "row", "{x: {by: [sex]}}")
	shown := regexp.MustCompile(`ε = ([0-9.]+) at δ = (1e-[69])`).FindAllStringSubmatch(
		describe.Guarantee(language.English, p),
		-1)
	if len(shown) != len(p.Guarantee.Equivalents) {
		t.Fatalf("the sentence is %s", describe.Guarantee(language.English, p))
	}
	for i, e := range p.Guarantee.Equivalents {
		text, err := budget.ParseRat(shown[i][1])
		if err != nil || text.Cmp(new(big.Rat).SetFloat64(e.Epsilon)) < 0 || shown[i][2] != e.Delta {
			t.Errorf("ε = %v at δ = %s is shown as %s", e.Epsilon, e.Delta, shown[i][0])
		}
	}
}

// The sentence is one line, as the metadata of a file requires.
func TestSentenceIsOneLine(t *testing.T) {
	for _, c := range []struct{ budget, neighbours, want string }{
		{"{epsilon: 1}", "add-remove",
			"ε = 1 (pure differential privacy) for adding or removing one person, meaning all rows with the same " +
				"who, of which at most 12\u202f000 are counted; method: the ε of all measurements added up (Dwork, " +
				"McSherry, Nissim and Smith 2006)."},
		{"{epsilon: 1, delta: 1e-9}", "replace",
			"ε = 1 and δ = 1e-9 (approximate differential privacy) for replacing one person by another, meaning all " +
				"rows with the same who, of which at most 12\u202f000 are counted; method: the privacy losses of all " +
				"measurements composed numerically (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022), and " +
				"judged again by a contour integral."},
	} {
		p := plantest.PlanOf(t, c.neighbours, c.budget, "{id: who, max_rows: 12000}", "{x: {by: [sex]}}")
		if got := describe.Guarantee(language.English, p); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A release of 55 tables has a page of few lines, whose cells still add up; the page of a release of 36 lists them
// all.
func TestManyTablesAreFolded(t *testing.T) {
	page := plantest.PageOf(t, plantest.Wide(t, 10))
	// 45 pairs are measured, each of 10 attributes is the sum of one of them: 3 and a rest of either.
	for _, want := range []string{`(?m)^… and 7 more +14 in all +(as a sum|with others) +– `,
		`(?m)^… and 42 more +168 in all +by itself( and with others)? +discrete Laplace, t = [0-9.]+ to [0-9.]+ +– .* ε 0\.9\d+$`} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("no line %s on the page\n%s", want, page)
		}
	}
	if lines := regexp.MustCompile(`(?m)^(x/|…)`).FindAllString(page, -1); len(lines) != 2*(describe.FirstTables+1) {
		t.Errorf("the table has %d rows:\n%s", len(lines), page)
	}
	if outlook := regexp.MustCompile(`(?m)^  x/a0(_x_a1)? and (9|44) more: Within ±\d+ \(the best\) to ±\d+`).
		FindAllString(page, -1); len(outlook) != 2 || strings.Count(page, "  x/") != 3 {
		t.Errorf("the outlook is not folded:\n%s", page)
	}
	if page := plantest.PageOf(t, plantest.Wide(t, 8)); strings.Contains(page, "…") ||
		strings.Count(page, "\nx/a") != 36 {
		t.Errorf("the page of 36 tables is\n%s", page)
	}
}

// Tables that differ in noise, leaf or marginal are not folded together.
func TestFoldsAreOfOneMarginalAndOneNoise(t *testing.T) {
	expected := func(path, marginal, text string) describe.Expected {
		return describe.Expected{Table: plan.Table{Path: path, Marginal: marginal}, Expectation: text}
	}
	tables := []describe.Expected{expected("a/1", "a", "good"), expected("a/2", "a", "good"),
		expected("a/3", "a", "bad"),
		expected("a/4", "a", "good"), expected("b", "b", "good")}
	got := fmt.Sprint(describe.Outlooks(language.English, tables))
	if want := "[{a/1 and 1 more good} {a/3 bad} {a/4 good} {b good}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The page, the guarantee and the facts say that rows without an id are left out, and do not mention them if they
// stop the run.
func TestRowsWithoutAnIDAreLeftOutInWords(t *testing.T) {
	stops, drops := plantest.PlanOf(t, "add-remove", "{rho: 1}", "{id: id, max_rows: 1}", "{x: {by: [sex]}}"),
		plantest.PlanOf(t, "add-remove", "{rho: 1}", "{id: id, null: drop, max_rows: 1}", "{x: {by: [sex]}}")
	const says = "Left out: every row of t whose id is null."
	if page := plantest.PageOf(t, drops); !strings.Contains(page, says) || drops.Guarantee.WithoutID != "left out" ||
		!strings.Contains(string(drops.Bytes()), `"rows_without_id": "left out"`) {
		t.Errorf("%+v\n%s", drops.Guarantee, page)
	}
	if page := plantest.PageOf(t, stops); strings.Contains(page, says) || stops.Guarantee.WithoutID != "" ||
		strings.Contains(string(stops.Bytes()), "rows_without_id") {
		t.Errorf("%+v\n%s", stops.Guarantee, page)
	}
	page := plantest.PageOfDiff(t, stops, drops)
	for _, line := range []string{"rows without an id", "a row without an id", "stops the run", "leaves its row out"} {
		if !strings.Contains(page, line) {
			t.Errorf("no %q in\n%s", line, page)
		}
	}
}

// The page says how a release is governed, if the spec says so.
func TestPageSaysHowTheReleaseIsGoverned(t *testing.T) {
	p, err := plantest.PlanOfSource(plantest.QuarterlySource("2026q1", "regions", "v"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Corrects != "labour-2026q1-v" || p.Resume != spec.Never || p.Guarantee.Account != "lfs" ||
		strings.Join(p.Guarantee.FurtherAccounts, " ") != "register" {
		t.Errorf("the plan has %q, %q, %q, %q", p.Corrects, p.Resume, p.Guarantee.Account, p.Guarantee.FurtherAccounts)
	}
	lines := []string{
		"Corrects labour-2026q1-v: with new noise and a debit of its own; what labour-2026q1-v cost stays spent.\n",
		"Charged in full to each of the accounts lfs and register.\n",
		"Checked before anything is spent: 10 to 20 rows of persons count; every declared code of region.state " +
			"occurs in persons.\n",
		"If this run is cut off after its debit, its budget is lost: resume: never.\n",
		"Before you sign: if the files of persons break `expect`, the run stops and nothing is spent. Readers who " +
			"see that the release is missing",
	}
	plain := plantest.PageOf(t, plantest.PlanOf(t, "add-remove", "{rho: 1}", "row", "{x: {by: [sex]}}"))
	for _, line := range lines {
		if page := plantest.PageOf(t, p); !strings.Contains(page, line) {
			t.Errorf("the page does not say %q:\n%s", line, page)
		}
		if strings.Contains(plain, line[:20]) {
			t.Errorf("the page of a release without it says %q", line)
		}
	}
	if b := string(plantest.PlanOf(t, "add-remove", "{rho: 1}", "row", "{x: {by: [sex]}}").Bytes()); strings.Contains(
		b, "corrects") || strings.Contains(b, "resume") || strings.Contains(b, "also") {
		t.Errorf("the plan of a release without them has\n%s", b)
	}
	if again, err := compiled.Read(p.Bytes()); err != nil || plantest.Verify(again.Plan()) != nil ||
		template.Hash(again.Plan()) != template.Hash(p) {
		t.Errorf("reading it again: %v", err)
	}
}

// If sums along a column are needed, the page says that the error includes them.
func TestPageSaysWhatErrorsAreOf(t *testing.T) {
	const ofCells, ofAll = "standard errors of all cells, from",
		"standard errors of all figures asked for: cells, running sums, and every range of neighbours, from"
	for _, c := range []struct {
		budget, marginals string
		has, lacks        []string
	}{
		{"{epsilon: 1}", "{x: {by: [sex]}, y: {by: [sex, age]}}", []string{ofCells},
			[]string{ofAll, "Sums of neighbours"}},
		{"{epsilon: 1}", "{x: {by: [age, sex], ranges: [age]}, y: {by: [age]}}",
			[]string{ofAll, "\nSums of neighbours, of any length (root mean square of their standard errors): x "},
			[]string{ofCells}},
		{"{epsilon: 1}", "{x: {by: [sex]}}", nil, []string{ofCells, ofAll}},
		{"{rho: 1}", "{x: {by: [age], cumulative: [age]}, y: {by: [age, sex]}}", []string{ofAll},
			[]string{ofCells, "Sums of neighbours"}},
	} {
		page := plantest.PageOf(t, plantest.SizedPlan(t, c.budget, 0, c.marginals))
		for _, text := range c.has {
			if !strings.Contains(page, text) {
				t.Errorf("%s, %s: no %q in\n%s", c.budget, c.marginals, text, page)
			}
		}
		for _, text := range c.lacks {
			if strings.Contains(page, text) {
				t.Errorf("%s, %s: %q in\n%s", c.budget, c.marginals, text, page)
			}
		}
	}
}

// The text says if a table is measured in portions, which takes several measurements. For a group of one table the
// alternatives name that table.
func TestStrategiesInWords(t *testing.T) {
	x := strategy.Group{Kind: strategy.Direct, Noise: budget.DiscreteLaplace, Tables: []string{"x"}, Measurements: 1,
		RMSE: 3}
	for _, c := range []struct {
		measurements int
		instead      []strategy.Alternative
		want         string
	}{
		{1, nil, "The table is measured by itself, with discrete Laplace noise. Error 3."},
		{2, nil, "The table is measured by itself, with discrete Laplace noise, and where neighbours are to be added " +
			"up along a column in portions: without that column, and what it adds. Error 3."},
		{2, []strategy.Alternative{{Kind: strategy.EqualShares, Noise: budget.DiscreteLaplace, RMSE: 5}},
			"without that column, and what it adds. Error 3; its cells alone would have 5."},
	} {
		x.Measurements, x.Alternatives = c.measurements, c.instead
		if got := describe.Strategy(x); !strings.HasSuffix(got, c.want) {
			t.Errorf("%d measurements: %s", c.measurements, got)
		}
	}
	many := strategy.Group{Kind: strategy.Direct, Noise: budget.DiscreteLaplace, Tables: []string{"x", "y"},
		Measurements: 3}
	if got, want := describe.Way(many),
		"Each table is measured by itself, with discrete Laplace noise, and where neighbours are to be added up "+
			"along a column in portions"; !strings.HasPrefix(got, want) {
		t.Errorf("two tables: %s", got)
	}
}
