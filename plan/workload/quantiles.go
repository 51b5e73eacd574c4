package workload

import (
	"github.com/dprelease/dprelease/plan/counted"
)

// This file holds parts of quantiles: how many cells they have, and the choice of ways to them.

// Quantiles returns the question of a part of quantiles.
func (t *Table) Quantiles() counted.Quantiles { return t.Counted.(counted.Quantiles) }

// answersPerCell returns how many answers each cell has: for quantiles each share and the ends of its interval, else
// one.
func answersPerCell(what counted.Counted) int64 {
	if q, ok := what.(counted.Quantiles); ok {
		return counted.DrawsPerShare * int64(len(q.At))
	}
	return 1
}

// Groups returns how many cells the factors have, each of which has one answer or more.
func (t *Table) Groups() int64 { return t.Cells / answersPerCell(t.Counted) }
