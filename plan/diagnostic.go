package plan

// This file holds the diagnostic: what a query counts of the rows that bounds and policies leave out, so that a report
// can speak of bias. How many values of a column are clamped is a sum of values ([Value.Beyond]).

// Diagnostic names a count of one cell, of a query without factors. Of each unit it is between 0 and what is said here,
// a function of that unit's rows alone: so that is how far a unit can move it, under both neighbouring relations, in L1
// and L2.
type Diagnostic string

// The diagnostics, with k for the max_rows of the table.
const (
	// UnitsOver counts units of which more than k rows could be counted: 1 at most.
	UnitsOver Diagnostic = "units over"
	// RowsOver counts the rows that are not counted for that, of each unit at most k.
	RowsOver Diagnostic = "rows over"
	// RowsLeftOut counts the rows that a policy, an entry of `impossible` or a missing parent row leaves out, of each unit
	// at most k; those without an id, which are of no unit, are not among them.
	RowsLeftOut Diagnostic = "rows left out"
)
