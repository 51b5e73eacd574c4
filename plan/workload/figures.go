package workload

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the figures that a table publishes beside its count, before anything is said of their quality.

// figures are those that a table publishes, without their quality.
func figures(r *spec.Release, t *Table) []plan.Figure {
	var all []plan.Figure
	shows := t.shows(r)
	for _, s := range t.Marginal.Stats {
		all = append(all, statistic.Of(s.Kind).Figures(shows, s)...)
	}
	return all
}

// GoodRows is for how many rows in a cell the quality of figures is said that depends on it.
const GoodRows = 1000

func Square(x float64) float64 { return float64(x * x) }
