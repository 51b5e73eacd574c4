package counted

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// Sensitivity is the sensitivity of a measurement's integers to one unit: the L1 norm and the square of the L2 norm
// of the largest shift. It is never changed once it is made, as many measurements share it.
type Sensitivity struct {
	L1, L2Squared *big.Int
	Shifts        []budget.Shift // the shifts that lose the most, if they are known
	LargestFactor *big.Int       // the largest factor of a count
}

// singleIntegerSensitivity returns the sensitivity of a single integer that a unit changes by at most the given amount.
func singleIntegerSensitivity(by int64) *Sensitivity {
	k := big.NewInt(by)
	return &Sensitivity{L1: k, L2Squared: new(big.Int).Mul(k, k), Shifts: []budget.Shift{{by}},
		LargestFactor: big.NewInt(1)}
}

// Unit is what one privacy unit can contribute to a question: rows of a table, as many as the bounds of the table and
// of the question leave it, in cells of the question's factors.
type Unit struct {
	Table      *spec.Table
	Neighbours spec.Neighbours
	PerUnit    spec.PerUnit
	Cells      int64 // of the question's factors
}

// Rows returns how many rows a unit has at most in the question, and how many of them in one cell: with each of the
// holders that can have rows of it, as many as the bounds leave it there.
func (u Unit) Rows() (all, each int64) {
	all, each = u.rowsOfHolder()
	holders := max(1, u.Table.Unit.Holders)
	return all * holders, each * holders
}

// rowsOfHolder returns [Unit.Rows] of a single holder, who enforces the bounds.
func (u Unit) rowsOfHolder() (all, each int64) {
	all, each = u.Table.Unit.MaxRows, u.Table.Unit.MaxRows
	if u.PerUnit == (spec.PerUnit{}) {
		return all, each
	}
	if u.PerUnit.Total > 0 {
		all = min(all, u.PerUnit.Total)
	}
	if u.PerUnit.RowsPerGroup > 0 {
		each = min(each, u.PerUnit.RowsPerGroup)
	}
	groups := u.Cells
	if u.PerUnit.Groups > 0 {
		groups = min(groups, u.PerUnit.Groups)
	}
	if each <= all/groups { // no product overflows
		all = min(all, groups*each)
	}
	return all, min(each, all)
}

// Counts returns the sensitivity of counts of rows: see [Rows.Sensitivity].
func (u Unit) Counts() *Sensitivity { return u.Sums(one()) }

// Sums returns the sensitivity of sums of rows within an extent: see [SumSensitivity].
func (u Unit) Sums(e Extent) *Sensitivity {
	all, each := u.Rows()
	return SumSensitivity(u.Neighbours, e, all, each, u.Cells)
}

// SumSensitivity returns the sensitivity of the sums of a query to one unit: of rows with integers of an extent, at
// most all of them, and at most each in one cell.
//
// Guarantee: no two neighbours have sums further apart, in either norm, and none of their shifts loses more than all
// of those given, where any are. Neighbours: under add-remove one unit's rows come or go: the shift of a cell is a
// sum of at most each integers, so at most each·M in absolute value with M the largest of the Extent, and all cells'
// together at most all·M; under replace the difference of two such. Theorem: norms are convex, so that they are
// largest where rows are together; shifts merge as in docs/proofs/shifts.md, and noise is symmetric, so that only
// their absolute values count. Argument: docs/proofs/sums.md.
func SumSensitivity(n spec.Neighbours, e Extent, all, each, cells int64) *Sensitivity {
	m := e.Largest()
	k := big.NewInt(all)
	reach := new(big.Int).Set(m)
	one := new(big.Int).Mul(k, m) // L1 of one unit's rows
	squares := new(big.Int).Mul(m, m)
	squares.Mul(squares, concentratedSquares(all, each)) // L2² of one unit's rows
	whole := each >= all
	if n != spec.Replace {
		d := &Sensitivity{L1: one, L2Squared: squares, LargestFactor: reach}
		if whole {
			d.Shifts = shiftsOf(one)
		}
		return d
	}
	// Two units that share no cell, or whose rows in one cell differ by the Extent.
	swing := new(big.Int).Sub(e.Most, e.Least)
	if swing.Cmp(m) < 0 {
		swing.Set(m) // the other unit may have no rows there
	}
	same := new(big.Int).Mul(k, swing)
	if !whole && e.Least.Sign() < 0 && e.Most.Sign() > 0 {
		swing.Lsh(m, 1) // a full cell of one may face a cell of the other that is not, in either direction
	}
	sameSquares := new(big.Int).Mul(swing, swing)
	sameSquares.Mul(sameSquares, concentratedSquares(all, each))
	if cells == 1 {
		d := &Sensitivity{L1: same, L2Squared: sameSquares, LargestFactor: reach}
		if whole {
			d.Shifts = shiftsOf(same)
		}
		return d
	}
	apart := new(big.Int).Lsh(one, 1)
	apartSquares := new(big.Int).Lsh(squares, 1)
	d := &Sensitivity{L1: apart, L2Squared: apartSquares, LargestFactor: reach}
	if sameSquares.Cmp(apartSquares) > 0 {
		d.L2Squared = sameSquares
	}
	switch {
	case !whole:
	case same.Cmp(one) == 0: // all integers have one sign: what rises merges, and what falls
		d.Shifts = shiftsOf(one, one)
	case same.Cmp(apart) == 0: // all of it can be in one cell
		d.Shifts = shiftsOf(apart)
	}
	return d
}

// concentratedSquares returns Σ x² over the cells of a unit's rows, at most all of them and at most each in a cell, if
// the rows are concentrated in as few cells as possible.
func concentratedSquares(all, each int64) *big.Int {
	full, rest := big.NewInt(all/each), big.NewInt(all%each)
	out := new(big.Int).Mul(big.NewInt(each), big.NewInt(each))
	out.Mul(out, full)
	return out.Add(out, rest.Mul(rest, rest))
}

// shiftsOf returns one shift of these parts, nil if one does not fit.
func shiftsOf(parts ...*big.Int) []budget.Shift {
	shift := make(budget.Shift, len(parts))
	for i, p := range parts {
		if !p.IsInt64() {
			return nil
		}
		shift[i] = p.Int64()
	}
	return []budget.Shift{shift}
}

// ResidualSensitivity returns the sensitivity of the integers of a residual whose axes have these moves.
//
// Guarantee: no two neighbours have integers further apart. Neighbours: both relations; a unit has at most k counted
// rows. Theorem: the integers are a Kronecker product, a row is one of its columns, and norms are convex. Two columns
// have an inner product of at least −Π squares·(apart/squares) for the one axis where that is most. The total is 1 ×
// 1 and moves by k at most. Argument: docs/proofs/residuals.md.
func ResidualSensitivity(n spec.Neighbours, maxRows int64, axes []residual.Sensitivity) *Sensitivity {
	k := big.NewInt(maxRows)
	l1, l2Squared, reach := big.NewInt(maxRows), new(big.Int).Mul(k, k), big.NewInt(1)
	for _, m := range axes {
		l1.Mul(l1, big.NewInt(m.Norm))
		l2Squared.Mul(l2Squared, big.NewInt(m.Squares))
		reach.Mul(reach, big.NewInt(m.LargestFactor))
	}
	if n == spec.Replace { // 2·Π squares·(1 + facing), whole as facing is over one of the squares
		facing := new(big.Rat) // the most that an axis adds, relatively, where two rows differ in it alone
		for _, m := range axes {
			if f := big.NewRat(m.PairOpposition, m.Squares); f.Cmp(facing) > 0 {
				facing = f
			}
		}
		l1.Lsh(l1, 1)
		l2Squared.Lsh(l2Squared, 1)
		apart := new(big.Int).Mul(l2Squared, facing.Num())
		l2Squared.Add(l2Squared, apart.Quo(apart, facing.Denom()))
	}
	return &Sensitivity{L1: l1, L2Squared: l2Squared, LargestFactor: reach}
}
