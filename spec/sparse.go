package spec

// This file holds the reading of sparse tables: cells of which those above a threshold are published.

// readAbove reads the threshold of a sparse table, 0 where every cell is published. What a sparse table cannot be is
// reported: whatever needs the cells that are not published.
func (r *reader) readAbove(n node) int64 {
	cells := n.get("cells")
	if !r.sound(cells) {
		return 0
	}
	for _, never := range []struct{ key, why string }{
		{"cumulative", "sums from the first category on need every cell, and a sparse table leaves most of them out"},
		{"ranges", "sums of neighbouring categories need every cell, and a sparse table leaves most of them out"},
	} {
		if other := n.get(never.key); other.present() {
			r.report(other.key, other.path, Problem{Message: "`" + never.key + "` beside `cells`: " + never.why, Expected: "one of the two; a second marginal can have the other"})
		}
	}
	if of := n.get("target").get("of"); of.present() && of.text() == allCells {
		r.problem(of, Problem{
			Message:  "the target is of all cells, and a sparse table does not publish all of them",
			Expected: "a target of each cell", Fix: "of: " + eachCell,
		})
	}
	if by := n.get("by"); len(by.items()) == 0 && by.present() {
		r.problem(cells, Problem{Message: "a total is one cell, which a threshold would only hide", Expected: "a marginal with attributes"})
	}
	return r.whole(cells.get("above"))
}
