package describe_test

import (
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// Method auto chooses by columns and cells only, and says so. What the spec names is used.
func TestAutoChoosesByPublicFacts(t *testing.T) {
	values := func(columns, categories int) string {
		var all []string
		for i := range columns {
			all = append(all, fmt.Sprintf("c%d: {type: integer, range: [1, %d]}", i, categories))
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct {
		columns, says string
		method        string
		ways          int
		why           string
	}{
		{values(2, 5), "{}", plan.MST, 2, "either method measures the one pair"},
		{values(3, 5), "{}", plan.AIM, 3,
			"the 7 sets of one to three columns have 215 cells to count, of at most 67\u202f108\u202f864"},
		{values(3, 5), "{method: auto, ways: 2}", plan.AIM,
			2, "the 6 sets of one or two columns have 90 cells to count"},
		{values(3, 5), "{method: mst}", plan.MST, 2, ""},
		{values(2, 5), "{method: aim}", plan.AIM, 2, ""},
		{values(38, 2), "{}", plan.AIM, 3, "the 9177 sets of one to three columns have 70\u202f376 cells"},
		{values(40, 2), "{}", plan.AIM, 2,
			"10\u202f700 sets of one to three columns are too many to look at in every round, more than 10\u202f000; " +
				"the 820 sets of one or two columns have 3200 cells"},
		{values(60, 2), "{ways: 3}", plan.MST, 2,
			"36\u202f050 sets of one to three columns are too many to look at in every round, more than 10\u202f000"},
		{values(61, 2), "{}", plan.MST, 2, "with 61 columns, more than 60, the rounds of method aim take too long"},
		{values(4, 300), "{}", plan.AIM, 2,
			"the sets of one to three columns have more than 67\u202f108\u202f864 cells to count; the 10 sets of one " +
				"or two columns have 541\u202f200 cells to count"},
		{values(4, 300), "{ways: 3}", plan.MST, 2,
			"the sets of one to three columns have more than 67\u202f108\u202f864 cells to count"},
		{values(4, 300), "{method: aim}", plan.AIM, 3, ""},
		{values(3, 10_000), "{}", plan.MST, 2,
			"more than 67\u202f108\u202f864 cells to count; the sets of one or two columns have more"},
		{values(2, 9) + ", wide: {type: integer, range: [1, 262145]}", "{}", plan.MST, 2,
			"the columns have more categories than a model by method aim has room for"},
		{values(3, 5), "{method: auto, ways: 3, rows: 9}", plan.AIM, 3, "the 7 sets"},
	} {
		text := fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: replace}\n"+
			"budget: {rho: 1, split: {tables: 1/2, t: 1/2}}\n"+
			"tables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\nmarginals: {tables: {by: []}}\n"+
			"synthetic: {t: %s}\n", c.columns, c.says)
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		drafts, err := optimise.ExpandSynthetic(r, nil)
		if err != nil {
			t.Errorf("%s %.40s: %v", c.says, c.columns, err)
			continue
		}
		s := drafts[0].Named()
		if s.Method != c.method || s.Ways != c.ways || !strings.Contains(phrase.InWords(s.Why), c.why) ||
			(s.Why == nil) != (c.why == "") {
			t.Errorf("%s %.40s: %s of %d ways, because %s", c.says, c.columns, s.Method, s.Ways, s.Why)
		}
		says := map[bool]string{true: "such a tree, by method: mst, takes less",
			false: "for fewer columns under `by`, or coarser levels"}[s.Method == plan.AIM]
		if other := describe.OtherMethod(s); !strings.Contains(other, says) && len(s.By) > 2 || other != "" &&
			len(s.By) == 2 && s.Method == plan.MST {
			t.Errorf("%s %.40s: of the other method %q", c.says, c.columns, other)
		}
	}
}

// A difference lists changes of what the spec says of AIM. Its loss is the loss of its columns and its cap.
func TestAIMIsToldInWords(t *testing.T) {
	of := func(synthetic string) *plan.Plan {
		return plantest.MicrodataOf(t, "add-remove", "{rho: 1, split: {tables: 1/4, microdata: 3/4}}", "row", synthetic)
	}
	mst, aim := of("{budget: microdata, method: mst}"), of("{budget: microdata, method: aim}")
	page := plantest.PageOfDiff(t, mst, aim)
	for _, line := range []string{"  t: method: mst → aim", "  t: rounds: 2 → at most 24",
		"  t: columns measured together, at most: new: 3", "  t: cells of the model, at most: new: 524\u202f288",
		"  t: cells of one of its tables, at most: new: 262\u202f144",
		"  t: choice of the first round: new: by the exponential mechanism with ε 0.1415, ρ 0.0025",
		"  t: noise of the first round: new: σ² = 22.22", "  t: choice of a round: gone"} {
		if !strings.Contains(page, line) {
			t.Errorf("no line %q in\n%s", line, page)
		}
	}
	if page := plantest.PageOfDiff(t, aim, of("{budget: microdata, method: aim, ways: 2}")); !strings.Contains(page,
		"  t: columns measured together, at most: 3 → 2") {
		t.Errorf("ways are not told in\n%s", page)
	}
	l, err := describe.LossAt(compiled.Of(aim), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	losses := map[string]string{}
	for _, one := range slices.Concat(l.Tables, l.Attributes) {
		losses[one.Of] = one.Rho
	}
	// The columns have 1/20 each, the block 3/5; a change of a column's values moves two cells of its own, by √2, and
	// what the rounds say as a removal and an addition do, 4·3/5. No table has the third column, of one category.
	plantest.AssertNear(t, "microdata/t", losses["microdata/t"], 0.75)
	plantest.AssertNear(t, "one", losses["one"], 4*0.6)
}

// If the spec states the number of rows, the plan warns of microdata that will say little. The page states the number
// of rows from which an average category is visible.
func TestMicrodataThatNoiseHides(t *testing.T) {
	for _, method := range []string{"mst", "aim"} {
		of := func(rho, rows string) *plan.Plan {
			text := fmt.Sprintf(plantest.Peopled, "add-remove", "{rho: "+rho+", split: {tables: 1/2, microdata: 1/2}}",
				"row",
				"{budget: microdata, method: "+method+"}")
			if rows != "" {
				text = strings.Replace(text, "unit: row,", "unit: row, expect: {rows: ["+rows+", "+rows+"]},", 1)
			}
			p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: text})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := of("1/1000", "")
		// Of 1/2000, a fifteenth or ninth for each column: σ² = 1/2ρ, and three σ of two categories.
		want := map[string]int64{"mst": 570, "aim": 735}[method]
		if from := describe.VisibleFrom(p, 0); from != want {
			t.Errorf("%s: an average category is seen from %d rows on, not %d", method, from, want)
		}
		// A pair of 2 × 10 cells: by mst a sixth of 1/2000 for it, by aim 9/10 of four fifths, but for what the first
		// round's choice takes.
		want = map[string]int64{"mst": 1550, "aim": 708}[method]
		if from := describe.TogetherFrom(p, 0); from < want || from > want+38 {
			t.Errorf("%s: an average cell is seen from %d rows on, not %d", method, from, want)
		}
		if strings.Contains(strings.Join(describe.Warnings(language.English, p), " "), "will say little") {
			t.Errorf("%s: warned without rows: %q", method, describe.Warnings(language.English, p))
		}
		var page strings.Builder
		if err := describe.Explain(compiled.Of(p), &page); err != nil ||
			!strings.Contains(page.String(),
				fmt.Sprintf("  With fewer than %d rows in t the noise hides an average category of every one of them.\n",
					describe.VisibleFrom(p, 0))) {
			t.Errorf("%v\n%s", err, page.String())
		}
		for rows, says := range map[string]string{
			"500": "will say little, unless its rows are in few categories: if it has 500 rows", "100000": ""} {
			got := strings.Join(describe.Warnings(language.English, of("1/1000", rows)), " ")
			if says != "" && !strings.Contains(got, says) || says == "" && strings.Contains(got, "will say little") {
				t.Errorf("%s, %s rows: %q", method, rows, got)
			}
		}
		if got := strings.Join(describe.Warnings(language.English, of("1/1000", "1000")), " "); strings.Contains(got,
			"about how columns depend on each other") != (method == "mst") {
			t.Errorf("%s, 1000 rows: %q", method, got)
		}
	}
}

// Two tables have microdata of their own, each with its method, leaf and rounds.
func TestMicrodataOfTwoTables(t *testing.T) {
	const text = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1, split: {tables: 1/2, t: 1/8, u: 3/8}}
tables:
  t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}, columns: {a: {values: [p, q]}, b: {values: [p, q]}, c: {values: [p, q]}}}
  u: {source: {csv: u.csv}, unit: {id: who, max_rows: 4}, columns: {a: {values: [p, q]}, b: {values: [p, q]}, c: {values: [p, q]}}}
marginals: {tables: {table: t, by: []}}
synthetic: {t: {method: mst}, u: {ways: 2}}
`
	p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	mst, aim := p.Synthetic[0], p.Synthetic[1]
	if mst.Method != plan.MST || aim.Method != plan.AIM || aim.Ways != 2 || aim.Noise.L1.Int64() != 4 ||
		mst.Noise.L1.Int64() != 1 {
		t.Errorf("%+v, %+v", mst, aim)
	}
	plantest.Within(t, "u", describe.RhoOf(p, 1), big.NewRat(3, 8))
	plantest.Within(t, "t", describe.RhoOf(p, 0), big.NewRat(1, 8))
	var page strings.Builder
	if err := describe.Explain(compiled.Of(p), &page); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"in 2 rounds (method mst)", "  Method aim, chosen by what is public: " +
		phrase.InWords(aim.Why) +
		".\n  It follows what no tree of pairs shows", "in at most 24 rounds (method aim)",
		"all pairs of columns of the microdata and all sets of one or two columns of the microdata included"} {
		if !strings.Contains(page.String(), line) {
			t.Errorf("no %q in\n%s", line, page.String())
		}
	}
	if read, err := compiled.Read(p.Bytes()); err != nil || plantest.Verify(read.Plan()) != nil {
		t.Errorf("read again: %v", err)
	}
}

// TestConsistencySaysWhatIsLeft checks that plan, page and facts give the reason for each kind of table that keeps
// its counts, and that a plan with another reason is rejected.
func TestConsistencySaysWhatIsLeft(t *testing.T) {
	text := strings.Replace(plantest.FittedText("{rho: 1}",
		"marginals: {m: {by: [b, c]}, n: {by: [b], per_unit: {groups: 1}}, above: {by: [b, d], cells: {above: 9}}, "+
			"most: {by: [e, b], top: 2}, up: {by: [a.third], cumulative: [a.third]}, units: {by: [b], stats: "+
			"[units]}}\n"), ", weight: {from: w, range: [0, 9], step: 1}", "", 1)
	p, err := plantest.PlanOfText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Consistent; len(c) != 1 || c[0].Way != plan.Fitted || !slices.Equal(c[0].Tables, []string{"m"}) ||
		len(c[0].LeftOut) != 5 {
		t.Fatalf("%+v", c)
	}
	var page strings.Builder
	if err := describe.Explain(compiled.Of(p), &page); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"Counts that add up", "1 table of t: counts are whole", "n, as it counts other rows",
		"above, most, as it does not show all cells", "up, as it counts up", "units, as it counts each unit once"} {
		if !strings.Contains(page.String(), says) {
			t.Errorf("the page does not say %q:\n%s", says, page.String())
		}
	}
	said := map[string]string{}
	for _, f := range describe.Facts(p) {
		if f.What() == "published counts" {
			said[f.Subject()] = f.Value()
		}
	}
	if len(said) != 6 || !strings.Contains(said["m"], "add up") || !strings.Contains(said["n"], "other rows") {
		t.Errorf("facts %v", said)
	}
	for name, change := range map[string]func(*plan.Plan){
		"none":          func(p *plan.Plan) { p.Consistent = nil },
		"another way":   func(p *plan.Plan) { p.Consistent[0].Way = plan.Tabulated },
		"another table": func(p *plan.Plan) { p.Consistent[0].Tables = append(p.Consistent[0].Tables, "n") },
	} {
		other, err := compiled.Read(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		change(other.Plan())
		if _, err := compiled.Read(other.Plan().Bytes()); err == nil || !strings.Contains(err.Error(), "add up") {
			t.Errorf("%s: %v", name, err)
		}
	}
	weighted := plantest.FittedText("{rho: 1}", "marginals: {m: {by: [b, c]}}\n")
	if _, err := plantest.PlanOfText(t, weighted); err == nil ||
		!strings.Contains(err.Error(), "no table of this release has counts that could be made to add up") ||
		!strings.Contains(err.Error(), "publish") {
		t.Errorf("weights alone: %v", err)
	}
}

// The evidence for microdata is the tables that count rows and show all cells, by columns that the microdata's
// columns decide.
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
		p, err := plantest.WithoutLeaf("{rho: 1}", marginals, "{method: tables, by: [sex, age, far]}")
		if err != nil {
			t.Errorf("%s: %v", marginals, err)
			continue
		}
		s := p.Synthetic[0]
		if got := tabulation.Tables(p, s); len(got) != c.tables ||
			describe.FactorsText(tabulation.UnmeasuredColumns(p, s)) != c.unmeasured ||
			tabulation.CoversAllPairs(p, s, []int64{2, 10, 2}) != c.pairwise {
			t.Errorf("%s: %d tables, all but %s, pairwise %t", marginals, len(got),
				describe.FactorsText(tabulation.UnmeasuredColumns(p, s)),
				tabulation.CoversAllPairs(p, s, []int64{2, 10, 2}))
		}
	}
}

// TestUnevenBandsAreNotMeasuredAsResiduals checks bands of ages of 1, 3 and 2 categories, whose residuals make some
// tables worse than an equal share does. The plan takes another way, and says so; with the least sum it keeps the
// residuals.
func TestUnevenBandsAreNotMeasuredAsResiduals(t *testing.T) {
	const marginals = "{x: {by: [age, sex], budget: a}, y: {by: [age.odd], budget: b}}"
	p := plantest.CrossedPlan(t, "add-remove", "{rho: 1/100, split: {a: 1/2, b: 1/2}}", 1, marginals)
	if worst, path := plantest.WorstRatio(t, p, plantest.CellByCell); worst > 1.001 {
		t.Errorf("%s has %v times the error of an equal share", path, worst)
	}
	if page := plantest.PageOf(t, p); p.Sums == strategy.LevelsSeparate &&
		!strings.Contains(page, describe.SeparateLevels) ||
		p.Sums != strategy.LevelsSeparate && !strings.Contains(page, "Not by residuals: ") {
		t.Errorf("levels are %q, and the page does not say why:\n%s", p.Sums, page)
	}
	if _, err := compiled.Read(p.Bytes()); err != nil {
		t.Error(err)
	}
	sum := plantest.CrossedPlan(t, "add-remove", "{rho: 1/100, minimise: sum, split: {a: 1/2, b: 1/2}}", 1, marginals)
	if worst, _ := plantest.WorstRatio(t, sum, plantest.CellByCell); worst < 1.01 ||
		sum.Strategies[0].Kind != strategy.Residuals {
		t.Errorf("with the least sum the worst ratio is %v, by %s", worst, sum.Strategies[0].Kind)
	}
}

// Microdata have a derived column only together with a column that decides it, and it is not measured.
func TestDerivedColumnsOfMicrodata(t *testing.T) {
	const text = `version: 1
release: homes
privacy: {protects: home, neighbours: add-remove, account: homes}
budget: {rho: 1, split: {tables: 1/2, rows: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns: {age: {type: integer, range: [0, 7], levels: {pair: {width: 2}, odd: {edges: [0, 3, 7]}}}, pair: {derived_from: age.pair}, kind: {values: [a, b, c]}, home: {values: [x, y]}}
marginals: {m: {by: [kind], budget: tables}}
synthetic: {t: {budget: rows, method: mst}}
`
	r := plantest.Must(spec.Parse(spec.Source{Name: "homes.yaml", Text: text}))(t)
	p := plantest.Must(planner.New(r))(t)
	s := p.Synthetic[0]
	if describe.FactorsText(s.By) != "age, kind, home" || describe.FactorsText(s.Derived) != "pair" || s.Rounds != 2 ||
		len(adaptive.Candidates(s)) != 3 {
		t.Fatalf("%+v", s)
	}
	from, of, err := p.DerivedColumn(s, 0)
	if err != nil || from != 0 || !slices.Equal(of, []int{0, 0, 1, 1, 2, 2, 3, 3}) {
		t.Errorf("column %d, categories %v, %v", from, of, err)
	}
	var page strings.Builder
	if err := describe.Explain(p, &page); err != nil ||
		!strings.Contains(page.String(), "Beside them pair, which the others decide: not measured.") {
		t.Errorf("%v\n%s", err, page.String())
	}
	for _, level := range []string{"odd", "none"} { // across the pairs, or no age at all
		r.Synthetic[0].By = []spec.Attribute{{Column: "age", Level: level}, {Column: "pair"}, {Column: "kind"},
			{Column: "home"}}
		if level == "none" {
			r.Synthetic[0].By = r.Synthetic[0].By[1:]
		}
		if _, err := planner.New(r); err == nil ||
			!strings.Contains(err.Error(), "pair is derived from age.pair, which no column under `by` decides") {
			t.Errorf("%s: error %v", level, err)
		}
	}
}

// A child's measurements are of the rows of its own table, of which a unit has four; its parent's unit has one. A set
// of given columns only is never chosen, and for mst the given columns count as one tree, so there are as many rounds
// as own columns.
func TestLinkedMicrodata(t *testing.T) {
	for neighbours, times := range map[string]int64{"add-remove": 1, "replace": 2} {
		for _, c := range []struct {
			method, of string
			rounds     int
		}{{"mst", "aim", adaptive.RoundsPerColumn * 5}, {"aim", "mst", 2}} {
			p, method := plantest.PlanOfHomes(t, neighbours, "error", "error", c.of, c.method), c.method
			parent, child := p.Synthetic[0], p.Synthetic[1]
			if parent.Table != "households" || parent.Method != method || parent.Parent != "" || parent.Given != 0 ||
				describe.FactorsText(parent.By) != "tenure, area, persons" {
				t.Errorf("the parent is %+v", parent)
			}
			if child.Table != "persons" || child.Method != c.of || child.Parent != "households" ||
				describe.FactorsText(child.OwnColumns()) != "sex, age" ||
				describe.FactorsText(child.GivenColumns()) != "households.tenure, households.area, households.persons" ||
				child.Rounds != c.rounds {
				t.Errorf("the child is %+v", child)
			}
			if parent.Noise.L1.Int64() != times || child.Noise.L1.Int64() != 4*times ||
				child.Noise.L2Squared.Int64() != 16*times {
				t.Errorf("%s: a unit moves answers of parent and child by %s and %s", neighbours, parent.Noise.L1,
					child.Noise.L1)
			}
			for _, m := range p.Measurements {
				if most := map[string]int64{"persons": 4,
					"households": 1}[m.Query.Table]; m.Mechanism.L1.Int64() != most*times {
					t.Errorf("%s: a unit moves %s by %s", neighbours, m.ID, m.Mechanism.L1)
				}
			}
			if at, ok := p.Parent(child); !ok || at != 0 {
				t.Errorf("the parent is number %d, %t", at, ok)
			}
			if _, ok := p.Parent(parent); ok || p.Release().LinkedBy(parent.Table) != "hh" ||
				p.Release().LinkedBy(child.Table) != "hh" {
				t.Error("the parent has a parent, or they are linked by another column than that of the unit")
			}
			plantest.Within(t, "households", describe.RhoOf(p, 0), big.NewRat(1, 8))
			plantest.Within(t, "persons", describe.RhoOf(p, 1), big.NewRat(3, 8))
			if m, ok := p.Measurement("microdata/persons/households.persons"); !ok || m.Cells != 5 {
				t.Errorf("the size of a household has %d cells, not 0 to 4 persons", m.Cells)
			}
			if read, err := compiled.Read(p.Bytes()); err != nil || plantest.Verify(read.Plan()) != nil {
				t.Errorf("read again: %v", err)
			}
		}
	}
}

// Reading a plan whose factors were changed, and every use of it, ends in an error or in a figure.
func TestForgedPlansDoNotPanic(t *testing.T) {
	p := plantest.CrossedPlan(t, "add-remove", "{rho: 1}", 1, "{x: {every: [1, 2], by: [age, sex]}, y: {by: "+
		"[age.half]}}")
	text := string(p.Bytes())
	for _, basis := range []string{"identity", "ranges", "other", `ranges","sums":"prefixes","kappa":"4`,
		`ranges","sums":"ranges","method":"haar`} {
		forged := strings.ReplaceAll(text, `"basis":"residual"`, `"basis":"`+basis+`"`)
		if forged == text {
			forged = strings.ReplaceAll(text, `"basis": "residual"`,
				`"basis": "`+strings.ReplaceAll(basis, `":"`, `": "`)+`"`)
		}
		if forged == text {
			t.Fatal("the plan has no residual")
		}
		q, err := compiled.Read([]byte(forged))
		if err != nil {
			continue
		}
		if plantest.Verify(q.Plan()) == nil {
			t.Errorf("%s: the plan is what its spec leads to", basis)
		}
		_, _ = q.Estimates()
		for _, m := range q.Measurements {
			_, _ = describe.Changed(q.Plan(), m, "age")
		}
	}
}

// TestChangedBoundsWhatOneColumnMoves checks a query with counts of sex and ranges of age, by enumeration of all
// pairs of rows that differ in one of them.
func TestChangedBoundsWhatOneColumnMoves(t *testing.T) {
	p := plantest.CrossedPlan(t, "add-remove", "{rho: 1}", 1, "{x: {by: [sex, age]}}")
	q := plan.Query{Table: "t", Counted: counted.Rows{}, Factors: []plan.Factor{
		{Attribute: "sex", Basis: plan.Identity},
		plan.Factor{Attribute: "age"}.Ranged(residual.Ranging{Sums: residual.Prefixes, Kappa: 2}),
		{Attribute: "kind", Basis: plan.Residual},
	}}
	columns, axes, plain, err := q.Residual(p.Release())
	if err != nil || !slices.Equal(plain, []bool{true, false, false}) {
		t.Fatal(plain, err)
	}
	row := func(sex, age, kind int) []int64 {
		counts := make([]int64, 2*6*3)
		counts[(sex*6+age)*3+kind] = 1
		integers, err := residual.Exact(columns, axes, plain, counts)
		if err != nil || len(integers) != 2*5*3 {
			t.Fatal(len(integers), err)
		}
		return integers
	}
	apart := map[string]int64{}
	for _, from := range plantest.Places(2, 6, 3) {
		for _, to := range plantest.Places(2, 6, 3) {
			column, differ := "", 0
			for i, name := range []string{"sex", "age", "kind"} {
				if from[i] != to[i] {
					column, differ = name, differ+1
				}
			}
			if differ != 1 {
				continue
			}
			var squares int64
			a, b := row(from[0], from[1], from[2]), row(to[0], to[1], to[2])
			for i := range a {
				squares += (a[i] - b[i]) * (a[i] - b[i])
			}
			apart[column] = max(apart[column], squares)
		}
	}
	for column, want := range apart {
		m := plan.Measurement{Query: q, Selection: selection.All{},
			Mechanism: budget.Mechanism{Parameter: big.NewRat(1, 1)}}
		changed, err := describe.Changed(p, m, column)
		if err != nil || changed.L2Squared.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("%s: %v, %v; by enumeration %d", column, changed.L2Squared, err, want)
		}
	}
	if len(apart) != 3 {
		t.Error(fmt.Sprint(apart))
	}
}

// A law of noise with which tables at several levels of a column would not agree is not chosen for a smaller error.
// The line on either law says what it would do to such tables.
func TestOtherNoiseSaysWhetherLevelsAgree(t *testing.T) {
	text, err := os.ReadFile("../../examples/quickstart/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	regions, err := os.ReadFile("../../examples/quickstart/regions.csv")
	if err != nil {
		t.Fatal(err)
	}
	for law, want := range map[string]string{"": "; but tables that show one column at several levels would not agree",
		"laplace": "; and tables that show one column at several levels would agree"} {
		asked := string(text)
		if law != "" {
			asked = strings.Replace(asked, "  delta: 1e-9\n", "  delta: 1e-9\n  noise: "+law+"\n", 1)
		}
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: asked,
			Files: map[string]string{"regions.csv": string(regions)}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatal(err)
		}
		if (p.Sums == strategy.LevelsSeparate) != (law == "laplace") || len(p.OtherNoise) != 1 {
			t.Fatalf("%q: levels are measured by %q, and %d other laws are told of", law, p.Sums, len(p.OtherNoise))
		}
		if said := describe.Would(p.OtherNoise[0], p.Cost.Rho); !strings.Contains(said, want) {
			t.Errorf("%q: it says %q", law, said)
		}
	}
}

func TestWeakPromisesWarn(t *testing.T) {
	for b, want := range map[string]string{
		"{epsilon: 10}": "", "{epsilon: 10.1}": "next to nothing", "{epsilon: 500}": "next to nothing",
		"{rho: 1/8}": "", "{rho: 5}": "next to nothing",
		"{epsilon: 1, delta: 1e-9}": "", "{epsilon: 1, delta: 0.1}": "fail altogether",
		"{epsilon: 20, delta: 1e-9}": "next to nothing",
	} {
		p := plantest.PlanOf(t, "add-remove", b, "{id: who, max_rows: 1}", "{x: {by: [sex]}}")
		if got := describe.Weaknesses(language.English, p); want == "" && len(got) != 0 || want != "" &&
			(len(got) != 1 || !strings.Contains(got[0], want) || describe.Warnings(language.English, p)[0] != got[0]) {
			t.Errorf("%s: warnings %q of %q, expected %q", b, got, describe.Warnings(language.English, p), want)
		}
	}
}

// If no single change helps, the advice removes the largest attributes together; if nothing does, the table.
func TestHelpWhereOneChangeIsNotEnough(t *testing.T) {
	p := plantest.SizedPlan(t, "{rho: 1/200}", 40, "{x: {by: [age, region, sex]}}")
	// 4000 cells for 40 rows: 0.01 a cell, errors of 1000 of it. Without age and region there are 20 rows a cell.
	if h := p.Tables[0].Usefulness.Help; len(h) != 2 || h[0].Change.String() != "drop age and region" ||
		!plantest.Near(h[0].Relative, 0.5) || !plantest.Near(h[0].Factor, 2000) {
		t.Errorf("help %+v", h)
	}
	p = plantest.SizedPlan(t, "{rho: 1/200}", 40, "{x: {by: [region]}}")
	if want := "Nothing but the budget would help (spend 25 times the ρ): leave the table out."; describe.Advice(
		language.English, p.Tables[0].Usefulness) != want {
		t.Errorf("advice %q", describe.Advice(language.English, p.Tables[0].Usefulness))
	}
}

// The stated memory is for the cells that are counted.
func TestMemoryIsOfCountedCells(t *testing.T) {
	for _, c := range []struct {
		size       plan.Size
		candidates string
		want       string
	}{
		{plan.Size{Cells: 1 << 28, Bytes: 1 << 32}, "", ""},
		{plan.Size{Cells: 1 << 29, Bytes: 1 << 33}, "",
			"the tables have 536\u202f870\u202f912 cells in all and need 8.0 GiB of memory"},
		{plan.Size{Cells: 1000, Bytes: 1 << 33}, "",
			"536\u202f870\u202f912 cells are counted for the tables, which have 1000 cells, and need 8.0 GiB of memory"},
		{plan.Size{Cells: 1000, Bytes: 1 << 33}, "all pairs of columns of the microdata",
			"the counts of the tables and of all pairs of columns of the microdata, and what is made of them, need " +
				"8.0 GiB of memory"},
	} {
		got := strings.Join(describe.Large(language.English, c.size, c.candidates), "")
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.size, got, c.want)
		}
	}
}
