package spec

// This file holds the reading of the budget: its form, and the tree of shares resolved into
// leaves whose exact shares of the whole sum to 1.

import (
	"fmt"
	"math/big"
	"strings"
)

// readBudget reads the amounts and the split.
func (r *reader) readBudget(n node) {
	if !r.sound(n) {
		return
	}
	b := &r.release.Budget
	b.Epsilon, b.Delta, b.Rho = r.amount(n.get("epsilon")), r.amount(n.get("delta")), r.amount(n.get("rho"))
	if delta := n.get("delta"); b.Delta != nil && b.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		r.problem(delta, Problem{Message: "delta is " + delta.text(), Expected: "a delta below 1, as 1e-9"})
	}
	if r.unsound[n.value] {
		return
	}
	split := n.get("split")
	if !split.present() {
		b.Leaves = []Leaf{{Share: big.NewRat(1, 1)}}
		return
	}
	s := splitter{reader: r, pure: b.Epsilon != nil && b.Delta == nil, needed: !r.built(split)}
	s.total = b.Epsilon
	if b.Rho != nil {
		s.total = b.Rho
	}
	s.divide(split, "", big.NewRat(1, 1))
	b.Leaves = s.leaves
}

// amount reads an amount of budget, which is above zero; nil where there is none.
func (r *reader) amount(n node) *big.Rat {
	if !n.present() {
		return nil
	}
	x, ok := r.number(n)
	if ok && x.Sign() <= 0 {
		r.problem(n, Problem{Message: n.key.Value + " is " + n.text(), Expected: "more than zero"})
	}
	if !ok || x.Sign() <= 0 {
		r.unsound[n.value] = true
	}
	return x
}

// splitter turns a split into leaves.
type splitter struct {
	*reader
	total  *big.Rat // what absolute amounts are parts of
	pure   bool     // the budget is {epsilon}
	needed bool     // some leaf is needed, so that no share is known yet
	leaves []Leaf
}

// part is one entry of a split.
type part struct {
	node
	share    *big.Rat // of the whole if absolute, else of what absolute amounts leave
	absolute bool
	needed   bool
}

// divide gives the entries of a split their shares of the whole. Absolute amounts are taken
// first; the shares are of what is left and sum to 1.
func (s *splitter) divide(n node, prefix string, whole *big.Rat) {
	parts, ok := s.parts(n)
	if !ok {
		whole = nil
	}
	if whole != nil && !s.adds(n, parts, whole) {
		whole = nil
	}
	left := s.left(parts, whole)
	for _, p := range parts {
		var share *big.Rat
		switch {
		case p.absolute && whole != nil:
			share = p.share
		case left != nil && p.share != nil:
			share = new(big.Rat).Mul(p.share, left)
		}
		path := prefix + p.key.Value
		if split := p.get("split"); split.present() {
			s.divide(split, path+".", share)
			continue
		}
		if s.needed {
			share = nil
		}
		s.leaves = append(s.leaves, Leaf{Path: path, Share: share})
	}
}

// parts reads the entries of a split; it is false where one of them is wrong.
func (s *splitter) parts(n node) (parts []part, ok bool) {
	ok = true
	for _, pair := range n.pairs() {
		p := part{node: pair}
		source := pair
		for _, key := range []string{"share", "epsilon", "rho"} {
			if given := pair.get(key); given.present() {
				source, p.absolute = given, key != "share"
			}
		}
		switch {
		case pair.text() == "needed":
			p.needed = true
		case p.absolute:
			p.share = s.absolute(source)
		default:
			p.share = s.amount(source)
		}
		if !p.needed && (p.share == nil || s.unsound[source.value]) {
			ok = false
		}
		parts = append(parts, p)
	}
	return parts, ok
}

// absolute reads an absolute amount as a share of the whole.
func (s *splitter) absolute(n node) *big.Rat {
	budget := s.release.Budget
	switch form := n.key.Value; {
	case budget.Delta != nil:
		s.problem(n, Problem{
			Message:  "an absolute amount under {epsilon, delta}: what a part of such a budget costs depends on all the other parts",
			Expected: "a share, as 30%, or a budget of {rho}",
		})
		return nil
	case form == "epsilon" && !s.pure, form == "rho" && s.pure:
		s.problem(n, Problem{Message: "an amount of " + form + " in a budget of another kind", Expected: "a share, or an amount of the kind of the whole budget"})
		return nil
	}
	x := s.amount(n)
	if x == nil {
		return nil
	}
	return x.Quo(x, s.total)
}

// left is what the absolute amounts leave of the whole.
func (s *splitter) left(parts []part, whole *big.Rat) *big.Rat {
	if whole == nil {
		return nil
	}
	left := new(big.Rat).Set(whole)
	for _, p := range parts {
		if p.absolute {
			left.Sub(left, p.share)
		}
	}
	return left
}

// adds reports a split whose parts do not add up to the whole.
func (s *splitter) adds(n node, parts []part, whole *big.Rat) bool {
	sum, shares, needed := new(big.Rat), 0, false
	for _, p := range parts {
		needed = needed || p.needed
		if !p.absolute && !p.needed {
			sum.Add(sum, p.share)
			shares++
		}
	}
	left := s.left(parts, whole)
	switch {
	case needed && shares == 0:
		return true
	case shares == 0 && left.Sign() != 0:
		taken := new(big.Rat).Sub(whole, left)
		s.problem(n, Problem{
			Message:  fmt.Sprintf("the amounts add up to %s of %s", s.write(taken), s.write(whole)),
			Expected: "amounts that add up to exactly " + s.write(whole) + ", or a leaf with a share of what is left",
		})
		return false
	case shares == 0:
		return true
	case left.Sign() <= 0:
		s.problem(n, Problem{
			Message:  "the absolute amounts leave nothing for the shares",
			Expected: "absolute amounts of less than " + s.write(whole) + " together",
		})
		return false
	}
	one := big.NewRat(1, 1)
	difference := new(big.Rat).Sub(one, sum)
	if difference.Sign() == 0 {
		return true
	}
	word := "missing"
	if difference.Sign() < 0 {
		word = "too much"
	}
	s.problem(n, Problem{
		Message:  fmt.Sprintf("the shares add up to %s: %s is %s", formatShare(sum), formatShare(difference.Abs(difference)), word),
		Expected: "shares that add up to exactly 1",
	})
	return false
}

// write is a share of the whole as an amount.
func (s *splitter) write(share *big.Rat) string {
	return formatNumber(new(big.Rat).Mul(share, s.total))
}

// leaf finds the leaf that a marginal names: by full path, or by last name where that is
// unique.
func (r *reader) leaf(name string) (found string, candidates []string) {
	for _, l := range r.release.Budget.Leaves {
		if l.Path == name {
			return name, nil
		}
		if l.Path[strings.LastIndex(l.Path, ".")+1:] == name {
			candidates = append(candidates, l.Path)
		}
	}
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	return "", candidates
}

// leafPaths are the paths of all leaves.
func (r *reader) leafPaths() []string {
	var paths []string
	for _, l := range r.release.Budget.Leaves {
		paths = append(paths, l.Path)
	}
	return paths
}

// checkLeavesUsed reports leaves that pay for nothing. It keeps silent where something that is
// wrong or not built could be what uses them.
func (r *reader) checkLeavesUsed(root node) {
	marginals, synthetic, budget := root.get("marginals"), root.get("synthetic"), root.get("budget")
	r.spread(root.value)
	if len(r.unbuilt) > 0 || !r.sound(marginals) || synthetic.present() && !r.sound(synthetic) {
		return
	}
	used := map[string]bool{}
	for _, m := range r.release.Marginals {
		used[m.Leaf] = true
	}
	for _, s := range r.release.Synthetic {
		used[s.Leaf] = true
	}
	for _, l := range r.release.Budget.Leaves {
		if used[l.Path] || l.Path == "" {
			continue
		}
		at := budget.get("split")
		for i, key := range strings.Split(l.Path, ".") {
			if i > 0 {
				at = at.get("split")
			}
			at = at.get(key)
		}
		r.report(at.key, at.path, Problem{
			Message:  fmt.Sprintf("nothing uses leaf %q", l.Path),
			Expected: "a marginal or microdata with budget: " + l.Path + ", or the leaf's share given to others",
		})
	}
}
