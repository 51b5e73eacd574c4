package synth

import (
	"math"
	"testing"
)

// TestMarginsOfTwoDraws compares margins of two draws, narrow and wide, with the sum over all outcomes: the margin has
// at least the probability, and a 2000th of a deviation less does not. Both to 1e-9, for what the tables leave out.
func TestMarginsOfTwoDraws(t *testing.T) {
	for _, c := range []struct {
		first, second string
		weight        float64
	}{{"L1", "L1", 0.37}, {"L1", "L1", -2.5}, {"L3", "L1", 1.01}, {"G4", "L2", 0.5}, {"G100", "G2", 3},
		{"L10", "G1", 7.3},
		{"L40", "L1", 0.001}, {"L900", "L1", 300}, {"L900", "G9", 0.1}} {
		law := append(noiseNamed(c.first).scaledBy(1), noiseNamed(c.second).scaledBy(c.weight)...)
		deviation := math.Sqrt(law.Variance())
		for _, confidence := range []float64{0.5, 0.95, 0.951, 0.999} {
			m := law.Margin(confidence)
			if got := probabilityWithin(c.first, c.second, c.weight, m); got < confidence-1e-9 {
				t.Errorf("%v at %v: within %v with probability %v", c, confidence, m, got)
			}
			if less := m - deviation/2000; less > 0 {
				if got := probabilityWithin(c.first, c.second, c.weight, less); got >= confidence+1e-9 {
					t.Errorf("%v at %v: margin %v, but within %v with probability %v", c, confidence, m, less, got)
				}
			}
		}
	}
}

// probabilityWithin returns P(|X + weight·Y| ≤ m), outcome by outcome.
func probabilityWithin(first, second string, weight, m float64) float64 {
	x, p := outcomesOf(first)
	y, q := outcomesOf(second)
	below := make([]float64, len(p)+1)
	for i, v := range p {
		below[i+1] = below[i] + v
	}
	place := func(v float64) int { return int(max(0, min(float64(len(p)), v-x[0]))) }
	sum := 0.0
	for j, v := range y {
		from, to := math.Ceil(-m-weight*v-1e-9), math.Floor(m-weight*v+1e-9)+1
		sum += q[j] * max(0, below[place(to)]-below[place(from)])
	}
	return sum
}

func TestNoiseWithoutDraws(t *testing.T) {
	if m, v := (Noise{}).Margin(0.95), (Noise{}).Variance(); m != 0 || v != 0 {
		t.Errorf("nothing has margin %v and variance %v", m, v)
	}
	if n := noiseNamed("L3").scaledBy(0); len(n) != 0 {
		t.Errorf("no weight leaves %v", n)
	}
}
