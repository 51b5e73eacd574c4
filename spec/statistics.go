package spec

// This file reads statistics and checks that they can be computed.

import (
	"fmt"
	"maps"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"gopkg.in/yaml.v3"

	"github.com/dprelease/dprelease/spec/document"
)

// statReader reads the statistics of one marginal.
type statReader struct {
	*reader
	root     document.Node
	table    *Table
	marginal *Marginal
	declared document.Node // the marginal as the spec has it
}

// readStats reads the statistics of a marginal, with their bounds per unit and the condition for showing them.
func (r *reader) readStats(root document.Node, t *Table, m *Marginal, n document.Node) {
	s := statReader{r, root, t, m, n}
	if all := n.Get("stats").Items(); all != nil {
		m.Stats = make([]Stat, len(all))
		before := r.Count()
		for i, item := range all {
			m.Stats[i] = s.readStat(item)
		}
		if t != nil && r.Count() == before { // without a table the statistics have no names
			s.checkNames(all)
		}
	}
	s.readPerUnit(n.Get("per_unit"))
	if show := n.Get("show"); show.Present() {
		m.Show = show.Get("when_count_at_least").WholeNumber()
		if !m.hasOtherStatistics() {
			r.WrongKey(show, document.Problem{
				Message: "counts are shown whatever they are, and there is nothing else here to show",
				Expected: "a statistic other than the count; or cells: {above: N}, which leaves cells out by their " +
					"noisy count",
			})
		}
	}
	s.checkConflicts(n)
}

// readStat reads one statistic.
func (s statReader) readStat(item document.Node) Stat {
	stat := Stat{Name: item.Text()}
	if s.table == nil {
		return stat // already reported
	}
	for _, form := range statForms {
		of := item.Get(form.key)
		if of.Present() || form.word && item.Text() == form.key {
			form.read(s, statNodes{item, of, s.marginal, s.declared}, &stat)
			stat.Name = item.Get("as").TextOr(stat.Name)
			break
		}
	}
	return stat
}

// checkHasUnits reports a count by units in a table whose rows are units.
func (s statReader) checkHasUnits(n document.Node, what string) bool {
	if !s.table.Unit.Row {
		return true
	}
	s.AddProblem(n, document.Problem{
		Message:  fmt.Sprintf("%s of table %s, in which every row is a unit of its own", what, s.table.Name),
		Expected: "a table whose unit is {id: COLUMN, max_rows: N}: a column says there which rows are of one unit",
	})
	return false
}

// findColumn finds the column that is named at a node, nil if there is none.
func (s statReader) findColumn(n document.Node) *Column {
	if column, _, dotted := strings.Cut(n.Text(), "."); dotted && s.table.Column(column) != nil {
		s.AddProblem(n, document.Problem{Message: fmt.Sprintf(
			"%s is a level, and statistics are of the values of a column",
			document.Clip(n.Text())), Expected: "the column, " + column, Fix: s.RepairedLine(n.Value, column)})
		return nil
	}
	if !s.checkColumn(s.table, n, Attribute{Column: n.Text()}) {
		return nil
	}
	return s.table.Column(n.Text())
}

// checkCountable reports columns whose distinct values cannot be counted.
func (s statReader) checkCountable(n document.Node) {
	c := s.findColumn(n)
	switch {
	case c == nil || !s.checkHasUnits(n, "values by unit"):
	case c.DerivedFrom != nil:
		s.AddProblem(n, document.Problem{Message: fmt.Sprintf("%s is derived and not read", c.Name),
			Expected: "the column that is read, " + c.DerivedFrom.Column})
	case c.Domain == nil && c.Lattice != nil:
		s.checkMeasurable(n, "a count of distinct values", 0)
	default:
		s.checkAttribute(s.table, n, Attribute{Column: c.Name}, false)
	}
}

// checkMeasurable reports columns without the lattice that a statistic of numbers needs, and columns for which a sum of
// powers is too large; power 0 stands for no sums. what names the statistic in a sentence. It returns the lattice, nil
// if there is none.
func (s statReader) checkMeasurable(n document.Node, what string, power int) *domain.Lattice {
	c := s.findColumn(n)
	if c == nil {
		return nil
	}
	l := s.requireLattice(s.root, s.table, c, n, what)
	s.hasStatistics[c.Name] = true
	switch {
	case l == nil:
	case l.Last-l.First >= maxLatticePoints:
		s.AddProblem(n, document.Problem{
			Message: fmt.Sprintf("%s of %s, whose range has %d steps of %s: more than values are distinguished by",
				what,
				c.Name, l.Last-l.First, document.FormatNumber(l.Step)),
			Expected: fmt.Sprintf("a range of at most %d steps", maxLatticePoints-1),
		})
	case power > 0 && s.table.Collected == "": // what is counted of reports are these
		s.checkFits(n, c, l, power)
	}
	return l
}

// readShares reads the shares of quantiles.
func (s statReader) readShares(n document.Node) (shares []*big.Rat) {
	one, percent := big.NewRat(1, 1), big.NewRat(1_000_000, 1)
	items := n.Items()
	for i, item := range items {
		x, read := s.Number(item)
		if !read {
			return nil
		}
		p := document.Problem{Message: "the share is " + item.Text(),
			Expected: "a share above 0 and below 1, such as 25%"}
		switch {
		case x.Sign() <= 0 || x.Cmp(one) >= 0:
			if x.Cmp(one) > 0 && x.Cmp(big.NewRat(100, 1)) < 0 && item.IsNumber() {
				p.Fix = item.Text() + "%"
			}
		case !new(big.Rat).Mul(x, percent).IsInt():
			p.Expected = "a share in per cent with at most four decimals, such as 33.3%: the column of the quantile " +
				"is named by it"
		case i > 0 && x.Cmp(shares[i-1]) <= 0:
			p.Message = fmt.Sprintf("shares do not ascend: %s after %s", item.Text(), items[i-1].Text())
			p.Expected = "each share larger than the one before"
		default:
			shares = append(shares, x)
			continue
		}
		s.AddProblem(item, p)
		return nil
	}
	return shares
}

// readPerUnit reads the bounds on the contribution of one unit to the table.
func (s statReader) readPerUnit(n document.Node) {
	if !n.Present() || s.table == nil || !s.checkHasUnits(n.KeyNode(), "bounds per unit") {
		return
	}
	for key, into := range map[string]*int64{"groups": &s.marginal.PerUnit.Groups,
		"rows_per_group": &s.marginal.PerUnit.RowsPerGroup, "total": &s.marginal.PerUnit.Total} {
		at := n.Get(key)
		if !at.Present() {
			continue
		}
		if *into = at.WholeNumber(); *into > s.table.Unit.MaxRows {
			s.AddProblem(at, document.Problem{
				Message: fmt.Sprintf("%s bounds nothing: a unit of %s has at most %d rows that are counted", key,
					s.table.Name,
					s.table.Unit.MaxRows),
				Expected: fmt.Sprintf("a whole number from 1 to %d, or a larger max_rows", s.table.Unit.MaxRows),
			})
		}
	}
}

// checkConflicts reports keys that a marginal with other statistics than counts, or with bounds per unit, cannot have.
func (s statReader) checkConflicts(n document.Node) {
	what := "bounds per unit"
	if s.marginal.hasOtherStatistics() {
		what = "other statistics than counts"
	} else if s.marginal.PerUnit == (PerUnit{}) {
		return
	}
	s.reportConflicts(n, []conflict{
		{"every", "they are of one table, and this asks for one for each subset",
			"a marginal for each table that is to have them"},
		{"cumulative", "only counts are summed up along a column", "a second marginal for the cumulative counts"},
		{"ranges", "only counts are summed up along a column", "a second marginal for the ranges"},
		{"cells", "a sparse table is of counts, of rows as they are", "a second marginal for the sparse table"},
		{"target", "a target is of counts, of rows as they are", "a second marginal for the counts, with the target"},
	}, func(never conflict) document.Problem {
		return document.Problem{Message: fmt.Sprintf("`%s` does not go with %s: %s", never.key, what, never.why),
			Expected: never.instead}
	})
}

// suffixes are the endings of the names of a statistic's columns.
var suffixes = []string{"", "_unbiased", "_noise_se", "_low", "_high", "_flag"}

// checkNames reports statistics whose columns have the same name, or the name of an attribute's column.
func (s statReader) checkNames(items []document.Node) {
	owner := map[string]string{}
	if s.marginal.hasOtherStatistics() {
		for _, a := range s.marginal.By {
			owner[a.String()], owner[a.String()+"_label"] = "attribute "+a.String(), "attribute "+a.String()
		}
		for _, l := range s.marginal.Each {
			a := l.Attribute.String()
			owner[a], owner[a+"_label"] = "attribute "+a, "attribute "+a
		}
	}
	for i, stat := range s.marginal.Stats {
		item := items[i]
		own := map[string]string{}
		for _, name := range stat.names() {
			for _, suffix := range suffixes {
				other, taken := owner[name+suffix]
				if !taken {
					own[name+suffix] = fmt.Sprintf("%q", name)
					continue
				}
				p := document.Problem{Message: fmt.Sprintf("the column %s is one of %s already", name+suffix, other),
					Expected: "another name, with as: …"}
				switch {
				case item.Value.Kind == yaml.ScalarNode && name+suffix == item.Text():
					p = document.Problem{Message: name + " appears twice", Expected: "each statistic once"}
				case other == fmt.Sprintf("%q", name):
					p.Message = fmt.Sprintf("two statistics are called %q", name)
				}
				s.AddProblem(item, p)
				return
			}
		}
		maps.Copy(owner, own)
	}
}

// readRatio reads the two terms of a ratio.
func (s statReader) readRatio(n document.Node) (of, over Term) {
	of, _ = s.readTerm(n.Get("of").Or(n))
	over, l := s.readTerm(n.Get("over"))
	if statKinds[of.Kind].isQuotient != statKinds[over.Kind].isQuotient {
		s.AddProblem(n.Get("over"), document.Problem{
			Message:  fmt.Sprintf("a ratio of a %s over a %s", of.Kind, over.Kind),
			Expected: "two means, or sums and counts: a mean is a ratio itself",
		})
	} else if l != nil {
		s.checkDenominator(n.Get("over").Get(over.Kind.String()), l)
	}
	return of, over
}

// readTerm reads one term, and the lattice of its column. A ratio without `of` holds the keys of its first term itself.
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
		where = n // columns with their categories are themselves conditions
	}
	term.Where, _ = s.readConditions(s.table, where)
	return term, l
}

// checkDenominator reports a denominator whose range of values allows 0 or less.
func (s statReader) checkDenominator(n document.Node, l *domain.Lattice) {
	p := document.Problem{Expected: "a column whose range starts at 0 or above, or a count"}
	switch {
	case l.First < 0:
		p.Message = fmt.Sprintf("the range of %s starts at %s, so that the denominator could be 0 or negative",
			n.Text(),
			document.FormatNumber(l.Value(l.First)))
	case l.Last == 0:
		p.Message = fmt.Sprintf("the values of %s are all 0, and so is the denominator", n.Text())
	default:
		return
	}
	s.AddProblem(n, p)
}
