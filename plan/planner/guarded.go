package planner

import (
	"math"
	"math/big"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file finds the guarded tables that come out worse than measured by themselves.

// noiseless is a standard error, in rows, that is as good as none: hardly any draw in 10^12 differs from 0. No table is
// compared with less, as ratios to such errors have no end.
const noiseless = 1e-6

// worseTables returns the tables that share a leaf's amount and are worse than by themselves with an equal share of
// it, with the ratio of their errors. It uses the actual noise, on integers and with rounded parameters. Standalone
// tables have at least their share.
func (d *draftPlan) worseTables() (map[*workload.Table]float64, error) {
	b := d.blueprint
	if b.Release.Budget.Minimise != spec.Guarded {
		return nil, nil
	}
	all := make([]int64, len(d.plan.Leaves))
	for _, g := range b.Groups {
		all[g.Leaf] += int64(len(g.Tables))
	}
	known, worse := map[*counted.Sensitivity]float64{}, map[*workload.Table]float64{}
	for i, g := range b.Groups {
		if g.Needed || g.IsStandalone() {
			continue
		}
		clear(known)
		for _, t := range g.Tables {
			p := g.StandaloneMeasurement(b.Release, t, d.division.ChosenDesigns[i].Noise)
			equal, ok := known[p.Sensitivity]
			if !ok {
				p.Share = big.NewRat(1, all[g.Leaf])
				m, err := p.Spend(d.plan.Leaves[g.Leaf].Amount)
				if err != nil {
					return nil, err
				}
				equal = m.Mechanism.Variance()
				known[p.Sensitivity] = equal
			}
			s := d.plan.Tables[t.Index].Statistics[0]
			is := max(s.OfRanges, s.StandardError)
			if s.OfRanges > 0 {
				is = s.OfRanges
			}
			alone := math.Max(math.Sqrt(float64(equal*g.Chains.MeanCellsAdded(t))), noiseless)
			if ratio := is / (alone * g.Unit); ratio > optimise.Unguarded {
				worse[t] = ratio
			}
		}
	}
	return worse, nil
}
