package spec

import "github.com/dprelease/dprelease/spec/document"

// This file reads sparse tables, which publish only the cells above a threshold.

// isSparse reports whether only cells with noisy counts above a threshold are published.
func (m *Marginal) isSparse() bool { return m.Above > 0 }

// readAbove reads the threshold of a sparse table, 0 if every cell is published. It reports settings that need the
// cells that are not published.
func (r *reader) readAbove(n document.Node) int64 {
	cells := n.Get("cells")
	if !r.IsSound(cells) {
		return 0
	}
	r.reportConflicts(n, []conflict{
		{key: "cumulative",
			why: "sums from the first category on need every cell, and a sparse table leaves most of them out"},
		{key: "ranges", why: "sums of neighbouring categories need every cell, and a sparse table leaves most of them out"},
	}, conflictWith("cells"))
	if of := n.Get("target").Get("of"); of.Is(allCells) {
		r.AddProblem(of, document.Problem{
			Message:  "the target is of all cells, and a sparse table does not publish all of them",
			Expected: "a target of each cell", Fix: "of: " + eachCell,
		})
	}
	if by := n.Get("by"); len(by.Items()) == 0 && by.Present() {
		r.AddProblem(cells, document.Problem{Message: "a total is one cell, which a threshold would only hide",
			Expected: "a marginal with attributes"})
	}
	return cells.Get("above").WholeNumber()
}
