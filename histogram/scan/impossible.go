package scan

// This file holds the rules for impossible rows: those that meet all conditions of an entry of `impossible`.

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
	names   string   // names of its attributes
	columns []int    // by condition, the index of its column among the tally's
	meets   [][]bool // by condition, whether each base code meets it
}

// rulesOf returns the entries for the tally's table. Their columns are read like those of a published table, whether
// or not any published table has them, so that the same rows stay for all tables.
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
			out.columns = append(out.columns, t.categoryColumn(t.table.Column(counted.Column)))
			out.meets = append(out.meets, impossible.CodesMeeting(t.table, c))
			names = append(names, c.Attribute.String())
		}
		out.names = strings.Join(names, " × ")
		rules = append(rules, out)
	}
	return rules
}

// isMetBy reports whether a row meets all conditions. A row with a mark, one that is left out or breaks the contract
// of a column, does not.
func (r rule) isMetBy(codes [][]uint32, row int) bool {
	for i, column := range r.columns {
		if c := codes[column][row]; encoding.IsMark(c) || !r.meets[i][c] {
			return false
		}
	}
	return true
}

// ruleOut applies the entries to the rows of a chunk. A row that meets an entry that drops rows is left out, and a
// row that meets any other entry breaks the contract. Values that count as a category have been resolved, and rows
// that any column leaves out are not judged. Entries that do not drop rows are checked only if whole is set. Entries
// whose columns this reading does not read are skipped: an earlier reading has left their rows out.
//
// Guarantee: whether a row stays depends on its own values alone, so that two tables that differ in one unit differ
// in that unit's rows alone once rows are left out, and bounding, which comes after, sees no others. Neighbours: both
// relations. Argument: docs/proofs/impossible.md.
func (t *tally) ruleOut(c *chunk, left []uint64, whole bool) (some, wrong bool) {
	var out []uint64
	for _, rule := range t.rules {
		if !rule.drop && !whole || !rule.isRead(c) {
			continue
		}
		hits := rule.matchingRows(c)
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

// isRead reports whether all columns of the entry were read.
func (r rule) isRead(c *chunk) bool {
	return !slices.ContainsFunc(r.columns, func(column int) bool { return c.codes[column].Len() == 0 })
}

// matchingRows returns the rows of a chunk that meet all conditions, a bit per row.
func (r rule) matchingRows(c *chunk) []uint64 {
	hits := clearedBits(&c.hits, c.rows)
	for i := range c.rows {
		hits[i/64] |= 1 << (i % 64)
	}
	for i, column := range r.columns {
		switch codes := c.codes[column]; {
		case codes.U8 != nil:
			keepMatching(codes.U8[:c.rows], r.meets[i], hits)
		case codes.U16 != nil:
			keepMatching(codes.U16[:c.rows], r.meets[i], hits)
		default:
			keepMatching(codes.U32[:c.rows], r.meets[i], hits)
		}
	}
	return hits
}

// keepMatching clears the bits of rows whose code does not meet a condition. Marks never do.
func keepMatching[T uint8 | uint16 | uint32](codes []T, within []bool, hits []uint64) {
	for i, c := range codes {
		if int(c) >= len(within) || !within[c] {
			hits[i/64] &^= 1 << (i % 64)
		}
	}
}

// impossibleBreaches returns the breaches of rows that meet an entry that does not drop rows, from the codes of a raw
// record by column.
func (t *tally) impossibleBreaches(codes [][]uint32, rows int, file string, first int64) []breach {
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
			if !left[i] && !rule.drop && rule.isMetBy(codes, i) && len(found) < breachLimit {
				found = append(found, breach{Table: t.table.Name, Column: rule.names, Kind: kindImpossible,
					File: file, Row: first + int64(i) + 1, Value: t.categoriesOf(rule, codes, i)})
			}
		}
	}
	return found
}

// categoriesOf returns the categories of a row in the columns of a rule, for the operator's own file.
func (t *tally) categoriesOf(r rule, codes [][]uint32, row int) string {
	var texts []string
	for _, column := range r.columns {
		texts = append(texts, t.encoders[column].Label(codes[column][row]))
	}
	return strings.Join(texts, " × ")
}
