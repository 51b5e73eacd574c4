package budget

import (
	"math"
	"testing"
)

// TestMomentsAreThoseOfTheLaw adds up the moments of sums of two draws over their probabilities.
func TestMomentsAreThoseOfTheLaw(t *testing.T) {
	for _, parameter := range []float64{0.3, 1, 2.5, 7} {
		const weight, count = 3, 2
		a := math.Exp(-1 / parameter)
		law := func(x int) float64 { return (1 - a) / (1 + a) * math.Pow(a, math.Abs(float64(x))) }
		reach := int(40*parameter) + 5
		var second, fourth float64
		for x := -reach; x <= reach; x++ {
			for y := -reach; y <= reach; y++ {
				p, s := law(x)*law(y), float64(weight*(x+y))
				second, fourth = second+p*s*s, fourth+p*s*s*s*s
			}
		}
		m := MomentsOf([]NoiseTerm{{Weight: -weight, Count: count, Kind: DiscreteLaplace, Parameter: parameter},
			{Kind: DiscreteGaussian, Count: 1, Parameter: 9}})
		if math.Abs(m.Deviation/math.Sqrt(second)-1) > 1e-9 || math.Abs(m.fourth/fourth-1) > 1e-9 {
			t.Errorf("scale %v: moments of %v and %v, expected %v and %v", parameter, m.Deviation*m.Deviation,
				m.fourth, second,
				fourth)
		}
	}
}

// TestMomentsBoundMargins compares bounds with the laws of sums: of Laplace noise, of Gaussian noise and of both. For
// many draws the bounds are close to the margins.
func TestMomentsBoundMargins(t *testing.T) {
	laplace := func(weight float64, count float64, scale float64) NoiseTerm {
		return NoiseTerm{weight, count, DiscreteLaplace, scale}
	}
	gauss := func(weight float64, count float64, square float64) NoiseTerm {
		return NoiseTerm{weight, count, DiscreteGaussian, square}
	}
	for name, c := range map[string]struct {
		terms []NoiseTerm
		most  float64 // of the bound of 0.95, in deviations
	}{
		"one of Laplace":  {[]NoiseTerm{laplace(2, 1, 0.4)}, 4.4722},
		"wide Laplace":    {[]NoiseTerm{laplace(0.1, 1, 80), laplace(1.7, 1, 80)}, 3.35},
		"many of Laplace": {[]NoiseTerm{laplace(0.3, 40, 5), laplace(-0.7, 60, 5)}, 2.8},
		"one Gaussian":    {[]NoiseTerm{gauss(1, 1, 0.2)}, 4.4722},
		"Gaussian":        {[]NoiseTerm{gauss(0.37, 3, 50), gauss(-1, 1, 50)}, 2.72},
		"both":            {[]NoiseTerm{gauss(1, 4, 9), laplace(1.3, 2, 4)}, 4.4722},
		"none":            {nil, 0},
	} {
		m := MomentsOf(c.terms)
		for _, confidence := range []float64{0.5, 0.95, 0.999} {
			if within := NewNoiseSum(c.terms).Within(m.Bound(confidence)); within < confidence {
				t.Errorf("%s: P(|S| ≤ %v) = %v, expected %v at least", name, m.Bound(confidence), within, confidence)
			}
		}
		if m.Bound(0.95) > c.most*m.Deviation {
			t.Errorf("%s: a bound of %v deviations", name, m.Bound(0.95)/m.Deviation)
		}
	}
}
