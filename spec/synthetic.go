package spec

// This file reads microdata: their table, columns, number of rows, method and leaf.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
)

func (r *reader) readSynthetic(root document.Node) {
	for _, n := range r.Entries(root.Get("synthetic")) {
		if r.IsSound(n) {
			r.readMicrodata(root, n)
		}
	}
	r.checkOwnLeaves(root)
	r.linkMicrodata(root)
}

// readMicrodata reads the microdata of one table.
func (r *reader) readMicrodata(root, n document.Node) {
	s := Synthetic{Table: n.Key.Value, Method: SyntheticMethod(n.Get("method").TextOr(string(AutoMethod))),
		Files: int(n.Get("files").WholeNumber())}
	if rows := n.Get("rows"); !rows.Is(noisyRows) {
		s.Rows = rows.WholeNumber()
	}
	t := r.findTable(n.KeyNode())
	if t != nil {
		s.By = r.readColumns(root, t, n)
		s.Ways = r.readWays(t, root, n, s)
	}
	if s.Method == TablesMethod {
		r.checkNoLeaf(n)
		r.checkTablesToUse(root, n)
	} else {
		canDoWithout := t != nil && s.Method == AutoMethod && r.measuresPairs(t, s.By)
		s.Leaf = r.readMicrodataLeaf(root, n, canDoWithout)
		if s.Leaf != "" || !root.Get("marginals").Present() {
			r.checkNotPure(n)
		}
	}
	r.release.Synthetic = append(r.release.Synthetic, s)
}

// readWays reads how many columns are measured together: no more than are read, unless the columns of a parent are
// measured too, and only by a method that supports it.
func (r *reader) readWays(t *Table, root, n document.Node, s Synthetic) int {
	at := n.Get("ways")
	if !at.Present() {
		return 0
	}
	ways := at.WholeNumber()
	if p, never := noWaysProblems[s.Method]; never {
		r.WrongKey(at, p)
		return 0
	}
	read := int64(len(t.withoutDerived(s.By)))
	for _, other := range root.Get("synthetic").Pairs() {
		if other.Get("parent").Is(t.Name) {
			read++ // the number of rows of that table
		}
	}
	if read >= leastColumns && ways > read && !n.Get("parent").Present() {
		r.AddProblem(at, document.Problem{
			Message:  fmt.Sprintf("%d of these columns measured together, of which %d are read", ways, read),
			Expected: "ways: 2, or more columns",
			Fix:      "ways: 2",
		})
	}
	return int(ways)
}

// noWaysProblems are the problems of `ways` with methods that do not support it.
var noWaysProblems = map[SyntheticMethod]document.Problem{
	TablesMethod: {
		Message:  "ways with method tables, which measures nothing but the marginals",
		Expected: "no ways; every: [1, 2, 3] in a marginal measures sets of up to three columns",
	},
	MST: {
		Message:  "ways with method mst, which measures pairs of columns",
		Expected: "ways with method aim or auto, or neither",
		Fix:      "method: aim",
	},
}

// withoutDerived returns the attributes that are read rather than derived.
func (t *Table) withoutDerived(by []Attribute) []Attribute {
	return slices.DeleteFunc(slices.Clone(by), func(a Attribute) bool { return t.originOf(a) != a })
}

// readColumns reads the columns of microdata: the attributes in by or, without it, all columns of the table at their
// finest level.
func (r *reader) readColumns(root document.Node, t *Table, n document.Node) []Attribute {
	by := n.Get("by")
	if !by.Present() {
		return r.allColumns(root, t, n)
	}
	once := eachColumnOnce("each column once in microdata")
	r.allowsUnlisted = true // refused below, with the reason
	defer func() { r.allowsUnlisted = false }()
	all := r.readAttributes(root, t, by, func(a Attribute) (document.Problem, bool) {
		if len(t.Discovers([]Attribute{a})) > 0 {
			return document.Problem{
				Message: fmt.Sprintf("microdata are drawn from categories that are public, and the categories of %s "+
					"are not listed: which of them appear is decided by a selection, in the marginals by %[1]s",
					a.Column),
				Expected: "other columns, or a list of its values",
			}, false
		}
		return once(a)
	})
	if len(all) == len(by.Items()) {
		r.checkDerivedOf(t, by, all)
	}
	return all
}

// checkDerivedOf reports derived columns of microdata without a column that decides them, and microdata with fewer than
// two columns that are read.
func (r *reader) checkDerivedOf(t *Table, by document.Node, all []Attribute) {
	read := t.withoutDerived(all)
	for i, a := range all {
		origin := t.originOf(a)
		decided := func(b Attribute) bool { return b.Column == origin.Column && t.canDerive(b, a) }
		if origin == a || levelOf(t, a) == nil || slices.ContainsFunc(read, decided) {
			continue
		}
		r.AddProblem(by.Items()[i], document.Problem{
			Message:  fmt.Sprintf("%s is derived from %s, which no column of these microdata decides", a, origin),
			Expected: fmt.Sprintf("%s as well, or %s left out", origin, a),
		})
	}
	if len(read) < leastColumns {
		r.AddProblem(by, document.Problem{
			Message:  "fewer than two of these columns are read: the others are derived",
			Expected: "at least two columns that are read",
		})
	}
}

// allColumns returns all columns of a table at their finest level. It reports columns without one, and a table with too
// few columns.
func (r *reader) allColumns(root document.Node, t *Table, n document.Node) []Attribute {
	columns := root.Get("tables").Get(t.Name).Get("columns")
	if !r.IsSound(columns) {
		return nil // already reported
	}
	var all []Attribute
	var without []string
	var usable []string
	read := 0
	for _, c := range t.Columns {
		all = append(all, Attribute{Column: c.Name})
		if c.DerivedFrom != nil {
			continue // its origin at the finest level decides it
		}
		if c.Domain == nil && c.Lattice != nil {
			without = append(without, noCellsProblem(c).Message)
			continue
		}
		read++
		switch {
		case c.isDiscovered():
			without = append(without,
				fmt.Sprintf("the categories of %s are not listed, and microdata are drawn from categories that are public", c.Name))
		case c.Domain == nil || levelOf(t, Attribute{Column: c.Name}) != nil:
			usable = append(usable, c.Name)
		default:
			without = append(without, fmt.Sprintf("%s is a %s range without step and so has no finest level", c.Name,
				c.Type))
			usable = append(usable, Attribute{c.Name, c.Domain.LevelNames()[0]}.String())
		}
	}
	switch {
	case read < leastColumns:
		r.WrongKey(n, document.Problem{Message: fmt.Sprintf("table %s has one column", t.Name),
			Expected: "microdata of two or more columns; a marginal publishes one"})
	case len(without) > 0:
		p := document.Problem{Message: strings.Join(without, "; "),
			Expected: "by: the columns of the microdata, such a one at a level or left out"}
		if len(usable) >= leastColumns {
			p.Fix = "by: [" + strings.Join(usable, ", ") + "]"
		}
		r.WrongKey(n, p)
	}
	return all
}

// checkNotPure reports microdata under a budget of ε alone.
func (r *reader) checkNotPure(n document.Node) {
	if b := r.release.Budget; b.Epsilon == nil || b.Delta != nil {
		return
	}
	r.WrongKey(n, document.Problem{
		Message: "a budget of ε alone cannot pay for microdata: what they ask next depends on the answers so far, " +
			"and such a series is capped in ρ, which bounds no pure ε",
		Expected: "a budget of {epsilon, delta} or {rho}",
		Fix:      "delta: 1e-9",
	})
}

// checkTablesToUse reports microdata made from tables in a release without tables.
func (r *reader) checkTablesToUse(root, n document.Node) {
	if !root.Get("marginals").Present() {
		r.AddProblem(n.Get("method"), document.Problem{
			Message:  "method tables makes microdata of the tables of the release, and without marginals it has none",
			Expected: "marginals, or a method that measures", Fix: "method: auto",
		})
	}
}

// checkNoLeaf reports a leaf of microdata whose method spends nothing.
func (r *reader) checkNoLeaf(n document.Node) {
	if at := n.Get("budget"); at.Present() {
		r.WrongKey(at, document.Problem{
			Message:  "a budget with method tables, which makes its model of the tables of the release and spends nothing",
			Expected: "no budget, or a method that measures",
			Fix:      "method: aim",
		})
	}
}

// measuresPairs reports whether the marginals count rows by each pair of the microdata's columns, without leaving cells
// out.
func (r *reader) measuresPairs(t *Table, by []Attribute) bool {
	read := t.withoutDerived(by)
	for i, a := range read {
		for _, b := range read[:i] {
			if !slices.ContainsFunc(r.release.Marginals, func(m Marginal) bool {
				return m.Table == t.Name &&
					len(t.Discovers(m.By)) == 0 && m.countsTogether(a, b)
			}) {
				return false
			}
		}
	}
	return len(read) >= leastColumns
}

// countsTogether reports whether a marginal counts rows by two attributes, alone or among others.
func (m *Marginal) countsTogether(a, b Attribute) bool {
	most := len(m.By)
	if m.Every != nil {
		most = slices.Max(m.Every)
	}
	plain := m.Stats == nil || m.Stats[0].Kind.countsRows()
	return plain && most >= leastColumns && m.PerUnit == (PerUnit{}) && !m.isSparse() && !m.choosesCells() &&
		m.Cumulative == nil && slices.Contains(m.By, a) && slices.Contains(m.By, b)
}

// readMicrodataLeaf finds the leaf that pays for microdata: the leaf that they name, the leaf named like their table,
// or the leaf called synthetic. Microdata that can do without a leaf may have none, and microdata that are the whole
// release have the whole budget if it has no split.
func (r *reader) readMicrodataLeaf(root, n document.Node, canDoWithout bool) string {
	leaves := r.leafPaths()
	if len(leaves) == 0 {
		return "" // already reported
	}
	isWholeRelease := !root.Get("marginals").Present()
	canDoWithout = canDoWithout || isWholeRelease && len(root.Get("synthetic").Pairs()) == 1
	if leaves[0] == "" && canDoWithout && !n.Get("budget").Present() {
		return ""
	}
	if leaves[0] == "" {
		p := document.Problem{
			Message: "the budget has no split, and microdata are paid for by a leaf of their own",
			Expected: "a leaf for the microdata in the budget, and one for the marginals, which name it; or method: " +
				"tables, for microdata of the tables alone",
			Fix: "split: {tables: 1/2, microdata: 1/2}",
		}
		if isWholeRelease {
			p.Expected, p.Fix = "a leaf for the microdata of each table in the budget",
				splitAmong(root.Get("synthetic"))
		}
		r.WrongKey(n, p)
		return ""
	}
	if n.Get("budget").Present() {
		return r.readLeaf(n)
	}
	for _, name := range []string{n.Key.Value, syntheticLeaf} {
		leaf, candidates := r.findLeaf(name)
		if leaf != "" {
			return leaf
		}
		if len(candidates) > 0 {
			r.WrongKey(n, ambiguousLeafProblem(name, candidates))
			return ""
		}
	}
	if canDoWithout {
		return ""
	}
	r.WrongKey(n, document.Problem{
		Message: fmt.Sprintf("nothing says which leaf pays for the microdata of %[1]s, and no leaf is called %[1]s or %[2]s",
			n.Key.Value, syntheticLeaf),
		Expected: ownLeaf, Fix: r.freeLeaf(),
	})
	return ""
}

// splitAmong returns a split of the budget into a leaf for the microdata of each table.
func splitAmong(synthetic document.Node) string {
	var leaves []string
	share := "1"
	if n := len(synthetic.Pairs()); n > 1 {
		share = fmt.Sprintf("1/%d", n)
	}
	for _, n := range synthetic.Pairs() {
		name := n.Key.Value
		if leaf := n.Get("budget"); leaf.Present() {
			name = leaf.Text()
		}
		leaves = append(leaves, document.Clip(name)+": "+share)
	}
	return "split: {" + strings.Join(leaves, ", ") + "}"
}

const (
	// syntheticLeaf pays for microdata that name no leaf.
	syntheticLeaf = "synthetic"
	// ownLeaf is what a message expects to pay for microdata.
	ownLeaf = "a leaf that pays for these microdata and nothing else"
)

// freeLeaf returns the setting of a leaf that pays for nothing, "" if all leaves pay for something.
func (r *reader) freeLeaf() string {
	for _, path := range r.leafPaths() {
		if r.paidBy(path, len(r.release.Synthetic)) == "" {
			return "budget: " + path
		}
	}
	return ""
}

// paidBy describes what a leaf pays for: a marginal, or one of the first microdata; "" for nothing.
func (r *reader) paidBy(leaf string, microdata int) string {
	for _, m := range r.release.Marginals {
		if slices.Contains(m.PaidBy(), leaf) {
			return "marginal " + m.Name
		}
	}
	for _, s := range r.release.Synthetic[:microdata] {
		if s.Leaf == leaf {
			return "the microdata of " + s.Table
		}
	}
	return ""
}

// checkOwnLeaves reports microdata whose leaf also pays for something else.
func (r *reader) checkOwnLeaves(root document.Node) {
	for i, s := range r.release.Synthetic {
		other := r.paidBy(s.Leaf, i)
		if s.Leaf == "" || other == "" {
			continue
		}
		n := root.Get("synthetic").Get(s.Table)
		r.AddProblem(n.Get("budget").Or(n.KeyNode()), document.Problem{
			Message:  fmt.Sprintf("leaf %q pays for %s too", s.Leaf, other),
			Expected: ownLeaf, Fix: r.freeLeaf(),
		})
	}
}
