package counted

import (
	"fmt"

	"github.com/dprelease/dprelease/spec"
)

// Diagnostic counts, in one cell without factors, what bounds and policies leave out, so that a report can speak of
// bias. The count of each unit is between 0 and the bound stated here, and is a function of that unit's rows only: so
// that bound is the sensitivity, under both neighbouring relations, in L1 and L2. (How many values of a column are
// clamped is a sum of values: [Values].Beyond.)
type Diagnostic string

// The diagnostics, with k for the max_rows of the table.
const (
	// UnitsOver counts units of which more than k rows could be counted: 1 at most.
	UnitsOver Diagnostic = "units over"
	// RowsOver counts the rows that are not counted for that reason, of each unit at most k.
	RowsOver Diagnostic = "rows over"
	// RowsLeftOut counts the rows that a policy, an entry of `impossible` or a missing parent row leaves out, of each
	// unit at most k. Rows without an id, which belong to no unit, are not among them.
	RowsLeftOut Diagnostic = "rows left out"
)

// Kind returns [KindDiagnostic].
func (Diagnostic) Kind() Kind { return KindDiagnostic }

// Reads returns "": no value is read.
func (Diagnostic) Reads() string { return "" }

// Operands returns nil.
func (Diagnostic) Operands() []string { return nil }

// Weighted reports false: each row, or unit, counts as 1 even if the table has weights, as the bounds stated for the
// diagnostics are numbers of rows and units.
func (Diagnostic) Weighted() bool { return false }

// PerCell returns 1.
func (Diagnostic) PerCell(*spec.Table) int64 { return 1 }

// Check returns an error unless it is one of the diagnostics above.
func (d Diagnostic) Check(*spec.Table) error {
	switch d {
	case UnitsOver, RowsOver, RowsLeftOut:
		return nil
	}
	return fmt.Errorf("asks for %q, which this version does not know", string(d))
}

// Extent returns 1 to 1.
func (Diagnostic) Extent(*spec.Table) Extent { return one() }

// Sensitivity returns the sensitivity of the count: 1 if units are counted, else max_rows; as often as holders can have
// rows of a unit.
//
// Guarantee: each diagnostic is a sum over units of integers from 0 to this. Neighbours: both relations. Argument:
// docs/proofs/values.md.
func (d Diagnostic) Sensitivity(u Unit) (*Sensitivity, error) {
	if d == UnitsOver {
		return singleIntegerSensitivity(max(1, u.Table.Unit.Holders)), nil
	}
	return singleIntegerSensitivity(u.Table.Unit.AllRows()), nil
}
