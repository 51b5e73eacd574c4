package planner

import (
	"slices"

	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the variants of a plan: the ways to sum along columns that are tried against each other.

// variants are those that differ for some tables.
func (d *draftPlan) variants(r *spec.Release) []strategy.Summing {
	all := d.summings(r)
	if r.Budget.Minimise == spec.Guarded {
		all = append(all, strategy.LevelsSeparate)
	}
	return all
}

// summings are the variants that differ for tables that count up, or are asked for ranges.
func (d *draftPlan) summings(r *spec.Release) []strategy.Summing {
	if !slices.ContainsFunc(d.tables, (*workload.Table).Summed) {
		return []strategy.Summing{strategy.RangedApart}
	}
	if !mixed(r, d.tables) {
		return []strategy.Summing{strategy.RangedApart, strategy.CellByCell}
	}
	return []strategy.Summing{strategy.RangedApart, strategy.RangedEverywhere, strategy.CellByCell}
}

// mixed tells that a column which one leaf asks for ranges of is used in another that does not.
func mixed(r *spec.Release, tables []*workload.Table) bool {
	for _, confidential := range r.Tables {
		asks, uses := map[string]map[int]bool{}, map[string]map[int]bool{}
		note := func(in map[string]map[int]bool, column string, leaf int) {
			if in[column] == nil {
				in[column] = map[int]bool{}
			}
			in[column][leaf] = true
		}
		for _, t := range tables {
			if t.Marginal.Table != confidential.Name || t.Apart() {
				continue
			}
			for i, a := range t.Counted {
				note(uses, a.Column, t.Leaf)
				if t.Sums[i] != residual.Cells {
					note(asks, a.Column, t.Leaf)
				}
			}
		}
		for column, leaves := range asks {
			if len(leaves) < len(uses[column]) {
				return true
			}
		}
	}
	return false
}
