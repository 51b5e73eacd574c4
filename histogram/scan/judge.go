package scan

// This file holds the judgement of rows: which rows are left out, and whether any row breaks the contract.

import "github.com/dprelease/dprelease/spec"

// judgeRows returns which rows are left out, a bit per row and nil if there are none, and whether some row breaks the
// contract. Only columns that were read are judged, and of the entries of `impossible` those that drop rows or, with
// whole, all. The result is valid until the next call.
//
// A row is left out if the table's predicate is not true for it (markOutside); then nothing else is required of it.
// It is also left out if the policy of a column that measurements need says so, if it meets an entry of `impossible`
// that drops rows (ruleOut), if its id is null and the table's unit says so (withoutID), or if its parent row is
// missing (markOrphans).
//
// Guarantee: whether a row is left out depends on its own values alone and, with a parent, on whether its unit has a
// row there that is counted, so that two tables that differ in one unit differ in that unit's rows alone once rows
// are left out. Neighbours: both relations. Argument: docs/proofs/impossible.md, docs/proofs/linked.md.
func (t *tally) judgeRows(c *chunk, whole bool) (out []uint64, bad bool) {
	left, marked := clearedBits(&c.left, c.rows), false
	outside := t.markOutside(c)
	copy(left, outside)
	for i, e := range t.readers {
		if c.codes[i].Len() == 0 || c.largest[i] < e.Marks {
			continue
		}
		into := left
		if i >= len(t.encoders) { // read only because it is expected to be complete
			into = clearedBits(&c.hits, c.rows)
		}
		some, wrong := markLeftOut(c.codes[i], e.Marks, c.rows, into)
		wrong = wrong && (outside == nil || c.hasBreach(i, e.Marks))
		marked = marked || some && i < len(t.encoders)
		bad = bad || wrong
	}
	ruled, wrong := t.ruleOut(c, left, whole)
	idless, missing := t.withoutID(c, left)
	orphaned := t.markOrphans(c, left)
	if marked || ruled || idless || orphaned {
		out = left
	}
	return out, bad || wrong || missing
}

// withoutID sets the bits of rows without an id, if the table leaves them out, and reports whether there are any. If
// the table does not leave them out, withoutID reports whether there are any as a breach of the contract.
//
// It runs after the entries of `impossible`, which the second reading judges without ids, so that the same rows break
// the contract in both readings.
func (t *tally) withoutID(c *chunk, left []uint64) (some, wrong bool) {
	if c.ids == nil || c.ids.NullN() == 0 {
		return false, false
	}
	for i := range c.rows {
		switch {
		case !c.ids.IsNull(i) || c.outside != nil && c.outside[i/64]>>(i%64)&1 == 1:
		case t.table.Unit.Null != spec.Drop:
			return some, true
		default:
			left[i/64] |= 1 << (i % 64)
			some = true
		}
	}
	return some, false
}
