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
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
)

// numbersText is a spec of a collection whose respondents give a number from 0 to 60, and other answers by groups.
func numbersText(epsilon, marginals string) string {
	return "version: 1\nrelease: survey\nprivacy: {protects: respondent, neighbours: replace}\n" +
		"collect: {answers: {protocol: local, epsilon: " + epsilon + ", expect: 30000}}\ntables:\n  answers:\n" +
		"    source: {parquet: \"*.parquet\"}\n    collected: answers\n    columns:\n" +
		"      group: {values: [a, b, c]}\n      many: {type: integer, range: [1, 257]}\n" +
		"      units: {type: integer, range: [0, 60]}\n      pay: {type: integer, range: [0, 1000000]}\n" +
		"      one: {type: integer, range: [5, 5]}\n" +
		"marginals:\n" + marginals
}

// numbersPlan returns the plan of such a spec.
func numbersPlan(t *testing.T, epsilon, marginals string) *plan.Plan {
	t.Helper()
	p, err := plantest.PlanOfText(t, numbersText(epsilon, marginals))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// responseVariance is the variance of a number x from 0 to 1 as it is estimated from one report, by randomised response
// among so many points.
func responseVariance(e, x float64, points int) float64 {
	m := float64(points)
	p, q, squares := e/(e+m-1), 1/(e+m-1), 0.0
	for j := range points {
		squares += float64(j*j) / ((m - 1) * (m - 1))
	}
	at := x * (m - 1)
	below := math.Min(math.Floor(at), m-2)
	above := at - below
	square := ((1-above)*below*below + above*(below+1)*(below+1)) / ((m - 1) * (m - 1))
	mean := q*m/2 + (p-q)*x
	return (q*squares + (p-q)*square - mean*mean) / ((p - q) * (p - q))
}

// worstResponse is the largest such variance, at 41 numbers.
func worstResponse(e float64, points int) (worst float64) {
	for i := range 41 {
		worst = math.Max(worst, responseVariance(e, float64(i)/40, points))
	}
	return worst
}

// TestPointsHaveTheLeastError compares the points of a question for a number, and the standard error of the mean, with
// those of randomised response. The mechanism of one bit is best for a small ε, and its variance, in ranges, is a
// quarter of that of Duchi, Jordan and Wainwright for numbers from −1 to 1.
func TestPointsHaveTheLeastError(t *testing.T) {
	for _, c := range []struct {
		epsilon string
		points  int64
	}{{"1/2", 2}, {"1", 2}, {"3/2", 3}, {"2", 3}, {"4", 5}, {"8", 17}} {
		p := numbersPlan(t, c.epsilon, "  average: {by: [], stats: [{mean: units}, {sum: units}]}\n")
		epsilon, _ := p.Release().Collection.Epsilon.Float64()
		r, _ := p.Measurements[0].Reports()
		best := 2
		for points := 3; points <= 61; points++ {
			if worstResponse(math.Exp(epsilon), points) < worstResponse(math.Exp(epsilon), best)*(1-1e-9) {
				best = points
			}
		}
		t.Logf("ε = %s: %d points, variance %.4f; one bit %.4f", c.epsilon, r.Points,
			4*worstResponse(math.Exp(epsilon), best),
			4*worstResponse(math.Exp(epsilon), 2))
		if r.Support == 1 && (r.Points != int64(best) || r.Points != c.points) || r.Of != "units" ||
			p.Measurements[0].Cells != r.Points || r.Categories != r.Points {
			t.Errorf("ε = %s: %+v, want %d points", c.epsilon, r, best)
		}
		want := 60 * math.Sqrt(worstResponse(math.Exp(epsilon), int(r.Points))/30_000)
		mean, sum := p.Tables[0].Figures[0].Quality, p.Tables[0].Figures[1].Quality
		if !isRoundedUp(mean.StandardError, want) || !isRoundedUp(mean.Margin, normal95*want) ||
			!isRoundedUp(sum.StandardError, 30_000*want) || mean.Rows != 30_000 ||
			p.Tables[0].Statistics[0].Margin != 0 {
			t.Errorf("ε = %s: %+v, %+v, want standard error %g", c.epsilon, mean, sum, want)
		}
	}
	if got, want := 4*worstResponse(math.E, 2), math.Pow((math.E+1)/(math.E-1), 2); math.Abs(got-want) > 1e-12 {
		t.Errorf("one bit at ε = 1 has variance %g, want %g", got, want)
	}
}

// TestDrawnNumbersHaveTheErrorOfASample draws questions, so that a part of the respondents answers: where half of all
// respondents are at each end of the range, the error of a mean is that of the randomiser and of the sample.
func TestDrawnNumbersHaveTheErrorOfASample(t *testing.T) {
	for _, epsilon := range []string{"3", "4"} {
		p := numbersPlan(t, epsilon, "  average: {by: [], stats: [{mean: units}]}\n  group: {by: [group]}\n")
		r, _ := p.Measurements[0].Reports()
		if r.Chance == 0 || r.Support != 1 {
			t.Fatalf("%+v", r)
		}
		e, _ := p.Release().Collection.Epsilon.Float64()
		share := float64(r.Chance) / certainty
		want := 60 * math.Sqrt((responseVariance(math.Exp(e), 0, int(r.Points))+(1-share)/4)/(share*30_000))
		if got := p.Tables[0].Figures[0].Quality.StandardError; got < want*(1-1e-4) || got > 1.2*want {
			t.Errorf("ε = %s: standard error %g, at both ends of the range it is %g", epsilon, got, want)
		}
	}
}

// TestNumbersAndValuesOfOneColumn asks for a number, and for the categories of the same column: devices have one answer
// to both, so that its texts must agree.
func TestNumbersAndValuesOfOneColumn(t *testing.T) {
	text := numbersText("1", "  average: {by: [], stats: [{mean: units}]}\n  values: {by: [units]}\n")
	if _, err := plantest.PlanOfText(t, text); err != nil {
		t.Error(err)
	}
	text = strings.Replace(text, "range: [0, 60]", "range: [0, 60], step: 5", 1)
	if _, err := plantest.PlanOfText(t, text); err == nil || !strings.Contains(err.Error(), "marginals.values.by: ") ||
		!strings.Contains(err.Error(), "a level of units") {
		t.Error(err)
	}
}

// TestEditedNumbersAreRefused changes what a plan says of the numbers that devices round.
func TestEditedNumbersAreRefused(t *testing.T) {
	p := numbersPlan(t, "2", "  average: {by: [], stats: [{mean: units}]}\n"+
		"  group: {by: [group], stats: [{mean: units}]}\n")
	for old, changed := range map[string]string{
		`"of": "units"`:      `"of": "many"`,
		`"points": 3`:        `"points": 2`,
		`"points": 3,`:       ``,
		`"of": "units",`:     ``,
		`"part": "average"`:  `"part": "group"`,
		`"cells": 3`:         `"cells": 6`,
		`"kind": "mean"`:     `"kind": "sum"`,
		`"column": "units"`:  `"column": "many"`,
		`"standard_error": `: `"standard_error": 1`,
	} {
		edited := strings.Replace(string(p.Bytes()), old, changed, 1)
		if edited == string(p.Bytes()) {
			t.Fatalf("the plan does not hold %s\n%s", old, p.Bytes())
		}
		if read, err := compiled.Read([]byte(edited)); err == nil {
			if _, err = planner.Verify(read); !errors.Is(err, plan.ErrEdited) {
				t.Errorf("%s for %s: %v", changed, old, err)
			}
		}
	}
}

// TestNumbersThatCannotBeAsked asks for numbers in too many cells, and for a number of too many values.
func TestNumbersThatCannotBeAsked(t *testing.T) {
	for marginals, want := range map[string]string{
		"  a: {by: [many], stats: [{mean: units}]}\n": fmt.Sprintf("at most %d cells", counted.MostInSet/2),
		"  a: {by: [], stats: [{mean: pay}]}\n":       "a larger step, of at most 65536 values",
		"  a: {by: [], stats: [{mean: one}]}\n":       "a range of two values at least",
	} {
		if _, err := plantest.PlanOfText(t, numbersText("1", marginals)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", marginals, err, want)
		}
	}
}
