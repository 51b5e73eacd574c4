package spec

// This file holds the reading of ratios: two terms, of which the one below is never negative.

import "fmt"

// readRatio reads the two terms of a ratio.
func (s statReader) readRatio(n node) (of, over Term) {
	first := n
	if given := n.get("of"); given.present() {
		first = given
	}
	of, _ = s.readTerm(first)
	over, l := s.readTerm(n.get("over"))
	if (of.Kind == Mean) != (over.Kind == Mean) {
		s.problem(n.get("over"), Problem{
			Message:  fmt.Sprintf("a ratio of a %s over a %s", of.Kind, over.Kind),
			Expected: "two means, or sums and counts: a mean is a ratio itself",
		})
	} else if l != nil {
		s.checkAbove(n.get("over").get(string(over.Kind)), l)
	}
	return of, over
}

// readTerm reads one term, and the lattice of its column. A ratio without `of` has the first term in itself.
func (s statReader) readTerm(n node) (term Term, l *Lattice) {
	where := n.get("where")
	term.Kind = Count
	for _, kind := range []StatKind{Sum, Mean} {
		if column := n.get(string(kind)); column.present() {
			term.Kind, term.Column = kind, column.text()
			l = s.checkMeasurable(column, kind)
		}
	}
	if term.Kind == Count && !where.present() {
		where = n // columns and their categories are conditions themselves
	}
	term.Where, _ = s.conditions(s.table, where)
	return term, l
}

// checkAbove reports a denominator of which the range of its values allows that it is 0 or below.
func (s statReader) checkAbove(n node, l *Lattice) {
	p := Problem{Expected: "a column whose range starts at 0 or above, or a count"}
	switch {
	case l.First < 0:
		p.Message = fmt.Sprintf("the range of %s starts at %s, so that the denominator could be 0 or negative", n.text(), formatNumber(l.Value(l.First)))
	case l.Last == 0:
		p.Message = fmt.Sprintf("the values of %s are all 0, and so is the denominator", n.text())
	default:
		return
	}
	s.problem(n, p)
}
