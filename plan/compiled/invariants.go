package compiled

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds which tables an invariant decides.

// Invariants returns the invariants of the release. Each names the tables that it decides before any other does.
func Invariants(p *plan.Plan) []plan.Invariant {
	var all []plan.Invariant
	for _, of := range p.Release().Invariants {
		i := plan.Invariant{Name: of.Name, Table: of.Table, By: make([]string, len(of.By)), From: of.File,
			Cells: int64(len(of.Counts)), Total: of.Total()}
		for k, a := range of.By {
			i.By[k] = a.String()
		}
		for _, t := range p.Tables {
			if t.Invariant == of.Name && t.From == of.Table {
				i.Tables = append(i.Tables, t.Path)
			}
		}
		all = append(all, i)
	}
	return all
}

// DecidingInvariant returns the first invariant that decides a table, "" for none. It must be of the same rows, and its
// attributes must decide the attributes of the table.
func DecidingInvariant(p *plan.Plan, t plan.Table, of *workload.Table) string {
	if !t.UnfittedReason(slices.Contains(of.Sums, residual.Prefixes)).IsZero() {
		return ""
	}
	for _, i := range p.Release().Invariants {
		if i.Table == t.From && p.InvariantCells(i, t) != nil {
			return i.Name
		}
	}
	return ""
}
