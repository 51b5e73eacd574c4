package budget

import (
	"fmt"
	"math"
	"math/big"
)

// Skellam is the kind of noise X = N₁ − N₂ with independent Poisson variables N₁ and N₂ of mean μ/2 each. Its parameter
// is the variance μ, and
//
//	P(x) = e^(−μ)·I_|x|(μ),   x ∈ ℤ,   φ(θ) = e^(−μ(1−cos θ)).
//
// A sum of such noise is such noise of the sum of the variances: t holders may each add noise of variance μ/t.
// Source: Skellam 1946; as noise of holders of data, Agarwal, Kairouz & Liu 2021.
//
// What it loses depends on the whole vector by which a unit changes the answers, and not on its L2 norm alone. So a
// mechanism must restrict that vector to so few [Shift] that each is composed: see [SkellamFor]. The kind is not one of
// [Laws]: a plan has it only if its spec names it.
const Skellam Kind = "skellam"

// skellam is the law of Skellam noise with variance μ. Its price is a ρ.
type skellam struct{}

const (
	// skellamBits bounds μ by 2^24, so that its probabilities can be listed.
	skellamBits = 24
	// maxSkellamSum is the largest L1 whose shifts are listed one by one, and the largest number of coordinates of each
	// of several worst shifts.
	maxSkellamSum = 12
	// maxSkellamShift is the largest coordinate of a shift.
	maxSkellamShift = 1 << 12
	// maxSkellamTrials is the number of variances that are tried, unless none of them is enough.
	maxSkellamTrials = 6
)

// SkellamFor returns the Skellam mechanism that spends at most rho on an integer query with L1 sensitivity l1 and
// squared L2 sensitivity l2Squared, whose shifts are restricted to the given ones; nil adds no restriction. The
// variance is a multiple of 2⁻¹², and within 1 % of the least that would do where that is 1 or more.
//
// Guarantee: adding independent noise of that variance to every coordinate is ρ-zCDP. Neighbours: those for which the
// sensitivities and shifts bound every change; the caller must have computed them for the relation that the release
// declares. Theorem: the Rényi divergences of coordinates add (Bun & Steinke 2016, lemma 2.2), and merged coordinates
// lose no less (docs/proofs/shifts.md). Argument: docs/proofs/skellam.md.
//
// It returns an error unless all are positive and l2Squared ≤ l1², where the worst shifts are too many or too large to
// be listed, and where the variance would be above 2^24.
func SkellamFor(l1, l2Squared *big.Int, shifts []Shift, rho *big.Rat) (Mechanism, error) {
	if rho == nil || rho.Sign() <= 0 {
		return Mechanism{}, fmt.Errorf("noise of the Skellam law: rho must be positive")
	}
	m := Mechanism{Kind: Skellam, Parameter: big.NewRat(1, 1), L1: l1, L2Squared: l2Squared, Shifts: shifts}
	if err := m.Validate(); err != nil {
		return Mechanism{}, err
	}
	// ρ is about as the inverse of the variance.
	next := gaussianRho(l2Squared, rho)
	var fits, exceeds *big.Rat
	limit := big.NewRat(1<<skellamBits, 1)
	aboveLimit := new(big.Rat).Mul(limit, big.NewRat(257, 256))
	for trials := 0; fits == nil || trials < maxSkellamTrials; trials++ {
		m.Parameter = roundUpToGrid(next)
		if m.Parameter.Cmp(limit) > 0 && next.Cmp(aboveLimit) < 0 && (exceeds == nil || exceeds.Cmp(limit) < 0) {
			m.Parameter = limit // which may do, as next is an estimate
		}
		if err := m.Validate(); err != nil {
			return Mechanism{}, err
		}
		spent := m.Price()
		if spent.Cmp(rho) <= 0 {
			fits = m.Parameter
		} else {
			exceeds = m.Parameter
		}
		next = spent.Quo(spent.Mul(spent, m.Parameter), rho)
		if exceeds != nil && next.Cmp(exceeds) <= 0 {
			next.Mul(exceeds, big.NewRat(1025, 1024))
		}
		if fits != nil && next.Cmp(fits) >= 0 {
			break
		}
	}
	m.Parameter = fits
	m.L1, m.L2Squared = new(big.Int).Set(l1), new(big.Int).Set(l2Squared)
	return m, m.Validate()
}

func (skellam) lawNames() lawNames {
	return lawNames{name: "Skellam", letter: "μ", word: "variance", asked: "skellam"}
}

func (skellam) isPure() bool { return false }

// isSubGaussian: E e^{λX} = exp(μ(cosh λ − 1)) > e^{μλ²/2}.
func (skellam) isSubGaussian() bool { return false }

func (skellam) parameterBits() uint { return skellamBits }

func (skellam) mechanismFor(l1, l2Squared *big.Int, rho *big.Rat) (Mechanism, error) {
	return SkellamFor(l1, l2Squared, nil, rho)
}

func (skellam) costOf(m Mechanism) *big.Rat {
	shifts, ok := m.worstShifts()
	if !ok {
		return nil
	}
	all := make([][]int64, len(shifts))
	for i, shift := range shifts {
		all[i] = shift
	}
	return skellamRho(m.Parameter, all)
}

func (skellam) variance(variance float64) float64 { return variance }

// tailFunction returns the function m ↦ P(|X| > m), which is 0 from where that is below 1e-300.
func (skellam) tailFunction(variance float64) func(m int64) float64 {
	tails := skellamTails(variance)
	return func(m int64) float64 {
		if m >= int64(len(tails)) {
			return 0
		}
		return tails[m]
	}
}

// excessOver returns 1: every even cumulant of X is μ.
func (skellam) excessOver(float64) float64 { return 1 }

func (skellam) outcomes(variance float64) Outcomes {
	tails := skellamTails(variance)
	return Outcomes{
		Size: float64(skellamReach(variance, 23.1)) + 1, // e^−23.1 < 1e−10
		Weight: func(x float64) float64 {
			k := int(math.Abs(x))
			switch {
			case k >= len(tails):
				return 0
			case k == 0:
				return 1 - tails[0]
			}
			return (tails[k-1] - tails[k]) / 2
		},
		Beyond: func(k float64) float64 {
			if k > float64(len(tails)) {
				return 0
			}
			return tails[int(k)-1] / 2
		},
	}
}

func (skellam) continuousVariance(variance float64) float64 { return variance }

func (skellam) continuousQuantile(chance float64) float64 { return NormalQuantile(chance / 2) }

func (skellam) parameterFor(_, l2Squared, rho float64) float64 { return l2Squared / rho / 2 }
