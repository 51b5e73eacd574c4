package plan

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the budget's way to the tables: the cost of the whole, its leaves, and what each table gets.

// Leaf is one wall of the budget: the amount its marginals share.
type Leaf struct {
	Path   string      `json:"path"`
	Share  string      `json:"share"` // of the whole budget, an exact fraction
	Amount budget.Cost `json:"amount"`
	// Needed leaves get what the targets of their tables need, and no share.
	Needed bool `json:"needed,omitempty"`
	Tables int  `json:"tables"`
	// Microdata is the table whose microdata the leaf pays for; it pays for nothing else then.
	Microdata string `json:"microdata,omitempty"`
}

// PaysFor says what a leaf pays for, such as "3 tables" or "microdata of persons".
func (l Leaf) PaysFor() string {
	if l.Microdata != "" {
		return "microdata of " + l.Microdata
	}
	return budget.Plural(int64(l.Tables), "table")
}

// allocate gives each leaf its exact amount of a total. It refuses a leaf of microdata that pays for anything else.
func (b *blueprint) allocate(total *big.Rat, needed map[string]*big.Rat) ([]Leaf, error) {
	split := b.release.Budget.Leaves
	amounts, err := b.release.Budget.Divide(total, needed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTooLittle, err)
	}
	leaves := make([]Leaf, len(split))
	for i, l := range split {
		leaves[i] = Leaf{Path: l.Path, Needed: l.Needed, Share: new(big.Rat).Quo(amounts[i], total).RatString()}
		if b.pure {
			leaves[i].Amount.Epsilon = amounts[i]
		} else {
			leaves[i].Amount.Rho = amounts[i]
		}
	}
	for _, t := range b.tables {
		leaves[t.leaf].Tables++
	}
	for _, d := range b.drafts {
		if d.leaf == noLeaf {
			continue
		}
		l := &leaves[d.leaf]
		if l.Tables > 0 || l.Microdata != "" {
			return nil, fmt.Errorf("budget leaf %q pays for the microdata of %s and for something else: give them a leaf of their own", l.Path, d.asked.Table)
		}
		l.Microdata = d.asked.Table
	}
	for _, l := range leaves {
		if l.Tables == 0 && l.Microdata == "" {
			return nil, fmt.Errorf("budget leaf %q pays for no table", l.Path)
		}
	}
	return leaves, nil
}
