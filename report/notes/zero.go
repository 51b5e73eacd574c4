package notes

// This file describes cells that could be zero, and the single rule by which every page says whether a table's cells
// may be used one by one.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

const (
	namedTables = 3 // tables with most of these cells, in the box
)

// The names in sentences of the parts of a page to which they refer.
const (
	VerdictColumn    = "column “verdict”"
	ZeroColumn       = "column “could be zero”"
	DifferenceColumn = "column “smallest real difference”"
	ZeroSection      = "“Cells that could be zero”"
	TableList        = "list of tables"
)

// NotToUse begins the sentence of the box that names tables.
const NotToUse = "Do not use the table"

// namedFirst is the number of tables to add up first that the box names.
const namedFirst = 4

// tableWarning says which tables must not be used cell by cell; "" if all may be.
func tableWarning(r *report.Report) string {
	never := report.NotUsableSingly(r)
	text := ""
	switch {
	case len(never) == 0:
		return ""
	case len(never) == 1:
		text = fmt.Sprintf(NotToUse+" %s cell by cell: %s.", never[0], unfitReason(r, never[0]))
	case len(never) <= namedTables:
		text = fmt.Sprintf(NotToUse+"s %s cell by cell: the noise is large compared with an average cell of each.",
			words.List(never))
	default:
		text = fmt.Sprintf("Do not use %d tables cell by cell: the noise is large compared with an average cell of each. The %s says which.",
			len(never), VerdictColumn)
	}
	switch first := addUpFirst(r, never); {
	case len(first) == 1:
		text += fmt.Sprintf(" One more is good only after adding up cells: %s.", first[0])
	case len(first) > namedFirst:
		text += fmt.Sprintf(" %d more are good only after adding up cells, as the %s says.", len(first), VerdictColumn)
	case first != nil:
		text += fmt.Sprintf(" %d more are good only after adding up cells: %s.", len(first), words.List(first))
	}
	return text
}

// unfitReason says why the cells of a table must not be used one by one, and how many of them could be zero.
func unfitReason(r *report.Report, path string) string {
	t := r.Tables[slices.IndexFunc(r.Tables, func(t report.Table) bool { return t.Path == path })]
	return fmt.Sprintf("the noise is large compared with an average cell, and %s of its %s could be zero",
		budget.Group(t.NoiseCells()), budget.Plural(t.Possible(), "cell"))
}

// addUpFirst returns the paths of the other tables whose cells must be added up before they are used.
func addUpFirst(r *report.Report, but []string) []string {
	return report.PathsWhere(r.Tables, func(t report.Table) bool {
		return !t.Aside && !slices.Contains(but, t.Path) &&
			slices.ContainsFunc(t.Statistics, func(s report.Statistic) bool { return t.Verdict(s) == usefulness.AddUpFirst })
	})
}

// cellWarning says how many single cells must not be used, which tables have the most, and where they are listed; "" if
// all cells may be used.
func cellWarning(r *report.Report) string {
	in, cells, of := r.CouldBeZero()
	if cells == 0 {
		return ""
	}
	var names []string
	for _, t := range in[:min(len(in), namedTables)] {
		names = append(names, fmt.Sprintf("%s (%s of %s)", t.Path, budget.Group(t.NoiseCells()), budget.Group(t.Possible())))
	}
	where := words.Either(len(in) > namedTables, fmt.Sprintf("in %d tables, worst in ", len(in)), "in ")
	text := fmt.Sprintf("Do not use a single cell that could be zero because its interval reaches zero: %s of %s, %s%s. ",
		budget.Group(cells), budget.Group(of), where, words.List(names))
	return text + "The list " + ZeroSection +
		words.Either(r.ZerosNamed(), " names them.", " says how to find them.")
}

// smallNumberWarning warns of any number whose interval contains zero, for tables in which no cell has one: sums and
// other figures may.
func smallNumberWarning(r *report.Report) string {
	_, cells, _ := r.CouldBeZero()
	return words.When(cells == 0 && len(r.Tables) > 0,
		"Do not decide anything by a number whose interval reaches zero: it could be zero, and a 0 could be more.")
}
