package spec

// This file holds the split of a budget as a tree, and how an amount is divided by it.

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

var errUnread = errors.New("a budget that was not read from a spec cannot be divided")

// Part is one entry of a budget's split as the spec has it: an absolute amount, or a share of what absolute and needed
// parts leave of the whole that it is a part of; with neither it gets what its targets need. Beside what is bought
// apart from the split, the split itself is a part without a path.
type Part struct {
	Path          string
	Amount, Share *big.Rat
	Parts         []Part // of a part that is split again, else nil: a leaf
}

// key is the last name of the path.
func (p Part) key() string { return p.Path[strings.LastIndex(p.Path, ".")+1:] }

// within is the path of the split of a part of the split at a path. What stands beside extras has that path itself.
func (p Part) within(path string) string {
	if p.Path == "" {
		return path
	}
	return path + "." + p.key() + ".split"
}

// isNeeded is true for a leaf that gets what its targets need.
func (p Part) isNeeded() bool { return p.Amount == nil && p.Share == nil }

// Divide gives each leaf its amount of a total (of ε for a pure budget, else of ρ), in the order of Leaves. In each
// split leaves of targets get what is needed, by path, absolute parts their amounts, and shares are of what these
// leave; where nothing has a share, what is left is not spent. It fails where an amount is missing, where more is taken
// than there is, and where nothing is left for a share.
func (b *Budget) Divide(total *big.Rat, needed map[string]*big.Rat) ([]*big.Rat, error) {
	if b.Split == nil {
		return nil, errUnread
	}
	return divide("budget.split", b.Split, total, needed)
}

// Least is the total beyond which Divide has enough for what is needed, by path: it succeeds with every larger one and
// with no smaller one; with this one too, unless a part with a share would get nothing. It fails where no total is
// enough: where an absolute part does not hold what is needed of it, or an amount is missing.
func (b *Budget) Least(needed map[string]*big.Rat) (*big.Rat, error) {
	if b.Split == nil {
		return nil, errUnread
	}
	return least("budget.split", b.Split, needed)
}

// least is Least for the split at a path.
func least(path string, parts []Part, needed map[string]*big.Rat) (*big.Rat, error) {
	amounts, taken, _, err := fixed(parts, needed)
	if err != nil {
		return nil, err
	}
	forShares := new(big.Rat)
	for i, p := range parts {
		if p.Parts == nil {
			continue
		}
		within := p.within(path)
		if p.Share == nil {
			if _, err := divide(within, p.Parts, amounts[i], needed); err != nil {
				return nil, err
			}
			continue
		}
		whole, err := least(within, p.Parts, needed)
		if err != nil {
			return nil, err
		}
		if whole.Quo(whole, p.Share); whole.Cmp(forShares) > 0 {
			forShares = whole
		}
	}
	return taken.Add(taken, forShares), nil
}

// fixed are the amounts of absolute and needed parts, nil for shares, with their sum, and whether there are shares.
func fixed(parts []Part, needed map[string]*big.Rat) (amounts []*big.Rat, taken *big.Rat, shares bool, err error) {
	amounts, taken = make([]*big.Rat, len(parts)), new(big.Rat)
	for i, p := range parts {
		switch {
		case p.Share != nil:
			shares = true
			continue
		case p.Amount != nil:
			amounts[i] = new(big.Rat).Set(p.Amount)
		case needed[p.Path] == nil:
			return nil, nil, false, fmt.Errorf("budget leaf %q gets what its targets need, and that is not said", p.Path)
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

// divide is Divide for the split at a path.
func divide(path string, parts []Part, whole *big.Rat, needed map[string]*big.Rat) ([]*big.Rat, error) {
	amounts, taken, shares, err := fixed(parts, needed)
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
		nested, err := divide(p.within(path), p.Parts, amounts[i], needed)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, nested...)
	}
	return leaves, nil
}
