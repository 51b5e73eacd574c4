package model

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/design"
)

// adultTable is the rows of adult.csv as codes of a design's columns.
type adultTable struct {
	columns []design.Column
	codes   [][]int // by row
}

// readAdult returns the columns of a benchmark, with numbers as they are or in bins, and the rows.
func readAdult(t testing.TB, binned bool) adultTable {
	t.Helper()
	f, err := os.Open(testkit.Data(t, "adult.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	var all adultTable
	codes := make([][]int, len(lines)-1)
	number := func(name, column string, values int, code func(v int64) int, value func(code int) int64) {
		c := design.Column{Name: name}
		for i := range values {
			c.Values = append(c.Values, value(i))
		}
		all.columns = append(all.columns, c)
		for r, line := range lines[1:] {
			v, err := strconv.ParseInt(line[at[column]], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			codes[r] = append(codes[r], max(0, min(values-1, code(v))))
		}
	}
	category := func(name, column string, of func(string) string) {
		c := design.Column{Name: name}
		for _, line := range lines[1:] {
			if v := of(line[at[column]]); !slices.Contains(c.Categories, v) {
				c.Categories = append(c.Categories, v)
			}
		}
		slices.Sort(c.Categories)
		all.columns = append(all.columns, c)
		for r, line := range lines[1:] {
			codes[r] = append(codes[r], slices.Index(c.Categories, of(line[at[column]])))
		}
	}
	same := func(s string) string { return s }
	money := func(v int64) int { return int(math.Round(10 * math.Log1p(float64(v)))) }
	if binned {
		five := func(v int64) int { return int(v-15) / 5 }
		number("age", "age", 16, five, func(c int) int64 { return int64(5*c + 17) })
		number("age_squared", "age", 16, five, func(c int) int64 { return int64((5*c + 17) * (5*c + 17)) })
		number("hours", "hours_per_week", 10, func(v int64) int { return int(v) / 10 },
			func(c int) int64 { return int64(10*c + 5) })
		ten := func(v int64) int { return money(v) / 10 }
		number("gain", "capital_gain", 12, ten, func(c int) int64 { return int64(c) })
		number("loss", "capital_loss", 9, ten, func(c int) int64 { return int64(c) })
	} else {
		year := func(v int64) int { return int(v) - 17 }
		number("age", "age", 74, year, func(c int) int64 { return int64(c) + 17 })
		number("age_squared", "age", 74, year, func(c int) int64 { return int64((c + 17) * (c + 17)) })
		number("hours", "hours_per_week", 99, func(v int64) int { return int(v) - 1 },
			func(c int) int64 { return int64(c) + 1 })
		number("gain", "capital_gain", 116, money, func(c int) int64 { return int64(c) })
		number("loss", "capital_loss", 85, money, func(c int) int64 { return int64(c) })
	}
	number("education_num", "education_num", 16, func(v int64) int { return int(v) - 1 },
		func(c int) int64 { return int64(c) + 1 })
	for _, name := range []string{"workclass", "marital_status", "occupation", "relationship", "race", "sex"} {
		category(name, name, same)
	}
	category("native", "native_country", func(s string) string {
		if s == "United-States" {
			return "US"
		}
		return "other"
	})
	category("income", "income", same)
	all.codes = codes
	return all
}

// muOf returns μ of an (ε, 1e-5) budget.
func muOf(epsilon float64) float64 {
	low, high := 0.0, 20.0
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for range 100 {
		mu := (low + high) / 2
		if phi(-epsilon/mu+mu/2)-math.Exp(epsilon)*phi(-epsilon/mu-mu/2) > 1e-5 {
			high = mu
		} else {
			low = mu
		}
	}
	return low
}

// areaUnderCurve returns the share of pairs of a positive and another row that scores rank rightly.
func areaUnderCurve(scores []float64, positive []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case scores[a] < scores[b]:
			return -1
		case scores[a] > scores[b]:
			return 1
		}
		return 0
	})
	var ranks, n float64
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && scores[order[j]] == scores[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			if positive[order[k]] {
				ranks += float64(i+j+1) / 2
				n++
			}
		}
		i = j
	}
	return (ranks - n*(n+1)/2) / (n * (float64(len(order)) - n))
}

// paid returns the noisy moments of some rows at a budget μ, of which the diagonal has noise of twice the variance.
func (a adultTable) paid(t testing.TB, r *rand.Rand, d *design.Design, rows []int, mu float64) *RegressionMoments {
	t.Helper()
	variance := noiseVariance(d, mu)
	x, y := sums(d, a.rows(rows))
	m, err := NewRegressionMoments(d, noisy(r, x, math.Sqrt(variance/design.NoiseRatio)),
		noisy(r, y, math.Sqrt(variance)), variance/design.NoiseRatio, variance)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// free returns the moments of some rows from tables of all pairs of columns, all with the same noise, at a budget μ.
func (a adultTable) free(t testing.TB, r *rand.Rand, d *design.Design, rows []int, mu float64) *RegressionMoments {
	t.Helper()
	tables := len(d.Columns()) * (len(d.Columns()) - 1) / 2
	pairs := pairTables(d, a.rows(rows), r, math.Sqrt(float64(tables))/mu)
	m, err := RegressionMomentsOfTables(t.Context(), d, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// rows returns the codes of some rows.
func (a adultTable) rows(which []int) [][]int {
	out := make([][]int, len(which))
	for i, r := range which {
		out[i] = a.codes[r]
	}
	return out
}

// quality is how well predictions rank and are calibrated on rows that were not learnt from: means over splits, and the
// standard deviation of the area under the curve between them.
type quality struct{ area, spread, loss, intercept, slope float64 }

// qualityOf returns the quality of a regression on some rows.
func (a adultTable) qualityOf(t testing.TB, g *Regression, d *design.Design, rows []int) quality {
	t.Helper()
	predict := predictionsBy(t, g, d)
	scores, positive := make([]float64, len(rows)), make([]bool, len(rows))
	for i, row := range rows {
		scores[i] = predict(a.codes[row])
		positive[i] = a.codes[row][len(d.Columns())-1] == 1
	}
	q := quality{area: areaUnderCurve(scores, positive)}
	if g.Method != RegressionLogistic {
		return q
	}
	for i, s := range scores {
		s = min(max(s, 1e-9), 1-1e-9)
		scores[i] = math.Log(s / (1 - s))
		if positive[i] {
			q.loss -= math.Log(s) / float64(len(rows))
		} else {
			q.loss -= math.Log(1-s) / float64(len(rows))
		}
	}
	q.intercept, q.slope = calibration(scores, positive)
	return q
}

// calibration returns the intercept and slope of the logistic regression of labels on log-odds: 0 and 1 if these are
// calibrated.
func calibration(logits []float64, positive []bool) (intercept, slope float64) {
	slope = 1
	for range 30 {
		var g0, g1, h00, h01, h11 float64
		for i, x := range logits {
			p := 1 / (1 + math.Exp(-intercept-slope*x))
			y := 0.0
			if positive[i] {
				y = 1
			}
			g0, g1 = g0+y-p, g1+(y-p)*x
			h00, h01, h11 = h00+p*(1-p), h01+p*(1-p)*x, h11+p*(1-p)*x*x
		}
		det := h00*h11 - h01*h01
		intercept += (h11*g0 - h01*g1) / det
		slope += (h00*g1 - h01*g0) / det
	}
	return intercept, slope
}

// TestRegressionsOfAdult learns from two thirds of adult.csv and ranks the other third. With DPRELEASE_LONG it prints
// the table of all budgets, means of 20 random splits; without it does the one at ε = 1 on 3. The linear regression
// has to reach .887 there (the standard deviation of a split is .003, so that it fails less often than once in 1e9
// runs even with other seeds), and the free one to be within .005 of it from ε = ½ on.
func TestRegressionsOfAdult(t *testing.T) {
	splits, budgets := 3, []float64{1}
	if os.Getenv("DPRELEASE_LONG") != "" {
		splits, budgets = 20, []float64{.1, .5, 1, 2, 4, 8, math.Inf(1)}
	}
	asIs, binned := readAdult(t, false), readAdult(t, true)
	for _, epsilon := range budgets {
		mu := 1e9 // no noise
		if !math.IsInf(epsilon, 1) {
			mu = muOf(epsilon)
		}
		linear, logistic := asIs.meanQuality(t, asIs.paid, mu, splits)
		paid, _ := binned.meanQuality(t, binned.paid, mu, splits)
		free, _ := binned.meanQuality(t, binned.free, mu, splits)
		t.Logf("ε %g, μ %.4f: AUC linear %.4f ± %.4f, logistic %.4f (log loss %.4f, calibration %.3f and %.3f); "+
			"of numbers in bins: linear %.4f, free from pairs %.4f", epsilon, mu, linear.area, linear.spread,
			logistic.area, logistic.loss, logistic.intercept, logistic.slope, paid.area, free.area)
		if epsilon >= 1 && linear.area < .887 {
			t.Errorf("ε %g: AUC %.4f is below .887", epsilon, linear.area)
		}
		if epsilon >= .5 && free.area < paid.area-.005 {
			t.Errorf("ε %g: AUC %.4f free from pairs, %.4f paid", epsilon, free.area, paid.area)
		}
	}
}

// meanQuality returns the mean quality over splits of both regressions of moments.
func (a adultTable) meanQuality(t testing.TB, of func(testing.TB, *rand.Rand, *design.Design, []int,
	float64) *RegressionMoments, mu float64, splits int) (linear, logistic quality) {
	t.Helper()
	d, err := design.New(a.columns, 1)
	if err != nil {
		t.Fatal(err)
	}
	var squares float64
	for s := range splits {
		r := rand.New(rand.NewPCG(uint64(s), 7))
		order := r.Perm(len(a.codes))
		cut := len(order) * 2 / 3
		m := of(t, r, d, order[:cut], mu)
		for _, c := range []struct {
			fit func(*RegressionMoments, RegressionOptions) (*Regression, error)
			to  *quality
		}{{LinearRegression, &linear}, {LogisticRegression, &logistic}} {
			g, err := c.fit(m, RegressionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			q := a.qualityOf(t, g, d, order[cut:])
			c.to.area += q.area / float64(splits)
			c.to.loss += q.loss / float64(splits)
			c.to.intercept += q.intercept / float64(splits)
			c.to.slope += q.slope / float64(splits)
			if c.to == &linear {
				squares += q.area * q.area / float64(splits)
			}
		}
	}
	linear.spread = math.Sqrt(max(0, squares-linear.area*linear.area))
	return linear, logistic
}
