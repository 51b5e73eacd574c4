package workload

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the figures that a table publishes in addition to its count, before their quality is known.

// figuresOf returns the figures that a table publishes, without their quality.
func figuresOf(r *spec.Release, t *Table) []plan.Figure {
	var all []plan.Figure
	shows := t.forStatistics(r)
	for _, s := range t.Marginal.Stats {
		all = append(all, statistic.Of(s.Kind).Figures(shows, s)...)
	}
	return all
}

// GoodRows is the number of rows in a cell for which the quality of figures is stated that depends on it.
const GoodRows = 1000

func Square(x float64) float64 { return float64(x * x) }
