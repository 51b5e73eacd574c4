package spec

// This file holds the reading of ratios: two terms, of which the one below is never negative.

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// readRatio reads the two terms of a ratio.
func (s statReader) readRatio(n document.Node) (of, over Term) {
	of, _ = s.readTerm(n.Get("of").Or(n))
	over, l := s.readTerm(n.Get("over"))
	if statKinds[of.Kind].isQuotient != statKinds[over.Kind].isQuotient {
		s.Wrong(n.Get("over"), document.Problem{
			Message:  fmt.Sprintf("a ratio of a %s over a %s", of.Kind, over.Kind),
			Expected: "two means, or sums and counts: a mean is a ratio itself",
		})
	} else if l != nil {
		s.checkAbove(n.Get("over").Get(over.Kind.String()), l)
	}
	return of, over
}

// readTerm reads one term, and the lattice of its column. A ratio without `of` has the first term in itself.
func (s statReader) readTerm(n document.Node) (term Term, l *domain.Lattice) {
	where := n.Get("where")
	term.Kind = Count
	for _, kind := range []StatKind{Sum, Mean} {
		if column := n.Get(kind.String()); column.Present() {
			term.Kind, term.Column = kind, column.Text()
			l = s.checkMeasurable(column, "a "+kind.String(), 1)
		}
	}
	if term.Column == "" && !where.Present() {
		where = n // columns and their categories are conditions themselves
	}
	term.Where, _ = s.conditions(s.table, where)
	return term, l
}

// checkAbove reports a denominator of which the range of its values allows that it is 0 or below.
func (s statReader) checkAbove(n document.Node, l *domain.Lattice) {
	p := document.Problem{Expected: "a column whose range starts at 0 or above, or a count"}
	switch {
	case l.First < 0:
		p.Message = fmt.Sprintf("the range of %s starts at %s, so that the denominator could be 0 or negative", n.Text(),
			document.FormatNumber(l.Value(l.First)))
	case l.Last == 0:
		p.Message = fmt.Sprintf("the values of %s are all 0, and so is the denominator", n.Text())
	default:
		return
	}
	s.Wrong(n, p)
}
