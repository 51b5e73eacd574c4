package scan

// This file holds the rules for rows that cannot be: those that meet all conditions of an entry of `impossible`.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/spec"
)

// rule is one entry of `impossible`: a predicate of a row alone.
type rule struct {
	drop    bool
	names   string   // of its attributes
	columns []int    // of each condition, its column among the tally's
	within  [][]bool // of each condition, whether each base code meets it
}

// rulesOf are the entries that are of the tally's table. Their columns are read as those that a table shows are,
// whether or not any does: which rows stay is the same for all tables.
func rulesOf(t *tally, r *spec.Release) []rule {
	var rules []rule
	for _, entry := range r.Impossible {
		if entry.Table != t.table.Name {
			continue
		}
		out := rule{drop: entry.Drop}
		var names []string
		for _, c := range entry.Where {
			counted := attributes.Counted(t.table, c.Attribute)
			out.columns = append(out.columns, t.column(t.table.Column(counted.Column)))
			out.within = append(out.within, impossible.Meets(t.table, c))
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
		if c := codes[column][row]; encoding.IsMark(c) || !r.within[i][c] {
			return false
		}
	}
	return true
}

// ruleOut applies the entries to the rows of a chunk: rows that meet one that drops are added to those that are left
// out, and one that meets another breaks the contract. Values that count as a category have been resolved, and rows
// that a column leaves out, for whatever column, are not judged. Entries that do not drop are looked at only with
// whole, and none of columns that a later reading leaves aside: the one before has left their rows out.
//
// Guarantee: whether a row stays depends on its own values alone, so that two tables that differ in one unit differ in
// that unit's rows alone once rows are left out, and bounding, which comes after, sees no others. Neighbours: both
// relations. Argument: docs/proofs/impossible.md.
func (t *tally) ruleOut(c *chunk, left []uint64, whole bool) (some, wrong bool) {
	var out []uint64
	for _, rule := range t.rules {
		if !rule.drop && !whole || !rule.read(c) {
			continue
		}
		hits := rule.hits(c)
		any := uint64(0)
		for i := range hits {
			hits[i] &^= left[i]
			any |= hits[i]
		}
		switch {
		case any == 0:
		case !rule.drop:
			wrong = true
		default:
			if out == nil {
				out = make([]uint64, len(left))
			}
			for i := range hits {
				out[i] |= hits[i]
			}
		}
	}
	for i := range out {
		left[i] |= out[i]
	}
	return out != nil, wrong
}

// read reports whether all columns of the entry were read.
func (r rule) read(c *chunk) bool {
	return !slices.ContainsFunc(r.columns, func(column int) bool { return c.codes[column].Len() == 0 })
}

// hits are the rows of a chunk that meet all conditions, a bit per row.
func (r rule) hits(c *chunk) []uint64 {
	hits := cleared(&c.hits, c.rows)
	for i := range c.rows {
		hits[i/64] |= 1 << (i % 64)
	}
	for i, column := range r.columns {
		switch codes := c.codes[column]; {
		case codes.Narrow != nil:
			meet(codes.Narrow[:c.rows], r.within[i], hits)
		case codes.Middle != nil:
			meet(codes.Middle[:c.rows], r.within[i], hits)
		default:
			meet(codes.Wide[:c.rows], r.within[i], hits)
		}
	}
	return hits
}

// meet clears the bits of rows whose code is not within, as marks never are.
func meet[T uint8 | uint16 | uint32](codes []T, within []bool, hits []uint64) {
	for i, c := range codes {
		if int(c) >= len(within) || !within[c] {
			hits[i/64] &^= 1 << (i % 64)
		}
	}
}

// impossible are the breaches of rows that meet an entry that drops none, given the codes of a raw record by column.
func (t *tally) impossible(codes [][]uint32, rows int, file string, first int64) []breach {
	if !slices.ContainsFunc(t.rules, func(r rule) bool { return !r.drop }) {
		return nil
	}
	left := make([]bool, rows) // rows that some column leaves out
	for _, column := range codes {
		for i, c := range column {
			left[i] = left[i] || c == encoding.Dropped
		}
	}
	var found []breach
	for i := range rows {
		for _, rule := range t.rules {
			if !left[i] && !rule.drop && rule.meets(codes, i) && len(found) < breachLimit {
				found = append(found, breach{Table: t.table.Name, Column: rule.names, Kind: kindImpossible,
					File: file, Row: first + int64(i) + 1, Value: t.categories(rule, codes, i)})
			}
		}
	}
	return found
}

// categories are those of a row that a rule speaks of, for the operator's own file.
func (t *tally) categories(r rule, codes [][]uint32, row int) string {
	var texts []string
	for _, column := range r.columns {
		texts = append(texts, t.encoders[column].Label(codes[column][row]))
	}
	return strings.Join(texts, " × ")
}
