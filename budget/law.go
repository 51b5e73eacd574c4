package budget

import "math/big"

// This file holds what a law of noise answers for, and the laws there are. A new law is a type that answers all of it,
// in files of its own, and a line in the table; with its name in spec/noise.go, its sampler in internal/noise and
// histogram/laws.go, its loss in budget/contour, and its kind in report/schema.json.

// law is a law of noise X over all integers, symmetric about 0 and log-concave, with one parameter.
type law interface {
	lawOfLoss
	names() names
	// pure reports whether the law is priced in ε, by L1; else it is priced in ρ, by L2².
	pure() bool
	// normal reports whether X is sub-Gaussian, with its parameter: E e^{λX} ≤ e^{pλ²/2}.
	normal() bool
	// parameterBits is so many that a parameter is at most 2^bits.
	parameterBits() uint
	// buy is the mechanism that spends at most a cost, of ε or ρ.
	buy(l1, l2Squared *big.Int, cost *big.Rat) (Mechanism, error)
	// price is the ε or ρ of a mechanism, exactly.
	price(m Mechanism) *big.Rat
	// variance is that of X.
	variance(parameter float64) float64
	// tail is the function m ↦ P(|X| > m).
	tail(parameter float64) func(m int64) float64
	// excess is the fourth cumulant of X over its variance, 0 for a law that is taken for normal.
	excess(variance float64) float64
	// draw is X as a summand.
	draw(parameter float64) draw
	// outcomes are those of X.
	outcomes(parameter float64) Outcomes
	// continuous is the variance of the law's continuous limit, and quantile how many of its deviations X is beyond, to
	// either side, with a chance.
	continuous(parameter float64) float64
	quantile(chance float64) float64
	// parameterFor is about the parameter that a cost buys.
	parameterFor(l1, l2Squared, cost float64) float64
}

// lawOfLoss is what a law of noise says of the privacy loss.
type lawOfLoss interface {
	// coordinate is the pair (X, X+d).
	coordinate(parameter *big.Rat, d int64) pair
	// atoms is about how many atoms it has, false where they are not listed one by one.
	atoms(parameter float64, d int64) (n float64, listed bool)
	// unlisted is a pair that dominates a mechanism with several worst shifts, whose atoms are not listed; shifts is nil
	// where they are not known.
	unlisted(m Mechanism, shifts []Shift) pair
	// knownByNorms reports whether a mechanism's norms tell as much as its shifts would, or no more can be worked out.
	knownByNorms(m Mechanism) bool
	// smooths reports whether X is the law that smoothing is proved for: docs/proofs/smoothing.md.
	smooths() bool
}

// names are a law's words.
type names struct {
	name   string // "discrete Laplace"
	letter string // of the parameter
	word   string // for the parameter, "" where the letter says enough
	asked  string // in the budget of a spec
}

// laws are the laws of noise. The first that is priced in ε, and the first that is priced in ρ, are the usual ones.
var laws = []struct {
	kind Kind
	law  law
}{
	{DiscreteLaplace, discreteLaplace{}},
	{DiscreteGaussian, discreteGaussian{}},
}

// law is the law of noise of a kind, nil for a kind that adds none.
func (k Kind) law() law {
	for _, l := range laws {
		if l.kind == k {
			return l.law
		}
	}
	return nil
}

// Laws are the kinds that add noise.
func Laws() []Kind {
	all := make([]Kind, len(laws))
	for i, l := range laws {
		all[i] = l.kind
	}
	return all
}

// Usual is the law of noise that is priced in ε, or in ρ, where no other is asked for.
func Usual(pure bool) Kind {
	for _, l := range laws {
		if l.law.pure() == pure {
			return l.kind
		}
	}
	return ""
}

// LawAsked is the law of noise that the budget of a spec names so, false where there is none.
func LawAsked(name string) (Kind, bool) {
	for _, l := range laws {
		if l.law.names().asked == name {
			return l.kind, true
		}
	}
	return "", false
}

// addsNoise reports whether the kind has a law of noise, and with it sensitivities, a variance and margins.
func (k Kind) addsNoise() bool { return k.law() != nil }

// smooths reports whether the noise is of the law that smoothing is proved for: docs/proofs/smoothing.md.
func (k Kind) smooths() bool { return k.addsNoise() && k.law().smooths() }

// Pure reports whether the kind adds noise that is priced in ε, by L1. Other noise is priced in ρ, by L2².
func (k Kind) Pure() bool { return k.addsNoise() && k.law().pure() }

// Normal reports whether the kind adds noise that is sub-Gaussian with its parameter, a variance: the law of much of
// it, and of sums of it, is taken for normal.
func (k Kind) Normal() bool { return k.addsNoise() && k.law().normal() }

// Name is the name of a law of noise within a sentence, such as "discrete Laplace"; "" for a kind that adds none.
func (k Kind) Name() string { return k.names().name }

// ParameterName is the letter of a law's parameter, such as "t".
func (k Kind) ParameterName() string { return k.names().letter }

// ParameterWord is the word for a law's parameter, such as "scale"; "" where its letter says enough.
func (k Kind) ParameterWord() string { return k.names().word }

// Asked is the name of a law of noise in the budget of a spec.
func (k Kind) Asked() string { return k.names().asked }

func (k Kind) names() names {
	if !k.addsNoise() {
		return names{}
	}
	return k.law().names()
}

// Buy returns the mechanism that adds this noise to an integer query of these sensitivities and spends at most a cost:
// an ε of a law that is [Kind.Pure], else a ρ. See [LaplaceFor] and [GaussianFor]. The kind has to be one of [Laws].
func (k Kind) Buy(l1, l2Squared *big.Int, cost *big.Rat) (Mechanism, error) {
	return k.law().buy(l1, l2Squared, cost)
}

// RoughVariance is the variance of the continuous limit of the noise that a cost buys. The kind has to be one of
// [Laws].
func (k Kind) RoughVariance(l1, l2Squared, cost float64) float64 {
	return k.ContinuousVariance(k.law().parameterFor(l1, l2Squared, cost))
}

// ContinuousVariance is the variance of the continuous limit of a law with this parameter. The kind has to be one of
// [Laws].
func (k Kind) ContinuousVariance(parameter float64) float64 { return k.law().continuous(parameter) }

// ContinuousQuantile is the x for which noise lies more than x standard deviations from 0 with this chance, in the
// continuous limit. The kind has to be one of [Laws].
func (k Kind) ContinuousQuantile(chance float64) float64 { return k.law().quantile(chance) }

// ExcessOver is the fourth cumulant of noise of a variance, over that variance; 0 for a law that is taken for normal.
// The kind has to be one of [Laws].
func (k Kind) ExcessOver(variance float64) float64 { return k.law().excess(variance) }

// Outcomes are the integers that noise X takes.
type Outcomes struct {
	Size   float64                 // 0 to Size−1, and their negatives, have all but 1e−10 of the probability, on each side
	Weight func(x float64) float64 // P(X = x), but for a factor
	Beyond func(k float64) float64 // P(X ≥ k) for k ≥ 1; nil where there is no formula
}

// Outcomes returns the integers that noise with a parameter takes. The kind has to be one of [Laws].
func (k Kind) Outcomes(parameter float64) Outcomes { return k.law().outcomes(parameter) }

// Price returns what the noise of a mechanism costs, exactly: its ε where the law is [Kind.Pure], else its ρ. The kind
// has to be one of [Laws].
func (m Mechanism) Price() *big.Rat { return m.Kind.law().price(m) }
