package optimise

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds how the amounts of the leaves become mechanisms.

// Spend spends the leaves on the measurements for the tables and then, for microdata, on the measurements of their
// columns and on their rounds, and on the rounds of models.
func Spend(p *plan.Plan, b *Blueprint, all []PlannedMeasurement) error {
	for _, one := range all {
		m, err := one.Spend(p.Leaves[one.Group.Leaf].Amount)
		if err != nil {
			return fmt.Errorf("measurement %s: %w", one.id(), err)
		}
		if !m.Noisy() {
			return b.Release.Problem("budget", document.Problem{
				Message:  fmt.Sprintf("the budget is so large that measurement %s would have no noise", m.ID),
				Expected: "a smaller budget: an ε of 10 already hides next to nothing",
			})
		}
		p.Measurements = append(p.Measurements, m)
	}
	for _, d := range b.drafts {
		var amount *big.Rat
		if d.Leaf != NoLeaf {
			amount = p.Leaves[d.Leaf].Amount.Rho
		}
		columns, s, err := d.spendLeaf(b.Release, amount)
		if err != nil {
			return fmt.Errorf("microdata of %s: %w", d.Requested.Table, err)
		}
		p.Measurements = append(p.Measurements, columns...)
		p.Synthetic = append(p.Synthetic, s)
	}
	for _, m := range b.models {
		one, err := m.spendLeaf(b.Release, p.Leaves[m.leaf].Amount.Rho)
		if err != nil {
			return err
		}
		p.Models = append(p.Models, one)
	}
	return nil
}
