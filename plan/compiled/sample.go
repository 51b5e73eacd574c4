package compiled

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// This file holds what a sample adds to the error of counts, and how many rows of a unit a sampled table may hold.

// growsWithCount reports whether the error of counts grows with them, as the error of a sample does, and the error of
// reports that devices randomised.
func growsWithCount(p *plan.Plan) bool { return p.Sample.Partial() || p.Release().Collection != nil }

// RowsOfUnit returns how many rows of one unit a cell of a table counts at most or, with sums, several of its cells
// together.
func RowsOfUnit(p *plan.Plan, t plan.Table, sums bool) int64 {
	all, each := counted.Unit{Table: p.Release().Table(t.From), PerUnit: t.PerUnit, Cells: t.Cells}.Rows()
	if cumulative, _ := p.SummedAlong(t); sums || cumulative != nil {
		return all
	}
	return each
}
