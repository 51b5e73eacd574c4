package notes

// This file holds what is read off tables for sentences alone.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
)

// figuresIn is how many cells there are for figures beside counts, and of how many of them nothing is published: as
// their count is below what the spec shows, and as noise leaves open all that the figure may be.
func figuresIn(tables []report.Table) (all, withheld, unbounded int64) {
	for _, t := range tables {
		for _, f := range t.Figures {
			all, withheld, unbounded = all+t.Cells, withheld+f.Withheld, unbounded+f.Unbounded
		}
	}
	return all, withheld, unbounded
}

// figureKinds tells which kinds of figures there are.
func figureKinds(tables []report.Table) map[string]bool {
	kinds := map[string]bool{}
	for _, t := range tables {
		for _, f := range t.Figures {
			kinds[f.Kind] = true
		}
	}
	return kinds
}

// cumulative tells that some table counts up; counts, that some table does not.
func cumulative(tables []report.Table) bool {
	return slices.ContainsFunc(tables, func(t report.Table) bool { return t.Cumulative != nil })
}

func counts(tables []report.Table) bool {
	return slices.ContainsFunc(tables, func(t report.Table) bool { return t.Cumulative == nil })
}
