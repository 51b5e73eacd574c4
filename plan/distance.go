package plan

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the distance: how far one unit can move the integers of a measurement.

// distance is how far one unit can move the integers of a measurement. It is never changed, as many have the same.
type distance struct {
	l1, l2Squared *big.Int
	shifts        []budget.Shift // those that lose the most, where they are known
	reach         *big.Int       // by how much counts are multiplied at most
}

// moved is how far one unit can move the integers of a table that is measured by itself.
func (g *group) moved(r *spec.Release, t *table) *distance {
	if !t.valued() {
		return g.counts(r, t.countedCells())
	}
	confidential := r.Table(t.marginal.Table)
	switch {
	case t.quantile != nil:
		return t.rankDistance(r)
	case t.diagnostic == UnitsOver:
		return moves(1)
	case t.diagnostic != "":
		return moves(confidential.Unit.MaxRows)
	}
	if t.distinct != nil {
		return sumSensitivity(r.Privacy.Neighbours, t.value.extent(confidential), t.distinct.PerUnit, t.distinct.PerUnit, t.cells)
	}
	all, each := rowsOf(confidential.Unit, t.perUnit, t.countedCells())
	return sumSensitivity(r.Privacy.Neighbours, t.value.extent(confidential), all, each, t.countedCells())
}

// moves is a distance of one integer.
func moves(by int64) *distance {
	k := big.NewInt(by)
	return &distance{l1: k, l2Squared: new(big.Int).Mul(k, k), shifts: []budget.Shift{{by}}, reach: big.NewInt(1)}
}

// counts is how far one unit can move so many counts: one, or more.
func (g *group) counts(r *spec.Release, cells int64) *distance {
	known := &g.knownCounts[min(cells, 2)-1]
	if *known == nil {
		l1, l2Squared, shifts := sensitivity(r.Privacy.Neighbours, r.Table(g.tables[0].marginal.Table).Unit.MaxRows, cells)
		*known = &distance{l1, l2Squared, shifts, big.NewInt(1)}
	}
	return *known
}

// moves is how far one unit can move the integers of a residual. Those whose axes have the same moves have the same, which
// is worked out once.
func (g *group) moves(r *spec.Release, axes residual.Set) *distance {
	if len(axes) == 0 {
		return g.counts(r, 1)
	}
	var kinds [mostShared]int // of the moves of the axes, from 1 on
	for i, a := range axes {
		moves := g.chains.columns[a.Column].Moves(a.Level)
		kinds[i] = 1 + slices.Index(g.kinds, moves)
		if kinds[i] == 0 {
			g.kinds = append(g.kinds, moves)
			kinds[i] = len(g.kinds)
		}
	}
	slices.Sort(kinds[:len(axes)])
	known, ok := g.known[kinds]
	if !ok {
		each := make([]residual.Moves, len(axes))
		for i := range each {
			each[i] = g.kinds[kinds[i]-1]
		}
		known = movesOf(r.Privacy.Neighbours, r.Table(g.tables[0].marginal.Table).Unit.MaxRows, each)
		if g.known == nil {
			g.known = map[[mostShared]int]*distance{}
		}
		g.known[kinds] = known
	}
	return known
}

// movesOf is how far one unit can move the integers of a residual whose axes have these moves.
//
// Guarantee: no two neighbours have integers further apart. Neighbours: both relations; a unit has at most k counted
// rows. Theorem: the integers are a Kronecker product, a row is one of its columns, and norms are convex. Two columns
// have an inner product of at least −Π squares·(apart/squares) for the one axis where that is most. The total is
// 1 × 1 and moves by k at most. Argument: docs/proofs/residuals.md.
func movesOf(n spec.Neighbours, maxRows int64, axes []residual.Moves) *distance {
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
	return &distance{l1: l1, l2Squared: l2Squared, reach: reach}
}
