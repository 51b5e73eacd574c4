package budget

import "math/big"

// This file holds the laws of noise: their kinds, their interface and the table of them. A new law is a type that
// implements the interface, in files of its own, with a kind and a line in the table; with its sampler in
// internal/noise and histogram/laws.go, its loss in budget/contour/law.go, and its margins in report/page/whatif.js. A
// law that no plan may choose has its line in the table of further laws instead.

// The kinds of [Mechanism] that add noise over all integers.
const (
	// DiscreteLaplace has P(x) ∝ exp(−|x|/t), with scale t.
	DiscreteLaplace Kind = "discrete-laplace"
	// DiscreteGaussian has P(x) ∝ exp(−x²/2σ²), with parameter σ².
	DiscreteGaussian Kind = "discrete-gaussian"
)

// law is a law of noise X over all integers, symmetric about 0 and log-concave, with one parameter.
type law interface {
	lossLaw
	lawNames() lawNames
	// isPure reports whether the law is priced in ε, by L1, and not in ρ, by L2².
	isPure() bool
	// isSubGaussian reports whether X is sub-Gaussian with its parameter p: E e^{λX} ≤ e^{pλ²/2}.
	isSubGaussian() bool
	// parameterBits returns the b for which a parameter is at most 2^b.
	parameterBits() uint
	// mechanismFor returns the mechanism that spends at most a cost, an ε or a ρ.
	mechanismFor(l1, l2Squared *big.Int, cost *big.Rat) (Mechanism, error)
	// costOf returns the ε or ρ of a mechanism, exactly or rounded up.
	costOf(m Mechanism) *big.Rat
	// variance returns the variance of X.
	variance(parameter float64) float64
	// tailFunction returns the function m ↦ P(|X| > m).
	tailFunction(parameter float64) func(m int64) float64
	// excessOver returns the fourth cumulant of X over its variance, 0 for a law that is treated as normal.
	excessOver(variance float64) float64
	// summand returns X as a summand.
	summand(parameter float64) summand
	// outcomes returns the integers that X takes.
	outcomes(parameter float64) Outcomes
	// continuousVariance returns the variance of the law's continuous limit. continuousQuantile returns the number of
	// standard deviations that |X| exceeds with the probability chance in that limit.
	continuousVariance(parameter float64) float64
	continuousQuantile(chance float64) float64
	// parameterFor returns about the parameter that a cost buys.
	parameterFor(l1, l2Squared, cost float64) float64
}

// lossLaw is the part of a law of noise that concerns privacy loss.
type lossLaw interface {
	// coordinatePair returns the pair (X, X+d).
	coordinatePair(parameter *big.Rat, d int64) pair
	// atomCount returns about how many atoms that pair has, or false if they are not listed one by one.
	atomCount(parameter float64, d int64) (n float64, listed bool)
	// boundingPair returns a pair that dominates a mechanism with several worst shifts whose atoms are not listed;
	// shifts is nil if they are unknown.
	boundingPair(m Mechanism, shifts []Shift) pair
	// knownByNorms reports whether a mechanism's norms say as much as its shifts would, or no more can be computed.
	knownByNorms(m Mechanism) bool
	// isSmoothable reports whether X has the law for which smoothing is proved: docs/proofs/smoothing.md.
	isSmoothable() bool
	// checkShifts returns an error if no bound is known on the loss of a mechanism with these sensitivities and shifts.
	checkShifts(m Mechanism) error
}

// lawNames holds the words for a law and its parameter.
type lawNames struct {
	name   string // "discrete Laplace"
	letter string // of the parameter
	word   string // for the parameter, "" if the letter suffices
	asked  string // in the budget of a spec
}

// kindLaw is a kind with its law of noise.
type kindLaw struct {
	kind Kind
	law  law
}

// laws lists the laws of noise that a plan may choose. The first that is priced in ε and the first that is priced in ρ
// are the defaults.
var laws = []kindLaw{
	{DiscreteLaplace, discreteLaplace{}},
	{DiscreteGaussian, discreteGaussian{}},
}

// furtherLaws lists the laws of noise of mechanisms that a caller builds.
var furtherLaws = []kindLaw{
	{Skellam, skellam{}},
}

// law returns the law of noise of a kind, nil for a kind that adds none.
func (k Kind) law() law {
	for _, table := range [...][]kindLaw{laws, furtherLaws} {
		for _, l := range table {
			if l.kind == k {
				return l.law
			}
		}
	}
	return nil
}

// Laws returns the kinds of noise that a plan may choose by itself: all but [Skellam], which a spec asks for.
func Laws() []Kind {
	all := make([]Kind, len(laws))
	for i, l := range laws {
		all[i] = l.kind
	}
	return all
}

// DefaultLaw returns the default law of noise that is priced in ε if pure, or in ρ if not.
func DefaultLaw(pure bool) Kind {
	for _, l := range laws {
		if l.law.isPure() == pure {
			return l.kind
		}
	}
	return ""
}

// AllLaws returns the kinds of noise that a budget can name: those that a plan may choose, and [Skellam].
func AllLaws() []Kind {
	all := Laws()
	for _, l := range furtherLaws {
		all = append(all, l.kind)
	}
	return all
}

// LawNamed returns the law of noise with this name in the budget of a spec, or false if there is none.
func LawNamed(name string) (Kind, bool) {
	for _, kind := range AllLaws() {
		if kind.SpecName() == name {
			return kind, true
		}
	}
	return "", false
}

// addsNoise reports whether the kind has a law of noise, and with it sensitivities, a variance and margins.
func (k Kind) addsNoise() bool { return k.law() != nil }

// isSmoothable reports whether the noise has the law for which smoothing is proved: docs/proofs/smoothing.md.
func (k Kind) isSmoothable() bool { return k.addsNoise() && k.law().isSmoothable() }

// Pure reports whether the kind adds noise that is priced in ε, by L1. Other noise is priced in ρ, by L2².
func (k Kind) Pure() bool { return k.addsNoise() && k.law().isPure() }

// Normal reports whether the kind adds noise that is sub-Gaussian with its parameter as variance. If the parameter is
// large, its law, and the law of sums of it, is treated as normal.
func (k Kind) Normal() bool { return k.addsNoise() && k.law().isSubGaussian() }

// Name returns the name of a law of noise within a sentence, such as "discrete Laplace"; "" for a kind that adds none.
func (k Kind) Name() string { return k.lawNames().name }

// ParameterName returns the letter of a law's parameter, such as "t".
func (k Kind) ParameterName() string { return k.lawNames().letter }

// ParameterWord returns the word for a law's parameter, such as "scale"; "" if its letter suffices.
func (k Kind) ParameterWord() string { return k.lawNames().word }

// SpecName returns the name of a law of noise in the budget of a spec.
func (k Kind) SpecName() string { return k.lawNames().asked }

func (k Kind) lawNames() lawNames {
	if !k.addsNoise() {
		return lawNames{}
	}
	return k.law().lawNames()
}

// MechanismFor returns the mechanism that adds this noise to an integer query of these sensitivities and spends at most
// a cost: an ε if the law is [Kind.Pure], and a ρ if it is not. See [LaplaceFor] and [GaussianFor]. The kind must be
// one of [Laws].
func (k Kind) MechanismFor(l1, l2Squared *big.Int, cost *big.Rat) (Mechanism, error) {
	return k.law().mechanismFor(l1, l2Squared, cost)
}

// RoughVariance returns the variance of the continuous limit of the noise that a cost buys. The kind must be one of
// [Laws].
func (k Kind) RoughVariance(l1, l2Squared, cost float64) float64 {
	return k.ContinuousVariance(k.law().parameterFor(l1, l2Squared, cost))
}

// ContinuousVariance returns the variance of the continuous limit of a law with this parameter. The kind must be one of
// [Laws].
func (k Kind) ContinuousVariance(parameter float64) float64 {
	return k.law().continuousVariance(parameter)
}

// ContinuousQuantile returns the x for which noise lies more than x standard deviations from 0 with the probability
// chance, in the continuous limit. The kind must be one of [Laws].
func (k Kind) ContinuousQuantile(chance float64) float64 { return k.law().continuousQuantile(chance) }

// ExcessOver returns the fourth cumulant of noise of a variance, over that variance; 0 for a law that is treated as
// normal. The kind must be one of [Laws].
func (k Kind) ExcessOver(variance float64) float64 { return k.law().excessOver(variance) }

// Outcomes are the integers that noise X takes.
type Outcomes struct {
	// 0 to Size−1 and their negatives miss less than 1e−10 of the probability, on each side
	Size   float64
	Weight func(x float64) float64 // P(X = x), up to a factor
	Beyond func(k float64) float64 // P(X ≥ k) for k ≥ 1; nil if there is no formula
}

// Outcomes returns the integers that noise with this parameter takes. The kind must be one of [Laws].
func (k Kind) Outcomes(parameter float64) Outcomes { return k.law().outcomes(parameter) }

// Price returns what the noise of a mechanism costs: its ε if the law is [Kind.Pure], its ρ if it is not. It is exact,
// and of [Skellam] noise rounded up. The kind must be one of [Laws] or [Skellam].
func (m Mechanism) Price() *big.Rat { return m.Kind.law().costOf(m) }
