package budget

import (
	"math"
	"testing"
)

// privatePair is a mechanism's figures with the densities of its worst pair, for integrating the definitions
// independently of the code under test.
type privatePair struct {
	name    string
	p, q    func(x float64) float64
	delta   func(epsilon float64) float64
	tpr     func(fpr float64) float64
	epsilon func(delta float64) float64
}

// sum adds f of the two densities up over the outcomes that matter.
func (c privatePair) sum(f func(p, q float64) float64) float64 {
	const cells, reach = 1 << 18, 18
	const width = 2. * reach / cells
	var sum float64
	for i := range cells {
		x := -reach + (float64(i)+0.5)*width
		sum += f(c.p(x), c.q(x)) * width
	}
	return sum
}

func privatePairs() []privatePair {
	g, narrow, zero := Gaussian{Sigma: 3, L2: 2}, Gaussian{Sigma: 20, L2: 3}, normalDensity(0)
	return []privatePair{
		{"Gaussian", normalDensity(2. / 3), zero, g.Delta, g.TruePositiveRate, g.Epsilon},
		{"Gaussian of small μ", normalDensity(0.15), zero, narrow.Delta, narrow.TruePositiveRate, narrow.Epsilon},
	}
}

// sumError bounds the error of the sums above: the midpoint rule with cells below 2e-4, where integrands have
// kinks.
const sumError = 2e-7

func TestDeltaIsTheHockeyStick(t *testing.T) {
	for _, c := range privatePairs() {
		for _, epsilon := range []float64{-1.7, -0.6, -0.2, 0, 0.1, 0.25, 0.3, 0.6, 1.1, 2} {
			want := c.sum(func(p, q float64) float64 { return math.Max(0, p-math.Exp(epsilon)*q) })
			if got := c.delta(epsilon); math.Abs(got-want) > sumError {
				t.Errorf("%s: δ(%v) = %v, the definition gives %v", c.name, epsilon, got, want)
			}
		}
	}
}

// TestTruePositiveRateIsDualToDelta uses that every ε bounds the rate by
// e^ε·fpr + δ(ε), and the best ε by no more than the rate.
func TestTruePositiveRateIsDualToDelta(t *testing.T) {
	for _, c := range privatePairs() {
		for _, fpr := range []float64{1e-3, 0.02, 0.08, 0.2, 0.5, 0.77, 0.95} {
			least := 1.0
			for epsilon := -4.0; epsilon < 6; epsilon += 1e-3 {
				least = math.Min(least, math.Exp(epsilon)*fpr+c.delta(epsilon))
			}
			// Steps of 1e-3 in ε miss the minimum by less than 1e-6, or at a kink by 1e-3 of
			// e^ε·fpr, which is at most the rate.
			if got := c.tpr(fpr); got > least+1e-12 || got < least*(1-1.1e-3)-1e-6 {
				t.Errorf("%s: rate %v at %v, δ allows %v", c.name, got, fpr, least)
			}
		}
		if c.tpr(1) != 1 || c.tpr(2) != 1 || c.tpr(math.NaN()) != 1 {
			t.Errorf("%s: rate at 1", c.name)
		}
	}
}

func TestEpsilonIsTheLeastThatDeltaAllows(t *testing.T) {
	for _, c := range privatePairs() {
		for _, delta := range []float64{1e-200, 1e-30, 1e-9, 1e-3, 0.05} {
			epsilon := c.epsilon(delta)
			if got := c.delta(epsilon); got > delta {
				t.Errorf("%s: δ(ε(%v)) = %v", c.name, delta, got)
			}
			if got := c.delta(epsilon * (1 - 1e-9)); epsilon > 0 && got <= delta {
				t.Errorf("%s: ε(%v) = %v is not least", c.name, delta, epsilon)
			}
		}
		if !math.IsInf(c.epsilon(-1), 1) || c.epsilon(1) != 0 {
			t.Errorf("%s: ε at δ = −1 is %v, at 1 %v", c.name, c.epsilon(-1), c.epsilon(1))
		}
	}
}

// TestWhatIsNoMechanismProtectsNothing also covers the extremes of float64.
func TestWhatIsNoMechanismProtectsNothing(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, g := range []Gaussian{{0, 1}, {-1, 1}, {nan, 1}, {1, -1}, {1, inf}, {1, nan}} {
		if g.Delta(1) != 1 || !math.IsInf(g.Epsilon(0.5), 1) || g.TruePositiveRate(0.1) != 1 {
			t.Errorf("%+v protects", g)
		}
	}
	for _, mu := range []float64{0, 5e-324, 1e-200, 1e-5, 0.499, 0.5, 1, 1e5, 1e200, math.MaxFloat64} {
		for _, epsilon := range []float64{-inf, -1e300, -800, -1, -1e-300, 0, 1e-300, 1, 800, 1e300, inf} {
			delta := Gaussian{1, mu}.Delta(epsilon)
			if !(delta >= 0 && delta <= 1) || epsilon <= -800 && delta != 1 || epsilon == 0 && mu == 0 &&
				delta > 1e-16 {
				t.Errorf("μ %v: δ(%v) = %v", mu, epsilon, delta)
			}
		}
	}
}
