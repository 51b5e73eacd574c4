package planner

import (
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds the predictions: the standard errors and intervals of every table of a plan.

// predict states the accuracy of every table: its standard errors, intervals and figures.
func predict(p *plan.Plan, estimates []compiled.Estimate) error {
	known := compiled.Laws{}
	err := predictErrors(p, estimates, func(e *compiled.Estimate, marginal int, mean, most float64, s *plan.Statistic) {
		of := e.Intervals(marginal, mean, most, counted.Confidence, known)
		s.Margin, s.Attained, s.Median = of.Margin, of.Attained, of.Half
	})
	if err != nil {
		return err
	}
	measured := p.Measured()
	for i := range p.Tables {
		assessFigures(p, &p.Tables[i], measured)
	}
	return nil
}

// predictErrors states the standard errors of every table. It calls interval for each table that is estimated from
// several measurements, with the mean and the largest standard error of its cells, before any scale.
func predictErrors(p *plan.Plan, estimates []compiled.Estimate,
	interval func(e *compiled.Estimate, marginal int, mean, most float64, s *plan.Statistic)) error {
	measured := p.Measured()
	for i := range p.Tables {
		if m, ok := measured[p.Tables[i].Path]; ok {
			predictSingle(&p.Tables[i], m, p.IntegerWeight(p.Tables[i]))
		}
	}
	for _, e := range estimates {
		for marginal, at := range e.Tables {
			s, each := &p.Tables[at].Statistics[0], p.Sample.RowWeight()
			var err error
			if s.OfRanges, err = rangesError(&e, marginal, each); err != nil {
				return err
			}
			if single := e.SoleSource(marginal); single >= 0 {
				continue
			}
			mean, most := math.Sqrt(e.MeanVariance(marginal)), math.Sqrt(e.Largest(marginal, e.Variances))
			predictCombined(s, mean, most)
			interval(&e, marginal, mean, most, s)
			scaleErrors(s, each)
		}
	}
	return nil
}

// scaleErrors scales the errors of a count that was estimated from integers, each of which stands for the given
// amount.
func scaleErrors(s *plan.Statistic, each *big.Rat) {
	if each.Cmp(big.NewRat(1, 1)) == 0 {
		return
	}
	s.Unit = each.RatString()
	factor, _ := each.Float64()
	for _, of := range []*float64{&s.StandardError, &s.Uneven, &s.Median, &s.Margin} {
		*of *= factor
	}
}

// predictSingle states the accuracy of a table that is one measurement, each of whose integers stands for the given
// amount.
func predictSingle(t *plan.Table, m plan.Measurement, unit *big.Rat) {
	s := &t.Statistics[0]
	each, _ := unit.Float64()
	margin, attained := m.Mechanism.Margin(counted.Confidence)
	s.Measurement, s.StandardError, s.Uneven = m.ID, float64(each*math.Sqrt(m.Mechanism.Variance())), 0
	s.Margin, s.Attained = float64(each*float64(margin)), attained
	half, _ := m.Mechanism.Margin(0.5)
	s.Median = float64(each * float64(half))
	if unit.Cmp(big.NewRat(1, 1)) != 0 {
		s.Unit = unit.RatString()
	}
}

// predictCombined states the error of a table that is estimated from several measurements.
func predictCombined(s *plan.Statistic, mean, most float64) {
	s.Measurement, s.StandardError, s.Uneven = "", budget.RoundUp(mean, plan.Significant), 0
	if most > mean*(1+1e-9) {
		s.Uneven = budget.RoundUp(most, plan.Significant)
	}
}

// rangesError returns the root mean square standard error of all sums of neighbours that a table is asked for, 0 for
// none. Each of its integers stands for the given amount.
func rangesError(e *compiled.Estimate, marginal int, each *big.Rat) (float64, error) {
	requested := e.RequestedAxes[marginal]
	if !slices.ContainsFunc(requested, func(a residual.Axis) bool { return a.Sums == residual.Ranges }) {
		return 0, nil
	}
	w, err := residual.NewWorkload(e.Columns, []residual.Marginal{{Axes: workload.SetOf(requested), Importance: 1}})
	if err != nil {
		return 0, err
	}
	variances := make([]float64, len(w.Residuals))
	for i, r := range w.Residuals {
		variances[i] = e.Variances[e.Find(r.Axes)]
	}
	mean, _ := w.Variance(0, variances)
	factor, _ := each.Float64()
	return budget.RoundUp(float64(factor*math.Sqrt(mean)), plan.Significant), nil
}
