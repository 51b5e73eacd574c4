package histogram

// This file holds the rules for rows that cannot be: those that meet all conditions of an entry of `impossible`.

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// rule is one entry of `impossible`: a predicate of a row alone.
type rule struct {
	drop    bool
	names   string   // of its attributes
	columns []int    // of each condition, its column among the tally's
	within  [][]bool // of each condition, the base codes that meet it
}

// rulesOf are the entries that are of the tally's table. Their columns are read as those that a table shows are, whether
// or not any does: which rows stay is the same for all tables.
func rulesOf(t *tally, r *spec.Release) []rule {
	var rules []rule
	for _, entry := range r.Impossible {
		if entry.Table != t.table.Name {
			continue
		}
		out := rule{drop: entry.Drop}
		var names []string
		for _, c := range entry.Where {
			counted := plan.Counted(t.table, c.Attribute)
			out.columns = append(out.columns, t.column(t.table.Column(counted.Column)))
			out.within = append(out.within, plan.Meets(t.table, c))
			names = append(names, c.Attribute.String())
		}
		out.names = strings.Join(names, " × ")
		rules = append(rules, out)
	}
	return rules
}

// meets tells that a row meets all conditions. A row that a mark says is left out, or breaks the contract of a column,
// does not.
func (r rule) meets(codes [][]uint32, row int) bool {
	for i, column := range r.columns {
		if c := codes[column][row]; c >= unseen || !r.within[i][c] {
			return false
		}
	}
	return true
}

// ruleOut applies the entries to the rows of a record, given their codes by column: a row that meets one that drops is
// marked as left out, and one that meets another is a breach. Values that count as a category have been resolved, and
// rows that a column leaves out, for whatever column, are not judged.
//
// Guarantee: whether a row stays depends on its own values alone, so that two tables that differ in one unit differ in
// that unit's rows alone once rows are left out, and bounding, which comes after, sees no others. Neighbours: both
// relations. Argument: docs/proofs/impossible.md.
func (t *tally) ruleOut(r *record, codes [][]uint32, rows int) {
	if len(t.rules) == 0 {
		return
	}
	left := make([]bool, rows) // rows that some column leaves out
	for _, column := range codes {
		for i, c := range column {
			left[i] = left[i] || c == dropped
		}
	}
	found := 0
	for i := range rows {
		if left[i] {
			continue
		}
		out := false
		for _, rule := range t.rules {
			switch {
			case !rule.meets(codes, i):
			case rule.drop:
				out = true
			case found < breachLimit:
				found++
				r.breaches = append(r.breaches, breach{Table: t.table.Name, Column: rule.names, Kind: kindImpossible,
					File: r.file, Row: r.first + int64(i) + 1, Value: t.categories(rule, codes, i)})
			}
		}
		if out {
			codes[t.rules[0].columns[0]][i] = dropped
		}
	}
}

// categories are those of a row that a rule speaks of, for the operator's own file.
func (t *tally) categories(r rule, codes [][]uint32, row int) string {
	var texts []string
	for _, column := range r.columns {
		texts = append(texts, t.encoders[column].labels.(*array.String).Value(int(codes[column][row])))
	}
	return strings.Join(texts, " × ")
}
