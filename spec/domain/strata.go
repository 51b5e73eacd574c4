package domain

// This file holds the reading of lattices: of the step and the range of a column, and of ranges for each category of
// another column.

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// pairsOf are the ranges that a range is made of: itself, or one for each category that it names.
func (r *Reader) pairsOf(bounds document.Node) (pairs []document.Node, ok bool) {
	if bounds.Items() != nil {
		return []document.Node{bounds}, true
	}
	ok = true
	for _, pair := range r.Entries(bounds) {
		isBy, isList := pair.Key.Value == RangeBy, pair.Items() != nil
		switch {
		case isBy == isList:
			p := document.Problem{Message: "found " + pair.Found(), Expected: "the smallest and the largest value of " +
				document.Clip(pair.Key.Value) + ", as [0, 9]"}
			if isBy {
				p.Expected = "a column, or one of its levels"
			}
			r.Wrong(pair, p)
			ok = false
		case isList:
			pairs = append(pairs, pair)
		}
	}
	if ok && pairs == nil {
		r.Report(bounds.Heading(), bounds.Path, document.Problem{Message: "no category has a range",
			Expected: "a range for each category, as {by: size, small: [0, 9], large: [10, 500]}"})
		return nil, false
	}
	return pairs, ok
}

// step is the step of a range of numbers, nil where it has none, or one that is reported elsewhere.
func (r *rangeReader) step() *big.Rat {
	if r.of != Integer && r.of != Decimal {
		return nil
	}
	n := r.node.Get("step")
	if !n.Present() {
		if r.of == Integer {
			return big.NewRat(1, 1)
		}
		return nil
	}
	x, err := document.ParseNumber(n.Text())
	if err != nil || x.Sign() <= 0 || r.of == Integer && !x.IsInt() ||
		x.Cmp(big.NewRat(document.MaxWhole, 1)) > 0 {
		return nil
	}
	return x
}

// tooFineForCells tells that a range without levels has more cells than a domain: it is for statistics alone.
func (r *rangeReader) tooFineForCells(step *big.Rat) bool {
	levels := r.node.Get("levels")
	return r.node.Get("range").Present() && !levels.Present() &&
		(r.span.end()-r.span.low)/point(step, r.span.den) > MaxCells
}

// latticeOf is the lattice of a range, nil where its ends are no multiples of the step.
func latticeOf(step, low, high *big.Rat) *Lattice {
	first, last := new(big.Rat).Quo(low, step), new(big.Rat).Quo(high, step)
	if !first.IsInt() || !last.IsInt() {
		return nil
	}
	return newLattice(step, first.Num().Int64(), last.Num().Int64())
}

// Lattice is the lattice of the range at a node. It is nil where the ends are no multiples of the step, or the numbers
// too fine or too large, which is reported.
func (r *Reader) Lattice(at document.Node, step, low, high *big.Rat) *Lattice {
	if !r.checkMultiples(at, low, high, step) {
		return nil
	}
	if _, err := commonDenominator([]*big.Rat{low, high, step}); err != nil {
		r.Wrong(at, document.Problem{Message: err.Error(), Expected: "coarser or smaller numbers"})
		return nil
	}
	return latticeOf(step, low, high)
}

// CheckEnds reports ends of the range of a column that are no multiples of its step.
func (r *Reader) CheckEnds(n document.Node, of Type) {
	rr, bounds := &rangeReader{Reader: r, of: of, node: n}, n.Get("range")
	if low, high, ok := rr.ends(bounds); ok {
		r.checkMultiples(bounds, low, high, rr.step())
	}
}

// checkMultiples reports ends of a range that are no multiples of the step, and says which ones nearby are.
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
	r.Wrong(at, document.Problem{
		Message: fmt.Sprintf("%s %s of the step, %s, to which values are rounded before they are added up",
			strings.Join(odd, " and "), verb, document.FormatNumber(step)),
		Expected: "ends that are multiples of the step, or another step",
		Fix:      "[" + times(down) + ", " + times(up) + "]",
	})
	return false
}

// Strata reads the range of a column that has one for each category of a level, which is called by: that of each in
// turn, none of a level that is not known. It is false where something is wrong with them, which is reported.
func (r *Reader) Strata(n document.Node, of Type, by string, l *Level) (ranges []Stratum, ok bool) {
	rr := &rangeReader{Reader: r, of: of, node: n}
	step := rr.step()
	given := map[string]document.Node{}
	ok = true
	pairs, _ := r.pairsOf(n.Get("range"))
	for _, pair := range pairs {
		given[pair.Key.Value] = pair
		low, high, _ := rr.ends(pair)
		ok = r.checkMultiples(pair, low, high, step) && ok
	}
	if l == nil {
		return nil, ok
	}
	known, missing := map[string]bool{}, []string(nil)
	ranges = make([]Stratum, l.Size())
	for i, category := range l.Categories {
		known[category.Code] = true
		pair, is := given[category.Code]
		if !is {
			missing = append(missing, strconv.Quote(document.Clip(category.Code)))
			continue
		}
		low, high, _ := rr.ends(pair)
		if own := latticeOf(step, low, high); own != nil {
			ranges[i] = Stratum{own.First, own.Last}
		}
	}
	for _, pair := range pairs {
		if name := pair.Key.Value; !known[name] {
			r.WrongKey(pair, NoCategory(r.Findings, pair.AtKey(), by, l.Categories))
			ok = false
		}
	}
	if len(missing) > 0 && ok {
		r.WrongKey(n.Get("range"), document.Problem{Message: "no range for " + firstOf(missing),
			Expected: fmt.Sprintf("a range for each category of %s", by)})
		ok = false
	}
	return ranges, ok
}
