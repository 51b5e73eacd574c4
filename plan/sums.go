package plan

import (
	"fmt"

	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the tables that a pure budget does not measure: sums of tables that it does.

// sums puts these tables together: each is the sum of least variance of a measured table that has its attributes.
// Nothing else bears on a table then, as of weighted sums of Laplace noise no law is known as exactly.
func (p *Plan) sums(c chains, tables []table, at []int) ([]Estimate, error) {
	measured := p.measured()
	var all []Estimate
	for i, t := range tables {
		if _, direct := measured[t.path]; direct {
			continue
		}
		from, least := -1, 0.0
		for j, m := range tables {
			if m.masked() || !contains(m, t) {
				continue
			}
			if one, direct := measured[m.path]; direct {
				if sum := float64(m.cells) * one.Mechanism.Variance(); from < 0 || sum < least {
					from, least = j, sum
				}
			}
		}
		if from < 0 {
			return nil, fmt.Errorf("table %s: no measured table has its attributes", t.path)
		}
		m := measured[tables[from].path]
		e := Estimate{
			Tables: []int{at[i]}, Axes: []residual.Set{c.axes(t), c.axes(tables[from])}, Own: []int{-1, 0},
			Sources: []Measurement{m}, Places: []residual.Source{c.sourceOf(m)},
		}
		var err error
		e.Workload, err = residual.NewWorkload(c.columns, []residual.Marginal{{Axes: set(e.Axes[0]), Weight: 1}, {Axes: set(e.Axes[1]), Weight: 1}})
		if err == nil {
			e.Combination, err = e.Combine(e.Places)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.path, err)
		}
		all = append(all, e)
	}
	return all, nil
}
