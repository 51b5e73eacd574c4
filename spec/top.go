package spec

// This file reads top tables: the cells with the largest counts, selected privately.

import (
	"fmt"
	"math/bits"

	"github.com/dprelease/dprelease/spec/document"
)

// choosesCells reports whether only some cells are published, selected by their counts.
func (m *Marginal) choosesCells() bool { return m.Top > 0 }

// readTop reads how many cells a top table has, 0 for any other table. It reports settings that need the cells that are
// not selected, or the order of the domain.
func (r *reader) readTop(t *Table, m *Marginal, n document.Node) int64 {
	top := n.Get("top")
	if !r.IsSound(top) {
		return 0
	}
	r.reportConflicts(n, []conflict{
		{key: "every", why: "the cells of one table are compared, and this asks for one for each subset"},
		{key: "each", why: "the cells of one table are compared, and this asks for one for each level"},
		{key: "cumulative", why: "sums from the first category on need every cell, and most of them are not chosen"},
		{key: "ranges", why: "sums of neighbouring categories need every cell, and most of them are not chosen"},
		{key: "cells", why: "a cell is published because it is chosen, or because it is above a threshold"},
		{key: "target", why: "a margin says nothing of which cells are chosen"},
		{key: "show", why: "a chosen cell is shown whatever its count"},
	}, conflictWith("top"))
	if by := n.Get("by"); len(by.Items()) == 0 && by.Present() {
		r.AddProblem(top, document.Problem{Message: "a total is one cell, and there is nothing to choose",
			Expected: "a marginal with attributes"})
	}
	most := top.WholeNumber()
	if cells, known := cellCount(t, m); known && len(m.By) == len(n.Get("by").Items()) && uint64(most) >= cells &&
		cells > 1 && m.Every == nil {
		r.AddProblem(top, document.Problem{
			Message: fmt.Sprintf("the %d largest of %d cells: every cell would be chosen, at a cost for each", most,
				cells),
			Expected: fmt.Sprintf("a number from 1 to %d; without `top` all cells are published, for less", cells-1),
		})
	}
	return most
}

// cellCount returns the number of cells of a marginal. ok is false if it is not known, or 2⁶⁴ or more.
func cellCount(t *Table, m *Marginal) (uint64, bool) {
	cells := uint64(1)
	if t == nil || len(m.By) == 0 {
		return 0, false
	}
	for _, a := range m.By {
		level := levelOf(t, a)
		if level == nil {
			return 0, false
		}
		high, low := bits.Mul64(cells, uint64(level.Size()))
		if high != 0 {
			return 0, false
		}
		cells = low
	}
	return cells, true
}

// checkTopStats reports statistics of a top table other than the count by which its cells are selected.
func (r *reader) checkTopStats(m *Marginal, n document.Node) {
	stats := n.Get("stats")
	if !m.choosesCells() || !stats.Present() || len(m.Stats) == 1 && m.Stats[0].Kind.countsRowsOrUnits() {
		return
	}
	for i, item := range stats.Items() {
		if i > 0 || !m.Stats[i].Kind.countsRowsOrUnits() {
			r.AddProblem(item, document.Problem{
				Message:  "cells are chosen by their counts, and this would be measured of those that are chosen alone",
				Expected: "stats: [count] or stats: [units]; a second marginal can have the others, of every cell",
			})
			return
		}
	}
}
