package plan

import (
	"math/big"

	"github.com/dprelease/dprelease/spec"
)

// sensitivity is how far one unit can move the counts of a marginal: the L1
// norm and the square of the L2 norm of the largest shift.
//
// Contract: a unit holds at most k counted rows (enforced by bounding before
// counting), each in one cell. Under add-remove the shift is a vector of at
// most k ones spread over cells, of L1 norm k and L2 norm at most k, reached
// when all fall in one cell. Under replace it is the difference of two such
// vectors: L1 at most 2k, squared L2 at most 2k², reached when all leave one
// cell for another; a table of one cell moves by at most k.
func sensitivity(n spec.Neighbours, maxRows, cells int64) (l1, l2Squared *big.Int) {
	k := big.NewInt(maxRows)
	k2 := new(big.Int).Mul(k, k)
	if n == spec.Replace && cells > 1 {
		return k.Lsh(k, 1), k2.Lsh(k2, 1)
	}
	return k, k2
}
