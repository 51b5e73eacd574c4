package residual

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/plan/ranges"
)

// Domains of the published comparisons: sizes of their attributes.
var (
	cps     = []int{50, 100, 7, 4, 2}
	adult14 = []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}
	loans   = []int{101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15}
)

func tens(d int) []int {
	sizes := make([]int, d)
	for i := range sizes {
		sizes[i] = 10
	}
	return sizes
}

// ways is the workload of all marginals of so many attributes.
func ways(t testing.TB, sizes []int, orders ...int) *Workload {
	t.Helper()
	columns := make([]*Column, len(sizes))
	for i, n := range sizes {
		columns[i] = flat(n)
	}
	w, err := NewWorkload(columns, waysOf(columns, orders...))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// waysOf are all marginals of so many columns, which show prefix sums of the ranged ones.
func waysOf(columns []*Column, orders ...int) []Marginal {
	var marginals []Marginal
	var choose func(from, left int, of Set)
	choose = func(from, left int, of Set) {
		if left == 0 {
			marginals = append(marginals, Marginal{append(Set{}, of...), 1})
			return
		}
		for i := from; i+left <= len(columns); i++ {
			a := Axis{i, 1, Cells}
			if r, ok := columns[i].Ranging(); ok {
				a.Sums = r.Sums
			}
			choose(i+1, left-1, append(of, a))
		}
	}
	for _, k := range orders {
		choose(0, k, nil)
	}
	return marginals
}

// rmse is √(Σ variance of all cells / cells).
func (w *Workload) rmse(variances []float64) float64 {
	var sum, cells float64
	for i := range w.Marginals {
		mean, _ := w.Variance(i, variances)
		sum += mean * w.cells[i]
		cells += w.cells[i]
	}
	return math.Sqrt(sum / cells)
}

// TestLeastSumIsThePublishedOptimum: root mean squared errors at cost 1, as Xiao,
// He, Zhang & Kifer 2023 print them; ≤3-way there is of 1 to 3 attributes, 10^d
// of 0 to 3.
func TestLeastSumIsThePublishedOptimum(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		orders []int
		want   float64
	}{
		{"CPS 1", cps, []int{1}, 1.7439}, {"CPS 2", cps, []int{2}, 2.0346}, {"CPS 3", cps, []int{3}, 2.0477},
		{"CPS ≤3", cps, []int{0, 1, 2, 3}, 2.2759}, {"CPS 4", cps, []int{4}, 1.6269},
		{"Adult 1", adult14, []int{1}, 3.0468}, {"Adult 2", adult14, []int{2}, 6.3587},
		{"Adult 3", adult14, []int{3}, 10.5153},
		{"Adult ≤3", adult14, []int{0, 1, 2, 3}, 10.6650}, {"Adult 4", adult14, []int{4}, 14.6558},
		{"Loans 1", loans, []int{1}, 2.8753}, {"Loans 2", loans, []int{2}, 5.6343},
		{"Loans 3", loans, []int{3}, 8.7019},
		{"Loans ≤3", loans, []int{0, 1, 2, 3}, 8.8756}, {"Loans 4", loans, []int{4}, 11.2670},
		{"10^2", tens(2), []int{0, 1, 2}, 1.3791}, {"10^6", tens(6), []int{0, 1, 2, 3}, 4.2752},
		{"10^8", tens(8), []int{0, 1, 2, 3}, 6.6382},
		{"10^10", tens(10), []int{0, 1, 2, 3}, 9.3481}, {"10^20", tens(20), []int{0, 1, 2, 3}, 26.9168},
		{"10^50", tens(50), []int{0, 1, 2, 3}, 107.2581}, {"10^100", tens(100), []int{0, 1, 2, 3}, 303.2161},
	} {
		w := ways(t, c.sizes, c.orders...)
		variances := w.MinimiseSum(1)
		if got := w.rmse(variances); math.Abs(got-c.want) > 0.00005 {
			t.Errorf("%s: %.5f, published %.4f", c.name, got, c.want)
		}
		if cost := w.cost(variances); math.Abs(cost-1) > 1e-9 {
			t.Errorf("%s: costs %v", c.name, cost)
		}
	}
}

// TestLeastLargestIsCertified: largest variances at cost 1, which the dual bound
// shows to be optimal to 1e-4.
func TestLeastLargestIsCertified(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		orders []int
		want   float64
		digits float64 // of the printed figure
	}{
		{"CPS 1", cps, []int{1}, 4.346, 1e-3}, {"CPS 2", cps, []int{2}, 7.897, 1e-3},
		{"CPS 3", cps, []int{3}, 7.706, 1e-3},
		{"CPS ≤3", cps, []int{0, 1, 2, 3}, 13.216, 1e-3},
		{"Adult 1", adult14, []int{1}, 12.047, 1e-3}, {"Adult 2", adult14, []int{2}, 67.80, 1e-2},
		{"Adult 3", adult14, []int{3}, 236.84, 1e-2}, {"Adult ≤3", adult14, []int{0, 1, 2, 3}, 253.61, 1e-2},
		{"Loans 1", loans, []int{1}, 10.640, 1e-3}, {"Loans 2", loans, []int{2}, 52.217, 1e-3},
		{"Loans 3", loans, []int{3}, 156.64, 1e-2}, {"Loans ≤3", loans, []int{0, 1, 2, 3}, 180.82, 1e-2},
		{"10^10", tens(10), []int{0, 1, 2, 3}, 105.03, 1e-2}, {"10^20", tens(20), []int{0, 1, 2, 3}, 768.9, 1e-1},
		{"10^50", tens(50), []int{0, 1, 2, 3}, 11597, 1},
	} {
		w := ways(t, c.sizes, c.orders...)
		variances, largest, bound, err := w.MinimiseLargest(1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if largest > bound*(1+1e-4) || math.Abs(largest-c.want) > c.want*1e-4+c.digits/2 {
			t.Errorf("%s: %.5f, bound %.5f, published %v", c.name, largest, bound, c.want)
		}
		if cost := w.cost(variances); math.Abs(cost-1) > 1e-9 {
			t.Errorf("%s: costs %v", c.name, cost)
		}
		var most float64
		for i := range w.Marginals {
			_, peak := w.Variance(i, variances)
			most = max(most, peak)
		}
		if math.Abs(most-largest) > 1e-9*most {
			t.Errorf("%s: the largest is %v, said to be %v", c.name, most, largest)
		}
	}
}

// TestPrefixColumnsAreNoWorseThanKnown: prefix sums on the columns of 50 categories or more of CPS, 85 of Adult and 101
// of Loans, cells on the others: root mean squared errors at cost 1, in integers. The figures known are those of the
// same construction in real numbers, measured with other software and a coarser list of κ; ResidualPlanner+ as
// published (in a quotation) has 1 to 4 % more. Integers may lose 5e-4. No strategy in the list of κ may be a percent
// better: the search would have missed the construction.
func TestPrefixColumnsAreNoWorseThanKnown(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		least  int
		orders []int
		want   float64
	}{
		{"CPS 1", cps, 50, []int{1}, 3.064}, {"CPS 2", cps, 50, []int{2}, 5.816},
		{"CPS 3", cps, 50, []int{3}, 7.300}, {"CPS ≤3", cps, 50, []int{0, 1, 2, 3}, 7.563},
		{"Adult 1", adult14, 85, []int{1}, 4.991}, {"Adult 2", adult14, 85, []int{2}, 16.773},
		{"Adult 3", adult14, 85, []int{3}, 43.726}, {"Adult ≤3", adult14, 85, []int{0, 1, 2, 3}, 43.659},
		{"Loans 1", loans, 101, []int{1}, 4.615}, {"Loans 2", loans, 101, []int{2}, 14.196},
		{"Loans 3", loans, 101, []int{3}, 33.415}, {"Loans ≤3", loans, 101, []int{0, 1, 2, 3}, 33.370},
	} {
		columns := prefixesOn(t, c.sizes, c.least)
		marginals := waysOf(columns, c.orders...)
		columns, err := WithKappas(columns, marginals)
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWorkload(columns, marginals)
		if err != nil {
			t.Fatal(err)
		}
		variances := w.MinimiseSum(1)
		got := w.rmse(variances)
		t.Logf("%s: %.4f", c.name, got)
		if got > c.want*(1+5e-4) || got < c.want*.99 {
			t.Errorf("%s: %.4f, known %v", c.name, got, c.want)
		}
		if cost := w.cost(variances); math.Abs(cost-1) > 1e-9 {
			t.Errorf("%s: costs %v", c.name, cost)
		}
		holdTilts(t, c.name, w, got)
	}
}

// prefixesOn are columns whose prefix sums are asked for where they have so many categories.
func prefixesOn(t testing.TB, sizes []int, least int) []*Column {
	t.Helper()
	columns := make([]*Column, len(sizes))
	for i, n := range sizes {
		columns[i] = flat(n)
		if n >= least {
			columns[i] = rangedOf(t, RangingOf(Prefixes, n, false), make([]int, n))
		}
	}
	return columns
}

// holdTilts works out the error anew with one column's κ changed: no better.
func holdTilts(t *testing.T, name string, chosen *Workload, got float64) {
	t.Helper()
	for i, c := range chosen.Columns {
		r, ok := c.Ranging()
		if !ok || i > 0 && len(chosen.Marginals) > 100 {
			continue
		}
		for _, kappa := range ranges.Kappas {
			columns := append([]*Column{}, chosen.Columns...)
			columns[i] = rangedOf(t, Ranging{r.Sums, r.Method, kappa, 0}, make([]int, c.Size(1)))
			w, err := NewWorkload(columns, chosen.Marginals)
			if err != nil {
				t.Fatal(err)
			}
			if other := w.rmse(w.MinimiseSum(1)); other < got*(1-1e-8) {
				t.Errorf("%s: %.6f with κ = %v, but %.6f with %v in column %d", name, got, r.Kappa, other, kappa, i)
			}
		}
	}
}

func BenchmarkTilted(b *testing.B) {
	for b.Loop() {
		optima = optimumCache{}
		columns := prefixesOn(b, adult14, 85)
		if _, err := WithKappas(columns, waysOf(columns, 0, 1, 2, 3)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLeastSum(b *testing.B) {
	for _, c := range []struct {
		name  string
		sizes []int
	}{{"adult14", adult14}, {"10^100", tens(100)}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				ways(b, c.sizes, 0, 1, 2, 3).MinimiseSum(1)
			}
		})
	}
}

// cost is that of residuals with noise of these variances: Σ p_τ/σ_τ².
func (w *Workload) cost(variances []float64) float64 {
	var cost float64
	for i, r := range w.Residuals {
		cost += r.Squares / variances[i]
	}
	return cost
}
