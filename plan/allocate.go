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

// leafBudget is a leaf with what each of its tables gets.
type leafBudget struct {
	Leaf
	each budget.Cost
}

// allocate gives each leaf its exact share, divided equally among its tables, or
// kept whole for the microdata that it pays for. It refuses a leaf of microdata
// that pays for anything else.
func allocate(split []spec.Leaf, total budget.Cost, tables []table, drafts []microdata) ([]leafBudget, error) {
	leaves := make([]leafBudget, len(split))
	for i, l := range split {
		leaves[i].Leaf = Leaf{Path: l.Path, Share: l.Share.RatString()}
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
		count := new(big.Rat).SetInt64(int64(max(l.Tables, 1)))
		if total.Epsilon != nil {
			l.Amount.Epsilon = new(big.Rat).Mul(total.Epsilon, share)
			l.each.Epsilon = new(big.Rat).Quo(l.Amount.Epsilon, count)
		} else {
			l.Amount.Rho = new(big.Rat).Mul(total.Rho, share)
			l.each.Rho = new(big.Rat).Quo(l.Amount.Rho, count)
		}
	}
	return leaves, nil
}

// cost is the amount that the account is debited: the budget as asked, in the
// terms that an account adds up (ε, or ρ). For an ε,δ budget it is the largest ρ
// for which all that it buys, measurements and blocks, composed, is within ε and
// δ.
func cost(r *spec.Release, tables []table, drafts []microdata) (budget.Cost, error) {
	b := r.Budget
	switch {
	case b.Delta != nil:
		rho, _, err := budget.Calibrate(b.Epsilon, b.Delta, func(rho *big.Rat) ([]budget.Mechanism, error) {
			trial := &Plan{Cost: budget.Cost{Rho: rho}, release: r}
			err := trial.spend(tables, drafts)
			return trial.Mechanisms(), err
		})
		if err != nil {
			return budget.Cost{}, fmt.Errorf("budget: %w", err)
		}
		return budget.Cost{Rho: rho}, nil
	case b.Epsilon != nil:
		return budget.Cost{Epsilon: b.Epsilon}, nil
	default:
		return budget.Cost{Rho: b.Rho}, nil
	}
}
