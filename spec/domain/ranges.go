package domain

// This file reads a range: its bounds, its step and its levels, brought to one lattice and turned into a domain.

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/calendar"
	"github.com/dprelease/dprelease/spec/document"
)

// RangeBy is the key of the column whose categories have ranges of their own.
const RangeBy = "by"

// rangeReader reads the range of one column.
type rangeReader struct {
	*Reader
	typ  Type
	node document.Node // the column
	span span
}

// readIntegers reads values: {integers: [a, b]}, whose cells are the integers themselves.
func (r *Reader) readIntegers(c *Declaration, n document.Node) *Domain {
	if declared := n.Get("type"); declared.Present() && c.Type != Integer {
		r.AddProblem(declared, document.Problem{Message: "integers of type " + string(c.Type), Expected: "integer",
			Fix: "type: integer"})
		return nil
	}
	c.Type = Integer
	return r.buildRange(c, n, []document.Node{n.Get("values").Get("integers")})
}

func (r *Reader) readRange(c *Declaration, n document.Node) *Domain {
	pairs, ok := r.rangePairs(n.Get("range"))
	declared := n.Get("type")
	switch {
	case !ok:
		return nil
	case !declared.Present():
		var ends []string
		for _, pair := range pairs {
			ends = append(ends, pair.Texts()...)
		}
		guess := guessType(ends)
		r.WrongKey(n, document.Problem{
			Message: "a range needs a type", Expected: "integer, decimal, date or timestamp",
			Fix: "type: " + string(guess),
		})
		return nil
	case c.Type == Text || c.Type == Boolean:
		r.AddProblem(declared, document.Problem{Message: "a range of type " + string(c.Type),
			Expected: "integer, decimal, date or timestamp"})
		return nil
	case n.Get("range").Get(RangeBy).Present() && c.Type != Integer && c.Type != Decimal:
		r.AddProblem(declared, document.Problem{Message: "a range for each category is for numbers",
			Expected: "integer or decimal, or one range of all"})
		return nil
	}
	return r.buildRange(c, n, pairs)
}

// guessType returns the type that bounds look like.
func guessType(bounds []string) Type {
	of := Integer
	for _, b := range bounds {
		for _, moment := range []Type{Date, Timestamp} {
			if _, ok := parseMoment(moment, b); ok {
				return moment
			}
		}
		if x, err := document.ParseNumber(b); err == nil && !x.IsInt() {
			of = Decimal
		}
	}
	return of
}

// buildRange reads a range, or the ranges of another column's categories: its lattice, and its domain from the lowest
// bound to the highest.
func (r *Reader) buildRange(c *Declaration, n document.Node, pairs []document.Node) *Domain {
	rr := &rangeReader{Reader: r, typ: c.Type, node: n, span: span{typ: c.Type, den: 1}}
	var numbers []*big.Rat
	for _, pair := range pairs {
		low, high, ok := rr.readBounds(pair)
		if !ok {
			return nil
		}
		numbers = append(numbers, low, high)
	}
	if !rr.readLattice(numbers) {
		return nil
	}
	low, high := slices.MinFunc(numbers, (*big.Rat).Cmp), slices.MaxFunc(numbers, (*big.Rat).Cmp)
	rr.span.low, rr.span.high = latticePoint(low, rr.span.den), latticePoint(high, rr.span.den)
	step := rr.numericStep()
	if step != nil && rr.tooFineForCells(step) {
		if c.Lattice = latticeOf(step, low, high); c.Lattice == nil {
			r.checkMultiples(n.Get("range"), low, high, step)
		}
		return nil
	}
	d := rr.build()
	if d != nil && step != nil {
		c.Lattice = latticeOf(step, low, high)
	}
	return d
}

// readBounds reads the two bounds of a range, the smaller first.
func (r *rangeReader) readBounds(pair document.Node) (low, high *big.Rat, ok bool) {
	ends := pair.Items()
	low, okLow := r.readValue(ends[0])
	high, okHigh := r.readValue(ends[1])
	if !okLow || !okHigh {
		return nil, nil, false
	}
	if order := low.Cmp(high); order > 0 || order == 0 && r.typ != Integer && r.typ != Date {
		r.AddProblem(pair, document.Problem{
			Message:  fmt.Sprintf("the range [%s, %s] is empty", ends[0].Text(), ends[1].Text()),
			Expected: "the smaller bound first", Fix: fmt.Sprintf("[%s, %s]", ends[1].Text(), ends[0].Text()),
		})
		return nil, nil, false
	}
	return low, high, true
}

// readValue reads a number, date or timestamp of the column's type.
func (r *rangeReader) readValue(n document.Node) (*big.Rat, bool) {
	text := n.Text()
	if expected, isMoment := momentSyntax[r.typ]; isMoment {
		at, ok := parseMoment(r.typ, text)
		if !ok {
			r.AddProblem(n, document.Problem{Message: "found " + n.Describe(), Expected: expected})
		}
		return new(big.Rat).SetInt64(at), ok
	}
	x, ok := r.readNumber(n)
	switch {
	case !ok:
	case r.typ == Integer && !x.IsInt():
		r.AddProblem(n, document.Problem{Message: text + " is no integer", Expected: "an integer, or type: decimal"})
	case new(big.Rat).Abs(x).Cmp(big.NewRat(document.MaxWhole, 1)) > 0:
		r.AddProblem(n, document.Problem{Message: text + " is too large", Expected: "a number within ±2^61"})
	default:
		return x, true
	}
	return nil, false
}

// momentSyntax says how values of the types that are not numbers are written.
var momentSyntax = map[Type]string{Date: "a date as 2024-01-31", Timestamp: "a timestamp as 2024-01-31T00:00:00"}

// readNumber reads a number from a node of any shape.
func (r *rangeReader) readNumber(n document.Node) (*big.Rat, bool) {
	if !document.IsNumber(n.Text()) {
		r.AddProblem(n, document.Problem{Message: "found " + n.Describe(), Expected: "a number"})
		return nil, false
	}
	return r.Number(n)
}

// stepsAndEdges returns the nodes of the step and of the widths and edges of all levels.
func (r *rangeReader) stepsAndEdges() (all []document.Node) {
	if step := r.node.Get("step"); step.Present() {
		all = append(all, step)
	}
	for _, level := range r.node.Get("levels").Pairs() {
		if width := level.Get("width"); width.Present() {
			all = append(all, width)
		}
		all = append(all, level.Get("edges").Items()...)
	}
	return all
}

// readLattice finds the lattice that contains all numbers of a decimal range.
func (r *rangeReader) readLattice(numbers []*big.Rat) bool {
	if r.typ != Decimal {
		return true
	}
	for _, n := range r.stepsAndEdges() {
		if document.IsNumber(n.Text()) {
			x, ok := r.Number(n)
			if !ok {
				return false
			}
			numbers = append(numbers, x)
		}
	}
	den, err := commonDenominator(numbers)
	if err != nil {
		r.AddProblem(r.node.Get("range"),
			document.Problem{Message: err.Error(), Expected: "coarser or smaller numbers"})
		return false
	}
	r.span.den = den
	return true
}

// build returns the domain of the range.
func (r *rangeReader) build() *Domain {
	levels := r.node.Get("levels")
	if levels.Present() && levels.Items() != nil {
		r.AddProblem(levels, document.Problem{Message: "a list of levels belongs to a code book",
			Expected: "levels as {band: {width: 10}}"})
		return nil
	}
	base, finest, ok := r.ownCells()
	if !ok {
		return nil
	}
	pairs := levels.Pairs()
	cuttings := make([]cutting, len(pairs))
	for i, pair := range pairs {
		c, ok := r.readLevel(pair)
		if !ok || !r.Spend(r.node, len(c.cuts), 0) {
			return nil
		}
		cuttings[i] = c
	}
	if !finest {
		if base, ok = r.piecesOfLevels(cuttings); !ok {
			return nil
		}
	}
	if !r.Spend(r.node, len(base.cuts), len(base.cuts)*len(pairs)) {
		return nil
	}
	d := &Domain{typ: r.typ, size: len(base.cuts) - 1}
	d.bins = newBins(base.cuts, r.span.den, r.typ != Decimal)
	if finest {
		d.finest = &Level{Categories: r.span.binCategories(base)}
	}
	for i, pair := range pairs {
		of, stray, ok := coarsen(base.cuts, cuttings[i].cuts)
		if !ok {
			r.WrongKey(pair, document.Problem{
				Message:  fmt.Sprintf("the edge %s lies inside a cell of the step", r.span.formatPoint(stray)),
				Expected: "edges and widths that are multiples of the step",
			})
			return nil
		}
		d.levels = append(d.levels, &Level{Name: pair.Key.Value, Categories: r.span.binCategories(cuttings[i]),
			CategoryOf: of})
	}
	return d
}

// ownCells returns the cells that a range has without levels: the cells of its step or, for integers and dates, the
// single values. finest is false if there are none.
func (r *rangeReader) ownCells() (own cutting, finest, ok bool) {
	step := r.node.Get("step")
	switch of := r.typ; {
	case step.Present() && of == Date:
		r.AddProblem(step, document.Problem{Message: "dates have no step: their cells are days",
			Expected: "levels, such as {week: {width: week}}"})
		return own, false, false
	case step.Present():
		own, ok = r.readWidth(step)
		return own, true, ok
	case of == Integer || of == Date:
		own, ok = r.newCutting(r.node.Get("range"), r.span.evenCuts(1))
		return own, true, ok
	}
	return own, false, true
}

// piecesOfLevels returns the pieces between the edges of all levels: the base cells of a range without cells of its
// own. They are not a level themselves.
func (r *rangeReader) piecesOfLevels(levels []cutting) (base cutting, ok bool) {
	if len(levels) == 0 {
		fix := "step: 0.01"
		if r.typ == Timestamp {
			fix = "step: hour"
		}
		r.WrongKey(r.node, document.Problem{
			Message:  fmt.Sprintf("a %s range has no cells of its own", r.typ),
			Expected: "a step, or levels with a width or edges", Fix: fix,
		})
		return base, false
	}
	for _, l := range levels {
		base.cuts = append(base.cuts, l.cuts...)
	}
	slices.SortFunc(base.cuts, cmp.Compare[int64])
	base.cuts = slices.Compact(base.cuts)
	if len(base.cuts)-1 > MaxCells {
		r.reportTooFine(r.node.Get("range"))
		return base, false
	}
	return base, true
}

// reportTooFine reports a range with too many cells.
func (r *rangeReader) reportTooFine(n document.Node) {
	n = n.Or(r.node.Get("values"))
	expected := "a larger step"
	switch {
	case r.typ == Date:
		expected = "a shorter range"
	case n.Key != nil && n.Key.Value == "width":
		expected = "a larger width"
	case r.typ == Decimal || r.typ == Timestamp:
		expected = "a larger step, or no step and levels"
	}
	r.AddProblem(n, document.Problem{Message: ErrTooFine.Error(), Expected: expected})
}

// readLevel reads one level: a width or edges.
func (r *rangeReader) readLevel(n document.Node) (cutting, bool) {
	width, edges := n.Get("width"), n.Get("edges")
	switch {
	case width.Present():
		return r.readWidth(width)
	case edges.Present():
		return r.readEdges(edges)
	}
	r.AddProblem(n, document.Problem{Message: "groups belong to a list of values",
		Expected: "{width: …} or {edges: […]}"})
	return cutting{}, false
}

// readWidth reads a step or a width: a number, or for dates and timestamps a duration.
func (r *rangeReader) readWidth(n document.Node) (cutting, bool) {
	if d, ok := parseDuration(n.Text()); ok {
		return r.readDuration(n, d)
	}
	if r.typ == Timestamp {
		r.AddProblem(n, document.Problem{Message: "found " + n.Describe(),
			Expected: "a duration, as hour, week or 15 minutes"})
		return cutting{}, false
	}
	x, ok := r.readNumber(n)
	switch {
	case !ok:
	case x.Sign() <= 0:
		r.AddProblem(n, document.Problem{Message: n.Key.Value + " is " + n.Text(), Expected: "more than zero"})
	case r.typ != Decimal && !x.IsInt():
		r.AddProblem(n, document.Problem{Message: n.Text() + " is not whole",
			Expected: "a whole number: this range has only whole values"})
	case x.Cmp(big.NewRat(document.MaxWhole, 1)) > 0:
		r.AddProblem(n, document.Problem{Message: n.Text() + " is too large", Expected: "a number within the range"})
	default:
		return r.newCutting(n, r.span.evenCuts(latticePoint(x, r.span.den)))
	}
	return cutting{}, false
}

// newCutting returns the cuts as a cutting, or reports at a node that there are too many of them.
func (r *rangeReader) newCutting(n document.Node, cuts []int64) (cutting, bool) {
	if cuts == nil {
		r.reportTooFine(n)
	}
	return cutting{cuts: cuts}, cuts != nil
}

// readDuration reads a width given by the calendar.
func (r *rangeReader) readDuration(n document.Node, d duration) (cutting, bool) {
	p := document.Problem{Message: "found " + n.Describe()}
	switch of := r.typ; {
	case of != Date && of != Timestamp:
		p.Expected = "a number"
	case of == Date && d.unitMonths() == 0 && d.unitMicros() < calendar.MicrosPerDay:
		p.Expected = "a number of days, or day, week, month, quarter or year"
	case d.unitMonths() > 0 && d.count > 1:
		p.Expected = "one " + d.unit + ": units of the calendar come singly"
	case d.count > 1_000_000:
		p.Expected = "a duration within the range"
	}
	if p.Expected != "" {
		r.AddProblem(n, p)
		return cutting{}, false
	}
	c, ok := r.newCutting(n, r.span.calendarCuts(d))
	if d.count == 1 {
		c.unit = d
	}
	return c, ok
}

// readEdges reads the lower edges of bins. The last edge may be the range's upper bound, which closes the last bin; any
// other last bin is written as open above and ends with the range.
func (r *rangeReader) readEdges(n document.Node) (cutting, bool) {
	items := n.Items()
	cuts := make([]int64, len(items))
	for i, item := range items {
		x, ok := r.readValue(item)
		if !ok {
			return cutting{}, false
		}
		cuts[i] = latticePoint(x, r.span.den)
		switch {
		case cuts[i] < r.span.low || cuts[i] > r.span.high:
			r.AddProblem(item, document.Problem{
				Message: fmt.Sprintf("the edge %s is outside the range", item.Text()),
				Expected: fmt.Sprintf("an edge from %s to %s", r.span.formatPoint(r.span.low),
					r.span.formatPoint(r.span.high)),
			})
			return cutting{}, false
		case i > 0 && cuts[i] <= cuts[i-1]:
			r.AddProblem(item, document.Problem{Message: "edges do not ascend: " + item.Text() + " after " +
				items[i-1].Text(),
				Expected: "each edge larger than the one before"})
			return cutting{}, false
		}
	}
	if cuts[0] != r.span.low {
		low := r.span.formatPoint(r.span.low)
		texts := append([]string{low}, n.Texts()...)
		r.AddProblem(items[0], document.Problem{
			Message:  fmt.Sprintf("the first edge is %s, the range starts at %s", items[0].Text(), low),
			Expected: "the range's lower bound as the first edge", Fix: "edges: [" + strings.Join(texts, ", ") + "]",
		})
		return cutting{}, false
	}
	last := len(cuts) - 1
	c := cutting{open: cuts[last] < r.span.high}
	if last > 0 && !c.open {
		cuts = cuts[:last]
	}
	c.cuts = append(cuts, r.span.endCut())
	return c, true
}
