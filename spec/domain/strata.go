package domain

// This file reads lattices: the step and the range of a column, and separate ranges for the categories of another
// column.

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// rangePairs returns the ranges in a range key: itself, or one for each category that it names.
func (r *Reader) rangePairs(bounds document.Node) (pairs []document.Node, ok bool) {
	if bounds.Items() != nil {
		return []document.Node{bounds}, true
	}
	ok = true
	for _, pair := range r.Entries(bounds) {
		isBy, isList := pair.Key.Value == RangeBy, pair.Items() != nil
		switch {
		case isBy == isList:
			p := document.Problem{Message: "found " + pair.Describe(),
				Expected: "the smallest and the largest value of " +
					document.Clip(pair.Key.Value) + ", such as [0, 9]"}
			if isBy {
				p.Expected = "a column, or one of its levels"
			}
			r.AddProblem(pair, p)
			ok = false
		case isList:
			pairs = append(pairs, pair)
		}
	}
	if ok && pairs == nil {
		r.Report(bounds.Heading(), bounds.Path, document.Problem{Message: "no category has a range",
			Expected: "a range for each category, such as {by: size, small: [0, 9], large: [10, 500]}"})
		return nil, false
	}
	return pairs, ok
}

// numericStep returns the step of a range of numbers. It is nil if there is none, and for an invalid step, which is
// reported elsewhere.
func (r *rangeReader) numericStep() *big.Rat {
	if r.typ != Integer && r.typ != Decimal {
		return nil
	}
	n := r.node.Get("step")
	if !n.Present() {
		if r.typ == Integer {
			return big.NewRat(1, 1)
		}
		return nil
	}
	x, err := document.ParseNumber(n.Text())
	if err != nil || x.Sign() <= 0 || r.typ == Integer && !x.IsInt() ||
		x.Cmp(big.NewRat(document.MaxWhole, 1)) > 0 {
		return nil
	}
	return x
}

// tooFineForCells reports whether a range without levels has more cells than a domain can have: such a range serves
// only statistics.
func (r *rangeReader) tooFineForCells(step *big.Rat) bool {
	levels := r.node.Get("levels")
	return r.node.Get("range").Present() && !levels.Present() &&
		(r.span.endCut()-r.span.low)/latticePoint(step, r.span.den) > MaxCells
}

// latticeOf returns the lattice of a range, nil if its ends are not multiples of the step.
func latticeOf(step, low, high *big.Rat) *Lattice {
	first, last := new(big.Rat).Quo(low, step), new(big.Rat).Quo(high, step)
	if !first.IsInt() || !last.IsInt() {
		return nil
	}
	return newLattice(step, first.Num().Int64(), last.Num().Int64())
}

// Lattice returns the lattice of the range at a node. It returns nil and reports a problem if the ends are not
// multiples of the step, or if the numbers are too fine or too large.
func (r *Reader) Lattice(at document.Node, step, low, high *big.Rat) *Lattice {
	if !r.checkMultiples(at, low, high, step) {
		return nil
	}
	if _, err := commonDenominator([]*big.Rat{low, high, step}); err != nil {
		r.AddProblem(at, document.Problem{Message: err.Error(), Expected: "coarser or smaller numbers"})
		return nil
	}
	return latticeOf(step, low, high)
}

// CheckEnds reports ends of a column's range that are not multiples of its step.
func (r *Reader) CheckEnds(n document.Node, of Type) {
	rr, bounds := &rangeReader{Reader: r, typ: of, node: n}, n.Get("range")
	if low, high, ok := rr.readBounds(bounds); ok {
		r.checkMultiples(bounds, low, high, rr.numericStep())
	}
}

// checkMultiples reports ends of a range that are not multiples of the step, and suggests nearby ones that are.
func (r *Reader) checkMultiples(at document.Node, low, high, step *big.Rat) bool {
	first, last := new(big.Rat).Quo(low, step), new(big.Rat).Quo(high, step)
	if first.IsInt() && last.IsInt() {
		return true
	}
	var odd []string
	if !first.IsInt() {
		odd = append(odd, document.FormatNumber(low))
	}
	if !last.IsInt() && high.Cmp(low) != 0 {
		odd = append(odd, document.FormatNumber(high))
	}
	down := new(big.Int).Div(first.Num(), first.Denom())
	up := new(big.Int).Div(last.Num(), last.Denom())
	if !last.IsInt() {
		up.Add(up, big.NewInt(1))
	}
	times := func(n *big.Int) string { return document.FormatNumber(new(big.Rat).Mul(new(big.Rat).SetInt(n), step)) }
	verb := "is no multiple"
	if len(odd) == 2 {
		verb = "are no multiples"
	}
	r.AddProblem(at, document.Problem{
		Message: fmt.Sprintf("%s %s of the step, %s, to which values are rounded before they are added up",
			strings.Join(odd, " and "), verb, document.FormatNumber(step)),
		Expected: "ends that are multiples of the step, or another step",
		Fix:      "[" + times(down) + ", " + times(up) + "]",
	})
	return false
}

// Strata reads the range of a column with separate ranges for the categories of level l, which messages call by. It
// returns the range of each category in turn, or none if l is nil. ok is false if a problem was reported.
func (r *Reader) Strata(n document.Node, of Type, by string, l *Level) (ranges []Stratum, ok bool) {
	rr := &rangeReader{Reader: r, typ: of, node: n}
	step := rr.numericStep()
	given := map[string]document.Node{}
	ok = true
	pairs, _ := r.rangePairs(n.Get("range"))
	for _, pair := range pairs {
		given[pair.Key.Value] = pair
		low, high, _ := rr.readBounds(pair)
		ok = r.checkMultiples(pair, low, high, step) && ok
	}
	if l == nil {
		return nil, ok
	}
	known, missing := map[string]bool{}, []string(nil)
	ranges = make([]Stratum, l.Size())
	for i, category := range l.Categories {
		known[category.Code] = true
		pair, isGiven := given[category.Code]
		if !isGiven {
			missing = append(missing, strconv.Quote(document.Clip(category.Code)))
			continue
		}
		low, high, _ := rr.readBounds(pair)
		if own := latticeOf(step, low, high); own != nil {
			ranges[i] = Stratum{own.First, own.Last}
		}
	}
	for _, pair := range pairs {
		if name := pair.Key.Value; !known[name] {
			r.WrongKey(pair, NoCategory(r.Findings, pair.KeyNode(), by, l.Categories))
			ok = false
		}
	}
	if len(missing) > 0 && ok {
		r.WrongKey(n.Get("range"), document.Problem{Message: "no range for " + joinFirst(missing),
			Expected: fmt.Sprintf("a range for each category of %s", by)})
		ok = false
	}
	return ranges, ok
}
