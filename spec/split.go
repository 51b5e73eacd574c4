package spec

// This file holds the split of a budget as a tree, and divides amounts by it.

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

var errUnread = errors.New("a budget that was not read from a spec cannot be divided")

// Part is one entry of a budget's split in the spec: an absolute amount, or a share of what absolute and needed parts
// leave of the enclosing whole. A part with neither gets what its targets need. If there are extras outside the split,
// the split itself is a part without a path.
type Part struct {
	Path          string
	Amount, Share *big.Rat
	Parts         []Part // nil for a leaf
}

// lastName returns the last name of the path.
func (p Part) lastName() string { return p.Path[strings.LastIndex(p.Path, ".")+1:] }

// splitPath returns the path of the split of a part, where path is the path of the enclosing split. A part without a
// path, next to extras, has that path itself.
func (p Part) splitPath(path string) string {
	if p.Path == "" {
		return path
	}
	return path + "." + p.lastName() + ".split"
}

// isNeeded reports whether a leaf gets what its targets need.
func (p Part) isNeeded() bool { return p.Amount == nil && p.Share == nil }

// Divide returns the amount of each leaf of a total (of ε for a pure budget, of ρ for others), in the order of Leaves.
// In each split, leaves of targets get what is needed, by path, absolute parts get their amounts, and shares divide the
// rest; without shares the rest is not spent. It returns an error if a needed amount is missing, if more is taken than
// there is, or if nothing is left for a share.
func (b *Budget) Divide(total *big.Rat, needed map[string]*big.Rat) ([]*big.Rat, error) {
	if b.Split == nil {
		return nil, errUnread
	}
	return divideSplit("budget.split", b.Split, total, needed)
}

// LeastTotal returns the infimum of the totals with which Divide has enough for what is needed, by path: Divide
// succeeds with every larger total and with no smaller one; it succeeds with this total too, unless a part with a share
// would get nothing. It returns an error if no total is enough because an absolute part is smaller than what is needed
// of it, or if a needed amount is missing.
func (b *Budget) LeastTotal(needed map[string]*big.Rat) (*big.Rat, error) {
	if b.Split == nil {
		return nil, errUnread
	}
	return leastTotal("budget.split", b.Split, needed)
}

// leastTotal is Least for the split at a path.
func leastTotal(path string, parts []Part, needed map[string]*big.Rat) (*big.Rat, error) {
	amounts, taken, _, err := fixedAmounts(parts, needed)
	if err != nil {
		return nil, err
	}
	forShares := new(big.Rat)
	for i, p := range parts {
		if p.Parts == nil {
			continue
		}
		within := p.splitPath(path)
		if p.Share == nil {
			if _, err := divideSplit(within, p.Parts, amounts[i], needed); err != nil {
				return nil, err
			}
			continue
		}
		whole, err := leastTotal(within, p.Parts, needed)
		if err != nil {
			return nil, err
		}
		if whole.Quo(whole, p.Share); whole.Cmp(forShares) > 0 {
			forShares = whole
		}
	}
	return taken.Add(taken, forShares), nil
}

// fixedAmounts returns the amounts of absolute and needed parts, nil for shares, with their sum, and whether there are
// shares.
func fixedAmounts(parts []Part, needed map[string]*big.Rat) (amounts []*big.Rat, taken *big.Rat, shares bool,
	err error) {
	amounts, taken = make([]*big.Rat, len(parts)), new(big.Rat)
	for i, p := range parts {
		switch {
		case p.Share != nil:
			shares = true
			continue
		case p.Amount != nil:
			amounts[i] = new(big.Rat).Set(p.Amount)
		case needed[p.Path] == nil:
			return nil, nil, false, fmt.Errorf("budget leaf %q gets what its targets need, and that is not said",
				p.Path)
		case needed[p.Path].Sign() < 0:
			return nil, nil, false, fmt.Errorf("budget leaf %q needs %s: less than nothing", p.Path,
				document.ShortNumber(needed[p.Path]))
		default:
			amounts[i] = new(big.Rat).Set(needed[p.Path])
		}
		taken.Add(taken, amounts[i])
	}
	return amounts, taken, shares, nil
}

// divideSplit is Divide for the split at a path.
func divideSplit(path string, parts []Part, whole *big.Rat, needed map[string]*big.Rat) ([]*big.Rat, error) {
	amounts, taken, shares, err := fixedAmounts(parts, needed)
	if err != nil {
		return nil, err
	}
	left := new(big.Rat).Sub(whole, taken)
	if left.Sign() < 0 || shares && left.Sign() == 0 {
		what := "its absolute and needed parts take"
		if shares {
			what = "nothing is left for shares: " + what
		}
		return nil, fmt.Errorf("%s: %s %s of %s", path, what, document.ShortNumber(taken), document.ShortNumber(whole))
	}
	var leaves []*big.Rat
	for i, p := range parts {
		if p.Share != nil {
			amounts[i] = new(big.Rat).Mul(left, p.Share)
		}
		if p.Parts == nil {
			leaves = append(leaves, amounts[i])
			continue
		}
		nested, err := divideSplit(p.splitPath(path), p.Parts, amounts[i], needed)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, nested...)
	}
	return leaves, nil
}
