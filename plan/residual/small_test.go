package residual

import (
	"math"
	"testing"
)

// TestSmallMarginalsAreThePublishedOptimum: root mean squared errors at cost 1 of all marginals of up to 5000 cells,
// the total among them, as Xiao, He, Zhang & Kifer 2023 print them.
func TestSmallMarginalsAreThePublishedOptimum(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		want  float64
	}{{"CPS", cps, 2.5251}, {"Adult", adult14, 9.9446}, {"Loans", loans, 8.2065}} {
		var columns []*Column
		for _, n := range c.sizes {
			columns = append(columns, flat(n))
		}
		var marginals []Marginal
		var choose func(from, cells int, of Set)
		choose = func(from, cells int, of Set) {
			marginals = append(marginals, Marginal{append(Set{}, of...), 1})
			for i := from; i < len(c.sizes); i++ {
				if cells*c.sizes[i] <= 5000 {
					choose(i+1, cells*c.sizes[i], append(of, Axis{Column: i, Level: 1}))
				}
			}
		}
		choose(0, 1, nil)
		w, err := NewWorkload(columns, marginals)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.rmse(w.MinimiseSum(1)); math.Abs(got-c.want) > 0.00005 {
			t.Errorf("%s, %d marginals: %.5f, published %.4f", c.name, len(marginals), got, c.want)
		}
	}
}

// TestLeastSumHasLargeVariances: the largest variance that the strategy of the least sum has, beside which the optimum
// of the largest is to be seen.
func TestLeastSumHasLargeVariances(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		orders []int
		want   float64
		digits float64 // of the printed figure
	}{
		{"CPS 1", cps, []int{1}, 13.7, 0.1}, {"CPS 2", cps, []int{2}, 53, 1}, {"CPS 3", cps, []int{3}, 71, 1},
		{"CPS ≤3", cps, []int{0, 1, 2, 3}, 433, 1},
		{"Adult 1", adult14, []int{1}, 39.8, 0.1}, {"Adult 2", adult14, []int{2}, 813, 1},
		{"Adult 3", adult14, []int{3}, 6905, 1}, {"Adult ≤3", adult14, []int{0, 1, 2, 3}, 22488, 1},
	} {
		w := ways(t, c.sizes, c.orders...)
		variances, most := w.MinimiseSum(1), 0.0
		for i := range w.Marginals {
			_, peak := w.Variance(i, variances)
			most = max(most, peak)
		}
		if math.Abs(most-c.want) > c.digits/2 {
			t.Errorf("%s: %.4f, known %v", c.name, most, c.want)
		}
	}
}
