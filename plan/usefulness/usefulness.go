// Package usefulness holds what a table is useful for, as a plan states it.
//
// It owns the words and figures: the noise of a table compared with the size of an average cell, whether its cells
// can be used one by one, and which change of the spec would help.
//
// It never judges a table: package compiled does.
package usefulness

import "github.com/dprelease/dprelease/plan/phrase"

// Usefulness compares the noise of a table with an average cell: the rows expected of the confidential table, a
// public number, spread evenly over the table's cells. Nothing of it comes from data.
type Usefulness struct {
	// Band is the table's quality; "" if the spec does not state the number of rows.
	Band Band `json:"band,omitempty"`
	// Verdict says whether the cells can be used one by one, if all are as large as an average cell; "" without a band.
	Verdict Verdict `json:"verdict,omitempty"`
	// Rows is the middle of the spec's expectation for the confidential table; 0 if it has none.
	Rows int64 `json:"rows,omitempty"`
	// AverageCell is Rows over the number of cells; in a cumulative table, the mean of its figures.
	AverageCell float64 `json:"average_cell,omitempty"`
	// EnoughRows is the number of rows with which an average cell is as large as its standard error.
	EnoughRows int64 `json:"enough_rows"`
	// Help is what would take a weak or worse table out of its band, the smallest change first.
	Help []Help `json:"help,omitempty"`
}

// Band is the quality of a table, by its noise and its average cell.
type Band string

// The bands, best first.
const (
	// Good: the 95% margin is at most a tenth of an average cell.
	Good Band = "good"
	// Usable: the standard error is at most half of an average cell.
	Usable Band = "usable"
	// Weak: it is more.
	Weak Band = "weak"
	// MostlyNoise: more than half of the cells are expected to be off by more than an average cell.
	MostlyNoise Band = "mostly noise"
)

// Help is a change of the spec that takes a table out of its band, and the standard error that it would leave.
type Help struct {
	// Change is what to do, such as to drop an attribute or to take a coarser level of it.
	Change phrase.Phrase `json:"change"`
	// Factor is the size of the change: how many times fewer cells, or how many times the ε or ρ.
	Factor float64 `json:"factor"`
	// Relative is the standard error that remains, as a part of an average cell.
	Relative float64 `json:"relative_error"`
	// Budget reports whether the change is one of the budget, not of the table.
	Budget bool `json:"budget,omitempty"`
}
