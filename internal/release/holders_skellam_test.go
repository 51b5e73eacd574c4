package release

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
)

// This file compares releases of several holders with Skellam noise with its law: the difference of two Poisson
// numbers, of which each holder adds a part. Failures by chance and the power are as in holders_law_test.go.

// lawRows is how many rows of a unit lawSpec counts, all of which can be in one cell.
const lawRows = 2

// skellamBudget is a budget that is spent on Skellam noise.
type skellamBudget struct {
	text           string  // as a spec writes it
	rho            float64 // 0 if it is one of ε and δ
	epsilon, delta float64
}

// skellamRho and skellamDelta are such budgets: with ρ holders get Skellam noise, and with δ if they ask for it.
var (
	skellamRho   = skellamBudget{text: "{rho: 1/2}", rho: 0.5}
	skellamDelta = skellamBudget{text: "{epsilon: 2, delta: 1e-6, noise: skellam}", epsilon: 2, delta: 1e-6}
)

// spec returns lawSpec with the budget.
func (b skellamBudget) spec() string { return strings.Replace(lawSpec, "{epsilon: 1}", b.text, 1) }

// renyiDivergence returns the Rényi divergence of order α from a law to the same law shifted by lawRows.
func renyiDivergence(law releasetest.Law, alpha float64) float64 {
	sum := 0.0
	for x := law.From + lawRows; x < law.From+len(law.P); x++ {
		sum += math.Exp(alpha*math.Log(law.At(x)) + (1-alpha)*math.Log(law.At(x-lawRows)))
	}
	return math.Log(sum) / (alpha - 1)
}

// deltaOf returns the least δ at which a law and the same law shifted by lawRows are within ε of each other.
func deltaOf(law releasetest.Law, epsilon float64) float64 {
	sum := 0.0
	for x := law.From; x < law.From+len(law.P); x++ {
		sum += max(0, law.At(x)-math.Exp(epsilon)*law.At(x-lawRows))
	}
	return sum
}

// checkSkellam wants Skellam noise that meets the budget by the definitions of ρ and of (ε, δ), and no more of it than
// is needed: noise that costs 0.2 % less of ρ or of ε would not.
func (b skellamBudget) checkSkellam(t *testing.T, n dividedNoise) {
	t.Helper()
	if n.kind != budget.Skellam {
		t.Fatalf("%s: the noise is %s", b.text, n.kind.Name())
	}
	variance, _ := n.parameter.Float64()
	law := skellamLaw(variance)
	if b.rho == 0 {
		most, least := deltaOf(law, b.epsilon), deltaOf(law, b.epsilon*(1-2e-3))
		t.Logf("%s: variance %.4f; δ is %.5g at ε = %g, and %.5g at 0.2 %% less", b.text, variance, most, b.epsilon,
			least)
		if !(most <= b.delta && b.delta < least) {
			t.Errorf("%s: noise of variance %g has δ = %g, and %g at an ε that is 0.2 %% less", b.text, variance, most,
				least)
		}
		return
	}
	rho := 0.0
	for alpha := 1 + 0x1p-10; alpha < 64; alpha = 1 + (alpha-1)*1.1 {
		rho = max(rho, renyiDivergence(law, alpha)/alpha)
	}
	t.Logf("%s: variance %.4f; ρ is %.6f", b.text, variance, rho)
	if !(rho <= b.rho && rho > b.rho*(1-2e-3)) {
		t.Errorf("%s: noise of variance %g has ρ = %g", b.text, variance, rho)
	}
}

// checkedNoise returns the noise of a plan with the budget of lawSpec or skellamRho, and wants it to be what that buys.
func (f federation) checkedNoise(t *testing.T) dividedNoise {
	t.Helper()
	n := f.noiseIn()
	if n.kind == budget.Skellam {
		skellamRho.checkSkellam(t, n)
	} else if n.kind != laplaceNoise.kind || n.parameter.Cmp(laplaceNoise.parameter) != 0 {
		t.Fatalf("the noise is %s of the parameter %s", n.kind.Name(), n.parameter)
	}
	return n
}

// TestErrorsOfHoldersHaveTheSkellamLaw releases counts with Skellam noise, and compares the errors in the sum of all
// shares, and the published intervals, with their law.
func TestErrorsOfHoldersHaveTheSkellamLaw(t *testing.T) {
	testkit.SkipPassed(t)
	for _, c := range []struct {
		holders, trusted int
		budget           skellamBudget
	}{{2, 1, skellamRho}, {3, 2, skellamDelta}, {10, 3, skellamRho}} {
		t.Run(fmt.Sprintf("%d of %d", c.trusted, c.holders), func(t *testing.T) {
			f := newFederation(t, trustText{c.holders, c.trusted, "disjoint"}, c.budget.spec())
			n := f.noiseIn()
			c.budget.checkSkellam(t, n)
			if asked := f.checkRelease(t, n, c.trusted); asked != 2 {
				t.Errorf("%d mistakes were asked for", asked)
			}
		})
	}
}

// TestSkellamLawIsThatOfBesselFunctions compares the law that releases are held to with e^(−μ)·I_x(μ), by the recursion
// I_(x−1) − I_(x+1) = (2x/μ)·I_x from above and the sum of all probabilities, which is 1.
func TestSkellamLawIsThatOfBesselFunctions(t *testing.T) {
	for _, variance := range []float64{0.05, 1, 4, 17, 400} {
		law, last := skellamLaw(variance), 60+int(12*math.Sqrt(variance))
		bessel := make([]float64, last+2)
		bessel[last] = 1e-280
		sum := 0.0
		for x := last; x >= 1; x-- {
			bessel[x-1] = bessel[x+1] + 2*float64(x)/variance*bessel[x]
			if bessel[x-1] > 1e200 {
				for i := range bessel {
					bessel[i] *= 1e-200
				}
			}
		}
		for x, p := range bessel {
			sum += p
			if x > 0 {
				sum += p
			}
		}
		for x, p := range bessel {
			if math.Abs(law.At(x)-p/sum) > 1e-13 || math.Abs(law.At(-x)-p/sum) > 1e-13 {
				t.Errorf("variance %g: %g at %d, and %g at %d; expected %g", variance, law.At(x), x, law.At(-x), -x,
					p/sum)
			}
		}
		if deviation := deviationOf(law); math.Abs(deviation-math.Sqrt(variance)) > 1e-9 {
			t.Errorf("variance %g: a deviation of %g", variance, deviation)
		}
	}
}
