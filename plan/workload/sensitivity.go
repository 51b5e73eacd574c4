package workload

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds sensitivities: how far one unit can move the integers of a measurement.

// CountSensitivity is how far one unit can move the counts of a marginal: the L1
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
func CountSensitivity(n spec.Neighbours, maxRows, cells int64) (l1, l2Squared *big.Int, worst []budget.Shift) {
	k := big.NewInt(maxRows)
	k2 := new(big.Int).Mul(k, k)
	if n == spec.Replace && cells > 1 {
		return k.Lsh(k, 1), k2.Lsh(k2, 1), []budget.Shift{{maxRows, maxRows}}
	}
	return k, k2, []budget.Shift{{maxRows}}
}

// Sensitivity is how far one unit can move the integers of a measurement. It is never changed, as many have the same.
type Sensitivity struct {
	L1, L2Squared *big.Int
	Shifts        []budget.Shift // those that lose the most, where they are known
	Reach         *big.Int       // by how much counts are multiplied at most
}

// Moves is a distance of one integer.
func Moves(by int64) *Sensitivity {
	k := big.NewInt(by)
	return &Sensitivity{L1: k, L2Squared: new(big.Int).Mul(k, k), Shifts: []budget.Shift{{by}}, Reach: big.NewInt(1)}
}

// MovesOf is how far one unit can move the integers of a residual whose axes have these moves.
//
// Guarantee: no two neighbours have integers further apart. Neighbours: both relations; a unit has at most k counted
// rows. Theorem: the integers are a Kronecker product, a row is one of its columns, and norms are convex. Two columns
// have an inner product of at least −Π squares·(apart/squares) for the one axis where that is most. The total is
// 1 × 1 and moves by k at most. Argument: docs/proofs/residuals.md.
func MovesOf(n spec.Neighbours, maxRows int64, axes []residual.Moves) *Sensitivity {
	k := big.NewInt(maxRows)
	l1, l2Squared, reach := big.NewInt(maxRows), new(big.Int).Mul(k, k), big.NewInt(1)
	facing := new(big.Rat) // the most that an axis adds, relatively, where two rows differ in it alone
	for _, m := range axes {
		l1.Mul(l1, big.NewInt(m.Norm))
		l2Squared.Mul(l2Squared, big.NewInt(m.Squares))
		reach.Mul(reach, big.NewInt(m.Reach))
		if f := big.NewRat(m.Facing, m.Squares); f.Cmp(facing) > 0 {
			facing = f
		}
	}
	if n == spec.Replace { // 2·Π squares·(1 + facing), whole as facing is over one of the squares
		l1.Lsh(l1, 1)
		l2Squared.Lsh(l2Squared, 1)
		apart := new(big.Int).Mul(l2Squared, facing.Num())
		l2Squared.Add(l2Squared, apart.Quo(apart, facing.Denom()))
	}
	return &Sensitivity{L1: l1, L2Squared: l2Squared, Reach: reach}
}
