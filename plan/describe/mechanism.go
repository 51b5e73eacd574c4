package describe

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// This file describes mechanisms: their noise, and what they cost.

func SensitivityText(m budget.Mechanism) string {
	if m.Kind.Pure() {
		return "L1 " + m.L1.String()
	}
	return "L2² " + m.L2Squared.String()
}

// MechanismText names the law of a mechanism's noise and, if several holders draw it, how many draws of it their shares
// are.
func MechanismText(m budget.Mechanism) string { return SharesText(m.Shares) + m.Kind.Name() }

// SharesText writes how many draws of a law of noise the shares of several holders are, before the name of the law; ""
// for one.
func SharesText(s budget.Shares) string {
	if s.Added == s.Needed {
		return ""
	}
	return fmt.Sprintf("%d/%d × ", s.Added, s.Needed)
}

func ScaleText(m budget.Mechanism) string {
	v, _ := m.Parameter.Float64()
	name := cmp.Or(m.Kind.ParameterName(), "ε") // of reports that devices randomise
	return name + " = " + budget.DecimalNearest(v, 4)
}

// CostText returns the cost of n measurements with this noise, in four digits rounded up.
func CostText(m budget.Mechanism, n int64) string {
	letter, loss := lossOfOne(m)
	return letter + budget.DecimalUp(loss.Mul(loss, big.NewRat(n, 1)), 4)
}

// costOfAll returns what measurements of one kind cost together.
func costOfAll(all []budget.Mechanism) string {
	letter, sum := "", new(big.Rat)
	for _, m := range all {
		l, loss := lossOfOne(m)
		letter = l
		sum.Add(sum, loss)
	}
	return letter + budget.DecimalUp(sum, 4)
}

// lossOfOne returns the cost of a measurement: an ε if it has one, else a ρ.
func lossOfOne(m budget.Mechanism) (letter string, loss *big.Rat) {
	if epsilon, err := m.Epsilon(); err == nil {
		return "ε ", new(big.Rat).Set(epsilon)
	}
	return "ρ ", new(big.Rat).Set(m.Rho())
}

// noiseText describes noise with its error, rounded to the nearest.
func noiseText(m budget.Mechanism) string {
	margin, _ := m.Margin(counted.Confidence)
	return fmt.Sprintf("%s noise, %s (standard error %s, 95%% margin ±%s)",
		MechanismText(m), ScaleText(m), budget.DecimalNearest(math.Sqrt(m.Variance()), 4), budget.Group(margin))
}

// choiceText says how one of many is chosen, with its loss rounded up.
func choiceText(m budget.Mechanism) string {
	if m.Kind == budget.PermuteAndFlip {
		return "by permute-and-flip with ε " + budget.DecimalUp(m.Parameter, 4)
	}
	return fmt.Sprintf("by the exponential mechanism with ε %s, %s", budget.DecimalUp(m.Parameter, 4), rhoText(m.Rho()))
}

// rhoText returns an amount of ρ in four digits, rounded up.
func rhoText(rho *big.Rat) string { return "ρ " + budget.DecimalUp(rho, 4) }

func Percent(share *big.Rat) string {
	if share == nil {
		return "–"
	}
	v, _ := share.Float64()
	return budget.Percent(v)
}

// hasLaplace reports whether a measurement has Laplace noise.
func hasLaplace(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Measurements,
		func(m plan.Measurement) bool { return m.Mechanism.Kind.Pure() })
}
