package describe

import (
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds what a plan says of how answers are given out, by kind.

// selecting lists what is said of what a selection runs and costs, and of the cells that a table has by it.
var selecting = [selection.Kinds]struct {
	line string // how its line in the list of costs ends
	// cost is what it costs together with the noise of the answers, and delta are the lines of what it takes of δ.
	cost  func(s selection.Selection, noise budget.Mechanism) string
	delta func(m plan.Measurement) []CostLine
	// which says which of its cells a table has, "" for all, and cells how many; takenAs says as how many they count.
	which, cells func(t plan.Table) string
	takenAs      string
	// sayCells and saySelected add the facts of the cells of a table, before those of the measurement and after them.
	sayCells, saySelected func(b *factBook, t tableRow)
	// gaussian says why the noise stays Gaussian under ε and δ.
	gaussian string
	// again are the mechanisms of the selection for a unit whose rows may be in other cells.
	again func(p *plan.Plan, m plan.Measurement) []budget.Mechanism
	// anew says that such a unit is removed and added, whatever the column is; chosen that other tables do not have the
	// same cells, nor errors to compare with.
	anew, chosen bool
}{
	selection.KindAll: {cost: costOfNoise, delta: noDelta, which: allOfThem, cells: cellsListed, sayCells: sayCellsListed,
		saySelected: sayNothing, gaussian: gaussianSums, again: rechosen},
	selection.KindAbove: {cost: costOfNoise, delta: noDelta, which: thoseAbove, cells: cellsListed, takenAs: asRows,
		sayCells: sayCellsListed, saySelected: saySparse, gaussian: gaussianSums, again: rechosen},
	selection.KindTop: {line: ", choices of cells", cost: costOfChoices, delta: noDelta, which: thoseChosen,
		cells: cellsListed, takenAs: asRows, sayCells: sayCellsListed, saySelected: sayTop, gaussian: "chosen cells",
		again: rechosen, chosen: true},
	selection.KindGroups: {line: ", selection of groups", cost: costOfGroups, delta: deltaOfGroups, which: thoseSelected,
		cells: cellsUnknown, takenAs: " (of groups that nobody listed as many as 1000 in a table)", sayCells: sayGroups,
		saySelected: sayNothing, gaussian: "groups that nobody listed, of which a unit has many", again: reselected,
		anew: true},
}

const (
	asRows       = " (sparse ones, and those that cells are chosen from, taken to have as many as rows are expected, or 2^20)"
	gaussianSums = "sums along a column of several levels"
)

func costOfNoise(_ selection.Selection, noise budget.Mechanism) string { return CostText(noise, 1) }

func noDelta(plan.Measurement) []CostLine { return nil }

func allOfThem(plan.Table) string { return "" }

func cellsListed(t plan.Table) string { return budget.Group(t.Cells) }

func sayCellsListed(b *factBook, t tableRow) { b.say(OnTable, t.Path, "cells", budget.Group(t.Cells)) }

func sayNothing(*factBook, tableRow) {}

// takenAs says as how many cells those of tables count that have some of them, each way once.
func takenAs(tables []plan.Table) string {
	var kinds [selection.Kinds]bool
	for _, t := range tables {
		kinds[t.Selects()] = true
	}
	var all strings.Builder
	for kind, is := range kinds {
		if text := selecting[kind].takenAs; is && !strings.Contains(all.String(), text) {
			all.WriteString(text)
		}
	}
	return all.String()
}
