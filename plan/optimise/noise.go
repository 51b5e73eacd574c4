package optimise

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the noise that a cost buys.

// noiseFor returns the noise of a kind that a cost buys: an ε for noise that is priced in ε, else a ρ.
func noiseFor(kind budget.Kind, s *counted.Sensitivity, cost *big.Rat) (m budget.Mechanism, err error) {
	if kind == budget.Skellam { // whose loss its norms do not bound
		return budget.SkellamFor(s.L1, s.L2Squared, s.Shifts, cost)
	}
	m, err = kind.MechanismFor(s.L1, s.L2Squared, cost)
	m.Shifts = s.Shifts
	return m, err
}

// byTables reports whether noise of a kind goes on tables by themselves: the loss of Skellam noise on residuals is
// known only where they have few shifts.
func byTables(kind budget.Kind) bool { return kind.Pure() || kind == budget.Skellam }

// sharesOf returns how the holders of a release divide noise of a kind among them; none if one place draws all of it.
func sharesOf(r *spec.Release, kind budget.Kind) budget.Shares {
	if r.Holders == nil || !byTables(kind) {
		return budget.Shares{}
	}
	return r.Holders.Shares()
}

// noiseInRho returns the noise of a budget that is priced in ρ: the requested one, or else the usual one.
func noiseInRho(b spec.Budget) budget.Kind {
	if kind := Noises(b)[0]; !kind.Pure() {
		return kind
	}
	return budget.DefaultLaw(false)
}

// Noises returns the kinds of noise that a budget can be spent on. A requested kind is the only one. Otherwise a pure
// ε has the usual noise that is priced in ε, a ρ has the usual noise that is priced in ρ, and ε and δ have both, of
// which the whole composition decides the better one.
func Noises(b spec.Budget) []budget.Kind {
	if kind, ok := budget.LawNamed(string(b.Noise)); ok {
		return []budget.Kind{kind}
	}
	if b.Delta != nil {
		return []budget.Kind{budget.DefaultLaw(false), budget.DefaultLaw(true)}
	}
	return []budget.Kind{budget.DefaultLaw(b.Epsilon != nil)}
}
