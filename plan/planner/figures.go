package planner

import (
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file predicts the accuracy of figures other than counts.

// assessFigures predicts the accuracy of the figures of a table approximately, by the standard errors of what they
// are computed from and a normal law.
func assessFigures(p *plan.Plan, t *plan.Table, measured map[string]plan.Measurement) {
	for i := range t.Figures {
		f := &t.Figures[i]
		if statistic.OfFigure(*f).Ranked() {
			continue // [draftPlan.setQuality]
		}
		rows, rest := compiled.ErrorSources(p, *t, *f, measured)
		variance := float64(rest.Counts * workload.Square(t.Statistics[0].StandardError))
		for _, part := range rest.Parts {
			variance += float64(part.Squared * measured[part.ID].Mechanism.Variance())
		}
		if variance == 0 {
			continue // it depends on more than a number of rows
		}
		per := max(float64(rows), 1)
		f.Quality = plan.Quality{
			Rows: rows, StandardError: budget.RoundUp(math.Sqrt(variance)/per, plan.Significant),
			Margin: budget.RoundUp(budget.NormalQuantile((1-counted.Confidence)/2)*math.Sqrt(variance)/per,
				plan.Significant),
		}
	}
}
