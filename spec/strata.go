package spec

// This file holds the reading of lattices: of the step and the range of a column, of ranges for each category of
// another column, and of what a null counts as.

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

// pairsOf are the ranges that a range is made of: itself, or one for each category that it names.
func (r *reader) pairsOf(bounds document.Node) (pairs []document.Node, ok bool) {
	if bounds.Items() != nil {
		return []document.Node{bounds}, true
	}
	ok = true
	for _, pair := range r.Entries(bounds) {
		isBy, isList := pair.Key.Value == rangeBy, pair.Items() != nil
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
	if r.column.Type != Integer && r.column.Type != Decimal {
		return nil
	}
	n := r.node.Get("step")
	if !n.Present() {
		if r.column.Type == Integer {
			return big.NewRat(1, 1)
		}
		return nil
	}
	x, err := document.ParseNumber(n.Text())
	if err != nil || x.Sign() <= 0 || r.column.Type == Integer && !x.IsInt() ||
		x.Cmp(big.NewRat(document.MaxWhole, 1)) > 0 {
		return nil
	}
	return x
}

// tooFineForCells tells that a range without levels has more cells than a domain: it is for statistics alone.
func (r *rangeReader) tooFineForCells(step *big.Rat) bool {
	levels := r.node.Get("levels")
	return r.node.Get("range").Present() && !levels.Present() &&
		(r.span.end()-r.span.low)/point(step, r.span.den) > maxCells
}

// latticeOf is the lattice of a range, nil where its ends are no multiples of the step.
func latticeOf(step, low, high *big.Rat) *Lattice {
	first, last := new(big.Rat).Quo(low, step), new(big.Rat).Quo(high, step)
	if !first.IsInt() || !last.IsInt() {
		return nil
	}
	return newLattice(step, first.Num().Int64(), last.Num().Int64())
}

// checkMultiples reports ends of a range that are no multiples of the step, and says which ones nearby are.
func (r *reader) checkMultiples(at document.Node, low, high, step *big.Rat) bool {
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

// readStrata reads the ranges of columns that have one for each category of another, once all columns are there.
func (r *reader) readStrata(t *Table, columns document.Node) {
	for _, n := range r.Entries(columns) {
		bounds := n.Get("range")
		by := bounds.Get(rangeBy)
		if !by.Present() {
			continue
		}
		c := t.Column(n.Key.Value)
		if r.Spread(n.Value); !r.Built(n) || c.Domain == nil && c.Lattice == nil {
			continue // already reported
		}
		if step := n.Get("step"); c.Type == Decimal && !step.Present() {
			r.WrongKey(n, document.Problem{Message: fmt.Sprintf("%s has a range for each category and no step",
				c.Name), Expected: "the step to which values are rounded before they are added up", Fix: "step: 0.01"})
			r.MarkUnsound(n)
			continue
		}
		r.stratify(t, c, n, by)
	}
}

// stratify gives a lattice its strata.
func (r *reader) stratify(t *Table, c *Column, n, by document.Node) {
	column, level, dotted := strings.Cut(by.Text(), ".")
	a := Attribute{column, level}
	origin := t.origin(a)
	if origin.Column == c.Name {
		p := document.Problem{Message: fmt.Sprintf("the range of %s by %s itself", c.Name, c.Name),
			Expected: "another column, whose categories have ranges of their own"}
		if a != origin {
			p.Message = fmt.Sprintf("%s is derived from %s, whose range this is", a, c.Name)
		}
		r.Wrong(by, p)
		c.Lattice = nil
		return
	}
	if !r.checkAttribute(t, by, a, dotted) {
		c.Lattice = nil
		return
	}
	l := levelOf(t, a)
	ranges, ok := r.rangesOf(a, l, c, n)
	if !ok || c.Lattice == nil {
		c.Lattice = nil
		return
	}
	c.Lattice.By = origin.Column
	if l == nil {
		return // not built, or already reported
	}
	of := levelOf(t, origin).Of
	c.Lattice.Strata = make([]Stratum, t.Column(origin.Column).Domain.Size())
	for code := range c.Lattice.Strata {
		at := code
		if of != nil {
			at = int(of[code])
		}
		c.Lattice.Strata[code] = ranges[at]
	}
}

// rangesOf are the ranges of the categories of a level, each of which has one; of a level that is not known there are
// none.
func (r *reader) rangesOf(a Attribute, l *Level, c *Column, n document.Node) (ranges []Stratum, ok bool) {
	rr := &rangeReader{reader: r, column: c, node: n}
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
			p := document.Problem{Message: fmt.Sprintf("%q is no category of %s", document.Clip(name), a),
				Expected: someOf(l.Categories)}
			if p.Nearest = nearestCategory(&r.Suggestions, name, l.Categories); p.Nearest != "" {
				p.Fix = r.Mended(pair.Key, p.Nearest)
			}
			r.WrongKey(pair, p)
			ok = false
		}
	}
	if len(missing) > 0 && ok {
		if len(missing) > 5 {
			missing = append(missing[:5], "…")
		}
		bounds := n.Get("range")
		r.WrongKey(bounds, document.Problem{Message: "no range for " + strings.Join(missing, ", "),
			Expected: fmt.Sprintf("a range for each category of %s", a)})
		ok = false
	}
	return ranges, ok
}

// readAsNumber tells that what a null counts as is a number in the range of a column.
func (r *reader) readAsNumber(c *Column, n document.Node) bool {
	if c.Lattice == nil || !document.IsNumber(n.Text()) {
		return false
	}
	x, err := document.ParseNumber(n.Text())
	return err == nil && x.Cmp(c.Lattice.Value(c.Lattice.First)) >= 0 && x.Cmp(c.Lattice.Value(c.Lattice.Last)) <= 0
}

// asNumber is the policy of a null that counts as a number.
func (r *reader) asNumber(c *Column, n document.Node) Policy {
	x, _ := document.ParseNumber(n.Text())
	x.Quo(x, c.Lattice.Step).Add(x, big.NewRat(1, 2))
	c.Lattice.null, c.Lattice.nullIs = new(big.Int).Div(x.Num(), x.Denom()).Int64(), true
	if c.Domain == nil {
		return Policy{Action: As}
	}
	code, _ := c.Domain.CodeOfText(n.Text())
	return Policy{Action: As, Category: code}
}

// lattice is the lattice of a column; where it has none, that is reported where what needs it stands, unless something
// is wrong with the column already.
func (r *reader) lattice(root document.Node, t *Table, c *Column, n document.Node, what string) *Lattice {
	column := root.Get("tables").Get(t.Name).Get("columns").Get(c.Name)
	if r.Spread(column.Value); !r.Built(column) || c.Domain == nil && c.Lattice == nil {
		return nil
	}
	bounds := column.Get("range")
	p := document.Problem{Expected: "a column of type integer or decimal with a range"}
	switch {
	case c.Lattice != nil && (c.Null.Action != As || c.Lattice.nullIs):
		return c.Lattice
	case c.Lattice != nil:
		as := column.Get("null").Get("as")
		r.Wrong(as, document.Problem{
			Message: fmt.Sprintf("a null of %s counts as %q, which is no number in its range, and %s of the column needs one",
				c.Name, document.Clip(as.Text()), what),
			Expected: "null: drop, or null: {as: NUMBER}", Fix: "null: drop",
		})
		return nil
	case c.DerivedFrom != nil:
		p.Message = fmt.Sprintf("%s of %s, which is derived and not read", what, c.Name)
	case c.Type == Date || c.Type == Timestamp:
		p.Message = fmt.Sprintf("%s of %s, a column of type %s", what, c.Name, c.Type)
	case !bounds.Present():
		p.Message = fmt.Sprintf("%s of %s, whose values are categories", what, c.Name)
	case c.Type == Decimal && !column.Get("step").Present():
		p = document.Problem{
			Message:  fmt.Sprintf("%s of %s, a decimal range without a step", what, c.Name),
			Expected: "a step in the column, to whose multiples values are rounded before they are added up: step: 0.01",
		}
		r.MarkUnsound(column) // which is told once
	default:
		rr := &rangeReader{reader: r, column: c, node: column}
		if low, high, ok := rr.ends(bounds); ok {
			r.checkMultiples(bounds, low, high, rr.step())
		}
		return nil
	}
	r.Wrong(n, p)
	return nil
}
