package plan

// This file holds sparse tables: tables of which those cells are published whose noisy count is above a public
// threshold.

// Sparse says of a table that every possible cell gets noise, and that those whose noisy count is more than Above are
// published: cells with rows and cells without, by the same rule. Whether a cell has rows decides nothing by itself.
type Sparse struct {
	Above int64 `json:"above"`
	// FalseCells is how many cells without a row are expected among those that are published, at most: P(X > Above) times
	// the cells that are possible, by the law of the noise X.
	FalseCells float64 `json:"false_cells"`
	// Bound is how many rows a cell that is not published has at most: one of more is missed with a chance of at most what
	// the statistic's confidence leaves open.
	Bound int64 `json:"bound"`
	// Missed is with what chance a cell of some numbers of rows is not published.
	Missed []Missed `json:"missed"`
}

// Missed is with what chance a cell of so many rows is not published: P(Rows + X ≤ Above), rounded up.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}
