package release

import (
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// bearingOf is so many draws of a noise, each times a weight.
func bearingOf(kind budget.Kind, parameter *big.Rat, weight float64, n int64) synth.Bearing {
	m := budget.Mechanism{Kind: kind, Parameter: parameter, L1: big.NewInt(1), L2Squared: big.NewInt(1)}
	return synth.Bearing{
		Measurement: plan.Measurement{Mechanism: m}, Weights: []synth.Weight{{Value: weight, Integers: n}},
		Variance: weight * weight * float64(n) * m.Variance(),
	}
}

// weightedLaw is the law of a sum on the multiples of a step, by its probabilities: entry i is that of (i − middle)·step.
func weightedLaw(step float64, bearings ...synth.Bearing) (law []float64, middle int) {
	law = []float64{1}
	for _, b := range bearings {
		parameter, _ := b.Measurement.Mechanism.Parameter.Float64()
		stride := int(math.Round(math.Abs(b.Weights[0].Value) / step))
		reach := int(12*math.Sqrt(b.Measurement.Mechanism.Variance())) + 12
		one, sum := make([]float64, 2*reach*stride+1), 0.0
		for x := -reach; x <= reach; x++ {
			p := math.Exp(-float64(x*x) / (2 * parameter))
			if b.Measurement.Mechanism.Kind == budget.DiscreteLaplace {
				p = math.Exp(-math.Abs(float64(x)) / parameter)
			}
			one[(x+reach)*stride] = p
			sum += p
		}
		for range b.Weights[0].Integers {
			next := make([]float64, len(law)+len(one)-1)
			for i, p := range law {
				for j, q := range one {
					if q > 0 {
						next[i+j] += p * q / sum
					}
				}
			}
			law = next
		}
	}
	return law, len(law) / 2
}

// within is the probability of at most m steps from the middle.
func within(law []float64, middle, m int) float64 {
	var sum float64
	for i, p := range law {
		if max(i-middle, middle-i) <= m {
			sum += p
		}
	}
	return sum
}

// TestIntervalsOfSumsAreThoseOfTheLaw convolves the probabilities themselves. Tails that these cut off are below 1e-7
// for Laplace noise of 12 deviations.
func TestIntervalsOfSumsAreThoseOfTheLaw(t *testing.T) {
	for _, c := range []struct {
		kind      budget.Kind
		parameter *big.Rat
		n         int64
	}{
		{budget.DiscreteGaussian, big.NewRat(1, 5), 2}, {budget.DiscreteGaussian, big.NewRat(1, 5), 9}, {budget.DiscreteGaussian, big.NewRat(7, 2), 3},
		{budget.DiscreteGaussian, big.NewRat(90, 1), 12}, {budget.DiscreteLaplace, big.NewRat(1, 4), 3}, {budget.DiscreteLaplace, big.NewRat(3, 1), 2},
		{budget.DiscreteLaplace, big.NewRat(20, 1), 7},
	} {
		b := bearingOf(c.kind, c.parameter, 1, c.n)
		law, middle := weightedLaw(1, b)
		want := 0
		for within(law, middle, want) < 0.95 {
			want++
		}
		l := newSumLaw([]synth.Bearing{b})
		margin, attained := l.wholeMargin(0.95)
		if !l.whole() || margin != int64(want) || math.Abs(attained-within(law, middle, want)) > 2e-7 {
			t.Errorf("%d of %s %s: margin %d attaining %v, by the law %d and %v", c.n, c.kind, c.parameter, margin, attained, want, within(law, middle, want))
		}
	}
}

// TestNormalIntervalsAttainWhatIsSaid holds the bound against the law itself: not above it, and less than 1e-3 below where
// no possible value of the sum is near the interval's end. Laws far from normal are among them.
func TestNormalIntervalsAttainWhatIsSaid(t *testing.T) {
	const quarter = 0.25
	small, wide := big.NewRat(1, 3), big.NewRat(40, 1)
	for name, bearings := range map[string][]synth.Bearing{
		"one draw":        {bearingOf(budget.DiscreteGaussian, small, 0.75, 1)},
		"one and many":    {bearingOf(budget.DiscreteGaussian, wide, 1, 1), bearingOf(budget.DiscreteGaussian, wide, -0.25, 6)},
		"coarse and fine": {bearingOf(budget.DiscreteGaussian, small, 2, 2), bearingOf(budget.DiscreteGaussian, small, 0.25, 3)},
		"of two kinds":    {bearingOf(budget.DiscreteLaplace, big.NewRat(2, 1), 0.5, 2), bearingOf(budget.DiscreteGaussian, small, 0.25, 4)},
		"heavy tails":     {bearingOf(budget.DiscreteLaplace, big.NewRat(5, 1), 0.75, 1), bearingOf(budget.DiscreteLaplace, big.NewRat(1, 1), 0.25, 1)},
	} {
		law, middle := weightedLaw(quarter, bearings...)
		l := newSumLaw(bearings)
		if l.whole() {
			t.Errorf("%s: is taken for a sum of integers", name)
		}
		for _, multiple := range []float64{0.7, 1.5, 1.959963984540054, 3} {
			steps := math.Floor(multiple*l.deviation/quarter) + 0.5 // between two possible values
			want, got := within(law, middle, int(steps)), l.attained(steps*quarter)
			if got > want || got < want-1e-3 {
				t.Errorf("%s, %v deviations: attains %v, by the law %v", name, multiple, got, want)
			}
		}
	}
}
