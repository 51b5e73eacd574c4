package spec

// This file holds the reading of the budget: its form, and the tree of its split.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/spec/document"
)

// readBudget reads the amounts and the split, and what is bought beside it.
func (r *reader) readBudget(root document.Node) {
	n, extras := root.Get("budget"), r.readExtras(root)
	if !r.Sound(n) {
		return
	}
	b := &r.release.Budget
	b.Epsilon, b.Delta, b.Rho = r.amount(n.Get("epsilon")), r.amount(n.Get("delta")), r.amount(n.Get("rho"))
	if delta := n.Get("delta"); b.Delta != nil && b.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		r.Wrong(delta, document.Problem{Message: "delta is " + delta.Text(), Expected: "a delta below 1, as 1e-9"})
	}
	b.Minimise = Objective(n.Get("minimise").TextOr(string(Guarded)))
	r.readNoise(n.Get("noise"))
	split, rest := n.Get("split"), r.beside(extras)
	if rest == nil {
		return // already reported
	}
	if !split.Present() {
		b.Leaves = []Leaf{{Share: rest, Line: n.Key.Line}}
		b.Split = []Part{{Share: big.NewRat(1, 1)}}
		r.addExtras(b, extras, rest)
		return
	}
	s := splitter{reader: r, total: b.Rho}
	if b.Delta == nil && b.Epsilon != nil {
		s.total, s.pure = b.Epsilon, true
	}
	has := &room{share: rest, exact: s.total != nil}
	if s.total != nil {
		has.most = new(big.Rat).Mul(rest, s.total)
	}
	b.Split = s.read(split, "", has)
	b.Leaves = s.leaves
	r.addExtras(b, extras, rest)
}

// readNoise reads the law of the noise. A budget of ε alone has noise that is priced in ε, and one of ρ noise that is
// priced in ρ.
func (r *reader) readNoise(n document.Node) {
	if !n.Present() {
		return
	}
	b := &r.release.Budget
	b.Noise = Noise(n.Text())
	form, only := "epsilon alone", LaplaceNoise
	if b.Rho != nil {
		form, only = "rho", GaussianNoise
	}
	if b.Delta == nil && !b.Noise.pricedAs(only) {
		r.Wrong(n, document.Problem{
			Message:  fmt.Sprintf("a budget of %s is spent on %s noise, not on %s noise", form, only.Law(), b.Noise.Law()),
			Expected: fmt.Sprintf("noise: %s, or leave it out; a budget of epsilon and delta can be spent on either law", only),
		})
	}
}

// amount reads an amount of budget, which is above zero; nil where there is none.
func (r *reader) amount(n document.Node) *big.Rat {
	if !n.Present() {
		return nil
	}
	x, ok := r.Number(n)
	if ok && x.Sign() <= 0 {
		r.Wrong(n, document.Problem{Message: n.Key.Value + " is " + n.Text(), Expected: "more than zero"})
	}
	return x
}

// splitter turns a split into a tree and its leaves.
type splitter struct {
	*reader
	total  *big.Rat // of the budget, nil where it is {epsilon, delta}: how much ρ that is depends on all that it buys
	pure   bool     // the budget is {epsilon}
	leaves []Leaf
}

// room is what is known beforehand of what a split shares out.
type room struct {
	share *big.Rat // of the whole budget, nil where that depends on what is needed, or on the amount of the whole
	most  *big.Rat // the amount that it has at most, nil where nothing is known
	exact bool     // it has that amount
}

// portion is a part as it stands in the spec.
type portion struct {
	document.Node
	Part
}

// read reads a split, whose parts have the room given, nil where something is wrong with what it is part of.
func (s *splitter) read(n document.Node, prefix string, has *room) []Part {
	portions, ok := s.portions(n, prefix)
	if !ok || has != nil && !s.adds(n, portions, *has) {
		has = nil
	}
	parts := make([]Part, len(portions))
	for i, e := range portions {
		var gets room
		if has != nil {
			gets = s.gets(e.Part, portions, *has)
		}
		if split := e.Get("split"); split.Present() {
			inside := &gets
			if has == nil {
				inside = nil
			}
			e.Parts = s.read(split, e.Part.Path+".", inside)
		} else {
			s.leaves = append(s.leaves, Leaf{Path: e.Part.Path, Share: gets.share, Needed: ok && e.isNeeded(),
				Line: e.Node.Key.Line})
		}
		parts[i] = e.Part
	}
	return parts
}

// gets is what is known of what a part gets of a split.
func (s *splitter) gets(p Part, portions []portion, has room) room {
	taken, needed, _ := taken(portions)
	switch {
	case p.isNeeded():
		return room{}
	case p.Amount != nil && s.total != nil:
		return room{share: new(big.Rat).Quo(p.Amount, s.total), most: p.Amount, exact: true}
	case p.Amount != nil:
		return room{most: p.Amount, exact: true}
	}
	var gets room
	if has.most != nil {
		gets.most = new(big.Rat).Sub(has.most, taken)
		gets.most.Mul(gets.most, p.Share)
		gets.exact = has.exact && !needed
	}
	switch {
	case gets.exact && s.total != nil:
		gets.share = new(big.Rat).Quo(gets.most, s.total)
	case !needed && taken.Sign() == 0 && has.share != nil:
		gets.share = new(big.Rat).Mul(has.share, p.Share)
	}
	return gets
}

// taken is what the absolute parts take, and whether there are needed parts and parts with a share.
func taken(portions []portion) (sum *big.Rat, needed, shares bool) {
	sum = new(big.Rat)
	for _, e := range portions {
		switch {
		case e.Amount != nil:
			sum.Add(sum, e.Amount)
		case e.Share != nil:
			shares = true
		default:
			needed = true
		}
	}
	return sum, needed, shares
}

// portions reads the entries of a split; it is false where one of them is wrong.
func (s *splitter) portions(n document.Node, prefix string) (portions []portion, ok bool) {
	ok = true
	for _, pair := range n.Pairs() {
		e := portion{pair, Part{Path: prefix + pair.Key.Value}}
		source := pair
		for _, key := range []string{"share", "epsilon", "rho"} {
			if given := pair.Get(key); given.Present() {
				source = given
			}
		}
		switch {
		case pair.Text() == "needed":
		case source.Key != pair.Key && source.Key.Value != "share":
			e.Amount = s.absolute(source)
			ok = ok && e.Amount != nil
		default:
			e.Share = s.amount(source)
			ok = ok && e.Share != nil
		}
		ok = ok && s.Sound(source)
		portions = append(portions, e)
	}
	return portions, ok
}

// absolute reads an absolute amount: of ε in a pure budget, else of ρ.
func (s *splitter) absolute(n document.Node) *big.Rat {
	form := n.Key.Value
	switch {
	case form == "epsilon" && s.total == nil:
		s.Wrong(n, document.Problem{
			Message:  "an amount of epsilon under {epsilon, delta}: what a part of such a budget costs in epsilon depends on all the other parts",
			Expected: "a share, as 30%, or an amount of rho, as {rho: 1/100}",
		})
		return nil
	case form == "epsilon" && !s.pure, form == "rho" && s.pure:
		s.Wrong(n, document.Problem{Message: "an amount of " + form + " in a budget of another kind",
			Expected: "a share, or an amount of the kind of the whole budget"})
		return nil
	}
	return s.amount(n)
}

// adds reports a split whose parts do not add up to what it has.
func (s *splitter) adds(n document.Node, portions []portion, has room) bool {
	taken, needed, shares := taken(portions)
	p := document.Problem{}
	switch {
	case (shares || needed) && has.most != nil && taken.Cmp(has.most) >= 0:
		p.Message = "the absolute amounts leave nothing for the shares"
		if !shares {
			p.Message = "the absolute amounts leave nothing for what is needed"
		}
		p.Expected = "absolute amounts of less than " + document.FormatNumber(has.most) + " together"
	case shares:
		return s.sharesAdd(n, portions)
	case needed:
		return true
	case has.exact && taken.Cmp(has.most) == 0:
		return true
	case has.exact:
		p.Message = fmt.Sprintf("the amounts add up to %s of %s", document.FormatNumber(taken),
			document.FormatNumber(has.most))
		p.Expected = "amounts that add up to exactly " + document.FormatNumber(has.most) +
			", or a leaf with a share of what is left"
	default:
		p.Message = "absolute amounts alone: what they are taken from is not known beforehand, and nothing gets what they leave"
		p.Expected = "a leaf with a share of what is left, as 100%"
	}
	s.Wrong(n, p)
	return false
}

// sharesAdd reports shares that do not add up to 1.
func (s *splitter) sharesAdd(n document.Node, portions []portion) bool {
	sum := new(big.Rat)
	for _, e := range portions {
		if e.Share != nil {
			sum.Add(sum, e.Share)
		}
	}
	difference := new(big.Rat).Sub(big.NewRat(1, 1), sum)
	if difference.Sign() == 0 {
		return true
	}
	word := "missing"
	if difference.Sign() < 0 {
		word = "too much"
	}
	s.Wrong(n, document.Problem{
		Message: fmt.Sprintf("the shares add up to %s: %s is %s", document.FormatShare(sum),
			document.FormatShare(difference.Abs(difference)),
			word),
		Expected: "shares that add up to exactly 1",
	})
	return false
}
