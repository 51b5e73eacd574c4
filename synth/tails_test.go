package synth

import (
	"math"
	"testing"
)

// TestMarginsByMoments compares margins by the moments of a sum with those of its own law: up to 0.6 % below, for the
// effect of one step of the coarsest lattice, and 2 % above.
func TestMarginsByMoments(t *testing.T) {
	for _, names := range [][3]string{{"L100", "L100", "L100"}, {"L1000", "L20", "L4000"}, {"L100", "G10000", "L300"},
		{"G400", "G900", "L20"}} {
		var noises []Noise
		for _, n := range names {
			noises = append(noises, noiseNamed(n))
		}
		for _, confidence := range []float64{0.9, 0.95} {
			margins := newTails(noises, confidence)
			for _, shares := range [][3]float64{{1, 0.2, 0}, {1, 0.5, 0}, {1, 0.9, 0}, {1, 0.5, 0.5}, {1, 0.9, 0.8},
				{0.5, 0.5, 1}, {0.1, 0.1, 1}, {1, 0.05, 0.05}, {0.3, 1, 0.7}} {
				weights := make([]float64, 3)
				var sum Noise
				for i, s := range shares {
					weights[i] = s / math.Sqrt(noises[i].Variance())
					sum = append(sum, noises[i].scaledBy(weights[i])...)
				}
				own := sum.Margin(confidence)
				if got := margins.margin(weights)/own - 1; got < -0.006 || got > 0.02 {
					t.Errorf("%v with deviations of %v at %v: %.2f %% from its own margin", names, shares, confidence,
						100*got)
				}
				if got := margins.variance(weights) / sum.Variance(); math.Abs(got-1) > 1e-9 {
					t.Errorf("%v: a variance of %v times its own", names, got)
				}
			}
		}
	}
}

// TestMarginsOfCoarseNoise: the margin of one noise of few steps, with others that are negligible, is at least its own.
func TestMarginsOfCoarseNoise(t *testing.T) {
	for _, name := range []string{"L1", "L2", "G1", "G2", "G9"} {
		noises := []Noise{noiseNamed(name), noiseNamed("L1000")}
		margin := newTails(noises, 0.95).margin([]float64{1, 1e-5})
		if p := probabilityWithin(name, "L1", 1e-12, margin); p < 0.95 {
			t.Errorf("%s: within %v with probability %v", name, margin, p)
		}
	}
}

// TestKurtosisOfFineNoise compares the nodes with the fourth moments they represent: that of a Laplace draw is 6 for a
// variance of 1.
func TestKurtosisOfFineNoise(t *testing.T) {
	for _, want := range []float64{0, 0.4, 1.5, 2, 3} {
		var variance, fourth float64
		for _, term := range fineNoise(want) {
			own := Noise{term}.Variance()
			variance += own
			if term.Kind == "discrete-laplace" {
				fourth += 3 * own * own
			}
		}
		if math.Abs(variance-1) > 1e-9 || math.Abs(fourth-want) > 1e-9 {
			t.Errorf("an excess kurtosis of %v is %v, of variance %v", want, fourth, variance)
		}
	}
}
