package derive

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// This file holds what a published table says about the selection of its cells.

// selecting gives, by how cells are selected, the labels of the columns of estimates and the metadata about the rows.
var selecting = [selection.Kinds]struct {
	label    func(columns []column, t synth.Table, planned plan.Table)
	metadata func(planned plan.Table) [][2]string
}{
	selection.KindAll:    {keepLabels, noMetadata},
	selection.KindAbove:  {labelSparse, sparseMetadata},
	selection.KindTop:    {keepLabels, topMetadata},
	selection.KindGroups: {labelDiscovered, groupsMetadata},
	selection.KindTexts:  {labelFound, foundMetadata},
}

func keepLabels([]column, synth.Table, plan.Table) {}

func noMetadata(plan.Table) [][2]string { return nil }

// relabel sets the label of the columns of count estimates.
func relabel(columns []column, t synth.Table, label string) {
	for i, c := range columns {
		if slices.ContainsFunc(t.Statistics,
			func(s synth.Statistic) bool { return c.Name == s.Name+statistic.Unbiased }) {
			columns[i].Label = label
		}
	}
}

// labelSparse describes the estimates of a sparse table.
func labelSparse(columns []column, t synth.Table, planned plan.Table) {
	relabel(columns, t, fmt.Sprintf(
		"noisy count as it is: unbiased over all cells, too large on the mean where it is little above %d; not for sums",
		planned.Sparse.Above))
}

// labelDiscovered describes the estimates of a table of discovered groups.
func labelDiscovered(columns []column, t synth.Table, _ plan.Table) {
	relabel(columns, t, "unbiased estimate of the group; groups that were not selected are missing in every sum")
}

// labelFound describes the estimates of a table of texts that were found.
func labelFound(columns []column, t synth.Table, _ plan.Table) {
	relabel(columns, t, "unbiased estimate for the text; texts that were not found are missing in every sum")
}

// foundMetadata describes the rows of a table of texts that were found.
func foundMetadata(planned plan.Table) [][2]string {
	return [][2]string{{"dprelease.found", describe.Found(language.English, planned.Texts)}}
}

// sparseMetadata describes the rows of a sparse table.
func sparseMetadata(planned plan.Table) [][2]string {
	s := planned.Sparse
	return [][2]string{{"dprelease.sparse",
		fmt.Sprintf("a row for each of %d declared cells whose noisy count is above %d, and for no other; a cell "+
			"that is not here has %d rows or fewer at a confidence of %g%%; at most %g cells without a row are "+
			"expected here; intervals hold over all cells, here or not",
			planned.Cells, s.Above, s.Bound, 100*planned.Statistics[0].Confidence, s.FalseCells)}}
}

// groupsMetadata describes the rows of a table of discovered groups.
func groupsMetadata(planned plan.Table) [][2]string {
	return [][2]string{{"dprelease.discovered", describe.Discovered(language.English, planned.Discovered)}}
}

// topMetadata describes the rows of a table of chosen cells.
func topMetadata(planned plan.Table) [][2]string {
	return [][2]string{{"dprelease.top",
		fmt.Sprintf("a row for each of %d cells out of %d declared ones, chosen privately one after the other by "+
			"their counts, in the order of their choice; with a probability of %s no cell that is not here has over "+
			"%d more than one that is; the counts are drawn after the choice, and their intervals hold whichever "+
			"cells were chosen",
			planned.Top.Of, planned.Cells, screen.PercentDown(planned.Top.Attained),
			describe.WholeMargin(planned.Top.Shortfall))}}
}
