package optimise

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file holds how the budget reaches the tables: the cost of the whole, its leaves, and what each table gets.

// costOf returns an amount as a cost in the budget's currency: ε for a pure budget, else ρ.
func (b *Blueprint) costOf(amount *big.Rat) budget.Cost {
	if b.Pure {
		return budget.Cost{Epsilon: amount}
	}
	return budget.Cost{Rho: amount}
}

// Allocate gives each leaf its exact amount of a total. It returns an error if a leaf of microdata or of a model
// also pays for anything else.
func (b *Blueprint) Allocate(total *big.Rat, needed map[string]*big.Rat) ([]plan.Leaf, error) {
	split := b.Release.Budget.Leaves
	amounts, err := b.Release.Budget.Divide(total, needed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTooLittle, err)
	}
	leaves := make([]plan.Leaf, len(split))
	for i, l := range split {
		leaves[i] = plan.Leaf{Path: l.Path, Needed: l.Needed, Amount: b.costOf(amounts[i]),
			Share: new(big.Rat).Quo(amounts[i], total).RatString()}
	}
	for _, t := range b.tables {
		leaves[t.Leaf].Tables++
	}
	for _, d := range b.drafts {
		if d.Leaf == NoLeaf {
			continue
		}
		l := &leaves[d.Leaf]
		if l.Tables > 0 || l.Microdata != "" {
			return nil, fmt.Errorf("budget leaf %q pays for the microdata of %s and for something else: give them a "+
				"leaf of their own", l.Path, d.Requested.Table)
		}
		l.Microdata = d.Requested.Table
	}
	for _, m := range b.models {
		l := &leaves[m.leaf]
		if l.Tables > 0 || l.Microdata != "" || l.Model != "" {
			return nil, fmt.Errorf("budget leaf %q pays for model %s and for something else: give it a leaf of its own", l.Path,
				m.requested.Name)
		}
		l.Model = m.requested.Name
	}
	for _, l := range leaves {
		if l.Tables == 0 && l.Microdata == "" && l.Model == "" {
			return nil, fmt.Errorf("budget leaf %q pays for no table", l.Path)
		}
	}
	return leaves, nil
}
