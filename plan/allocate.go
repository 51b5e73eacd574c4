package plan

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the budget's way to the tables: the cost of the whole, its leaves, and what each table gets.

// Leaf is one wall of the budget: the amount its marginals share.
type Leaf struct {
	Path   string      `json:"path"`
	Share  string      `json:"share"` // of the whole budget, an exact fraction
	Amount budget.Cost `json:"amount"`
	Tables int         `json:"tables"`
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

// allocate gives each leaf its exact share. It refuses a leaf of microdata that
// pays for anything else.
func allocate(split []spec.Leaf, total budget.Cost, tables []table, drafts []microdata) ([]Leaf, error) {
	leaves := make([]Leaf, len(split))
	for i, l := range split {
		leaves[i] = Leaf{Path: l.Path, Share: l.Share.RatString()}
	}
	for _, t := range tables {
		leaves[t.leaf].Tables++
	}
	for _, d := range drafts {
		l := &leaves[d.leaf]
		if l.Tables > 0 || l.Microdata != "" {
			return nil, fmt.Errorf("budget leaf %q pays for the microdata of %s and for something else: give them a leaf of their own", l.Path, d.asked.Table)
		}
		l.Microdata = d.asked.Table
	}
	for i := range leaves {
		l := &leaves[i]
		if l.Tables == 0 && l.Microdata == "" {
			return nil, fmt.Errorf("budget leaf %q pays for no table", l.Path)
		}
		share := split[i].Share
		if total.Epsilon != nil {
			l.Amount.Epsilon = new(big.Rat).Mul(total.Epsilon, share)
		} else {
			l.Amount.Rho = new(big.Rat).Mul(total.Rho, share)
		}
	}
	return leaves, nil
}

// cost is the amount that the account is debited: the budget as asked, in the
// terms that an account adds up (ε, or ρ). For an ε,δ budget it is the largest ρ
// for which all that it buys, measurements and blocks, composed, is within ε and
// δ.
func cost(r *spec.Release, b *blueprint, tables []table, drafts []microdata) (budget.Cost, error) {
	switch asked := r.Budget; {
	case asked.Delta != nil:
		rho, _, err := budget.Calibrate(asked.Epsilon, asked.Delta, func(rho *big.Rat) ([]budget.Mechanism, error) {
			trial := &Plan{Cost: budget.Cost{Rho: rho}, release: r}
			err := trial.spend(b, tables, drafts)
			return trial.Mechanisms(), err
		})
		if err != nil {
			return budget.Cost{}, fmt.Errorf("budget: %w", err)
		}
		return budget.Cost{Rho: rho}, nil
	case asked.Epsilon != nil:
		return budget.Cost{Epsilon: asked.Epsilon}, nil
	default:
		return budget.Cost{Rho: asked.Rho}, nil
	}
}
