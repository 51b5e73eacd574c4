package planner_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// quantilesPlan plans quantiles of a column of integers from 0 on, of one group a table of two cells.
func quantilesPlan(t *testing.T, budget, last, stats string) *plan.Plan {
	t.Helper()
	text := fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: %s\n"+
		"tables: {t: {source: {csv: t.csv}, unit: row, columns: {a: {values: [x, y]}, pay: {type: integer, range: "+
		"[0, %s]}}}}\n"+
		"marginals: {m: {by: [a], stats: [count, %s]}}\n", budget, last, stats)
	return plantest.Must(plantest.New(plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: text}))(t)))(t)
}

const deciles = "{quantiles: pay, at: [10%, 20%, 30%, 40%, 50%, 60%, 70%, 80%, 90%]}"

// nearly wants a number to be another but for being rounded up to a few digits.
func nearly(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 2e-3*want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestQuantilesOfFewValuesAreReadFromCounts works both ways to nine deciles of 21 values out by hand. Each of the
// counts of 21 bins has Laplace noise of variance V = 2/ε². F_j − N/2 has 21 of it, each times ±1/2. Drawn, a row moves
// the scores of the nine choices and of the ends of their intervals by 3·(9+8+7+6+5+6+7+8+9) = 195 tenths, so that θ =
// ε/195, and the rank is off by more than m tenths with probability 0.05 where 20·exp(−θm/2) = 1/19.
func TestQuantilesOfFewValuesAreReadFromCounts(t *testing.T) {
	p := quantilesPlan(t, "{epsilon: 1}", "20", deciles)
	m, _ := p.Measurement("values/m/pay_quantiles")
	d, binned := m.Query.Counted.(counted.Bins)
	if !binned || d.Width != 1 || d.Total != 0 || m.Cells != 42 ||
		m.Mechanism.L1.Int64() != 1 {
		t.Fatalf("%+v", m)
	}
	epsilon, _ := plantest.Must(m.Mechanism.Epsilon())(t).Float64()
	median := p.Tables[0].Figures[4].Quality
	ranks := 1.959964 * math.Sqrt(21./4*2) / epsilon
	nearly(t, "the median's rank", median.Ranks, ranks)
	nearly(t, "half its width", median.Margin, 2*ranks/1000) // 1000 rows over 2 of 20
	if median.Bins != 21 || median.Cell != 0 || median.Alternative == nil {
		t.Fatalf("%+v", median)
	}
	nearly(t, "the drawn median's rank", median.Alternative.Ranks, 39*math.Log(20*19)/epsilon)
	nearly(t, "half its width", median.Alternative.Margin, 2*39*math.Log(20*39)/epsilon/1000)
	var page strings.Builder
	if err := describe.Explain(compiled.Of(p), &page); err != nil ||
		!strings.Contains(page.String(),
			"m/pay_quantiles: read from noisy counts of rows by 21 bins of pay, one for each value. If they were "+
				"drawn instead, quantiles would be within ±") {
		t.Errorf("the page does not say how quantiles are found:\n%s", &page)
	}
	// That of 10 % has 0.81 of the noise of the bins up to its own, and 0.01 of that of the others: on the mean over
	// the 8 that it is worked out for, of 1, 3, 6, 9, 11, 14, 17 and 19 bins.
	sum := 0.
	for _, upTo := range []float64{1, 3, 6, 9, 11, 14, 17, 19} {
		sum += (0.81*upTo + 0.01*(21-upTo)) / 8
	}
	nearly(t, "the rank of 10 %", p.Tables[0].Figures[0].Quality.Ranks, 1.959964*math.Sqrt(2*sum)/epsilon)
}

// TestTheBetterWayToQuantilesIsTaken holds each plan's way against what it says of the other.
func TestTheBetterWayToQuantilesIsTaken(t *testing.T) {
	for _, c := range []struct {
		budget, last, stats string
		read, strategy      bool
	}{
		{"{epsilon: 1}", "200", deciles, true, false},
		{"{epsilon: 8}", "200000", "{median: pay}", true, true},
		{"{rho: 0.1}", "200", deciles, true, true},
		{"{rho: 0.1}", "200000", "{median: pay}", true, true},
		{"{epsilon: 1, delta: 1e-9, minimise: sum}", "200", "{median: pay}", true, false},
		{"{epsilon: 100}", "100000000", "{median: pay}", false, false}, // bins would be wider than what ranks are off by
	} {
		p := quantilesPlan(t, c.budget, c.last, c.stats)
		m, _ := p.Measurement(p.Tables[0].Figures[0].Part)
		d, binned := m.Query.Counted.(counted.Bins)
		if binned != c.read || binned && (d.Total > 0) != c.strategy {
			t.Errorf("%+v: %+v", c, m.Query)
		}
		for _, f := range p.Tables[0].Figures {
			q := f.Quality
			if q.Alternative == nil || (q.Bins > 0) != c.read || (q.Alternative.Bins > 0) == c.read ||
				q.Margin >= q.Alternative.Margin {
				t.Errorf("%+v, %s: %+v instead of %+v", c, f.Name, q, q.Alternative)
			}
		}
		if other := plantest.Must(planner.New(p.Release()))(t); other.Hash() != p.Hash() {
			t.Errorf("%+v: another plan of the same release", c)
		}
	}
}

// TestQuantilesOfOneColumnShareADistribution has two statistics read from one.
func TestQuantilesOfOneColumnShareADistribution(t *testing.T) {
	p := quantilesPlan(t, "{epsilon: 1}", "50", "{median: pay}, {quantiles: pay, at: [10%, 50%, 75%], as: q}")
	parts, places := map[string]bool{}, []int{}
	for _, f := range p.Tables[0].Figures {
		parts[f.Part] = true
		places = append(places, f.Index)
	}
	if len(p.Measurements) != 2 || len(parts) != 1 || fmt.Sprint(places) != "[1 0 1 2]" {
		t.Errorf("%d measurements, parts %v, places %v", len(p.Measurements), parts, places)
	}
}

// TestQuantilesInStrataAreDrawn keeps ranges by stratum to their own ranges.
func TestQuantilesInStrataAreDrawn(t *testing.T) {
	p := plantest.Must(planner.New(plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: payRelease}))(t)))(t)
	m, _ := p.Measurement("values/m/pay_median_quantiles")
	if m.Query.Counted.Kind() != counted.KindQuantiles {
		t.Errorf("%+v", m.Query)
	}
	for _, f := range p.Tables[0].Figures {
		if f.Kind == spec.Quantiles && (f.Quality.Alternative != nil || !(f.Quality.Ranks > 0)) {
			t.Errorf("%+v", f.Quality)
		}
	}
}
