package diff

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// noiseOf is a mechanism with a parameter and sensitivity 1.
func noiseOf(kind budget.Kind, numerator, denominator int64) budget.Mechanism {
	return budget.Mechanism{Kind: kind, Parameter: big.NewRat(numerator, denominator), L1: big.NewInt(1),
		L2Squared: big.NewInt(1)}
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

// aloneOf is the noise of a cell that is one measurement.
func aloneOf(t *testing.T, m budget.Mechanism) cellNoise {
	t.Helper()
	law, err := symmetricLawOf(m)
	if err != nil {
		t.Fatal(err)
	}
	return tableNoise{single: true, law: law}.ofCell(math.NaN())
}

// togetherOf is the noise of a cell that is the sum of one draw of each, divided by
// denominator.
func togetherOf(t *testing.T, denominator float64, all ...budget.Mechanism) cellNoise {
	t.Helper()
	n, err := combinedNoise(all)
	if err != nil {
		t.Fatal(err)
	}
	variance := 0.0
	for _, m := range all {
		variance += m.Variance()
	}
	return n.ofCell(math.Sqrt(variance) / denominator)
}

// convolved is the law of X + Y, cut where both are.
func convolved(x, y []float64) []float64 {
	out := make([]float64, len(x)+len(y)-1)
	for i, p := range x {
		for j, q := range y {
			out[i+j] += p * q
		}
	}
	return out
}

// The margin holds for the laws of sums and of means, be they put together of draws of
// one law or of several, on both sides or on one; and a normal law of the same variance
// does not hold for all of them, so this would tell.
func TestMarginCoversWhatIsPutTogether(t *testing.T) {
	laplace, small := noiseOf(budget.DiscreteLaplace, 3, 1), noiseOf(budget.DiscreteLaplace, 1, 2)
	gauss, tiny := noiseOf(budget.DiscreteGaussian, 30, 1), noiseOf(budget.DiscreteGaussian, 1, 10)
	normalFails := 0
	for name, all := range map[string][]budget.Mechanism{
		"a Laplace": {laplace}, "a small Laplace": {small}, "four": {laplace, laplace, laplace, laplace},
		"two laws":   {laplace, laplace, small},
		"a Gaussian": {gauss}, "a tiny Gaussian": {tiny}, "three": {gauss, gauss, gauss},
		"tiny ones": {tiny, tiny, tiny},
		"two sizes": {gauss, tiny},
	} {
		law := []float64{1}
		variance := 0.0
		for _, m := range all {
			law = convolved(law, exactLaw(m, 150))
			variance += m.Variance()
		}
		for _, denominator := range []float64{1, 4} {
			cell := togetherOf(t, denominator, all...)
			alone := noiseOf(budget.DiscreteGaussian, 2, 1)
			wide := make([]float64, 40*int(denominator)+1) // one draw of it, in the same steps as the mean
			for i, p := range exactLaw(alone, 20) {
				wide[i*int(denominator)] = p
			}
			for _, chance := range []float64{0.05, 1e-3, 1e-6, 1e-9} {
				// Steps of 1/denominator: beyond counts in them.
				both := differenceMargin(cell, cell, chance) * denominator
				if got := beyond(law, law, int64(both)); got > chance {
					t.Errorf("%s ÷ %g, %g: beyond ±%v with a chance of %g", name, denominator, chance,
						both/denominator, got)
				}
				one := differenceMargin(cell, aloneOf(t, alone), chance) * denominator
				if got := beyond(law, wide, int64(one)); got > chance {
					t.Errorf("%s ÷ %g and one draw, %g: beyond ±%v with a chance of %g", name, denominator, chance,
						one/denominator,
						got)
				}
				normal := math.Sqrt2 * math.Erfinv(1-chance) * math.Sqrt(2*variance)
				if beyond(law, law, int64(normal)) > chance {
					normalFails++
				}
				// each of which stands for tiny ones
				if chance <= 1e-3 && both > 3*math.Sqrt2*math.Erfinv(1-chance)*math.Sqrt(2*variance) && variance > 1 &&
					name != "two sizes" {
					t.Errorf("%s, %g: ±%v is of no use, where a normal law has ±%v", name, chance, both, normal)
				}
			}
		}
	}
	if normalFails < 10 {
		t.Errorf("a normal law fails in %d places only", normalFails)
	}
}

// The margin holds for the laws themselves: noise drives two figures further
// apart no more often than asked. And it is of use: for two draws of one Laplace
// law nothing less would do, and for others, at chances as small as many cells
// leave to each, nothing below three fifths. (The convolution is cut where a tail
// is below 1e-20, far below the chances asked for.)
func TestMarginCoversTheDifferenceOfTwoDraws(t *testing.T) {
	laws := []budget.Mechanism{
		noiseOf(budget.DiscreteLaplace, 1, 2), noiseOf(budget.DiscreteLaplace, 2, 1),
		noiseOf(budget.DiscreteLaplace, 17, 1),
		noiseOf(budget.DiscreteGaussian, 1, 4), noiseOf(budget.DiscreteGaussian, 3, 1),
		noiseOf(budget.DiscreteGaussian, 90, 1), noiseOf(budget.DiscreteGaussian, 900, 1),
	}
	for i, x := range laws {
		for _, y := range laws[i:] {
			p, q := exactLaw(x, 900), exactLaw(y, 900)
			for _, chance := range []float64{0.05, 1e-3, 1e-6, 1e-9} {
				name := fmt.Sprintf("%s %s, %s %s, %g", x.Kind, x.Parameter, y.Kind, y.Parameter, chance)
				margin := differenceMargin(aloneOf(t, x), aloneOf(t, y), chance)
				m := int64(margin)
				if float64(m) != margin {
					t.Errorf("%s: ±%v is not whole", name, margin)
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
		{noiseOf(budget.DiscreteLaplace, 5, 1), noiseOf(budget.DiscreteGaussian, 1000, 1)},
		{huge, noiseOf(budget.DiscreteGaussian, 1, 1)}, {huge, huge},
	} {
		last := -1.0
		for _, chance := range []float64{0.05, 1e-4, 1e-8, 1e-12, 1e-18} {
			x, y := aloneOf(t, pair[0]), aloneOf(t, pair[1])
			if a, b := differenceMargin(x, y, chance), differenceMargin(y, x, chance); a != b || a <= last {
				t.Errorf("%g: %v, %v after %v", chance, a, b, last)
			}
			x, y = togetherOf(t, 1, pair[0]), togetherOf(t, 2, pair[1])
			a, b := differenceMargin(x, y, chance), differenceMargin(y, x, chance)
			if a != b || a <= last {
				t.Errorf("%g, put together: %v, %v after %v", chance, a, b, last)
			}
			last = a
		}
	}
	none := budget.Mechanism{Kind: budget.PermuteAndFlip, Parameter: big.NewRat(1, 1)}
	if _, err := symmetricLawOf(none); err == nil {
		t.Error("a mechanism without noise has a law")
	}
	for name, all := range map[string][]budget.Mechanism{"none": {}, "without noise": {huge, none},
		"both laws": {huge, noiseOf(budget.DiscreteGaussian, 1, 1)}} {
		if _, err := combinedNoise(all); err == nil {
			t.Errorf("%s: such noise has a margin", name)
		}
	}
}
