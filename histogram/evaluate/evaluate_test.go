package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// noteOf debits a plan in a new ledger and notes a comparison with the truth.
func noteOf(t testing.TB, p *plan.Plan, rehearsal bool) ledger.Comparison {
	t.Helper()
	ctx := context.Background()
	l := ledger.OpenRehearsal()
	c := ledger.Charge{
		Account: "survey", Release: "survey", PlanHash: p.Hash(), Cost: p.Cost, Commitment: strings.Repeat("ab", 32),
		Terms: ledger.Terms{Protects: "person", Neighbours: "add-remove", Definition: "rho"},
	}
	if !rehearsal {
		var err error
		if l, err = ledger.Open(ctx, filepath.Join(t.TempDir(), "ledger.sqlite"), ledger.OpenOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := l.Init(ctx, ledger.Policy{Account: c.Account, Terms: c.Terms, Cap: c.Cost}); err != nil {
			t.Fatal(err)
		}
	}
	defer l.Close()
	if _, err := l.Debit(ctx, c); err != nil {
		t.Fatal(err)
	}
	note, err := l.Compared(ctx, c.Account, c.Release, "A test.")
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// compared compares claims with a folder, which must succeed.
func compared(t *testing.T, p *plan.Plan, dir string, key byte, claims PublishedResults) *Differences {
	t.Helper()
	d, err := Compare(context.Background(), noteOf(t, p, false), compiled.Of(p), scan.Files{Dir: dir},
		streams(p, key), claims)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// claimOf publishes these figures, with an interval of ±margin.
func claimOf(path string, margin float64, unbiased ...float64) PublishedStatistic {
	f := Figures{Unbiased: unbiased}
	for _, v := range unbiased {
		f.Published, f.Low, f.High = append(f.Published, int64(max(v, 0))), append(f.Low, v-margin),
			append(f.High, v+margin)
	}
	return PublishedStatistic{Path: path, Read: func() (Figures, error) { return f, nil }}
}

// near tells that two figures agree but for the rounding of a few operations.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestCompareSaysHowFarTheFiguresLie(t *testing.T) {
	p := planOf(t, "UNKNOWN", "drop")
	// a: ages 1, 1, 7; b: age 3; c: none. The last two rows are left out.
	dir := folder(t, "t.csv", "kind,age\na,1\na,1\na,7\nb,3\nx,3\nc,99\n")
	d := compared(t, p, dir, 1, PublishedResults{
		// By band, then kind; the truth is 2 1 0, 1 0 0: off by 3, −1, −2, 0, 0, 6.
		Tables: []PublishedStatistic{claimOf("bands", 2, 5, 0, -2, 1, 0, 6)},
		Rows: []Rows{{
			Table: "persons", By: []plan.Factor{{Attribute: "kind", Basis: plan.Identity},
				{Attribute: "age", Level: "band", Basis: plan.Identity}},
			Codes:     [][]uint32{{0, 0, 1, 2, 2}, {0, 1, 0, 0, 1}},
			Marginals: [][]int{{0}, {1}, {0, 1}},
		}},
	})
	got := d.Tables[0]
	// Published are 5 0 0 1 0 6, so 3 + 1 + 0 + 0 + 0 + 6; the squares 9 + 1 + 4 + 36. ±2 leaves out 3 and 6.
	if got.Rows != 4 || got.Cells != 6 || got.L1 != 10 || got.Squares != 50 || got.Covered != 4 {
		t.Errorf("rows %d, cells %d, L1 %v, squares %v, covered %d", got.Rows, got.Cells, got.L1, got.Squares,
			got.Covered)
	}
	// Shares of kinds are 2/5 1/5 2/5 against 3/4 1/4 0, of bands 3/5 2/5 against 3/4 1/4; together, by kind, they are
	// 1/5 1/5, 1/5 0, 1/5 1/5 against 1/2 1/4, 1/4 0, 0 0.
	for i, want := range []float64{0.35 + 0.05 + 0.4, 0.15 + 0.15, 0.3 + 0.05 + 0.05 + 0 + 0.2 + 0.2} {
		m := d.Marginals[0][i]
		if !near(m.L1, want) || m.Rows != 4 || m.Cells != []int64{3, 2, 6}[i] {
			t.Errorf("marginal %d: L1 %v of %d rows, %d cells; want %v", i, m.L1, m.Rows, m.Cells, want)
		}
	}
}

// Figures that count up along a key are held against the running sums of the truth.
func TestCompareCountsUp(t *testing.T) {
	p := planOf(t)
	dir := folder(t, "t.csv", "kind,age\na,1\na,1\na,7\nb,3\n") // by band, then kind: 2 1 0, 1 0 0
	for _, c := range []struct {
		up   []bool
		want []float64
	}{{[]bool{true, false}, []float64{2, 1, 0, 3, 1, 0}}, {[]bool{false, true}, []float64{2, 3, 3, 1, 1, 1}},
		{[]bool{true, true}, []float64{2, 3, 3, 3, 4, 4}}} {
		claim := claimOf("bands", 0, c.want...)
		claim.CountsUp = c.up
		got := compared(t, p, dir, 1, PublishedResults{Tables: []PublishedStatistic{claim}}).Tables[0]
		if got.Rows != 4 || got.L1 != 0 || got.Squares != 0 || got.Covered != 6 {
			t.Errorf("along %v: %d rows, L1 %v, squares %v, covered %d", c.up, got.Rows, got.L1, got.Squares,
				got.Covered)
		}
		claim.CountsUp = c.up[:1]
		if _, err := Compare(t.Context(), noteOf(t, p, false), compiled.Of(p), scan.Files{Dir: dir}, streams(p, 1),
			PublishedResults{Tables: []PublishedStatistic{claim}}); !errors.Is(err, errOtherCells) {
			t.Errorf("with one key of two: %v", err)
		}
	}
}

// A row is left out of a marginal for what the plan says of any column that it
// measures, and a unit has no more rows in it than the plan allows.
func TestCompareKeepsTheRulesOfThePlan(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 2}", "UNKNOWN", "drop")
	var data strings.Builder
	data.WriteString("id,kind,age\n")
	for i := range 300 {
		fmt.Fprintf(&data, "p%d,a,1\np%d,a,2\np%d,b,8\np%d,c,x9\n", i, i, i, i) // the last is left out, for its age
	}
	dir := folder(t, "t.csv", strings.ReplaceAll(data.String(), "x9", "99"))
	claims := PublishedResults{Rows: []Rows{{Table: "persons",
		By:    []plan.Factor{{Attribute: "kind", Basis: plan.Identity}},
		Codes: [][]uint32{{2}}, Marginals: [][]int{{0}}}}}
	for key := byte(1); key < 4; key++ {
		kinds := make([]int64, 3)
		for i, n := range countsOf(t, p, dir, key, "all") {
			kinds[i/10] += n
		}
		if kinds[2] != 0 || kinds[0]+kinds[1] != 600 {
			t.Fatalf("the plan counts %v", kinds)
		}
		// All rows drawn are of kind c: 1 away from it, and 1 from what the plan counts.
		if got := compared(t, p, dir, key, claims).Marginals[0][0]; got.Rows != 600 || !near(got.L1, 2) {
			t.Errorf("key %d: %d rows, L1 %v", key, got.Rows, got.L1)
		}
		claims := PublishedResults{Tables: []PublishedStatistic{{Path: "all", Read: func() (Figures, error) {
			exact := countsOf(t, p, dir, key, "all")
			figures := make([]float64, len(exact))
			for i, n := range exact {
				figures[i] = float64(n)
			}
			return Figures{Published: exact, Unbiased: figures, Low: figures, High: figures}, nil
		}}}}
		if got := compared(t, p, dir, key, claims).Tables[0]; got.L1 != 0 || got.Covered != 30 {
			t.Errorf("key %d: the counts under it lie %v away", key, got.L1)
		}
	}
}

// What cannot be shares is told as such: an empty table, or no rows drawn.
func TestCompareWithNothing(t *testing.T) {
	p := planOf(t)
	dir := folder(t, "t.csv", "kind,age\n")
	d := compared(t, p, dir, 1, PublishedResults{
		Tables: []PublishedStatistic{claimOf("bands", 0, 0, 0, 0, 0, 0, 2)},
		Rows: []Rows{{Table: "persons", By: []plan.Factor{{Attribute: "kind", Basis: plan.Identity}},
			Codes:     [][]uint32{{}},
			Marginals: [][]int{{0}}}},
	})
	if got := d.Tables[0]; got.Rows != 0 || got.L1 != 2 || got.Covered != 5 {
		t.Errorf("rows %d, L1 %v, covered %d", got.Rows, got.L1, got.Covered)
	}
	if got := d.Marginals[0][0]; got.Rows != 0 || got.L1 != 0 || got.Subsample[0] != 0 {
		t.Errorf("rows %d, L1 %v, a sample %v", got.Rows, got.L1, got.Subsample)
	}
}

func TestCompareRefuses(t *testing.T) {
	p, other := planOf(t), planOf(t, "rho: 1/2", "rho: 1/4")
	dir := folder(t, "t.csv", "kind,age\na,1\n")
	used := noteOf(t, p, false)
	if err := used.Use(p.Hash()); err != nil {
		t.Fatal(err)
	}
	read := false
	claims := PublishedResults{Tables: []PublishedStatistic{{Path: "bands", Read: func() (Figures, error) {
		read = true
		return Figures{},
			nil
	}}}}
	for name, c := range map[string]struct {
		note ledger.Comparison
		dir  string
		want string
	}{
		"no note":       {ledger.Comparison{}, dir, "no comparison with the truth is noted"},
		"another plan":  {noteOf(t, other, false), dir, "of another plan"},
		"used":          {used, dir, "note each of them"},
		"a rehearsal's": {noteOf(t, p, true), dir, "of a rehearsal"},
		"before data":   {ledger.Comparison{}, filepath.Join(dir, "nowhere"), "no comparison with the truth is noted"},
	} {
		if _, err := Compare(context.Background(), c.note, compiled.Of(p), scan.Files{Dir: c.dir}, streams(p, 1),
			claims); err == nil || !strings.Contains(err.Error(), c.want) || read {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := []plan.Factor{{Attribute: "kind", Basis: plan.Identity}}
	for name, c := range map[string]struct {
		claims PublishedResults
		want   string
	}{
		"what the plan does not have": {
			PublishedResults{Tables: []PublishedStatistic{claimOf("x", 0)}}, "not in the plan"},
		"cells": {PublishedResults{Tables: []PublishedStatistic{claimOf("bands", 0, 1, 2)}},
			"does not have its cells"},
		"a code": {PublishedResults{Rows: []Rows{{Table: "persons", By: wrong, Codes: [][]uint32{{3}}}}},
			"a code of kind is not one of its level"},
		"columns": {PublishedResults{Rows: []Rows{{Table: "persons", By: wrong}}},
			"0 columns, where the plan has 1"},
		"lengths": {
			PublishedResults{Rows: []Rows{{Table: "persons", By: append(wrong, wrong[0]), Codes: [][]uint32{{1}, {}}}}},
			"not of one length"},
	} {
		if _, err := Compare(context.Background(), noteOf(t, p, false), compiled.Of(p), scan.Files{Dir: dir},
			streams(p, 1),
			c.claims); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var contract *scan.ContractError
	if _, err := Compare(context.Background(), noteOf(t, p, false), compiled.Of(p),
		scan.Files{Dir: folder(t, "t.csv", "kind,age\nx,1\n")}, streams(p, 1), claims); !errors.As(err, &contract) {
		t.Errorf("data that break their contract: %v", err)
	}
}

// No figure of a comparison shows where the whole is printed or logged by mistake.
func TestDifferencesAreNotPrinted(t *testing.T) {
	d := &Differences{Tables: []Difference{{Rows: 4711}}, Marginals: [][]Distance{{{Rows: 4711}}}}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(text), fmt.Sprint(d), fmt.Sprintf("%+v", *d), fmt.Sprintf("%#v", d.Tables),
		fmt.Sprint(d.Tables[0]), fmt.Sprintf("%v", d.Marginals)} {
		if strings.Contains(shown, "4711") || !strings.Contains(shown, "confidential") {
			t.Errorf("shows %s", shown)
		}
	}
}

func TestBatches(t *testing.T) {
	p := planOf(t)
	c := &comparison{plan: p}
	for i, cells := range []int64{5, 3, 2, 11, 1, 1, 9, 10} {
		c.questions = append(c.questions,
			question{measurement: plan.Measurement{ID: fmt.Sprint(i), Cells: cells, Selection: selection.All{},
				Query: plan.Query{Table: "persons", Counted: counted.Rows{}}}})
	}
	var got []string
	for _, batch := range c.batchesOf("persons", 10) {
		var ids []string
		for _, q := range batch {
			ids = append(ids, q.measurement.ID)
		}
		got = append(got, strings.Join(ids, " "))
	}
	if want := []string{"0 1 2", "3", "4 5", "6", "7"}; !slices.Equal(got, want) {
		t.Errorf("batches %q, want %q", got, want)
	}
	if c.batchesOf("others", 10) != nil {
		t.Error("another table is asked")
	}
}

// The mean deviation is that of the hypergeometric law, summed up term by term.
func TestMeanDeviation(t *testing.T) {
	choose := func(n, k int64) float64 {
		c := 1.0
		for i := range k {
			c = c * float64(n-i) / float64(i+1)
		}
		return c
	}
	for _, rows := range []int64{1, 2, 5, 12, 40} {
		for marked := range rows + 1 {
			for drawn := int64(1); drawn <= rows; drawn++ {
				want, mean := 0.0, float64(marked*drawn)/float64(rows)
				for x := max(0, drawn+marked-rows); x <= min(marked, drawn); x++ {
					want += math.Abs(float64(x)-mean) * choose(marked, x) * choose(rows-marked, drawn-x) / choose(rows,
						drawn)
				}
				// log-gammas of numbers up to 40
				if got := meanDeviation(rows, marked, drawn); math.Abs(got-want) > 1e-9 {
					t.Fatalf("%d of %d rows, %d marked: %v, want %v", drawn, rows, marked, got, want)
				}
			}
		}
	}
}

// Two cells of 50 rows and a sample of 10: E|X − 5| of that law, twice, over 10 rows.
func TestSubsampled(t *testing.T) {
	got := subsampleDistances([]int64{50, 50})
	if want := 2 * meanDeviation(100, 50, 10) / 10; !near(got[3], want) || SubsampleShares[3] != 0.1 {
		t.Errorf("a tenth scores %v, want %v", got[3], want)
	}
	if !slices.IsSortedFunc(got, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
		t.Errorf("a larger sample lies farther away: %v", got)
	}
}

// TestTruthLeavesOutWhatTheReleaseDoes: rows that are left out for the sake of a number, or of a weight, are not among
// the truth of tables that do not read it.
func TestTruthLeavesOutWhatTheReleaseDoes(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "r.yaml", Text: `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: id, max_rows: 5}
    weight: {from: w, range: [0, 9], step: 1, kind: design, null: drop}
    columns:
      kind: {values: [a, b]}
      band: {values: [x, y]}
      pay: {type: decimal, range: [0, 10], step: 0.5, null: drop}
marginals:
  kinds: {by: [kind]}
  pay: {by: [band], stats: [count, {mean: pay}]}
`})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, "t.csv", "id,kind,band,pay,w\n1,a,x,5,1\n1,a,x,,1\n2,b,y,1,\n3,b,y,99,2\n")
	d := compared(t, p.Plan(), dir, 1, PublishedResults{Tables: []PublishedStatistic{claimOf("kinds", 1, 0, 0)}})
	if d.Tables[0].Rows != 3 { // weights
		t.Errorf("the truth is %d, where rows of 1 and 2 are left, and one has no pay and one no weight",
			d.Tables[0].Rows)
	}
}

// figureOf publishes these figures, with intervals of ±margin; NaN is withheld.
func figureOf(path, name string, margin float64, values ...float64) PublishedStatistic {
	f := Figures{Unbiased: values}
	for _, v := range values {
		f.Low, f.High = append(f.Low, v-margin), append(f.High, v+margin)
	}
	return PublishedStatistic{Path: path, Figure: name, Read: func() (Figures, error) { return f, nil }}
}

// TestFiguresAreHeldAgainstTheTruth: the truth of each kind of figure is worked out by hand.
func TestFiguresAreHeldAgainstTheTruth(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "r.yaml", Text: `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: 1}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: id, max_rows: 9}
    weight: {from: w, range: [0, 2], step: 0.5, kind: design}
    columns:
      kind: {values: [a, b, c]}
      size: {values: [small, large]}
      pay: {type: decimal, range: {by: size, small: [0, 5], large: [4, 10]}, step: 0.5, null: drop}
marginals:
  pay: {by: [kind], stats: [count, units, {sum: pay}, {mean: pay}, {variance: pay}, {deviation: pay}, {cv: pay}, {median: pay}, {distinct: size, per_unit: 9}, {ratio: {of: {size: large}, over: {size: [small, large]}}, as: share}]}
  sizes: {by: [size, kind], stats: [count, {mean: pay}, {share: {of: [kind]}, as: within}, {share: {of: [size]}, as: across}]}
`})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	// a: 2 (weight 1), 5 (of 9: clamped; 2), 4 (of 1: clamped; 1); b: 6 (weight 0.5); c: none.
	dir := folder(t, "t.csv", "id,kind,size,pay,w\n1,a,small,2,1\n1,a,small,9,2\n2,a,large,1,1\n3,b,large,6.2,0.4\n")
	nan := math.NaN()
	squares := 4. + 2*25 + 16 // Σ w x² of a, with Σ w x = 16 and Σ w = 4
	for _, c := range []struct {
		claim                                        PublishedStatistic
		cells, covered, bounded, withheld, undefined int64
		l1                                           float64
	}{
		{figureOf("pay", "pay_sum", 1, 17, 3, 5), 3, 2, 3, 0, 0, 1 + 0 + 5},
		{figureOf("pay", "pay_mean", 0.5, 4.25, nan, 1), 1, 1, 1, 1, 1, 0.25},
		{figureOf("pay", "pay_variance", nan, squares/4-16, 0, 1), 2, 0, 0, 0, 1, 0},
		{figureOf("pay", "pay_deviation", 1, math.Sqrt(squares/4-16)+1.5, 0, 1), 2, 1, 2, 0, 1, 1.5},
		{figureOf("pay", "pay_cv", 0.25, math.Sqrt(squares/4-16)/4+0.5, 0, 1), 2, 1, 2, 0, 1, 0.5},
		{figureOf("pay", "pay_median", 0.75, 4.5, 7, 1), 2, 1, 2, 0, 1, 0 + 1}, // of a: from 4 up to which 2 of 4 lie, to 5
		{figureOf("pay", "units", 0, 2, 2, 0), 3, 2, 3, 0, 0, 1},
		{figureOf("pay", "size_distinct", 0, 2, 1, 0), 3, 3, 3, 0, 0, 0},
		{figureOf("pay", "share", 0, 0.25, 0.5, 0), 2, 1, 2, 0, 1, 0.5},
		{figureOf("sizes", "pay_mean", 0, 4, 0, 0, 5, 6, 0), 3, 2, 3, 0, 3, 1},
		{figureOf("sizes", "within", 0.1, 0.75, 0, 0, 0.25, 0.5, 0), 4, 3, 4, 0, 2, 0.5},         // of a 3 and 1, of b 0 and ½
		{figureOf("sizes", "across", 0.1, 1, 0, 0, 0.5, 1./3, 0.25), 6, 4, 6, 0, 0, 1./6 + 0.25}, // 3 0 0, 1 ½ 0
	} {
		got := compared(t, p.Plan(), dir, 1, PublishedResults{Tables: []PublishedStatistic{c.claim}}).Tables[0]
		if got.Cells != c.cells || got.Covered != c.covered || got.Bounded != c.bounded || got.Withheld != c.withheld ||
			got.Undefined != c.undefined || math.Abs(got.L1-c.l1) > 1e-9 {
			t.Errorf("%s %s: %d cells, %d covered of %d, %d withheld, %d undefined, L1 %v", c.claim.Path,
				c.claim.Figure,
				got.Cells, got.Covered, got.Bounded, got.Withheld, got.Undefined, got.L1)
		}
	}
	weighted := PublishedResults{Tables: []PublishedStatistic{claimOf("pay", 0.25, 4, 0.75, 0)}}
	if d := compared(t, p.Plan(), dir, 1, weighted).Tables[0]; d.Squares != 0.0625 || d.Covered != 3 {
		t.Errorf("weighted counts are off by %v, %d covered", d.Squares, d.Covered)
	}
}
