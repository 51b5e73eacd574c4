package budget

import (
	"math"
	"math/big"
	"testing"
)

// TestAboveIsTheLawAddedUp compares P(X > n) with sums of the weights, on both sides of 0, and the ratio of
// neighbouring counts of Laplace noise with exp(1/t).
func TestAboveIsTheLawAddedUp(t *testing.T) {
	one := big.NewInt(1)
	for _, m := range []Mechanism{
		{Kind: DiscreteLaplace, Parameter: big.NewRat(2, 1), L1: one, L2Squared: one},
		{Kind: DiscreteLaplace, Parameter: big.NewRat(70, 1), L1: one, L2Squared: one},
		{Kind: DiscreteGaussian, Parameter: big.NewRat(1, 2), L1: one, L2Squared: one},
		{Kind: DiscreteGaussian, Parameter: big.NewRat(900, 1), L1: one, L2Squared: one},
	} {
		parameter, _ := m.Parameter.Float64()
		weight := func(x int64) float64 {
			if m.Kind == DiscreteLaplace {
				return math.Exp(-math.Abs(float64(x)) / parameter)
			}
			return math.Exp(-float64(x*x) / (2 * parameter))
		}
		all := 0.0
		for x := int64(-5000); x <= 5000; x++ {
			all += weight(x)
		}
		for _, n := range []int64{-90, -3, -1, 0, 1, 5, 90} {
			want := 0.0
			for x := int64(5000); x > n; x-- { // small terms first
				want += weight(x)
			}
			want /= all
			if got := m.Above(n); math.Abs(got-want) > 1e-10*want {
				t.Errorf("%s of %v: P(X > %d) is %v, want %v", m.Kind, m.Parameter, n, got, want)
			}
		}
		for n := int64(-20); n < 20 && m.Kind == DiscreteLaplace; n++ {
			if ratio := m.Above(n-1) / m.Above(n); ratio > math.Exp(1/parameter)*(1+1e-12) {
				t.Errorf("%s of %v: one row more changes the chance to be above %d by a factor of %v", m.Kind,
					m.Parameter, n,
					ratio)
			}
		}
	}
	if got := (Mechanism{Kind: PermuteAndFlip, Parameter: big.NewRat(1, 1)}).Above(3); got != 0 {
		t.Errorf("what adds no noise is above 3 with %v", got)
	}
}
