package report

// This file holds tables that show some of their cells: those above a threshold, those that were chosen, and groups
// that nobody listed.

// Discovered says of a table that it has a row for each group that a selection has let through, and for no other.
type Discovered struct {
	Columns []string `json:"columns"` // whose values nobody lists
	Groups  int64    `json:"groups"`  // in so many a unit counts at most
	AtLeast int64    `json:"at_least,omitempty"`
	Delta   string   `json:"delta"` // reserved for the selection, of that of the release
	// Selection is what it costs beside that, of each group or of all.
	Selection Mechanism `json:"selection"`
	Times     int64     `json:"times"` // how often it is charged
	Chances   []Chance  `json:"chances"`
}

// Chance is with what chance a group of so many units appears.
type Chance struct {
	Units  int64   `json:"units"`
	Chance float64 `json:"chance"`
}

// Sparse says of a table that it has a row for each cell whose noisy count is above a public threshold, and for no
// other.
type Sparse struct {
	Above      int64   `json:"above"`
	Declared   int64   `json:"declared_cells"`             // that got noise, and those that are impossible
	Impossible int64   `json:"impossible_cells,omitempty"` // of them: they are never in the table
	FalseCells float64 `json:"false_cells"`                // cells without a row that are expected in the table, at most
	// a cell of more rows is in the table with the statistic's confidence
	Bound  int64    `json:"bound"`
	Missed []Missed `json:"missed"`
}

// Missed is with what chance a cell of so many rows is not in the table.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}

// Top says of a table that it has a row for each cell that was chosen, in the order of the choice, and for no other.
type Top struct {
	Of       int64 `json:"of"`
	Declared int64 `json:"declared_cells"` // among which they were chosen
	// Select made each choice. A unit moves the count of a cell by at most Sensitivity and, where Monotone, of all in one
	// direction.
	Select      Mechanism `json:"select"`
	Sensitivity int64     `json:"sensitivity"`
	Monotone    bool      `json:"monotone"`
	Choosing    string    `json:"choosing"` // the part of the table's budget that choosing took
	// a cell that is not in the table has no more than one that is by over so much
	Shortfall float64 `json:"shortfall"`
	Attained  float64 `json:"attained"` // with this probability or more
}
