// Package limit holds the limits of plans.
//
// It owns the sizes that no plan exceeds, so that no product overflows and nothing is planned that no machine could
// do. It never refuses anything: the packages that plan hold their sizes against it.
package limit

const (
	// Cells bounds one table, so that no product of sizes can overflow and none is planned that no machine could count:
	// it would take a terabyte.
	Cells = int64(1) << 36
	// SparseCells bounds a sparse table, whose cells are not visited one by one.
	SparseCells = int64(1) << 62
)

// SharedAttributes is up to how many attributes tables share measurements.
const SharedAttributes = 16

// Bins bounds the bins of a cell.
const Bins = 1 << 12

// Reach bounds by how much the integers of a residual exceed the counts: with fewer than 2^32 rows they then stay
// below 2^62.
const Reach = int64(1) << 30

// MicrodataRows bounds the rows of microdata that are as many as an invariant has.
const MicrodataRows = 1_000_000_000

// FittedCells bounds the cells of the tables that are made to add up together.
const FittedCells = int64(1) << 26
