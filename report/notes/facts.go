package notes

// This file derives facts from tables that only sentences need.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
)

// figuresIn returns the number of cells for figures other than counts, and for how many of them nothing is published:
// because their count is below the threshold of the spec, and because the noise leaves every possible value open.
func figuresIn(tables []report.Table) (all, withheld, unbounded int64) {
	for _, t := range tables {
		for _, f := range t.Figures {
			all, withheld, unbounded = all+t.Cells, withheld+f.Withheld, unbounded+f.Unbounded
		}
	}
	return all, withheld, unbounded
}

// figureKinds returns the kinds of figures that occur.
func figureKinds(tables []report.Table) map[string]bool {
	kinds := map[string]bool{}
	for _, t := range tables {
		for _, f := range t.Figures {
			kinds[f.Kind] = true
		}
	}
	return kinds
}

// anyCumulative reports whether some table is cumulative, anyCounting whether some table is not.
func anyCumulative(tables []report.Table) bool {
	return slices.ContainsFunc(tables, func(t report.Table) bool { return t.Cumulative != nil })
}

func anyCounting(tables []report.Table) bool {
	return slices.ContainsFunc(tables, func(t report.Table) bool { return t.Cumulative == nil })
}
