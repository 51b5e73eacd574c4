package spec

import "github.com/dprelease/dprelease/spec/document"

// This file holds the reading of sparse tables: cells of which those above a threshold are published.

// readAbove reads the threshold of a sparse table, 0 where every cell is published. What a sparse table cannot be is
// reported: whatever needs the cells that are not published.
func (r *reader) readAbove(n document.Node) int64 {
	cells := n.Get("cells")
	if !r.Sound(cells) {
		return 0
	}
	for _, never := range []struct{ key, why string }{
		{"cumulative", "sums from the first category on need every cell, and a sparse table leaves most of them out"},
		{"ranges", "sums of neighbouring categories need every cell, and a sparse table leaves most of them out"},
	} {
		if other := n.Get(never.key); other.Present() {
			r.WrongKey(other, document.Problem{Message: "`" + never.key + "` beside `cells`: " + never.why,
				Expected: "one of the two; a second marginal can have the other"})
		}
	}
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
