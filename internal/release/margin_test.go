package release

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// noiseOf is a mechanism with a parameter and sensitivity 1.
func noiseOf(kind budget.Kind, numerator, denominator int64) budget.Mechanism {
	return budget.Mechanism{Kind: kind, Parameter: big.NewRat(numerator, denominator), L1: big.NewInt(1), L2Squared: big.NewInt(1)}
}

// exactLaw is P(X = x) for |x| ≤ reach, by the definition of the law.
func exactLaw(m budget.Mechanism, reach int) []float64 {
	parameter, _ := m.Parameter.Float64()
	p, total := make([]float64, 2*reach+1), 0.0
	for i := range p {
		x := math.Abs(float64(i - reach))
		if m.Kind == budget.DiscreteLaplace {
			p[i] = math.Exp(-x / parameter)
		} else {
			p[i] = math.Exp(-x * x / (2 * parameter))
		}
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// beyond is P(|X − Y| > m) by convolution.
func beyond(x, y []float64, m int64) float64 {
	sum := 0.0
	for i, p := range x {
		for j, q := range y {
			if d := int64(i) - int64(len(x)/2) - int64(j) + int64(len(y)/2); d > m || -d > m {
				sum += p * q
			}
		}
	}
	return sum
}

// The margin holds for the laws themselves: noise drives two figures further
// apart no more often than asked. And it is of use: for two draws of one Laplace
// law nothing less would do, and for others, at chances as small as many cells
// leave to each, nothing below three fifths. (The convolution is cut where a tail
// is below 1e-20, far below the chances asked for.)
func TestMarginCoversTheDifferenceOfTwoDraws(t *testing.T) {
	laws := []budget.Mechanism{
		noiseOf(budget.DiscreteLaplace, 1, 2), noiseOf(budget.DiscreteLaplace, 2, 1), noiseOf(budget.DiscreteLaplace, 17, 1),
		noiseOf(budget.DiscreteGaussian, 1, 4), noiseOf(budget.DiscreteGaussian, 3, 1), noiseOf(budget.DiscreteGaussian, 90, 1), noiseOf(budget.DiscreteGaussian, 900, 1),
	}
	for i, x := range laws {
		for _, y := range laws[i:] {
			p, q := exactLaw(x, 900), exactLaw(y, 900)
			for _, chance := range []float64{0.05, 1e-3, 1e-6, 1e-9} {
				name := fmt.Sprintf("%s %s, %s %s, %g", x.Kind, x.Parameter, y.Kind, y.Parameter, chance)
				m, err := differenceMargin(x, y, chance)
				if err != nil {
					t.Fatal(err)
				}
				if got := beyond(p, q, m); got > chance {
					t.Errorf("%s: beyond ±%d with a chance of %g", name, m, got)
				}
				tight := m*3/5 - 1
				if x.Kind == budget.DiscreteLaplace && x.Parameter.Cmp(y.Parameter) == 0 && y.Kind == x.Kind {
					tight = m - 1
				} else if chance > 1e-3 {
					continue
				}
				if tight >= 0 && beyond(p, q, tight) <= chance {
					t.Errorf("%s: ±%d, where ±%d would do", name, m, tight)
				}
			}
		}
	}
}

// Margins do not depend on the order, grow as the chance falls, and exist for the
// largest noise there is.
func TestMarginsAreOrderly(t *testing.T) {
	huge := noiseOf(budget.DiscreteLaplace, 1<<50, 1)
	for _, pair := range [][2]budget.Mechanism{
		{noiseOf(budget.DiscreteLaplace, 5, 1), noiseOf(budget.DiscreteGaussian, 1000, 1)}, {huge, noiseOf(budget.DiscreteGaussian, 1, 1)}, {huge, huge},
	} {
		last := int64(-1)
		for _, chance := range []float64{0.05, 1e-4, 1e-8, 1e-12, 1e-18} {
			a, err := differenceMargin(pair[0], pair[1], chance)
			b, err2 := differenceMargin(pair[1], pair[0], chance)
			if err != nil || err2 != nil || a != b || a <= last {
				t.Errorf("%g: %d, %d after %d (%v, %v)", chance, a, b, last, err, err2)
			}
			last = a
		}
	}
	if _, err := differenceMargin(huge, budget.Mechanism{Kind: budget.PermuteAndFlip, Parameter: big.NewRat(1, 1)}, 0.1); err == nil {
		t.Error("a mechanism without noise has a margin")
	}
}
