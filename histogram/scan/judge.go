package scan

// This file holds the judgement of rows: which are left out, and whether some row breaks the contract.

import "github.com/dprelease/dprelease/spec"

// judge says which rows are left out, a bit per row and nil where none is, and
// whether some row breaks the contract. Only columns that were read are looked at, and of
// the entries of `impossible` those that drop rows, or with whole all. What is returned
// is valid until the next call.
//
// A row is left out where the table's predicate is not true of it (outside), and then nothing else is asked of it;
// where a column's policy says so, of those that measurements need, where it meets an entry of `impossible` that drops
// rows (ruleOut), where its id is null and the table's unit says so (withoutID), or where it belongs to a parent row
// and there is none (orphans).
//
// Guarantee: whether a row is left out depends on its own values alone and, with a parent, on whether its
// unit has a row there that is counted, so that two
// tables that differ in one unit differ in that unit's rows alone once rows are left
// out. Neighbours: both relations. Argument: docs/proofs/impossible.md, docs/proofs/linked.md.
func (t *tally) judge(c *chunk, whole bool) (out []uint64, bad bool) {
	left, marked := cleared(&c.left, c.rows), false
	outside := t.outside(c)
	copy(left, outside)
	for i, e := range t.readers {
		if c.codes[i].Len() == 0 || c.largest[i] < e.Marks {
			continue
		}
		into := left
		if i >= len(t.encoders) { // expected to be complete, and nothing else
			into = cleared(&c.hits, c.rows)
		}
		some, wrong := marks(c.codes[i], e.Marks, c.rows, into)
		wrong = wrong && (outside == nil || c.broken(i, e.Marks))
		marked = marked || some && i < len(t.encoders)
		bad = bad || wrong
	}
	ruled, wrong := t.ruleOut(c, left, whole)
	idless, missing := t.withoutID(c, left)
	orphaned := t.orphans(c, left)
	if marked || ruled || idless || orphaned {
		out = left
	}
	return out, bad || wrong || missing
}

// withoutID sets the bits of rows whose unit is not said, where the table leaves them out,
// and tells whether there are any; else it tells whether such rows break the contract.
//
// It comes behind the entries of `impossible`, which the second reading judges without
// ids: what breaks the contract is the same in both.
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
