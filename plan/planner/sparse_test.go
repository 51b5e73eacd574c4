package planner_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// sparseSpec is a release of one sparse table of 10⁹ cells, beside another one. A test fills in its capitals.
const sparseSpec = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {BUDGET, split: {od: 1/2, rest: 1/2}}
tables:
  trips:
    source: {csv: "*.csv"}
    unit: row
    columns:
      from: {type: integer, range: [1, 31622]}
      to: {type: integer, range: [1, 31622]}
      hour: {type: integer, range: [0, 23]}
MORE
marginals:
  od: {by: [from, to], budget: od, cells: {above: ABOVE}OPTION}
  hours: {by: [hour], budget: rest}
`

func sparseText(replacements ...string) string {
	return strings.NewReplacer(append(replacements, "BUDGET", "epsilon: 1", "ABOVE", "60", "OPTION", "", "MORE\n",
		"")...).
		Replace(sparseSpec)
}

func planSparse(t *testing.T, replacements ...string) (*plan.Plan, error) {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "trips.yaml", Text: sparseText(replacements...)})
	if err != nil {
		return nil, err
	}
	return plantest.New(r)
}

// noiseAbove is P(X > n) by adding up the law.
func noiseAbove(m budget.Mechanism, n int64) float64 {
	parameter, _ := m.Parameter.Float64()
	weight := func(x int64) float64 {
		if m.Kind == budget.DiscreteLaplace {
			return math.Exp(-math.Abs(float64(x)) / parameter)
		}
		return math.Exp(-float64(x) * float64(x) / (2 * parameter))
	}
	all, tail := 0.0, 0.0
	for x := int64(-4000); x <= 4000; x++ {
		all += weight(x)
		if x > n {
			tail += weight(x)
		}
	}
	return tail / all
}

// TestSparseTablesSayWhatTheyMiss holds the figures of the plan against the law added up, under all kinds of budget.
// Figures are rounded up to the digits that plans have: by a part of 1e-5 at most.
func TestSparseTablesSayWhatTheyMiss(t *testing.T) {
	for _, money := range []string{"epsilon: 1", "rho: 1/8", "epsilon: 1, delta: 1e-9"} {
		p, err := planSparse(t, "BUDGET", money)
		if err != nil {
			t.Fatal(err)
		}
		m, ok := p.Measurement("od")
		s := p.Tables[0].Sparse
		if !ok || selection.Threshold(m.Selection) != 60 || s == nil || s.Above != 60 || m.Cells != 31622*31622 ||
			p.Tables[0].Statistics[0].Measurement != "od" {
			t.Fatalf("%s: the table is not planned as a sparse one: %+v, %+v", money, m, p.Tables[0])
		}
		near := func(what string, got, want float64) {
			if !(got >= want*(1-1e-9) && got <= want*(1+1e-5)+1e-300) {
				t.Errorf("%s: %s is %g, want %g", money, what, got, want)
			}
		}
		near("the mean number of false cells", s.FalseCells, noiseAbove(m.Mechanism, 60)*31622*31622)
		if len(s.Missed) < 3 || s.Missed[0].Rows != 61 {
			t.Fatalf("%s: the sizes are %+v", money, s.Missed)
		}
		for i, missed := range s.Missed {
			near("the chance to miss", missed.Chance, 1-noiseAbove(m.Mechanism, 60-missed.Rows))
			if before := 1 - noiseAbove(m.Mechanism, 60-missed.Rows+1); i > 0 &&
				before <= planner.MissedBy[len(planner.MissedBy)-len(s.Missed)+i] {
				t.Errorf("%s: a smaller cell than one of %d rows is missed as rarely (%g)", money, missed.Rows, before)
			}
		}
		again, err := compiled.Read(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := plantest.Verify(again.Plan()); err != nil {
			t.Error(err)
		}
		if p.Size.Cells > 1<<21 || p.Size.Bytes > 1<<27 {
			t.Errorf("%s: a sparse table takes %+v", money, p.Size)
		}
	}
}

// TestSparseTablesStandApart holds that nothing else bears on a sparse table, and that it bears on nothing else.
func TestSparseTablesStandApart(t *testing.T) {
	text := strings.ReplaceAll(sparseText("BUDGET", "rho: 1"), "{by: [hour], budget: rest}",
		"{by: [from], budget: od}\n  hours: {by: [hour], budget: rest}")
	text = strings.ReplaceAll(text, "  hours: {by: [from]", "  from: {by: [from]")
	r, err := spec.Parse(spec.Source{Name: "trips.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	estimates, err := p.Estimates()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range estimates {
		for _, m := range e.Sources {
			if m.Selection.Kind() == selection.KindAbove {
				t.Errorf("%s bears on other tables", m.ID)
			}
		}
		for _, at := range e.Tables {
			if p.Tables[at].Sparse != nil {
				t.Errorf("%s is put together from others", p.Tables[at].Path)
			}
		}
	}
	if len(p.Measurements) != 3 {
		t.Errorf("%d measurements for three tables", len(p.Measurements))
	}
}

// TestSparseTablesAreRefused lists what a sparse table cannot be, with where that is said and what would do.
func TestSparseTablesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		replacements []string
		says         []string
	}{
		"cumulative": {[]string{"OPTION", ", cumulative: [from]"}, []string{"trips.yaml:14:", "cumulative"}},
		"ranges":     {[]string{"OPTION", ", ranges: [from]"}, []string{"trips.yaml:14:", "ranges"}},
		"all cells": {[]string{"OPTION", ", target: {margin: 5, of: all-cells}"},
			[]string{"trips.yaml:14:", "all cells", "each-cell"}},
		"no threshold": {[]string{"ABOVE", "0"}, []string{"trips.yaml:14:", "above"}},
		"half a row":   {[]string{"ABOVE", "40.5"}, []string{"trips.yaml:14:", "whole number"}},
		"too many false": {[]string{"ABOVE", "5"}, []string{"trips.yaml:14:", "above 5 by their noise alone",
			"a threshold of 8 or more"}},
		"too much noise": {[]string{"BUDGET", "rho: 1e-11", "ABOVE", "900000"}, []string{"trips.yaml:14:", "65 536"}},
		"a total": {[]string{"by: [from, to], budget: od", "by: [], budget: od"},
			[]string{"trips.yaml:14:", "total"}},
		"dense and large": {[]string{", cells: {above: ABOVE}", "", "[1, 31622]", "[1, 316220]"},
			[]string{"cells: {above: N}"}},
	} {
		_, err := planSparse(t, c.replacements...)
		if err == nil {
			t.Errorf("%s: is planned", name)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: does not say %q:\n%v", name, says, err)
			}
		}
	}
}

// TestSparseTablesUnderOtherTerms plans sparse tables that share a leaf, that a target decides, of which the largest
// error is to be least, of every subset, of replaced units with several rows, and of a table with an expected number of
// rows.
func TestSparseTablesUnderOtherTerms(t *testing.T) {
	one := func(p *plan.Plan) *selection.AboveFacts { return p.Tables[0].Sparse }
	for name, c := range map[string]struct {
		replacements []string
		holds        func(p *plan.Plan) bool
	}{
		"one leaf": {[]string{", split: {od: 1/2, rest: 1/2}", "", "budget: od, ", "", ", budget: rest", "", "BUDGET",
			"rho: 1"},
			func(p *plan.Plan) bool { return len(p.Leaves) == 1 && len(p.Strategies) == 2 }},
		"a target": {[]string{"BUDGET, split: {od: 1/2, rest: 1/2}", "epsilon: 4, split: {od: needed, rest: 100%}",
			"OPTION",
			", target: {margin: 20}"},
			func(p *plan.Plan) bool { return p.Tables[0].Target.Reached <= 20 && p.Tables[0].Target.Reached > 15 }},
		"the largest error": {[]string{"BUDGET, split: {od: 1/2, rest: 1/2}",
			"rho: 1, minimise: largest, split: {od: 1/2, rest: 1/2}"},
			func(p *plan.Plan) bool { return one(p) != nil }},
		"every subset": {[]string{"{by: [from, to], budget: od", "{every: [1, 2], by: [from, to, hour], budget: od"},
			func(p *plan.Plan) bool {
				return len(p.Tables) == 7 && p.Tables[5].Sparse != nil && p.Tables[6].Sparse == nil
			}},
		"replaced units": {[]string{"neighbours: add-remove", "neighbours: replace", "unit: row",
			"unit: {id: who, max_rows: 3}", "ABOVE", "300"},
			func(p *plan.Plan) bool {
				m, _ := p.Measurement("od")
				return m.Mechanism.L1.Int64() == 6
			}},
		"expected rows": {[]string{"unit: row", "unit: row\n    expect: {rows: [900, 1100]}"},
			func(p *plan.Plan) bool { return p.Size.Cells == 24+1000+1 && p.Tables[0].Usefulness == nil }},
	} {
		p, err := planSparse(t, c.replacements...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !c.holds(p) {
			t.Errorf("%s: %s", name, p.Bytes())
		}
		again, err := compiled.Read(p.Bytes())
		if err == nil {
			err = plantest.Verify(again.Plan())
		}
		if err == nil {
			err = describe.Explain(again, &strings.Builder{})
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLowThresholdsAreToldBeforeSigning holds that a threshold within the noise is a warning with one that is not, and
// that no other is.
func TestLowThresholdsAreToldBeforeSigning(t *testing.T) {
	small := []string{"[1, 31622]", "[1, 100]"} // 10 000 cells
	for _, c := range []struct {
		above, expect string
		low           bool
		says          string
	}{
		{"1", "", true, ""},
		{"60", "", false, ""},
		{"6", "", false, ""}, // a few of a hundred
		{"6", "expect: {rows: [50, 150]}", true, "in addition to the cells of the 100 rows that are expected"},
		{"6", "expect: {rows: [10000, 30000]}", false, ""},
	} {
		p, err := planSparse(t, append(small, "ABOVE", c.above, "    unit: row", "    unit: row\n    "+c.expect)...)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := p.Measurement("od")
		chance := noiseAbove(m.Mechanism, p.Tables[0].Sparse.Above)
		var warned []string
		for _, w := range describe.Warnings(language.English, p) {
			if strings.HasPrefix(w, "od is published above ") {
				warned = append(warned, w)
			}
		}
		if (len(warned) == 1) != c.low || len(warned) > 1 {
			t.Errorf("above %s, %q, a chance of %g: %q", c.above, c.expect, chance, warned)
			continue
		}
		if !c.low {
			continue
		}
		enough := int64(0)
		for 10000*noiseAbove(m.Mechanism, enough) > 1 {
			enough++
		}
		for _, says := range []string{c.says, budget.Group(int64(math.Round(10000*chance))) + " cells without a row",
			fmt.Sprintf("With above: %d one", enough)} {
			if !strings.Contains(warned[0], says) {
				t.Errorf("above %s: %q does not say %q", c.above, warned[0], says)
			}
		}
	}
}
