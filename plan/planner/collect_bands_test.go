package planner_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/hierarchy"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/residual"
)

// bandsText is a collection with a question of so many categories in each of some groups, along which sums are asked
// for, and another question.
func bandsText(collect string, groups, categories int, with string) string {
	return fmt.Sprintf(`version: 1
release: survey
about: {title: A survey}
privacy: {protects: respondent, neighbours: replace}
collect: {answers: {protocol: local, %s}}
tables:
  answers:
    source: {parquet: "*.parquet"}
    collected: answers
    columns:
      group: {type: integer, range: [1, %d]}
      age: {type: integer, range: [1, %d]}
      used: {values: ["no", "yes"]}
marginals:
  ages: {by: [group, age], %s}
  used: {by: [used]}
`, collect, groups, categories, with)
}

// TestBandsOfAPlan checks that the chances of all forms add up to 1, and compares the stated errors with those of the
// law of the reports that the expected respondents send.
func TestBandsOfAPlan(t *testing.T) {
	for _, c := range []struct {
		epsilon            string
		groups, categories int
		sums               string
		bands              bool
	}{{"1", 2, 100, "ranges", true}, {"1", 2, 16, "cumulative", true}, {"2", 3, 60, "cumulative", true},
		{"1/2", 2, 256, "ranges", true}, {"4", 2, 4, "ranges", false}, {"2", 2, 3, "cumulative", false}} {
		p, err := plantest.PlanOfText(t, bandsText("epsilon: "+c.epsilon+", expect: 100000", c.groups, c.categories,
			c.sums+": [age]"))
		if err != nil {
			t.Fatal(err)
		}
		m, st := p.Measurements[0], p.Tables[0].Statistics[0]
		r, _ := m.Reports()
		other, _ := p.Measurements[1].Reports()
		if r.Drawn()+other.Drawn() != certainty || (len(r.Bands) > 0) != c.bands || !p.Measurements[0].IsDrawn() {
			t.Fatalf("%+v: chances add up to %d, %d kinds of bands", c, r.Drawn()+other.Drawn(), len(r.Bands))
		}
		if (st.OfRanges > 0) != (c.sums == "ranges") {
			t.Errorf("%+v: an error of ranges of %g", c, st.OfRanges)
		}
		if !c.bands {
			continue
		}
		chances := []int64{r.Chance}
		for _, b := range r.Bands {
			chances = append(chances, b.Chance)
		}
		for h := range chances {
			chances[h] = int64(math.Round(float64(chances[h]) * 100_000 / certainty))
		}
		of := hierarchy.Question{Outer: c.groups, Size: c.categories, Inner: 1}
		e := hierarchy.New(of, 100_000, r.Levels(chances))
		shown, most := residual.Cells, 0.0
		if c.sums == "cumulative" {
			shown = residual.Prefixes
		}
		for _, sum := range e.Shown(c.sums == "cumulative") {
			most = max(most, sum.MostDeviation(e.Answers()))
		}
		for what, of := range map[string][2]float64{"standard error": {st.StandardError, e.MeanDeviation(shown)},
			"largest": {st.Uneven, most}, "margin": {st.Margin, normal95 * most}} {
			if math.Abs(of[0]/of[1]-1) > 1e-3 {
				t.Errorf("%+v: %s %g, want %g", c, what, of[0], of[1])
			}
		}
		if want := e.MeanDeviation(residual.Ranges); c.sums == "ranges" && math.Abs(st.OfRanges/want-1) > 1e-3 {
			t.Errorf("%+v: error of ranges %g, want %g", c, st.OfRanges, want)
		}
		single := r
		single.Bands, single.Along = nil, ""
		alone := hierarchy.New(of, 100_000, single.Levels([]int64{int64(float64(r.Drawn()) / certainty * 100_000)}))
		if sums := map[string]residual.Sums{"ranges": residual.Ranges,
			"cumulative": residual.Prefixes}[c.sums]; e.MeanDeviation(sums) >
			0.96*alone.MeanDeviation(sums) {
			t.Errorf("%+v: the error is %g, without bands %g", c, e.MeanDeviation(sums), alone.MeanDeviation(sums))
		}
	}
}

// TestTargetsOfBandsAreMet gives a question that is asked in bands the share that its target takes, for targets that
// take more than half of the devices: what is reached is what was asked for. Half as much again is refused.
func TestTargetsOfBandsAreMet(t *testing.T) {
	for _, respondents := range []int{5_000, 20_000, 100_000, 1_000_000} {
		for i := range 12 {
			margin := math.Round(math.Sqrt(float64(respondents)/1e5) * (1350 + 23*float64(i)))
			text := func(margin float64) string {
				return bandsText(fmt.Sprintf("epsilon: 2, expect: %d", respondents), 1, 60,
					fmt.Sprintf("ranges: [age], target: {margin: %g}", margin))
			}
			p, err := plantest.PlanOfText(t, text(margin))
			if err != nil {
				t.Errorf("%d respondents, ±%g: %v", respondents, margin, err)
				continue
			}
			r, _ := p.Measurements[0].Reports()
			if reached := p.Tables[0].Target.Reached; math.Abs(reached/margin-1) > 1e-3 || r.Drawn() < certainty/2 {
				t.Errorf("%d respondents, ±%g: reached ±%g with a share of %g", respondents, margin, reached,
					float64(r.Drawn())/certainty)
			}
			if _, err := plantest.PlanOfText(t, text(margin/2)); err == nil ||
				!strings.Contains(err.Error(), "marginals.ages.target") {
				t.Errorf("%d respondents, ±%g: %v", respondents, margin/2, err)
			}
		}
	}
}

// TestOneQuestionInBands draws the form of the only question.
func TestOneQuestionInBands(t *testing.T) {
	text := bandsText("epsilon: 1, expect: 100000", 1, 60, "ranges: [age]")
	p, err := plantest.PlanOfText(t, strings.Replace(text, "  used: {by: [used]}\n", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := p.Measurements[0].Reports(); r.Drawn() != certainty || len(r.Bands) == 0 {
		t.Errorf("%+v", r)
	}
}

// TestTooManyCategoriesToAddUp asks for ranges of more categories than are reported as sets.
func TestTooManyCategoriesToAddUp(t *testing.T) {
	_, err := plantest.PlanOfText(t, bandsText("epsilon: 1, expect: 100000", 2, 300, "ranges: [age]"))
	if err == nil || !strings.Contains(err.Error(), "marginals.ages.ranges: table ages adds up along 600 categories") {
		t.Error(err)
	}
}

// TestForgedBandsAreRefused changes the bands of a plan that was written, where the planner does not make it again.
func TestForgedBandsAreRefused(t *testing.T) {
	refuseForged(t, bandsText("epsilon: 1, expect: 100000", 2, 100, "ranges: [age]"), forgeries{
		"as it is":   func(*plan.Measurement, *counted.Reports) {},
		"keeps more": func(_ *plan.Measurement, r *counted.Reports) { r.Bands[1].Keep += 1 << 30 },
		"all in a report": func(
			_ *plan.Measurement, r *counted.Reports) {
			r.Bands[0].Support = r.Bands[0].Categories
		},
		"no support": func(_ *plan.Measurement, r *counted.Reports) { r.Bands[0].Support = 0 },
		"categories": func(m *plan.Measurement, r *counted.Reports) { r.Bands[0].Categories++; m.Cells++ },
		"width":      func(_ *plan.Measurement, r *counted.Reports) { r.Bands[0].Width = 3 },
		"order": func(_ *plan.Measurement, r *counted.Reports) {
			r.Bands[0], r.Bands[1] = r.Bands[1],
				r.Bands[0]
		},
		"an impossible chance": func(_ *plan.Measurement, r *counted.Reports) { r.Bands[0].Chance = math.MaxInt64 },
		"chances above 1":      func(_ *plan.Measurement, r *counted.Reports) { r.Bands[0].Chance = certainty },
		"a negative chance":    func(_ *plan.Measurement, r *counted.Reports) { r.Chance = -1 },
		"a chance of 0":        func(_ *plan.Measurement, r *counted.Reports) { r.Bands[1].Chance = 0 },
		"along nothing":        func(_ *plan.Measurement, r *counted.Reports) { r.Along = "" },
		"along another column": func(_ *plan.Measurement, r *counted.Reports) { r.Along = "used" },
		"along the other one":  func(_ *plan.Measurement, r *counted.Reports) { r.Along = "group" },
		"no bands":             func(_ *plan.Measurement, r *counted.Reports) { r.Bands = nil },
		"all answer":           func(_ *plan.Measurement, r *counted.Reports) { r.Chance = 0 },
		"negative categories":  func(_ *plan.Measurement, r *counted.Reports) { r.Bands[0].Categories = -1 },
		"as many as there are": func(
			_ *plan.Measurement, r *counted.Reports) {
			r.Bands[0].Categories = math.MaxInt64
		},
		"a part is not counted": func(m *plan.Measurement, _ *counted.Reports) { m.Cells -= 5 },
	})
}

// forgeries are changes of a measurement and of its question, which no planner makes; "as it is" changes nothing.
type forgeries map[string]func(m *plan.Measurement, r *counted.Reports)

// refuseForged makes each change to the first measurement of the plan of a spec. All but "as it is" must be refused.
func refuseForged(t *testing.T, text string, all forgeries) {
	t.Helper()
	for what, change := range all {
		p, err := plantest.PlanOfText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := p.Measurements[0].Reports()
		change(&p.Measurements[0], &r)
		p.Measurements[0].Query.Counted = r
		_, err = compiled.Of(p).Copy()
		if (err == nil) != (what == "as it is") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestEditedBandsAreRefused changes the chance of bands in the bytes of a plan.
func TestEditedBandsAreRefused(t *testing.T) {
	p, err := plantest.PlanOfText(t, bandsText("epsilon: 1, expect: 100000", 2, 100, "ranges: [age]"))
	if err != nil {
		t.Fatal(err)
	}
	r, _ := p.Measurements[0].Reports()
	text := string(compiled.Of(p).Bytes())
	edited := strings.Replace(text, fmt.Sprintf(`"chance": %d`, r.Bands[0].Chance),
		fmt.Sprintf(`"chance": %d`, r.Bands[0].Chance+1), 1)
	if edited == text {
		t.Fatal("the plan has no such chance")
	}
	read, err := compiled.Read([]byte(edited))
	if err == nil {
		_, err = planner.Verify(read)
	}
	if !errors.Is(err, plan.ErrEdited) {
		t.Error(err)
	}
}
