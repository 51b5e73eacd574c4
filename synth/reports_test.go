package synth

import (
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// reportsOf returns the answers to a question of two categories at ε: how many of the reports hold each.
func reportsOf(t *testing.T, epsilon *big.Rat, first, reports int64) measured.Measured {
	t.Helper()
	randomiser, err := counted.NewReports(epsilon, 2)
	if err != nil {
		t.Fatal(err)
	}
	return measured.Measured{Measurement: plan.Measurement{ID: "q", Cells: 2, Query: plan.Query{Counted: randomiser}},
		Values: measured.Column([]int64{first, reports - first}), Reports: &measured.Reports{Kept: reports}}
}

// TestMarginsOfReportsHold adds up, exactly, the probability that a published count is within the margin of its table
// of what is true, where that is at the end of what is possible: intervals end there, and half their width would be
// held by two counts in three alone.
func TestMarginsOfReportsHold(t *testing.T) {
	for _, c := range []struct {
		epsilon     *big.Rat
		respondents int64
	}{{big.NewRat(1, 10), 100}, {big.NewRat(1, 4), 100}, {big.NewRat(2, 1), 60}} {
		st := plan.Statistic{Name: "count", Confidence: 0.95}
		randomiser, err := counted.NewReports(c.epsilon, 2)
		if err != nil {
			t.Fatal(err)
		}
		own, _ := randomiser.Randomiser().Chances()
		p, _ := own.Float64()
		within, byHalfWidth := 0.0, 0.0
		for s := range c.respondents + 1 {
			got := reportStatistic(st, cellSums(nil, reportsOf(t, c.epsilon, s, c.respondents), c.respondents, nil,
				nil, st.Confidence), c.respondents)
			shown := got.Published.Value(0)
			if shown < 0 || shown > c.respondents {
				t.Fatalf("%d of %d respondents", shown, c.respondents)
			}
			chance := binomial(c.respondents, s, p)
			off := math.Abs(float64(shown - c.respondents)) // all of them have the first category
			if off <= got.Margin {
				within += chance
			}
			if off <= math.Max(got.High.Value(0)-math.Max(got.Low.Value(0), 0), 0)/2 {
				byHalfWidth += chance
			}
		}
		if within < 0.95 {
			t.Errorf("ε = %s: %g of the counts are within the margin", c.epsilon, within)
		}
		if c.respondents == 100 && byHalfWidth > 0.95 {
			t.Errorf("ε = %s: half the width would do", c.epsilon)
		}
	}
}

// binomial returns the probability of k of n.
func binomial(n, k int64, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// TestRespondentsOfQuestions counts those who answered one question of several, and those of whom some answers were
// lost on the way.
func TestRespondentsOfQuestions(t *testing.T) {
	one, other := reportsOf(t, big.NewRat(1, 1), 20, 50), reportsOf(t, big.NewRat(1, 1), 5, 20)
	all := []measured.Measured{one, other}
	for i := range all {
		if n := RespondentsOf(all, all[i]); n != 50 {
			t.Errorf("all questions: %d respondents, want 50", n)
		}
		randomiser, _ := all[i].Measurement.Reports()
		randomiser.Chance = 1 << 47
		all[i].Measurement.Query.Counted = randomiser
	}
	for i := range all {
		if n := RespondentsOf(all, all[i]); n != 70 {
			t.Errorf("drawn questions: %d respondents, want 70", n)
		}
	}
}

// TestSumsOfReports compares sums of cells with the cells, and the sum of all with the number of respondents.
func TestSumsOfReports(t *testing.T) {
	m := reportsOf(t, big.NewRat(1, 1), 31, 50)
	got := ReportSums(nil, []measured.Measured{m}, 0, []Grouping{{RowOf: []int{0, 1}, Rows: 2}}, 0.95)
	st := reportStatistic(plan.Statistic{Confidence: 0.95}, cellSums(nil, m, 50, nil, nil, 0.95), 50)
	for i, sum := range got {
		if sum.Cells != 1 || sum.Unbiased != st.Unbiased.Value(i) || sum.Low != st.Low.Value(i) ||
			sum.High != st.High.Value(i) || sum.Error != st.Error.Value(i) {
			t.Errorf("cell %d: %+v", i, sum)
		}
	}
	want := ReportSum{Cells: 2, Unbiased: 50, Low: 50, High: 50}
	if whole := ReportSums(nil, []measured.Measured{m}, 0, []Grouping{{RowOf: []int{0, 0}, Rows: 1}},
		0.95)[0]; whole != want {
		t.Errorf("all cells: %+v", whole)
	}
}
