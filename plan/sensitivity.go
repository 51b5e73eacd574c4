package plan

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// sensitivity is how far one unit can move the counts of a marginal: the L1
// norm and the square of the L2 norm of the largest shift, and the shifts that
// lose the most.
//
// Contract: a unit holds at most k counted rows (enforced by bounding before
// counting), each in one cell. Under add-remove the shift is a vector of at
// most k ones spread over cells, of L1 norm k and L2 norm at most k, reached
// when all fall in one cell. Under replace it is the difference of two such
// vectors: L1 at most 2k, squared L2 at most 2k², reached when all leave one
// cell for another; a table of one cell moves by at most k. In either case no
// shift loses more than that of k rows in one cell, or from one cell to another:
// the cells that rise merge into one, and so do those that fall
// (docs/proofs/shifts.md).
func sensitivity(n spec.Neighbours, maxRows, cells int64) (l1, l2Squared *big.Int, worst []budget.Shift) {
	k := big.NewInt(maxRows)
	k2 := new(big.Int).Mul(k, k)
	if n == spec.Replace && cells > 1 {
		return k.Lsh(k, 1), k2.Lsh(k2, 1), []budget.Shift{{maxRows, maxRows}}
	}
	return k, k2, []budget.Shift{{maxRows}}
}
