package budget

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// continuousLaw is the worst pair of a continuous mechanism.
type continuousLaw interface {
	lossTails(x float64) (p, q float64)
	lossHeads(x float64) (p, q float64)
	lossRange() (low, high float64)
}

// sampledLaw is a law with the densities of P and Q at an outcome, for integrating them independently of the code under
// test.
type sampledLaw struct {
	name     string
	law      continuousLaw
	p, q     func(x float64) float64
	outcomes float64 // the range that matters is ±outcomes
}

func normalDensity(mean float64) func(x float64) float64 {
	return func(x float64) float64 { return math.Exp(-(x-mean)*(x-mean)/2) / math.Sqrt(2*math.Pi) }
}

func laplaceDensity(mean float64) func(x float64) float64 {
	return func(x float64) float64 { return math.Exp(-math.Abs(x-mean)) / 2 }
}

func mixtureDensity(rate float64, a, b func(float64) float64) func(float64) float64 {
	return func(x float64) float64 { return (1-rate)*a(x) + rate*b(x) }
}

func sampledLaws() []sampledLaw {
	mixture := mixtureDensity(0.2, normalDensity(0), normalDensity(0.75))
	sampled := subsampledGaussian{Gaussian{Sigma: 4, L2: 3}, 0.2}
	return []sampledLaw{
		{"Gaussian", Gaussian{Sigma: 2, L2: 3}, normalDensity(1.5), normalDensity(0), 20},
		{"Laplace", laplace{scale: 2, l1: 3}, laplaceDensity(0), laplaceDensity(1.5), 60},
		{"removal", removal(sampled), mixture, normalDensity(0), 20},
		{"addition", addition(sampled), normalDensity(0), mixture, 20},
	}
}

// integrate sums density over the outcomes where keep holds, by the midpoint rule.
func (s sampledLaw) integrate(density func(float64) float64, keep func(loss float64) bool) float64 {
	const cells = 400000
	width := 2 * s.outcomes / cells
	var sum float64
	for i := range cells {
		x := -s.outcomes + (float64(i)+0.5)*width
		if keep(math.Log(s.p(x) / s.q(x))) {
			sum += density(x) * width
		}
	}
	return sum
}

func TestLossTailsAreTheProbabilitiesOfTheLoss(t *testing.T) {
	testkit.SkipPassed(t)
	for _, s := range sampledLaws() {
		low, high := s.law.lossRange()
		for _, x := range []float64{-2, -1.2, -0.4, -0.21, -0.1, 0, 0.1, 0.21, 0.4, 1.2, 2} {
			above := func(loss float64) bool { return loss > x }
			p, q := s.law.lossTails(x)
			// The midpoint rule misplaces the boundary by a cell, 1e-4 or less.
			const near = 2e-4
			if math.Abs(p-s.integrate(s.p, above)) > near || math.Abs(q-s.integrate(s.q, above)) > near {
				t.Errorf("%s: tails at %v are %v and %v", s.name, x, p, q)
			}
			pHead, qHead := s.law.lossHeads(x)
			if math.Abs(p+pHead-1) > 1e-15 || math.Abs(q+qHead-1) > 1e-15 {
				t.Errorf("%s: tails and heads at %v do not sum to 1", s.name, x)
			}
			if x < low && p != 1 || x >= high && p != 0 {
				t.Errorf("%s: P(L > %v) = %v with losses in [%v, %v]", s.name, x, p, low, high)
			}
		}
	}
}

// TestLossTailsKeepTheLikelihoodRatio checks Q(L > x) = E_P[e^{−L}; L > x] far out,
// where the two tails come from different arguments, by summing over narrow cells.
func TestLossTailsKeepTheLikelihoodRatio(t *testing.T) {
	laws := []struct {
		law  continuousLaw
		from float64
		to   float64
	}{
		{Gaussian{Sigma: 0.3, L2: 1}, 60, 130}, {Gaussian{Sigma: 100, L2: 1}, 0.1, 0.4},
		{removal{Gaussian{Sigma: 0.6, L2: 1}, 1e-3}, 5, 60}, {addition{Gaussian{Sigma: 1, L2: 1}, 0.3}, -6, 0.35},
		{laplace{scale: 1, l1: 4}, -3.9, 3.9},
	}
	for _, c := range laws {
		const cells = 20000
		width := (c.to - c.from) / cells
		var sum float64
		for i := range cells {
			x := c.from + float64(i)*width
			here, _ := c.law.lossTails(x)
			next, _ := c.law.lossTails(x + width)
			// e^{−L} averages over a cell to its middle within width²/8.
			sum += (here - next) * math.Exp(-x-width/2)
		}
		_, qFrom := c.law.lossTails(c.from)
		_, qTo := c.law.lossTails(c.to)
		assertRelative(t, "Q of the losses", sum, qFrom-qTo, 2e-5)
	}
}
