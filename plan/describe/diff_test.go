package describe_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// governedPlan returns the plan of quarterly with changes, given as old, new, old, new …
func governedPlan(t testing.TB, changes ...string) *plan.Plan {
	t.Helper()
	p, err := changedPlan(changes...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func changedPlan(changes ...string) (*plan.Plan, error) {
	src := plantest.QuarterlySource("2026q1", "regions", "v")
	for i := 0; i < len(changes); i += 2 {
		if strings.Count(src.Text, changes[i]) != 1 {
			return nil, fmt.Errorf("%q is not there once", changes[i])
		}
		src.Text = strings.Replace(src.Text, changes[i], changes[i+1], 1)
	}
	return plantest.PlanOfSource(src)
}

func TestNothingChanged(t *testing.T) {
	p := governedPlan(t)
	d := describe.Diff(compiled.Of(p), compiled.Of(governedPlan(t)))
	if !d.Same || !d.OneTemplate || len(d.Changes) != 0 {
		t.Errorf("got %+v", d)
	}
	if page := plantest.PageOfDiff(t, p, p); page != "Nothing changed: the two plans of labour-2026q1 are the same, "+
		"byte for byte. Plan hash "+p.Hash()+"\n" {
		t.Errorf("the page says %s", page)
	}
}

// Every change is described, with what follows from it.
//
// Standard errors: m has 4 cells with noise of variance 8, so the variance of a cell about their mean is 8·3/4; its
// total has 32, and the total of n has √(p/v)·S/(2ρ) = √(4/1.25)·(√(4·1.25) + 2√(8·3/8) + √(16/16))/0.5 = 23.97
// (residuals of the total, of sex and home, and of both: p = 4, 8, 8, 16, Σ variance per variance of noise v = 5/4,
// 3/8, 3/8, 1/16). Together they have 1/(1/32 + 1/23.97) = 13.71, of which a cell has a sixteenth: √(6 + 0.857) =
// 2.619; k has √(8·9/10 + 18.44/100) = 2.717. The error of n is √(S²/(2ρ·8 cells)) = 3.350, S = 6.700. Under replace
// p = 4, 32, 32, 64 and S = 11.164 would make that 5.58: each table by itself is better, with shares ∝ √cells,
// variances 4/(ρ·share) = 54.63, 54.63, 38.63. Its totals together have 1/(2/109.3 + 1/154.5) = 40.36, so m √(12 +
// 1/(1/64 + 1/40.36)/16) = 3.681; sex and home, with the sums of both, 1/(1/54.63 + 1/77.25)/2 = 16.0 a cell; so
// n/sex has 16.0 + 40.36/4, both 38.63/4 + 2·16.0/4 + 40.36/16, and the root mean square of the three is 4.810.
func TestChangesAreTold(t *testing.T) {
	for _, c := range []struct {
		old, new string
		lines    []string
	}{
		{"release: labour-", "release: labours-", []string{"  name: labour-2026q1 → labours-2026q1"}},
		{"corrects: labour-${quarter}-${first}", "corrects: labour-1",
			[]string{"  corrects: labour-2026q1-v → labour-1"}},
		{"corrects: labour-${quarter}-${first}\n", "", []string{"  corrects: gone: labour-2026q1-v"}},
		{"contact: office", "contact: desk", []string{"  contact: office → desk"}},
		{", resume: never", "", []string{"  resume: gone: never"}},
		{"protects: person", "protects: patient", []string{"  protects: person → patient"}},
		{"add-remove", "replace", []string{"  neighbours: add-remove → replace", "  m: sensitivity: L2² 4 → L2² 8",
			"  m: scale: σ² = 8 → σ² = 16", "  m: standard error: 2.619 → 3.681 (+40.6%)",
			"  n/sex and 1 more alike: scale: new: σ² = 54.63",
			"  n/sex and 2 more: way: What the tables share is measured once (residuals), with discrete Gaussian " +
				"noise. → Each table is measured by itself, with discrete Gaussian noise.",
			"  n/sex and 2 more: error: 3.35 → 4.81 (+43.6%)"}},
		{"[lfs, register]", "[survey, register, births]",
			[]string{"  account: lfs → survey", "  further accounts: register → register, births"}},
		{"rho: 1/2,", "rho: 1/8,", []string{"  ρ: 0.5 → 0.125", "  charged to the account: ρ = 0.5 → ρ = 0.125",
			"  m: scale: σ² = 8 → σ² = 32", "  m: standard error: 2.619 → 5.237 (+100%)",
			"  main and 1 more alike: amount: ρ = 0.25 → ρ = 0.0625"}},
		{"{rho: 1/2,", "{epsilon: 1, delta: 1e-9,",
			[]string{"  definition: zero-concentrated differential privacy → approximate differential privacy",
				"  ε: new: 1",
				"  δ: new: 1e-9"}},
		{"{rho: 1/2,", "{epsilon: 1,",
			[]string{"  ρ: gone: 0.5", "  m: mechanism: discrete Gaussian → discrete Laplace",
				"  m: scale: σ² = 8 → t = 4",
				"  n/sex and 2 more: way: What the tables share is measured once (residuals), with discrete Gaussian " +
					"noise. → Tables that lie in no other are measured, with discrete Laplace noise; all are put " +
					"together from these by least squares."}},
		{"minimise: sum", "minimise: largest",
			[]string{"  made least inside a leaf: the sum of weight × variance over all cells → the largest weight × " +
				"variance of a cell"}},
		{"main: 1/2, rest: 1/2", "main: 3/4, rest: 1/4",
			[]string{"  main: share: 50% → 75%", "  rest: share: 50% → 25%"}},
		{"  m: {by: [age.half, region.state], budget: main}", "  k: {by: [age], budget: main}", []string{
			"  m: gone: 4 cells by age.half, region.state; discrete Gaussian, σ² = 8; standard error 2.619, " +
				"95% margin ±6",
			"  k: new: 10 cells by age; discrete Gaussian, σ² = 8; standard error 2.717, 95% margin ±6"}},
		{"[age.half, region.state], budget", "[age.half, region.state], weight: 3/2, budget",
			[]string{"  m: weight: 1 → 1.5"}},
		{"[age.half, region.state], budget", "[age.half, region.state], cumulative: [age.half], budget",
			[]string{"  m: counts up along (cumulative): new: age.half"}},
		{"[age.half, region.state], budget", "[age.half, region.state], ranges: [age.half, region.state], budget",
			[]string{"  m: sums of neighbours are to be accurate along (ranges): new: age.half, region.state"}},
		{"[age.half, region.state], budget", "[age.half, region.state], target: {margin: 500}, budget",
			[]string{"  m: target: new: ±500, 95% sure of each cell", "  m: margin that the target gets: new: ±"}},
		{"  m: {by: [age.half, region.state], budget: main}", "  k: {by: [age, sex], cumulative: [age], budget: main}",
			[]string{"  k: new: 20 cells by age, sex, counting up along age; "}},
		{"[age.half, region.state]", "[age, region.state]", []string{"  m: by: age.half, region.state → age, " +
			"region.state",
			"  m: cells: 4 → 20"}},
		{"-*.csv", "-b*.csv", []string{"  persons: csv 2026q1-*.csv → csv 2026q1-b*.csv"}},
		{"csv: [\"${quarter}-*.csv\"]", "parquet: p", []string{"  persons: csv 2026q1-*.csv → parquet p",
			"  persons: delimiter: gone: ','"}},
		{"max_rows: 2", "max_rows: 3", []string{"  rows of a unit that are counted, at most: 2 → 3",
			"  persons: unit: all rows with the same who, of which at most 2 are counted → all rows with the same " +
				"who, of which at most 3 are counted"}},
		{"[10, 20]", "[10, 30]", []string{"  persons: expected of the files: 10 to 20 rows of persons count;"}},
		{"    expect: {rows: [10, 20], every: [region.state]}\n", "",
			[]string{"  persons: expected of the files: gone:",
				"  gone: if the files of persons break `expect`"}},
		{"[f, m]", "[m, f]", []string{"  persons.sex: categories: 2 categories (in another order)"}},
		{"[f, m]", "[f, m, x]", []string{"  persons.sex: cells: 2 → 3",
			"  persons.sex: categories: 2 categories → 3 categories (new: x)", "  n/sex: cells: 2 → 3"}},
		{"unknown: {as: m}", "unknown: drop",
			[]string{"  persons.sex: an unknown value: counts as \"m\" → leaves its row out"}},
		{"[f, m], unknown: {as: m}", "[f, m], unknown: {as: m}, null: drop",
			[]string{"  persons.sex: a null: stops the run → leaves its row out"}},
		{"width: 5", "edges: [0, 3]", []string{"  persons.age: level half: 2 categories (new: 0–2, 3+; gone: 0–4, 5–9)"}},
		{"      sex:    {", "      sex:    {from: gender, ", []string{"  persons.sex: from: sex → gender"}},
		{"codebook: homes.csv}", "values: [h, f]}", []string{"  persons.home: code book: gone: homes.csv",
			"  persons.home: categories: 2 categories (with other labels)", "  homes.csv: gone: SHA-256 "}},
		{"20\\d\\dq[1-4]", "2026q[1-4]", []string{"  line 3: gone: \"    quarter: {pattern: "}},
	} {
		// The least sum, whose errors are derived above.
		a, b := governedPlan(t, "split: {main", "minimise: sum, split: {main"),
			governedPlan(t, "split: {main", "minimise: sum, split: {main", c.old, c.new)
		page := plantest.PageOfDiff(t, a, b)
		for _, line := range c.lines {
			if !strings.Contains(page, "\n"+line) {
				t.Errorf("%s → %s: no line %q in\n%s", c.old, c.new, line, page)
			}
		}
		if strings.Contains(page, "standing approval") {
			t.Errorf("%s → %s: one template", c.old, c.new)
		}
	}
}

// A difference lists changed parameters, and says if nothing else changed.
func TestParametersAreTold(t *testing.T) {
	a := governedPlan(t)
	b, err := plantest.PlanOfSource(plantest.QuarterlySource("2026q2", "regions", "v"))
	if err != nil {
		t.Fatal(err)
	}
	page := plantest.PageOfDiff(t, a, b)
	for _, line := range []string{"They differ in nothing but their parameters", "  quarter: 2026q1 → 2026q2",
		"  persons: csv 2026q1-*.csv → csv 2026q2-*.csv", "  name: labour-2026q1 → labour-2026q2"} {
		if !strings.Contains(page, line) {
			t.Errorf("no line %q in\n%s", line, page)
		}
	}
	for _, heading := range []string{"Guarantee", "Cost", "Tables", "Columns", "Text of the spec"} {
		if strings.Contains(page, "\n"+heading+"\n") {
			t.Errorf("%s changed in\n%s", heading, page)
		}
	}
}

// A code book with another text is listed, with the categories that it changes.
func TestCodeBooksAreTold(t *testing.T) {
	a := governedPlan(t)
	src := plantest.QuarterlySource("2026q1", "regions", "v")
	src.Files["regions.csv"] = "code,label,state\n1,One,a\n2,Two,a\n3,Three,c\n"
	b, err := plantest.PlanOfSource(src)
	if err != nil {
		t.Fatal(err)
	}
	page := plantest.PageOfDiff(t, a, b)
	for _, line := range []string{"  persons.region: categories: 2 categories → 3 categories (new: 3)",
		"  persons.region: level state: 2 categories (new: c; gone: b)", "  regions.csv: SHA-256 "} {
		if !strings.Contains(page, line) {
			t.Errorf("no line %q in\n%s", line, page)
		}
	}
	src.Files["regions.csv"] = "code,label,state\n1,One,b\n2,Two,a\n"
	if b, err = plantest.PlanOfSource(src); err != nil {
		t.Fatal(err)
	}
	if page := plantest.PageOfDiff(t, a, b); !strings.Contains(page, "  persons.region: level state: 2 categories "+
		"(in another order)") {
		t.Errorf("the page says\n%s", page)
	}
	src.Files["regions.csv"] = "code,label,state\n2,Two,a\n1,One,b\n"
	if b, err = plantest.PlanOfSource(src); err != nil {
		t.Fatal(err)
	}
	if page := plantest.PageOfDiff(t, governedPlan(t), b); !strings.Contains(page, "  persons.region: categories: 2 "+
		"categories (in another order)") {
		t.Errorf("the page says\n%s", page)
	}
}

// Tables with the same changes share one line.
func TestAlikeChangesAreFolded(t *testing.T) {
	a := governedPlan(t, "every: [1, 2], by: [sex, home]", "every: [1], by: [sex, home, region]")
	b := governedPlan(t, "every: [1, 2], by: [sex, home]", "every: [1], by: [sex, home, region]",
		"main: 1/2, rest: 1/2",
		"main: 1/3, rest: 2/3")
	page := plantest.PageOfDiff(t, a, b)
	// Three tables of one attribute, each a third of half the ρ, then of two thirds: σ² = 4/(2·1/12) and 4/(2·1/9).
	// That of regions is put together from residuals, as m has regions at another level.
	if strings.Count(page, "  n/sex and 1 more alike: scale: σ² = 24 → σ² = 18\n") != 1 ||
		strings.Contains(page, "  n/home") {
		t.Errorf("the page says\n%s", page)
	}
}

// A difference is empty only between a plan and itself, it is symmetric, and it never has to fall back on the hashes.
func TestDiffIsWholeAndSymmetric(t *testing.T) {
	edits := [][2]string{
		{"labour-${quarter}\n", "labour-${quarter}-b\n"}, {"rho: 1/2,", "rho: 1/3,"}, {"max_rows: 2", "max_rows: 1"},
		{"[f, m]", "[f, m, x]"},
		{"codebook: homes.csv", "values: [h, f]"}, {"every: [1, 2], by", "every: [0, 2], by"}, {", resume: never", ""},
		{"[lfs, register]", "lfs"},
		{"Labour force,", "Labour  force,"}, {"range: [0, 9]", "range: [0, 12]"}, {"  m:", "  # m\n  m:"},
		{"add-remove", "replace"},
	}
	known := map[[2]int]*plan.Plan{} // by up to two edits; the last number is none
	draw := func(t *rapid.T, name string) *plan.Plan {
		one, other := rapid.IntRange(0, len(edits)).Draw(t, name), rapid.IntRange(0, len(edits)).Draw(t, name+" too")
		both := [2]int{min(one, other), max(one, other)}
		if known[both] == nil {
			var changes []string
			for _, i := range slices.Compact(slices.Clone(both[:])) {
				if i < len(edits) {
					changes = append(changes, edits[i][0], edits[i][1])
				}
			}
			p, err := changedPlan(changes...)
			if err != nil {
				t.Fatal(err)
			}
			known[both] = p
		}
		return known[both]
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		there, back := describe.Diff(compiled.Of(a), compiled.Of(b)), describe.Diff(compiled.Of(b), compiled.Of(a))
		same := a.Hash() == b.Hash() && a.Release().Words.Hash() == b.Release().Words.Hash()
		if there.Same != same || there.Same != (len(there.Changes) == 0) {
			t.Fatalf("same: %v, with %d changes", there.Same, len(there.Changes))
		}
		swapped := map[string]int{}
		for _, c := range there.Changes {
			if c.What == "plan hash" {
				t.Fatalf("fell back on the hashes")
			}
			if c.Topic != describe.OnSpec {
				swapped[fmt.Sprint(c.Topic, c.Subject, c.What, "|", c.Before, "|", c.After)]++
			}
		}
		for _, c := range back.Changes {
			if c.Topic != describe.OnSpec {
				swapped[fmt.Sprint(c.Topic, c.Subject, c.What, "|", c.After, "|", c.Before)]--
			}
		}
		for c, n := range swapped {
			if n != 0 {
				t.Fatalf("%s is told from one side", c)
			}
		}
	})
}

// The removed and added lines turn one text into the other.
func TestLinesTurnOneTextIntoTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "a", "b", "c"})
		a, b := rapid.SliceOfN(line, 1, 12).Draw(t, "a"), rapid.SliceOfN(line, 1, 12).Draw(t, "b")
		gone, fresh := map[string]string{}, map[string]string{}
		for _, c := range describe.LineChanges(strings.Join(a, "\n"), strings.Join(b, "\n")) {
			if c.After == "" {
				gone[c.What] = c.Before
			} else {
				fresh[c.What] = c.After
			}
		}
		keep := func(lines []string, without map[string]string) (kept []string) {
			for i, l := range lines {
				if text, ok := without[fmt.Sprintf("line %d", i+1)]; !ok {
					kept = append(kept, l)
				} else if text != describe.Quoted(l) {
					t.Fatalf("line %d is %q, not %s", i+1, l, text)
				}
			}
			return kept
		}
		if got, want := fmt.Sprintf("%q", keep(a, gone)), fmt.Sprintf("%q", keep(b, fresh)); got != want {
			t.Fatalf("%s is left of the one, %s of the other", got, want)
		}
	})
}

// If only words changed, the difference says so: it is one plan.
func TestOtherWordsAreOnePlan(t *testing.T) {
	a, b := governedPlan(t), governedPlan(t, "contact: office", "contact: desk")
	d := describe.Diff(compiled.Of(a), compiled.Of(b))
	if d.Same || d.Before.PlanHash != d.After.PlanHash || d.Before.WordsHash == d.After.WordsHash ||
		len(d.Changes) != 1 || d.Changes[0].What != "contact" {
		t.Errorf("got %+v", d)
	}
	bare, err := b.WithWords(nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := describe.Diff(compiled.Of(b), compiled.Of(bare)); d.Same || d.After.WordsHash != "" {
		t.Errorf("without words: %+v", d)
	}
}

// A difference lists every number and text of plan.json that changes, where a plan with the change can be read.
func TestEveryPartOfAPlanIsTold(t *testing.T) {
	p := governedPlan(t)
	told := 0
	var document any
	if err := json.Unmarshal(p.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	plantest.EachLeaf(document, "", func(path string) {
		b, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		changed := *plan.NewEmpty(p.Release())
		changed.Source = spec.Source{} // decoded anew: its maps are not the plan's
		if json.Unmarshal(b, &changed) != nil {
			return // not every text is a number
		}
		c, err := compiled.Read(changed.Bytes())
		if err != nil {
			return // whose parts do not fit together: nobody can compare it
		}
		told++
		if d := describe.Diff(compiled.Of(p), c); d.Same || len(d.Changes) == 0 {
			t.Errorf("%s changed, and nothing is told", path)
		}
	})
	if told < 50 {
		t.Errorf("%d changed plans can be read", told)
	}
}
