package workload

import (
	"math/big"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the sensitivity of values: how far one unit can move sums of the integers of its rows.

// extent is the least and the largest integer that a row can add to a cell.
type extent struct{ least, most *big.Int }

// ExtentOf is that of the value's rows. nil is a row of 1.
//
// Contract: no row adds an integer outside it: values are clamped to the lattice, and weights to theirs, before they
// are multiplied (docs/proofs/sums.md).
func ExtentOf(v *plan.Value, t *spec.Table) extent {
	if v == nil {
		return extent{big.NewInt(1), big.NewInt(1)}
	}
	if v.Beyond {
		return extent{new(big.Int), big.NewInt(1)}
	}
	out := extent{big.NewInt(1), big.NewInt(1)}
	if v.Power > 0 {
		out = ofColumn(v, t.Column(v.Column).Lattice)
	}
	if v.Weight {
		out = out.times(extent{big.NewInt(t.Weight.Lattice.First), big.NewInt(t.Weight.Lattice.Last)})
	}
	return out
}

// ofColumn is the extent of the column's part.
func ofColumn(v *plan.Value, l *domain.Lattice) extent {
	affine := func(place, minus, by int64) *big.Int {
		x := new(big.Int).Mul(big.NewInt(place), big.NewInt(v.Times))
		x.Sub(x, big.NewInt(minus))
		return x.Mul(x, big.NewInt(by))
	}
	var out extent
	if v.Per == "" {
		out = extent{affine(l.First, v.Minus, 1), affine(l.Last, v.Minus, 1)}
	}
	for i, by := range v.By {
		one := extent{affine(l.Strata[i].First, v.Off[i], by), affine(l.Strata[i].Last, v.Off[i], by)}
		if i == 0 {
			out = one
		}
		out = out.with(one)
	}
	if v.Power == 2 {
		out = out.squared()
	}
	return out
}

// with is the hull of two.
func (e extent) with(o extent) extent {
	if o.least.Cmp(e.least) < 0 {
		e.least = o.least
	}
	if o.most.Cmp(e.most) > 0 {
		e.most = o.most
	}
	return e
}

// times is that of products.
func (e extent) times(o extent) extent {
	first := new(big.Int).Mul(e.least, o.least)
	out := extent{first, first}
	for _, p := range [][2]*big.Int{{e.least, o.most}, {e.most, o.least}, {e.most, o.most}} {
		x := new(big.Int).Mul(p[0], p[1])
		out = out.with(extent{x, x})
	}
	return out
}

// squared is that of squares.
func (e extent) squared() extent {
	low, high := new(big.Int).Mul(e.least, e.least), new(big.Int).Mul(e.most, e.most)
	if low.Cmp(high) > 0 {
		low, high = high, low
	}
	if e.least.Sign() < 0 && e.most.Sign() > 0 {
		low = new(big.Int)
	}
	return extent{low, high}
}

// largest is the largest absolute value.
func (e extent) largest() *big.Int {
	low, high := new(big.Int).Abs(e.least), new(big.Int).Abs(e.most)
	if low.Cmp(high) > 0 {
		return low
	}
	return high
}

// RowsOf are how many rows a unit has at most in a query of so many cells, and how many of them in one cell.
func RowsOf(u spec.Unit, bound *spec.PerUnit, cells int64) (all, each int64) {
	all, each = u.MaxRows, u.MaxRows
	if bound == nil {
		return all, each
	}
	if bound.Total > 0 {
		all = min(all, bound.Total)
	}
	if bound.RowsPerGroup > 0 {
		each = min(each, bound.RowsPerGroup)
	}
	groups := cells
	if bound.Groups > 0 {
		groups = min(groups, bound.Groups)
	}
	if each <= all/groups { // no product overflows
		all = min(all, groups*each)
	}
	return all, min(each, all)
}

// SumSensitivity is how far one unit can move the sums of a query: of rows with integers of an extent, at most all of
// them, and at most each in one cell.
//
// Guarantee: no two neighbours have sums further apart, in either norm, and none of their shifts loses more than all of
// those given, where any are. Neighbours: under add-remove one unit's rows come or go: the shift of a cell is a sum of
// at most each integers, so at most each·M in absolute value with M the largest of the extent, and all cells' together
// at most all·M; under replace the difference of two such. Theorem: norms are convex, so that they are largest where
// rows are together; shifts merge as in docs/proofs/shifts.md, and noise is symmetric, so that only their absolute
// values count. Argument: docs/proofs/sums.md.
func SumSensitivity(n spec.Neighbours, e extent, all, each, cells int64) *Sensitivity {
	m := e.largest()
	k := big.NewInt(all)
	reach := new(big.Int).Set(m)
	one := new(big.Int).Mul(k, m) // L1 of one unit's rows
	squares := new(big.Int).Mul(m, m)
	squares.Mul(squares, concentrated(all, each)) // L2² of one unit's rows
	whole := each >= all
	if n != spec.Replace {
		d := &Sensitivity{L1: one, L2Squared: squares, Reach: reach}
		if whole {
			d.Shifts = shiftsOf(one)
		}
		return d
	}
	// Two units that share no cell, or whose rows in one cell differ by the extent.
	swing := new(big.Int).Sub(e.most, e.least)
	if swing.Cmp(m) < 0 {
		swing.Set(m) // the other unit may have no rows there
	}
	same := new(big.Int).Mul(k, swing)
	if !whole && e.least.Sign() < 0 && e.most.Sign() > 0 {
		swing.Lsh(m, 1) // a full cell of one may face a cell of the other that is not, in either direction
	}
	sameSquares := new(big.Int).Mul(swing, swing)
	sameSquares.Mul(sameSquares, concentrated(all, each))
	if cells == 1 {
		d := &Sensitivity{L1: same, L2Squared: sameSquares, Reach: reach}
		if whole {
			d.Shifts = shiftsOf(same)
		}
		return d
	}
	apart := new(big.Int).Lsh(one, 1)
	apartSquares := new(big.Int).Lsh(squares, 1)
	d := &Sensitivity{L1: apart, L2Squared: apartSquares, Reach: reach}
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

// concentrated is Σ x² of rows, at most all of them and at most each in a cell, where they are as much together as they
// can.
func concentrated(all, each int64) *big.Int {
	full, rest := big.NewInt(all/each), big.NewInt(all%each)
	out := new(big.Int).Mul(big.NewInt(each), big.NewInt(each))
	out.Mul(out, full)
	return out.Add(out, rest.Mul(rest, rest))
}

// shiftsOf is one shift of these parts, nil where one does not fit.
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
