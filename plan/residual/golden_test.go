package residual

import (
	"math"
	"testing"
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
	var columns []*Column
	for _, n := range sizes {
		columns = append(columns, Flat(n))
	}
	var marginals []Marginal
	var choose func(from, left int, of Set)
	choose = func(from, left int, of Set) {
		if left == 0 {
			marginals = append(marginals, Marginal{append(Set{}, of...), 1})
			return
		}
		for i := from; i+left <= len(sizes); i++ {
			choose(i+1, left-1, append(of, Axis{i, 1, 0}))
		}
	}
	for _, k := range orders {
		choose(0, k, nil)
	}
	w, err := NewWorkload(columns, marginals)
	if err != nil {
		t.Fatal(err)
	}
	return w
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
		{"Adult 1", adult14, []int{1}, 3.0468}, {"Adult 2", adult14, []int{2}, 6.3587}, {"Adult 3", adult14, []int{3}, 10.5153},
		{"Adult ≤3", adult14, []int{0, 1, 2, 3}, 10.6650}, {"Adult 4", adult14, []int{4}, 14.6558},
		{"Loans 1", loans, []int{1}, 2.8753}, {"Loans 2", loans, []int{2}, 5.6343}, {"Loans 3", loans, []int{3}, 8.7019},
		{"Loans ≤3", loans, []int{0, 1, 2, 3}, 8.8756}, {"Loans 4", loans, []int{4}, 11.2670},
		{"10^2", tens(2), []int{0, 1, 2}, 1.3791}, {"10^6", tens(6), []int{0, 1, 2, 3}, 4.2752}, {"10^8", tens(8), []int{0, 1, 2, 3}, 6.6382},
		{"10^10", tens(10), []int{0, 1, 2, 3}, 9.3481}, {"10^20", tens(20), []int{0, 1, 2, 3}, 26.9168},
		{"10^50", tens(50), []int{0, 1, 2, 3}, 107.2581}, {"10^100", tens(100), []int{0, 1, 2, 3}, 303.2161},
	} {
		w := ways(t, c.sizes, c.orders...)
		variances := w.LeastSum(1)
		if got := w.rmse(variances); math.Abs(got-c.want) > 0.00005 {
			t.Errorf("%s: %.5f, published %.4f", c.name, got, c.want)
		}
		if cost := w.Cost(variances); math.Abs(cost-1) > 1e-9 {
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
		{"CPS 1", cps, []int{1}, 4.346, 1e-3}, {"CPS 2", cps, []int{2}, 7.897, 1e-3}, {"CPS 3", cps, []int{3}, 7.706, 1e-3}, {"CPS ≤3", cps, []int{0, 1, 2, 3}, 13.216, 1e-3},
		{"Adult 1", adult14, []int{1}, 12.047, 1e-3}, {"Adult 2", adult14, []int{2}, 67.80, 1e-2}, {"Adult 3", adult14, []int{3}, 236.84, 1e-2}, {"Adult ≤3", adult14, []int{0, 1, 2, 3}, 253.61, 1e-2},
		{"Loans 1", loans, []int{1}, 10.640, 1e-3}, {"Loans 2", loans, []int{2}, 52.217, 1e-3}, {"Loans 3", loans, []int{3}, 156.64, 1e-2}, {"Loans ≤3", loans, []int{0, 1, 2, 3}, 180.82, 1e-2},
		{"10^10", tens(10), []int{0, 1, 2, 3}, 105.03, 1e-2}, {"10^20", tens(20), []int{0, 1, 2, 3}, 768.9, 1e-1}, {"10^50", tens(50), []int{0, 1, 2, 3}, 11597, 1},
	} {
		w := ways(t, c.sizes, c.orders...)
		variances, largest, bound, err := w.LeastLargest(1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if largest > bound*(1+1e-4) || math.Abs(largest-c.want) > c.want*1e-4+c.digits/2 {
			t.Errorf("%s: %.5f, bound %.5f, published %v", c.name, largest, bound, c.want)
		}
		if cost := w.Cost(variances); math.Abs(cost-1) > 1e-9 {
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

func BenchmarkLeastSum(b *testing.B) {
	for _, c := range []struct {
		name  string
		sizes []int
	}{{"adult14", adult14}, {"10^100", tens(100)}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				ways(b, c.sizes, 0, 1, 2, 3).LeastSum(1)
			}
		})
	}
}
