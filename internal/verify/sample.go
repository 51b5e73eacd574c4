package verify

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec"
)

// This file checks the loss of a plan that measures a sample of its units.

// lossCheck returns the check of the plan's privacy loss, for mechanisms that see all units or a sample.
func (v *verifier) lossCheck() func(steps []budget.Mechanism) (string, error) {
	if v.plan.Guarantee.Sample != "" {
		return v.checkSampledLoss
	}
	return v.checkUnsampledLoss
}

// checkSampledLoss is checkLoss for mechanisms that see a secret Poisson sample. For the sampled units they may lose
// ε′ = ln(1 + (e^ε − 1)/q) at δ/q (Balle, Barthe & Gaboardi 2018, theorem 8).
func (v *verifier) checkSampledLoss(steps []budget.Mechanism) (string, error) {
	g := v.plan.Guarantee
	share, promised := amountOf(g.Sample), amountOf(g.Epsilon)
	switch {
	case v.plan.Sample.Share != g.Sample || share == nil || share.Sign() <= 0 ||
		share.Cmp(big.NewRat(1, 1)) >= 0:
		return "", published.Faultf(measured.PlanFile,
			"it promises what a sample of the share %q would give, and measures another", g.Sample)
	case promised == nil || g.Neighbours != string(spec.AddRemove):
		return "", published.Faultf(measured.PlanFile, "its promise is none that a sample helps to keep")
	}
	epsilon, rho, err := sumLosses(steps)
	if err != nil {
		return "", published.Faultf(measured.PlanFile, "%v", err)
	}
	q, _ := share.Float64()
	e, _ := promised.Float64()
	inner := math.Log1p(math.Expm1(e) / q)
	if g.Definition == "pure" {
		spent, _ := orZero(epsilon).Float64()
		if epsilon == nil || spent > inner*(1+1e-12) || v.plan.Cost.Epsilon == nil ||
			v.plan.Cost.Epsilon.Cmp(promised) < 0 {
			return "", published.Faultf(measured.PlanFile,
				"its mechanisms add up to more than the ε that it promises and is charged for")
		}
		return fmt.Sprintf("ε adds up to %s for the %s of the units that are drawn, which is %s for all, promised %s",
			budget.DecimalUp(epsilon, 6), budget.Percent(q),
			budget.DecimalUp(new(big.Rat).SetFloat64(math.Log1p(q*math.Expm1(spent))), 6), g.Epsilon), nil
	}
	delta := amountOf(g.Delta)
	switch {
	case g.Definition != "approximate" || delta == nil:
		return "", published.Faultf(measured.PlanFile, "its promise is none that a sample helps to keep")
	case rho == nil || v.plan.Cost.Rho == nil || rho.Cmp(v.plan.Cost.Rho) > 0:
		return "", published.Faultf(measured.PlanFile,
			"its mechanisms add up to more than the ρ that it is charged for")
	}
	judged, err := judgeLoss(steps, inner, delta.Quo(delta, share).RatString())
	return fmt.Sprintf("%s: the units that are drawn lose %s at δ = %s, %s", describe.Budget(g),
		budget.DecimalUp(new(big.Rat).SetFloat64(inner), 6), budget.DecimalUp(delta, 4), judged), err
}
