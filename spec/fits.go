package spec

import (
	"fmt"
	"math/big"
)

// This file holds what 62 bits hold: how many places a lattice has at most, and how many rows a table.

// mostPlaces bounds the places of a lattice, so that each has a code of 32 bits with some to spare.
const mostPlaces = int64(1)<<32 - 8

// mostRowsOfAll is how many rows sums are made for where a table does not say how many it has: 2^34.
const mostRowsOfAll = 1 << 34

// mostRows is the most rows that a table has.
func mostRows(t *Table) *big.Int {
	if t.Expect != nil && t.Expect.Rows != nil {
		return big.NewInt(t.Expect.Rows.Most)
	}
	return big.NewInt(mostRowsOfAll)
}

// rowsText says how many rows a table has at most.
func rowsText(t *Table) string {
	if t.Expect != nil && t.Expect.Rows != nil {
		return fmt.Sprintf("the %d rows that are expected", t.Expect.Rows.Most)
	}
	return "2^34 rows"
}

// fits tells that a product is below 2^62.
func fits(factors ...*big.Int) bool {
	product := big.NewInt(1)
	for _, f := range factors {
		product.Mul(product, f)
	}
	return product.BitLen() <= 62
}
