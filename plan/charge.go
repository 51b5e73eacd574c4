package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// This file holds what an account in ρ pays for noise that suits ε and δ.

// dearer is from which ratio of charges on an approver is told.
const dearer = 1.25

// dearer warns where noise that gives the least error under ε and δ is charged to the account much more ρ than discrete
// Gaussian noise alone would be: an account adds up ρ, in which Laplace noise counts ε²/2.
func (d *draftPlan) dearer() []string {
	targets := slices.ContainsFunc(d.tables, func(t *table) bool { return t.marginal.Target != nil })
	if len(d.uniform) < 2 || d.uniform[0] == nil || targets {
		return nil
	}
	taken, gaussian := d.division, d.uniform[0]
	ratio, _ := new(big.Rat).Quo(taken.cost.Rho, gaussian.cost.Rho).Float64()
	if !(ratio > dearer) {
		return nil
	}
	error := ""
	if taken.error > 0 {
		error = fmt.Sprintf(", with errors about %s larger", budget.Percent(math.Sqrt(gaussian.error/taken.error)-1))
	}
	instead := "state the budget as rho: " + strings.TrimPrefix(budget.Amount(gaussian.cost.Rho), "= ")
	if d.plan.Sample != nil {
		instead = "measure all units with a budget in rho: an account in ρ gains nothing by a sample"
	}
	return []string{fmt.Sprintf("discrete Laplace noise is chosen, which under ε and δ gives the least error, and the account is charged %s for it; discrete Gaussian noise alone would be charged %s%s: where the account must last, %s",
		budget.Amounts(nil, taken.cost.Rho, nil), budget.Amounts(nil, gaussian.cost.Rho, nil), error, instead)}
}
