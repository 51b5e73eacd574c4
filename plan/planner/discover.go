package planner

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file describes discovered groups once their selections have mechanisms.

// sayGroups states how likely the groups of a table that are not listed appear.
func (d *draftPlan) sayGroups(at int, m plan.Measurement) error {
	t := &d.plan.Tables[at]
	if err := sayChances(t.Discovered, m.Selection.(selection.Groups)); err != nil {
		return &workload.Fault{Key: "by",
			Message:  fmt.Sprintf("no selection of the groups of table %s can be made: %v", t.Path, err),
			Expected: "more of the budget, or groups: a smaller number"}
	}
	share := new(big.Rat).Quo(workload.Reserved(d.plan), big.NewRat(workload.Selections(d.plan.Release()), 1))
	t.Discovered.Delta = budget.FormatRat(share)
	return nil
}

// sayChances states with what probabilities groups are selected.
func sayChances(d *selection.GroupsFacts, groups selection.Groups) error {
	k, err := groups.Probabilities()
	if err != nil {
		return err
	}
	d.Optimal = groups.Select.Kind == budget.RandomizedResponse
	first := max(groups.AtLeast, 1)
	units := []int64{first}
	for _, chance := range workload.ChancesOf {
		if n := k.UnitsNeeded(chance); n > units[len(units)-1] {
			units = append(units, n)
		}
	}
	for _, n := range units {
		d.Chances = append(d.Chances, selection.Chance{Units: n, Chance: budget.RoundUp(k.Chance(n), 4)})
	}
	return nil
}
