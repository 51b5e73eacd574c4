package design

// This file holds how far one privacy unit can move the moments.

import (
	"math/big"
	"slices"
)

// Change is what one privacy unit can change in a table: at most Added rows come and at most Removed rows go. A unit
// with at most k rows has the change {k, 0} under add-remove, where the other direction has the same norms, and
// {k, k} under replace.
type Change struct{ Added, Removed int64 }

// Sensitivity bounds the shift of a vector of moments by a change: its L1 norm, the square of its L2 norm, and the
// largest absolute value of what one row adds to an entry.
type Sensitivity struct{ L1, L2Squared, Largest *big.Int }

// Diagonal returns the sensitivity of the moments on the diagonal.
//
// Guarantee: no two tables that differ by the change have moments further apart, in either norm; with rows added only,
// some do lie so far apart. Neighbours: both relations, see [Change]. Argument: docs/proofs/regression.md.
func (d *Design) Diagonal(c Change) Sensitivity {
	l1, squares, least := new(big.Int), new(big.Int), new(big.Int)
	for _, e := range d.squares {
		x := d.encodings[e].Square
		l1.Add(l1, power(slices.Max(x), 1))
		squares.Add(squares, power(slices.Max(x), 2))
		least.Add(least, power(slices.Min(x), 2)) // of an inner product
	}
	return c.sensitivity(l1, squares, least, Scale*Scale)
}

// OffDiagonal returns the sensitivity of the moments off the diagonal.
//
// Guarantee: no two tables that differ by the change have moments further apart, in either norm; with rows added only,
// some do lie so far apart, and they are those for which [Design.Diagonal] is attained. Neighbours: both relations,
// see [Change]. Theorem: Gram matrices bound the norm of a sum. Argument: docs/proofs/regression.md.
func (d *Design) OffDiagonal(c Change) Sensitivity {
	// Σ_{a<b} x_a·x_b is the second elementary symmetric polynomial of the largest |z| and z² of each encoding.
	l1, squares := new(big.Int), new(big.Int)
	sum, squareSum, fourths := new(big.Int), new(big.Int), new(big.Int)
	for _, e := range d.encodings {
		l1.Add(l1, new(big.Int).Mul(sum, power(e.Unit, 1)))
		sum.Add(sum, power(e.Unit, 1))
		squares.Add(squares, new(big.Int).Mul(squareSum, power(e.Unit, 2)))
		squareSum.Add(squareSum, power(e.Unit, 2))
		fourths.Add(fourths, power(e.Unit, 4))
	}
	// The inner product of the moments of two rows is Σ_{a<b} t_a·t_b = ((Σ t)² − Σ t²)/2 with t_a = z_a·z′_a, or 0
	// where the rows have different indicators.
	least := fourths.Neg(fourths.Rsh(fourths.Add(fourths, big.NewInt(1)), 1))
	return c.sensitivity(l1, squares, least, Scale*d.target)
}

// Gradient returns the sensitivity of sums to which each row adds its features, but for the target, times an integer of
// the row's own, from −most to most.
//
// Guarantee: no two tables that differ by the change have sums further apart, in either norm, whatever the integers
// are. Neighbours: both relations, see [Change]. Theorem: the triangle inequality, over rows. Argument:
// docs/proofs/models.md.
func (d *Design) Gradient(most int64, c Change) Sensitivity {
	l1, squares, largest := new(big.Int), new(big.Int), int64(0)
	for _, e := range d.encodings[:len(d.encodings)-1] {
		l1.Add(l1, power(e.Unit, 1))
		squares.Add(squares, power(e.Unit, 2))
		largest = max(largest, e.Unit)
	}
	rows := new(big.Int).Add(big.NewInt(c.Added), big.NewInt(c.Removed))
	reach := rows.Mul(rows, big.NewInt(most))
	return Sensitivity{L1: l1.Mul(l1, reach), L2Squared: squares.Mul(squares, new(big.Int).Mul(reach, reach)),
		Largest: big.NewInt(most * largest)}
}

// power returns xⁿ.
func power(x, n int64) *big.Int { return new(big.Int).Exp(big.NewInt(x), big.NewInt(n), nil) }

// sensitivity bounds ‖Σ A_i − Σ B_j‖ with a ≤ Added moments A_i and b ≤ Removed moments B_j, each of an L1 norm of at
// most l1 and a squared L2 norm of at most squares, any two with an inner product of at least least, and no entry of
// more than the given one. The square of the L2 norm is at most a²·squares + b²·squares − 2ab·least. That is convex in
// (a, b), so that it is largest in a corner.
func (c Change) sensitivity(l1, squares, least *big.Int, entry int64) Sensitivity {
	largest := new(big.Int)
	for _, corner := range []Change{{c.Added, 0}, {0, c.Removed}, c} {
		a, b := big.NewInt(corner.Added), big.NewInt(corner.Removed)
		n := new(big.Int).Mul(a, a)
		n.Mul(n.Add(n, new(big.Int).Mul(b, b)), squares)
		both := new(big.Int).Mul(a, b)
		n.Sub(n, both.Lsh(both.Mul(both, least), 1))
		if n.Cmp(largest) > 0 {
			largest = n
		}
	}
	rows := new(big.Int).Add(big.NewInt(c.Added), big.NewInt(c.Removed))
	return Sensitivity{L1: rows.Mul(rows, l1), L2Squared: largest, Largest: big.NewInt(entry)}
}
