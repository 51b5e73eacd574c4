package main

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/selection"
)

// This file holds what messages say about the number of published cells, by the selection of a table's cells.

// knownCells lists, by selection, how many cells of a table the plan already determines to be published.
var knownCells = [selection.Kinds]func(t plan.Table) int64{
	selection.KindAll:    func(t plan.Table) int64 { return t.Cells },
	selection.KindAbove:  func(plan.Table) int64 { return 0 },
	selection.KindTop:    func(t plan.Table) int64 { return t.Top.Of },
	selection.KindGroups: func(plan.Table) int64 { return 0 },
	selection.KindTexts:  func(plan.Table) int64 { return 0 },
}

// cellsText returns how many cells are published. For tables of cells above a threshold the noise decides that.
func cellsText(p *compiled.Compiled) string {
	var cells int64
	var tables [selection.Kinds]int64
	for _, t := range p.Tables {
		cells += knownCells[t.Selects()](t)
		tables[t.Selects()]++
	}
	sparse, discovered, searched := tables[selection.KindAbove], tables[selection.KindGroups],
		tables[selection.KindTexts]
	switch {
	case searched > 0 && cells == 0: // of a collection, whose other tables have all their cells
		return "texts that were found"
	case searched > 0:
		return budget.Plural(cells, "cell") + ", and texts that were found"
	case sparse == 0 && discovered == 0:
		return budget.Plural(cells, "cell")
	case sparse == 0 && cells == 0:
		return "groups that a selection lets through"
	case discovered > 0:
		return budget.Plural(cells, "cell") + ", and those that are selected or above a threshold"
	case cells == 0:
		return "cells above a threshold"
	}
	return budget.Plural(cells, "cell") + ", and in " + budget.Plural(sparse, "table") + " those above a threshold"
}
