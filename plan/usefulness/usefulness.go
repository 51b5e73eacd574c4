// Package usefulness holds what a table will be worth, as a plan says it.
//
// It owns the words and figures: the noise of a table against the size of an average cell, whether its cells are to
// be used one by one, and which change of the spec would help.
//
// It never judges a table: package compiled does.
package usefulness

// Usefulness sets the noise of a table against an average cell: the rows expected of the confidential table, a public
// number, spread evenly over the table's cells. Nothing of it comes from data.
type Usefulness struct {
	// Band is how good the table is; "" where the spec says nothing of the number of rows.
	Band Band `json:"band,omitempty"`
	// Verdict is whether the cells are to be used one by one, where all are as large as an average cell; "" without a
	// band.
	Verdict Verdict `json:"verdict,omitempty"`
	// Rows is the middle of what the spec expects of the confidential table; 0 where it expects nothing.
	Rows int64 `json:"rows,omitempty"`
	// AverageCell is Rows over the cells; where the table counts up, the mean of what that gives.
	AverageCell float64 `json:"average_cell,omitempty"`
	// EnoughRows is with how many rows an average cell is as large as its standard error.
	EnoughRows int64 `json:"enough_rows"`
	// Help is what would take the table out of its band, the smallest change first; of weak tables and worse.
	Help []Help `json:"help,omitempty"`
}

// Band is how good a table is, by its noise and its average cell.
type Band string

// The bands, best first.
const (
	// Good: the 95 % margin is at most a tenth of an average cell.
	Good Band = "good"
	// Usable: the standard error is at most half of an average cell.
	Usable Band = "usable"
	// Weak: it is more.
	Weak Band = "weak"
	// MostlyNoise: more than half of the cells are expected to be off by more than an average cell.
	MostlyNoise Band = "mostly noise"
)

// Help is a change of the spec that takes a table out of its band, and what the standard error would then be.
type Help struct {
	// Change is what to do, such as "drop region" or "region.state for region".
	Change string `json:"change"`
	// Factor is the size of the change: how many times fewer cells, or how many times the ε or ρ.
	Factor float64 `json:"factor"`
	// Relative is the standard error that is left, as a part of an average cell.
	Relative float64 `json:"relative_error"`
	// Budget tells that the change is one of the budget, not of the table.
	Budget bool `json:"budget,omitempty"`
}
