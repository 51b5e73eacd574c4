package optimise

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the designs for targets: the least budget with which every goal is met.

// gridBits is the number of fractional bits of a mechanism's parameter.
const gridBits = 12

// Parameter returns the largest parameter of a noise of a release, on the grid of parameters, whose margin keeps a
// goal; nil if there is none.
func Parameter(r *spec.Release, g workload.Goal, noise budget.Kind) *big.Rat {
	if g.Margin < 1 {
		return nil // the least noise there is moves a count by one
	}
	shares := sharesOf(r, noise)
	at := func(steps int64) *big.Rat { return big.NewRat(steps, 1<<gridBits) }
	keeps := func(steps int64) bool {
		one := big.NewInt(1)
		m := budget.Mechanism{Kind: noise, Parameter: at(steps), L1: one, L2Squared: one, Shares: shares}
		if m.Validate() != nil { // beyond the largest parameter of the law
			return false
		}
		margin, _ := m.Margin(g.Confidence)
		return float64(margin) <= g.Margin
	}
	low, high := int64(1), int64(2)
	if !keeps(low) {
		return nil
	}
	for high < 1<<60 && keeps(high) {
		low, high = high, high*2
	}
	for high-low > max(1, low>>40) {
		if middle := low + (high-low)/2; keeps(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return at(low)
}

// designForTargets adds the designs that keep the targets of the group's tables, with the ε or ρ that each
// measurement needs. Their error is the ρ that they cost.
func (g *Group) designForTargets(r *spec.Release, noise budget.Kind, tighten float64) error {
	goals := make([]workload.Goal, len(g.Tables))
	for i, t := range g.Tables {
		asked, ok := t.Goal()
		if !ok {
			return fmt.Errorf("table %s has no target, and its leaf gets what targets need", t.Path)
		}
		asked.Margin = float64(asked.Margin * tighten)
		goals[i] = asked
	}
	laplace, ranged := noise.Pure(), g.hasRanges() || g.hasSums() && g.HasSeparableLevels()
	switch {
	case laplace && ranged && r.Budget.Delta != nil:
		return nil
	case !ranged || laplace:
		work := g.directForTargets
		if g.hasSums() || ranged { // or another leaf asks for ranges of its columns
			work = g.rangedForTargets
		}
		each, err := work(r, noise, goals)
		if err != nil {
			return err
		}
		g.Designs = append(g.Designs, each)
	}
	if !laplace && ranged || !byTables(noise) && (len(g.Tables) > 1 || g.HasSeparableLevels()) {
		d, why, err := g.residualsForTargets(r, goals)
		if err != nil {
			return err
		}
		return g.offerResiduals(d, why, ranged)
	}
	return nil
}

// rangedForTargets measures every table by itself, in portions if its columns have ranges, well enough by the normal
// law for a sum of many draws.
func (g *Group) rangedForTargets(r *spec.Release, noise budget.Kind, goals []workload.Goal) (Design, error) {
	all := Design{Kind: strategy.Direct, Noise: noise}
	for i, t := range g.Tables {
		alone := &Group{Release: r, Leaf: g.Leaf, index: g.index, Tables: []*workload.Table{t}, Chains: g.Chains,
			Minimise: g.Minimise,
			Needed:   true}
		d, err := alone.designDirect(r, alone.allTables(), strategy.Direct, noise)
		if err != nil {
			return d, err
		}
		w, of, err := alone.residualVariances(&d, d.unitVariances())
		if err != nil {
			return d, err
		}
		_, peak := w.Variance(0, of)
		epsilon := math.Sqrt(peak / goals[i].Variance())
		for j := range d.Measurements {
			d.Measurements[j].TargetCost = new(big.Rat).SetFloat64(float64(epsilon * d.parts[j]))
			if d.Measurements[j].TargetCost == nil || d.Measurements[j].TargetCost.Sign() <= 0 {
				return d, targetUnreachable(r, t)
			}
		}
		all.Measurements = append(all.Measurements, d.Measurements...)
		all.Spread += d.Spread / float64(epsilon*epsilon)
	}
	all.Error = totalRho(all.Measurements)
	return all, nil
}

// directForTargets measures every table by itself, just well enough.
func (g *Group) directForTargets(r *spec.Release, noise budget.Kind, goals []workload.Goal) (Design, error) {
	d, err := g.designDirect(r, g.allTables(), strategy.Direct, noise)
	if err != nil {
		return d, err
	}
	variances := make([]float64, len(goals))
	for i, asked := range goals {
		p := &d.Measurements[i]
		parameter := Parameter(r, asked, noise)
		if parameter == nil {
			return d, targetUnreachable(r, g.Tables[i])
		}
		m := budget.Mechanism{Kind: noise, Parameter: parameter, L1: p.L1, L2Squared: p.L2Squared,
			Shifts: p.Shifts, Shares: sharesOf(r, noise)}
		if err := m.Validate(); err != nil {
			return d, fmt.Errorf("measurement %s: %w", p.id(), err)
		}
		p.TargetCost = m.Price()
		variances[i] = m.Variance()
	}
	if err := g.predictErrors(&d, g.allTables(), variances); err != nil {
		return d, err
	}
	d.Error = totalRho(d.Measurements)
	return d, nil
}

// residualsForTargets measures what the tables share once, at the least cost that keeps all targets.
func (g *Group) residualsForTargets(r *spec.Release, goals []workload.Goal) (d Design, why phrase.Phrase, err error) {
	w, why, err := g.plannedWorkload(r, &d)
	if err != nil || !why.IsZero() {
		return d, why, err
	}
	bounds := make([]float64, len(goals))
	for i, asked := range goals {
		bounds[i] = asked.Variance()
	}
	variances, _, err := w.VariancesWithin(bounds)
	if err != nil {
		return d, why, err
	}
	for i, v := range variances {
		steps := math.Floor(float64(v * (1 << gridBits)))
		if steps < 1 {
			return d, phrase.New(phrase.TargetTooFine, d.Measurements[i].id()), nil
		}
		parameter := new(big.Rat).SetFloat64(steps)
		parameter.Quo(parameter, big.NewRat(1<<(gridBits-1), 1)) // 2σ²
		d.Measurements[i].TargetCost = parameter.Quo(new(big.Rat).SetInt(d.Measurements[i].L2Squared), parameter)
	}
	g.setErrors(&d, w, variances)
	d.Error = totalRho(d.Measurements)
	return d, why, nil
}

// totalRho returns what measurements for targets need, as a ρ.
func totalRho(all []PlannedMeasurement) float64 {
	f, _ := totalCharge(all, false).Float64()
	return f
}

// totalCharge returns what measurements for targets need: ε in a pure budget, else ρ.
func totalCharge(all []PlannedMeasurement, pure bool) *big.Rat {
	sum := new(big.Rat)
	for _, p := range all {
		sum.Add(sum, p.leafCharge(pure))
	}
	return sum
}

// targetUnreachable returns the error for a target that no noise on integers keeps.
func targetUnreachable(r *spec.Release, t *workload.Table) error {
	return r.Problem("marginals."+t.Marginal.Name+".target", document.Problem{
		Message: fmt.Sprintf("no noise keeps a margin of %s on every cell of %s",
			budget.Decimal(t.Marginal.Target.Margin),
			t.Path),
		Expected: "a margin of 1 or more, as noise is whole numbers",
	})
}

// ErrTooLittle is the error for a budget that is less than its targets need.
var ErrTooLittle = errors.New("the budget is less than its targets need")
