package counted

import "github.com/dprelease/dprelease/spec"

// Rows counts the rows of a cell, each as 1: the question of a plain marginal.
type Rows struct{}

// Kind returns [KindRows].
func (Rows) Kind() Kind { return KindRows }

// Reads returns "": no value is read.
func (Rows) Reads() string { return "" }

// Operands returns nil.
func (Rows) Operands() []string { return nil }

// Weighted reports false: each row counts as 1.
func (Rows) Weighted() bool { return false }

// PerCell returns 1.
func (Rows) PerCell(*spec.Table) int64 { return 1 }

// Check returns nil: rows of every table can be counted.
func (Rows) Check(*spec.Table) error { return nil }

// Extent returns 1 to 1.
func (Rows) Extent(*spec.Table) Extent { return one() }

// Sensitivity returns the sensitivity of counts: [Unit.Sums] of rows that each add 1.
//
// Guarantee: with k rows of a unit, each in one cell (enforced by bounding before counting), the shift is under
// add-remove a vector of at most k ones spread over cells, of L1 norm k and L2 norm at most k, reached when all fall
// in one cell. Under replace it is the difference of two such vectors: L1 at most 2k, squared L2 at most 2k², reached
// when all leave one cell for another; a question of one cell moves by at most k. In either case no shift loses more
// than that of k rows in one cell, or from one cell to another: the cells that rise merge into one, and so do those
// that fall. Neighbours: both relations. Theorem: docs/proofs/shifts.md. Argument: docs/proofs/sensitivity.md.
func (Rows) Sensitivity(u Unit) (*Sensitivity, error) { return u.Counts(), nil }
