package planner

import (
	"slices"

	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the variants of a plan: the ways to sum along columns that are compared.

// variants returns the variants that differ for some tables.
func (d *draftPlan) variants(r *spec.Release) []strategy.Summing {
	all := d.summings(r)
	if r.Budget.Minimise == spec.Guarded {
		all = append(all, strategy.LevelsSeparate)
	}
	return all
}

// summings returns the variants that differ for tables that accumulate, or need ranges.
func (d *draftPlan) summings(r *spec.Release) []strategy.Summing {
	if !slices.ContainsFunc(d.tables, (*workload.Table).HasSums) {
		return []strategy.Summing{strategy.RangedPerLeaf}
	}
	if !mixesRanges(r, d.tables) {
		return []strategy.Summing{strategy.RangedPerLeaf, strategy.CellByCell}
	}
	return []strategy.Summing{strategy.RangedPerLeaf, strategy.RangedEverywhere, strategy.CellByCell}
}

// mixesRanges reports whether a column that one leaf needs ranges of is used in another leaf that does not.
func mixesRanges(r *spec.Release, tables []*workload.Table) bool {
	for _, confidential := range r.Tables {
		ranged, used := map[string]map[int]bool{}, map[string]map[int]bool{}
		note := func(in map[string]map[int]bool, column string, leaf int) {
			if in[column] == nil {
				in[column] = map[int]bool{}
			}
			in[column][leaf] = true
		}
		for _, t := range tables {
			if t.Marginal.Table != confidential.Name || t.IsStandalone() {
				continue
			}
			for i, a := range t.CountedBy {
				note(used, a.Column, t.Leaf)
				if t.Sums[i] != residual.Cells {
					note(ranged, a.Column, t.Leaf)
				}
			}
		}
		for column, leaves := range ranged {
			if len(leaves) < len(used[column]) {
				return true
			}
		}
	}
	return false
}
