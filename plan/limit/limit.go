// Package limit holds the limits of plans.
//
// It owns the sizes that no plan exceeds, so that no product overflows and nothing is planned that no machine could
// do. It never refuses anything: the packages that plan compare their sizes with it.
package limit

const (
	// Cells bounds one table, so that no product of sizes can overflow and none is planned that no machine could count:
	// it would take a terabyte.
	Cells = int64(1) << 36
	// SparseCells bounds a sparse table, whose cells are not visited one by one.
	SparseCells = int64(1) << 62
)

// SharedAttributes is the largest number of attributes of a table that shares measurements.
const SharedAttributes = 16

// Bins bounds the bins of a cell.
const Bins = 1 << 12

// ResidualFactor bounds the ratio of the integers of a residual to the counts: with fewer than 2^32 rows they then stay
// below 2^62.
const ResidualFactor = int64(1) << 30

// MicrodataRows bounds the rows of microdata whose number comes from an invariant.
const MicrodataRows = 1_000_000_000

// FittedCells bounds the cells of the tables that are made to add up together.
const FittedCells = int64(1) << 26
