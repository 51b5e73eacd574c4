package counted

import (
	"errors"

	"github.com/dprelease/dprelease/spec"
)

// Distinct counts, in each cell, not rows but the different values that they have of a column: its finest categories
// or, if it has none, the multiples of its step. Of the pairs of cell and value that a unit has, at most PerUnit
// count, drawn under the release's key; a pair counts once however many units have it. So one unit adds at most
// PerUnit to all cells together, as PerUnit rows would, and the question has no other bound per unit.
type Distinct struct {
	Column  string `json:"column"`
	PerUnit int64  `json:"per_unit"`
}

// Kind returns [KindDistinct].
func (Distinct) Kind() Kind { return KindDistinct }

// Reads returns the column.
func (d Distinct) Reads() string { return d.Column }

// Operands names what is read of a row.
func (d Distinct) Operands() []string { return []string{d.Column} }

// Weighted reports false: a value counts once.
func (Distinct) Weighted() bool { return false }

// PerCell returns 1.
func (Distinct) PerCell(*spec.Table) int64 { return 1 }

// Check returns an error unless a unit counts for at least one value.
func (d Distinct) Check(*spec.Table) error {
	if d.PerUnit < 1 {
		return errors.New("counts no values of any unit")
	}
	return nil
}

// Extent returns 1 to 1.
func (Distinct) Extent(*spec.Table) Extent { return one() }

// Sensitivity returns the sensitivity of the counts of different values, which equals that of PerUnit rows.
//
// Guarantee: see [Distinct] and [SumSensitivity]. Neighbours: both relations. Argument: docs/proofs/values.md.
func (d Distinct) Sensitivity(u Unit) (*Sensitivity, error) {
	return SumSensitivity(u.Neighbours, d.Extent(u.Table), d.PerUnit, d.PerUnit, u.Cells), nil
}
