package optimise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the design of tables whose groups nobody lists: a selection of groups, and counts of the selected
// ones.

// designDiscovered returns the design of a table of groups that are not listed. Half of its ρ goes to the selection,
// half to fresh noise on the numbers of units. The error is the variance of that noise plus, for missing groups, the
// square of the number of units with which a group is selected half of the time.
func (g *Group) designDiscovered(noise budget.Kind) (Design, error) {
	t := g.Tables[0]
	d := Design{Kind: strategy.Direct, Noise: noise, parts: []float64{1}, Measurements: []PlannedMeasurement{
		{Group: g, Table: t, Counted: t.Counted, Selection: t.Selection, Noise: noise,
			Sensitivity: g.tableSensitivity(g.Release, t), addedVariance: 1},
	}}
	groups := float64(t.MaxDifferingGroups(g.Release))
	delta, _ := deltaPerGroup(t, g.Release).Float64()
	half := 0.5                   // of a ρ of 1
	var variance, typical float64 // units of a group that is selected half of the time
	if noise.Pure() {
		half = 0.25 // of an ε of 1, which is a ρ of ½
		l1 := floatOf(d.Measurements[0].L1)
		variance = float64(l1*l1) / half
		typical = -budget.Log(2*delta) * math.Sqrt(groups/(2*half))
	} else {
		variance = floatOf(d.Measurements[0].L2Squared) / (2 * half)
		typical = budget.NormalQuantile(delta) * math.Sqrt(groups/(2*half))
	}
	both := variance + float64(typical*typical)
	d.Spread = float64(variance * workload.UsualGroups)
	d.Error = float64(t.Weight * both)
	if g.Minimise != spec.LeastLargest {
		d.Error = float64(d.Error * workload.UsualGroups)
	}
	return d, nil
}

// deltaPerGroup returns the δ of one group of the table: the reserved δ, divided equally among all selections, and in
// each among all groups in which neighbours differ. r has the δ that is left for the noise.
func deltaPerGroup(t *workload.Table, r *spec.Release) *big.Rat {
	parts := new(big.Int).Mul(big.NewInt(workload.Selections(r)*(workload.ReservedPart-1)),
		big.NewInt(t.MaxDifferingGroups(r)))
	return new(big.Rat).Quo(r.Budget.Delta, new(big.Rat).SetInt(parts))
}

// spendOnGroups spends a ρ on a table of groups that are not listed.
//
// Guarantee: the selection and the noise cost at most ρ together, in addition to the δ of the selection: for each of
// the groups in which neighbours differ ε²/2 or, with noise, one unit of L2² (Bun & Steinke 2016). Neighbours: both
// relations. Argument: docs/proofs/discover.md.
func (p PlannedMeasurement) spendOnGroups(m *plan.Measurement, rho *big.Rat) error {
	m.Cells = 0
	r, t := p.Group.Release, p.Table
	groups := t.MaxDifferingGroups(r)
	half := new(big.Rat).Quo(rho, big.NewRat(2, 1))
	each := deltaPerGroup(t, r)
	d := selection.Groups{Groups: groups, Delta: each.RatString()}
	for _, c := range t.Discovers {
		d.Columns = append(d.Columns, c.Name)
		d.AtLeast = max(d.AtLeast, c.Domain.Discover().AtLeast)
	}
	var err error
	if p.Noise.Pure() {
		d.Select = budget.Mechanism{Kind: budget.RandomizedResponse,
			Parameter: budget.RootBelow(new(big.Rat).Quo(rho, new(big.Rat).SetInt64(groups)), LaplaceBits)}
		m.Mechanism, err = noiseFor(p.Noise, p.Sensitivity, budget.RootBelow(rho, LaplaceBits))
	} else {
		k := big.NewInt(groups)
		if d.Select, err = budget.GaussianFor(k, k, half); err != nil {
			return err
		}
		if d.Select.Parameter.Cmp(new(big.Rat).SetInt64(workload.MostSigmaSquared)) >= 0 {
			return fmt.Errorf("its selection has noise with a standard error of 65 536 or more: give it more of the budget")
		}
		d.Threshold = selection.LeastSelected(d.Select, each)
		m.Mechanism, err = noiseFor(p.Noise, p.Sensitivity, half)
	}
	if err == nil {
		_, err = d.Probabilities()
	}
	m.Selection = d
	return err
}
