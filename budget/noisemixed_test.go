package budget

import (
	"math"
	"testing"
)

// TestMarginsOfMultiplesOfOneUnit compares margins of sums whose weights are small multiples of one unit with the law
// itself, adding up probabilities outcome by outcome: the margin is the least multiple that has the confidence.
func TestMarginsOfMultiplesOfOneUnit(t *testing.T) {
	law := func(term NoiseTerm, times int) map[int]float64 {
		out, sum := map[int]float64{}, 0.0
		for x := -400; x <= 400; x++ {
			p := math.Exp(-math.Abs(float64(x)) / term.Parameter)
			if term.Kind == DiscreteGaussian {
				p = math.Exp(-float64(x*x) / (2 * term.Parameter))
			}
			if p > 1e-18 {
				out[x*times] += p
				sum += p
			}
		}
		for x := range out {
			out[x] /= sum
		}
		return out
	}
	for _, c := range []struct {
		unit  float64
		times []int
		kind  Kind
		of    float64
	}{
		{1, []int{1, 2}, DiscreteLaplace, 0.8}, {0.25, []int{1, 3}, DiscreteLaplace, 2},
		{0.1, []int{9, 1}, DiscreteLaplace, 0.4},
		{0.01, []int{97, 3}, DiscreteGaussian, 0.9}, {0.05, []int{7, 13}, DiscreteGaussian, 6},
		{1.0 / 3, []int{1, 2, 3}, DiscreteGaussian, 0.5},
		{2, []int{3, 5}, DiscreteLaplace, 3}, {0.25, []int{3, 1}, DiscreteGaussian, 0.2},
	} {
		all := map[int]float64{0: 1}
		var terms []NoiseTerm
		for _, times := range c.times {
			term := NoiseTerm{Weight: c.unit * float64(times), Count: 1, Kind: c.kind, Parameter: c.of}
			terms = append(terms, term)
			next := map[int]float64{}
			for x, p := range all {
				for y, q := range law(term, times) {
					next[x+y] += p * q
				}
			}
			all = next
		}
		within := func(m float64) (sum float64) {
			for x, p := range all {
				if math.Abs(float64(x))*c.unit <= m {
					sum += p
				}
			}
			return sum
		}
		s := NewNoiseSum(terms)
		for _, confidence := range []float64{0.5, 0.9, 0.95, 0.999} {
			m, attained := s.Margin(confidence)
			least := 0.0
			for ; within(least*c.unit+c.unit/4) < confidence; least++ {
			}
			if got := within(m); got < confidence-1e-10 || attained > got+1e-9 || attained < confidence {
				t.Errorf("%v of %v, %s: ±%v attains %v, said %v of %v", c.times, c.unit, c.kind, m, got, attained,
					confidence)
			}
			if m < least*c.unit*(1-1e-9) || m > (least+1)*c.unit {
				t.Errorf("%v of %v, %s: ±%v at %v, the least is %v", c.times, c.unit, c.kind, m, confidence,
					least*c.unit)
			}
		}
	}
}
