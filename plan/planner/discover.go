package planner

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds what the plan says of discovered groups once their selections have mechanisms.

// say works out what is said of the groups of a table.
func say(d *selection.GroupsFacts, m plan.Measurement, reserved *big.Rat) error {
	groups := m.Selection.(selection.Groups)
	k, err := groups.Kept()
	if err != nil {
		return err
	}
	d.Optimal = groups.Select.Kind == budget.RandomizedResponse
	d.Delta = budget.FormatRat(reserved)
	first := max(groups.AtLeast, 1)
	units := []int64{first}
	for _, chance := range workload.ChancesOf {
		if n := k.Needs(chance); n > units[len(units)-1] {
			units = append(units, n)
		}
	}
	for _, n := range units {
		d.Chances = append(d.Chances, selection.Chance{Units: n, Chance: budget.RoundUp(k.Chance(n), 4)})
	}
	return nil
}

// discover says of every table of groups that are not listed how likely these appear.
func discover(p *plan.Plan) error {
	p.Cost.Delta = workload.Reserved(p)
	measured := p.Measured()
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Discovered == nil {
			continue
		}
		share := new(big.Rat).Quo(workload.Reserved(p), new(big.Rat).SetInt64(workload.Selections(p.Release())))
		if err := say(t.Discovered, measured[t.Path], share); err != nil {
			return workload.At(p.Release(), "marginals."+t.Marginal,
				&workload.Fault{Key: "by", Message: fmt.Sprintf("no selection of the groups of table %s can be made: %v", t.Path,
					err), Expected: "more of the budget, or groups: a smaller number"})
		}
		t.Expectation = describe.DiscoveredExpectation(t.Discovered, *t)
	}
	return nil
}
