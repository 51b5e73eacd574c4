package spec

import "github.com/dprelease/dprelease/spec/document"

// This file holds the reading of sparse tables: cells of which those above a threshold are published.

// isSparse reports whether only those cells are published whose noisy count is above a threshold.
func (m *Marginal) isSparse() bool { return m.Above > 0 }

// readAbove reads the threshold of a sparse table, 0 where every cell is published. What a sparse table cannot be is
// reported: whatever needs the cells that are not published.
func (r *reader) readAbove(n document.Node) int64 {
	cells := n.Get("cells")
	if !r.Sound(cells) {
		return 0
	}
	r.notBeside(n, []conflict{
		{key: "cumulative",
			why: "sums from the first category on need every cell, and a sparse table leaves most of them out"},
		{key: "ranges", why: "sums of neighbouring categories need every cell, and a sparse table leaves most of them out"},
	}, besideKey("cells"))
	if of := n.Get("target").Get("of"); of.Is(allCells) {
		r.Wrong(of, document.Problem{
			Message:  "the target is of all cells, and a sparse table does not publish all of them",
			Expected: "a target of each cell", Fix: "of: " + eachCell,
		})
	}
	if by := n.Get("by"); len(by.Items()) == 0 && by.Present() {
		r.Wrong(cells, document.Problem{Message: "a total is one cell, which a threshold would only hide",
			Expected: "a marginal with attributes"})
	}
	return cells.Get("above").Whole()
}
