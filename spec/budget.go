package spec

// This file reads the budget: its form, and the tree of its split.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec/document"
)

// readBudget reads the amounts, the split, and the extras that are paid for outside the split.
func (r *reader) readBudget(root document.Node) {
	n, extras := root.Get("budget"), r.readExtras(root)
	if !r.IsSound(n) {
		return
	}
	b := &r.release.Budget
	b.Epsilon, b.Delta, b.Rho = r.readAmount(n.Get("epsilon")), r.readAmount(n.Get("delta")), r.readAmount(n.Get("rho"))
	if delta := n.Get("delta"); b.Delta != nil && b.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		r.AddProblem(delta, document.Problem{Message: "delta is " + delta.Text(),
			Expected: "a delta below 1, such as 1e-9"})
	}
	b.Minimise = Objective(n.Get("minimise").TextOr(string(Guarded)))
	r.readNoise(n.Get("noise"), root.Get("holders"))
	split, rest := n.Get("split"), r.shareWithoutExtras(extras)
	if rest == nil {
		return // already reported
	}
	if !split.Present() {
		b.Leaves = []Leaf{{Share: rest}}
		b.Split = []Part{{Share: big.NewRat(1, 1)}}
		r.addExtras(b, extras, rest)
		return
	}
	s := splitter{reader: r, total: b.Rho}
	if b.Delta == nil && b.Epsilon != nil {
		s.total, s.pure = b.Epsilon, true
	}
	has := &knownAmount{share: rest, exact: s.total != nil}
	if s.total != nil {
		has.most = new(big.Rat).Mul(rest, s.total)
	}
	b.Split = s.readSplit(split, "", has)
	b.Leaves = s.leaves
	r.addExtras(b, extras, rest)
}

// readNoise reads the law of noise. A budget of ε alone requires noise that is priced in ε, a budget of ρ noise
// that is priced in ρ.
func (r *reader) readNoise(n, holders document.Node) {
	if !n.Present() {
		return
	}
	b := &r.release.Budget
	b.Noise = Noise(n.Text())
	form, pure := "epsilon alone", true
	if b.Rho != nil {
		form, pure = "rho", false
	}
	if skellam := NoiseOf(budget.Skellam); b.Noise == skellam && !holders.Present() {
		r.AddProblem(n, document.Problem{
			Message:  "Skellam noise, which is for several holders: in one place Gaussian noise has less error",
			Expected: "another law, or holders"})
		return
	}
	if law, ok := budget.LawNamed(n.Text()); b.Delta == nil && (!ok || law.Pure() != pure) {
		only := NoiseOf(budget.DefaultLaw(pure))
		r.AddProblem(n, document.Problem{
			Message: fmt.Sprintf("a budget of %s is spent on %s noise, not on %s noise", form, only.Law(),
				b.Noise.Law()),
			Expected: fmt.Sprintf("noise: %s, or leave it out; a budget of epsilon and delta can be spent on either law", only),
		})
	}
}

// readAmount reads an amount of budget, which must be above zero. It returns nil if the amount is absent.
func (r *reader) readAmount(n document.Node) *big.Rat {
	if !n.Present() {
		return nil
	}
	x, ok := r.Number(n)
	if ok && x.Sign() <= 0 {
		r.AddProblem(n, document.Problem{Message: n.Key.Value + " is " + n.Text(), Expected: "more than zero"})
	}
	return x
}

// splitter reads a split into a tree and its leaves.
type splitter struct {
	*reader
	total  *big.Rat // of the budget; nil for {epsilon, delta}, whose amount of ρ depends on all its measurements
	pure   bool     // the budget is {epsilon}
	leaves []Leaf
}

// knownAmount is what can be known about an amount before targets are resolved.
type knownAmount struct {
	share *big.Rat // the share of the whole budget; nil if it depends on targets or on the whole amount
	most  *big.Rat // an upper bound of the amount, nil if none is known
	exact bool     // the amount is exactly most
}

// portion is a part with its node in the spec.
type portion struct {
	document.Node
	Part
}

// readSplit reads a split of the amount has, which is nil if an enclosing part has a problem.
func (s *splitter) readSplit(n document.Node, prefix string, has *knownAmount) []Part {
	portions, ok := s.readPortions(n, prefix)
	if !ok || has != nil && !s.checkSum(n, portions, *has) {
		has = nil
	}
	parts := make([]Part, len(portions))
	for i, e := range portions {
		var gets knownAmount
		if has != nil {
			gets = s.amountOfPart(e.Part, portions, *has)
		}
		if split := e.Get("split"); split.Present() {
			inside := &gets
			if has == nil {
				inside = nil
			}
			e.Parts = s.readSplit(split, e.Part.Path+".", inside)
		} else {
			s.leaves = append(s.leaves, Leaf{Path: e.Part.Path, Share: gets.share, Needed: ok && e.isNeeded()})
		}
		parts[i] = e.Part
	}
	return parts
}

// amountOfPart returns what is known about the amount of a part of a split.
func (s *splitter) amountOfPart(p Part, portions []portion, has knownAmount) knownAmount {
	absolute, needed, _ := sumAmounts(portions)
	switch {
	case p.isNeeded():
		return knownAmount{}
	case p.Amount != nil && s.total != nil:
		return knownAmount{share: new(big.Rat).Quo(p.Amount, s.total), most: p.Amount, exact: true}
	case p.Amount != nil:
		return knownAmount{most: p.Amount, exact: true}
	}
	var gets knownAmount
	if has.most != nil {
		gets.most = new(big.Rat).Sub(has.most, absolute)
		gets.most.Mul(gets.most, p.Share)
		gets.exact = has.exact && !needed
	}
	switch {
	case gets.exact && s.total != nil:
		gets.share = new(big.Rat).Quo(gets.most, s.total)
	case !needed && absolute.Sign() == 0 && has.share != nil:
		gets.share = new(big.Rat).Mul(has.share, p.Share)
	}
	return gets
}

// sumAmounts adds up the absolute parts, and reports whether there are needed parts and parts with a share.
func sumAmounts(portions []portion) (sum *big.Rat, needed, shares bool) {
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

// readPortions reads the entries of a split. ok is false if one of them has a problem.
func (s *splitter) readPortions(n document.Node, prefix string) (portions []portion, ok bool) {
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
			e.Amount = s.readAbsolute(source)
			ok = ok && e.Amount != nil
		default:
			e.Share = s.readAmount(source)
			ok = ok && e.Share != nil
		}
		ok = ok && s.IsSound(source)
		portions = append(portions, e)
	}
	return portions, ok
}

// readAbsolute reads an absolute amount: of ε in a pure budget, and of ρ in any other.
func (s *splitter) readAbsolute(n document.Node) *big.Rat {
	form := n.Key.Value
	switch {
	case form == "epsilon" && s.total == nil:
		s.AddProblem(n, document.Problem{
			Message: "an amount of epsilon under {epsilon, delta}: what a part of such a budget costs in epsilon " +
				"depends on all the other parts",
			Expected: "a share, such as 30%, or an amount of rho, such as {rho: 1/100}",
		})
		return nil
	case form == "epsilon" && !s.pure, form == "rho" && s.pure:
		s.AddProblem(n, document.Problem{Message: "an amount of " + form + " in a budget of another kind",
			Expected: "a share, or an amount of the kind of the whole budget"})
		return nil
	}
	return s.readAmount(n)
}

// checkSum reports a split whose parts do not add up to its amount.
func (s *splitter) checkSum(n document.Node, portions []portion, has knownAmount) bool {
	absolute, needed, shares := sumAmounts(portions)
	p := document.Problem{}
	switch {
	case (shares || needed) && has.most != nil && absolute.Cmp(has.most) >= 0:
		p.Message = "the absolute amounts leave nothing for the shares"
		if !shares {
			p.Message = "the absolute amounts leave nothing for what is needed"
		}
		p.Expected = "absolute amounts of less than " + document.FormatNumber(has.most) + " together"
	case shares:
		return s.checkShares(n, portions)
	case needed:
		return true
	case has.exact && absolute.Cmp(has.most) == 0:
		return true
	case has.exact:
		p.Message = fmt.Sprintf("the amounts add up to %s of %s", document.FormatNumber(absolute),
			document.FormatNumber(has.most))
		p.Expected = "amounts that add up to exactly " + document.FormatNumber(has.most) +
			", or a leaf with a share of what is left"
	default:
		p.Message = "absolute amounts alone: what they are taken from is not known beforehand, and nothing gets what they leave"
		p.Expected = "a leaf with a share of what is left, such as 100%"
	}
	s.AddProblem(n, p)
	return false
}

// checkShares reports shares that do not add up to 1.
func (s *splitter) checkShares(n document.Node, portions []portion) bool {
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
	s.AddProblem(n, document.Problem{
		Message: fmt.Sprintf("the shares add up to %s: %s is %s", document.FormatShare(sum),
			document.FormatShare(difference.Abs(difference)),
			word),
		Expected: "shares that add up to exactly 1",
	})
	return false
}
