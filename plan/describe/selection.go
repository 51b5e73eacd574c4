package describe

import (
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds what a plan says of each kind of selection.

// selecting lists, by selection, what is said of its steps, its costs and the cells of its table.
var selecting = [selection.Kinds]struct {
	line string // suffix of its line in the list of costs
	// cost is what it costs together with the noise of the answers, and delta are the cost lines of its δ.
	cost  func(s selection.Selection, noise budget.Mechanism) string
	delta func(m plan.Measurement) []CostLine
	// which says which of its cells a table publishes, "" for all, and cells how many; assumed says which number of
	// cells the size of the release assumes.
	which, cells func(t plan.Table) string
	assumed      string
	// expectation says what the table will be good for.
	expectation func(l *language.Language, p *plan.Plan, t plan.Table) string
	// sayCells and saySelected add the facts of the cells of a table, before those of the measurement and after them.
	sayCells, saySelected func(b *factBook, t tableRow)
	// gaussian says why the noise remains Gaussian under ε and δ.
	gaussian string
	// again returns the mechanisms of the selection for a unit whose rows may be in other cells.
	again func(p *plan.Plan, m plan.Measurement) []budget.Mechanism
	// exchanged reports whether such a unit counts as removed and added, whatever the column is.
	exchanged bool
	// chosen reports whether the table has cells, and errors, that cannot be compared with those of other tables.
	chosen bool
}{
	selection.KindAll: {cost: costOfNoise, delta: noDelta, which: whichAll, cells: cellsListed,
		sayCells:    sayCellsListed,
		saySelected: sayNothing, gaussian: gaussianSums, again: rechoiceSteps, expectation: expectationOfAll},
	selection.KindAbove: {cost: costOfNoise, delta: noDelta, which: whichAbove, cells: cellsListed, assumed: asRows,
		sayCells: sayCellsListed, saySelected: saySparse, gaussian: gaussianSums, again: rechoiceSteps,
		expectation: sparseExpectation},
	selection.KindTop: {line: ", choices of cells", cost: costOfChoices, delta: noDelta, which: whichChosen,
		cells: cellsListed, assumed: asRows, sayCells: sayCellsListed, saySelected: sayTop, gaussian: "chosen cells",
		again: rechoiceSteps, chosen: true, expectation: topExpectation},
	selection.KindGroups: {line: ", selection of groups", cost: costOfGroups, delta: deltaOfGroups,
		which: whichSelected,
		cells: cellsUnknown, assumed: " (of groups that nobody listed as many as 1000 in a table)", sayCells: sayGroups,
		saySelected: sayNothing, gaussian: "groups that nobody listed, of which a unit has many",
		again:     reselectionSteps,
		exchanged: true, expectation: discoveredExpectation},
	selection.KindTexts: {cost: costOfNoise, delta: noDelta, which: whichFound, cells: cellsUnknown,
		assumed: " (of texts that nobody listed as many as can be found)", sayCells: sayFound, saySelected: sayNothing,
		gaussian: gaussianSums, again: rechoiceSteps, expectation: foundExpectation},
}

const (
	asRows       = " (sparse ones, and those that cells are chosen from, taken to have as many as rows are expected, or 2^20)"
	gaussianSums = "sums along a column of several levels"
)

func costOfNoise(_ selection.Selection, noise budget.Mechanism) string { return CostText(noise, 1) }

func noDelta(plan.Measurement) []CostLine { return nil }

func whichAll(plan.Table) string { return "" }

func cellsListed(t plan.Table) string { return budget.Group(t.Cells) }

func sayCellsListed(b *factBook, t tableRow) { b.say(OnTable, t.Path, "cells", budget.Group(t.Cells)) }

func sayNothing(*factBook, tableRow) {}

// sizeAssumptions says how large tables that publish some of their cells are assumed to be, each assumption once.
func sizeAssumptions(tables []plan.Table) string {
	var kinds [selection.Kinds]bool
	for _, t := range tables {
		kinds[t.Selects()] = true
	}
	var all strings.Builder
	for kind, is := range kinds {
		if text := selecting[kind].assumed; is && !strings.Contains(all.String(), text) {
			all.WriteString(text)
		}
	}
	return all.String()
}
