package synth

import (
	"math"
	"testing"
)

// TestProjectIsNearest checks the conditions that only the nearest counts meet: the total, no negative count, and one
// multiplier for all counts, which holds with equality for a positive count and as a bound for a zero (Karush, Kuhn &
// Tucker). Tolerances are some thousand roundings of the largest number.
func TestProjectIsNearest(t *testing.T) {
	r := seededStream([32]byte{1})
	for trial := range 2000 {
		n := 1 + int(r.below(40))
		scale := math.Ldexp(1, int(r.below(60))-10)
		noisy, weights, x := make([]float64, n), make([]float64, n), make([]float64, n)
		largest, weight := 0.0, 0.0
		for i := range noisy {
			noisy[i] = (r.unit() - 0.7) * scale
			weights[i] = float64(1 + r.below(5))
			largest = math.Max(largest, math.Abs(noisy[i]))
			weight += weights[i]
		}
		total := 1 + r.unit()*scale
		guess := math.NaN()
		if trial%2 == 0 {
			guess = (r.unit() - 0.5) * scale
		}
		multiplier := projectOnSimplex(x, noisy, weights, total, guess)
		got := 0.0
		for i, v := range x {
			got += weights[i] * v
			tolerance := 1e-12 * (largest + total)
			if v < 0 || math.Abs(v-math.Max(0, noisy[i]+multiplier)) > tolerance {
				t.Fatalf("trial %d: %v became %v under the multiplier %v", trial, noisy[i], v, multiplier)
			}
		}
		if math.Abs(got-total) > 1e-12*total {
			t.Fatalf("trial %d: the total is %v, expected %v", trial, got, total)
		}
	}
}

func TestProjectByHand(t *testing.T) {
	for _, c := range []struct {
		noisy, weights []float64
		total          float64
		want           []float64
	}{
		{[]float64{5, 3, -9}, []float64{1, 1, 1}, 6, []float64{4, 2, 0}},
		{[]float64{5, 3, -9}, []float64{1, 1, 1}, 1, []float64{1, 0, 0}},
		{[]float64{-4, -4}, []float64{1, 3}, 8, []float64{2, 2}},
		{[]float64{6, 1}, []float64{1, 2}, 5, []float64{5, 0}},
		{[]float64{6, 1}, []float64{1, 2}, 2, []float64{2, 0}},
		{[]float64{6, 1}, []float64{1, 2}, 11, []float64{7, 2}},
		{[]float64{7}, []float64{4}, 2, []float64{0.5}},
		{[]float64{1, 2}, []float64{1, 1}, 0, []float64{0, 0}},
		{[]float64{0x1p62, -0x1p62, 0x1p61}, []float64{1, 1, 1}, 1, []float64{1, 0, 0}},
		{[]float64{0x1p62, 0x1p62 - 1024, 0x1p62}, []float64{1, 1, 1}, 2000, []float64{1000, 0, 1000}},
		{[]float64{0x1p62, 0x1p62 - 1024, 0}, []float64{1, 1, 1}, 2000, []float64{1512, 488, 0}},
	} {
		x := make([]float64, len(c.noisy))
		projectOnSimplex(x, c.noisy, c.weights, c.total, math.NaN())
		for i := range x {
			if math.Abs(x[i]-c.want[i]) > 1e-12*(1+c.total) {
				t.Errorf("%v with total %v gives %v, expected %v", c.noisy, c.total, x, c.want)
				break
			}
		}
	}
}
