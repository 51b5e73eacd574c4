package spec

import (
	"fmt"
	"math/big"
)

// This file holds bounds that keep sums within 62 bits: on the points of a lattice, and on the rows of a table.

// maxLatticePoints bounds the points of a lattice, so that each has a code of 32 bits with some to spare.
const maxLatticePoints = int64(1)<<32 - 8

// defaultMaxRows is the number of rows that sums must hold for a table without a bound on its rows: 2^34.
const defaultMaxRows = 1 << 34

// maxRows returns the largest number of rows of a table.
func maxRows(t *Table) *big.Int {
	if t.Expect != nil && t.Expect.Rows != nil {
		return big.NewInt(t.Expect.Rows.Most)
	}
	return big.NewInt(defaultMaxRows)
}

// rowsText says how many rows a table has at most.
func rowsText(t *Table) string {
	if t.Expect != nil && t.Expect.Rows != nil {
		return fmt.Sprintf("the %d rows that are expected", t.Expect.Rows.Most)
	}
	return "2^34 rows"
}

// fitsIn62Bits reports whether a product is below 2^62.
func fitsIn62Bits(factors ...*big.Int) bool {
	product := big.NewInt(1)
	for _, f := range factors {
		product.Mul(product, f)
	}
	return product.BitLen() <= 62
}
