package planner

import (
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/language"
)

// This file makes the error forecasts of a plan.

// NewForecast plans a release and forecasts what other budgets would buy. It returns an error as New does.
func NewForecast(r *spec.Release) (*compiled.Forecast, error) {
	if r.Collection != nil {
		return nil, r.Problem("collect", document.Problem{
			Message:  "there is no page with sliders for a collection",
			Expected: "`dprelease plan SPEC --what-if epsilon=1,2,4`, which plans it with other amounts"})
	}
	if r.Budget.Noise == spec.NoiseOf(budget.Skellam) {
		return nil, r.Problem("budget", document.Problem{
			Message:  "there is no page with sliders for Skellam noise",
			Expected: "`dprelease plan SPEC --what-if rho=1/8,1/4,1/2`, which plans it with other amounts"})
	}
	d, err := passes(r, nil)
	if err != nil {
		return nil, err
	}
	p := &compiled.Forecast{Plan: d.compiled(), Key: budgetKey(r.Budget), Pure: d.blueprint.Pure, Split: r.Budget.Split,
		Roots: make([]float64, len(d.plan.Leaves))}
	for _, l := range d.plan.Leaves {
		amount := l.Amount.Rho
		if p.Pure {
			amount = l.Amount.Epsilon
		}
		x, _ := amount.Float64()
		p.Amounts = append(p.Amounts, x)
	}
	setRoots(p)
	if err := forecastTables(p, d.tables); err != nil {
		return nil, err
	}
	return p, setTotals(p, r, d)
}

// leafPrecision returns what the variances of a leaf are inversely proportional to.
func leafPrecision(p *compiled.Forecast, leaf int) float64 {
	if p.Pure {
		return workload.Square(p.Amounts[leaf])
	}
	return p.Amounts[leaf]
}

// leafAt returns the index of a leaf.
func leafAt(p *compiled.Forecast, path string) int {
	return slices.IndexFunc(p.Plan.Leaves, func(l plan.Leaf) bool { return l.Path == path })
}

// setRoots works out what measurements without Gaussian noise add up to.
func setRoots(p *compiled.Forecast) {
	p.Laplace = !p.Plan.HasRounds()
	for _, m := range p.Plan.Measurements {
		for _, step := range plan.Mechanisms([]plan.Measurement{m}) {
			p.Laplace = p.Laplace && step.Kind.Pure()
			if !step.Kind.Normal() {
				leaf := leafAt(p, m.Leaf)
				p.Roots[leaf] += math.Sqrt(2 * floatOfRat(step.Rho()) / p.Amounts[leaf])
			}
		}
	}
}

func floatOfRat(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

// continuousVariance returns the variance of the continuous law with a mechanism's parameter, of as many draws.
func continuousVariance(m budget.Mechanism) float64 {
	parameter := floatOfRat(m.Parameter)
	if m.Kind.Name() == "" {
		return parameter // of what adds no noise
	}
	return float64(m.Draws() * m.Kind.ContinuousVariance(parameter))
}

// forecastTables works out the errors of all tables.
func forecastTables(p *compiled.Forecast, drafts []*workload.Table) error {
	estimates, err := p.Plan.Estimates()
	if err != nil {
		return err
	}
	measured := p.Plan.Measured()
	p.Tables = make([]compiled.TableForecast, len(p.Plan.Tables))
	for i, t := range p.Plan.Tables {
		if m, ok := measured[t.Statistics[0].Measurement]; ok {
			unit, _ := p.Plan.IntegerWeight(t).Float64()
			p.Tables[i] = compiled.TableForecast{Own: []compiled.Rate{rateOf(p, m)}, Unit: unit}
			if m.Mechanism.Draws() == 1 {
				p.Tables[i].Alone = m.Mechanism.Kind
			}
		}
	}
	for _, e := range estimates {
		forecastEstimated(p, e)
	}
	for i, t := range p.Plan.Tables {
		judgeProspect(&p.Tables[i], t, drafts[i], isGaussian(p, p.Tables[i], measured))
		if describe.Label(language.English, t.Usefulness) != "" {
			p.Tables[i].Cell, p.Tables[i].Unfit, p.Tables[i].Single = t.Usefulness.AverageCell,
				compiled.UnfitAbove(p.Plan.Plan()),
				!compiled.Summable(p.Plan.Plan(), t)
		}
		for _, f := range t.Figures {
			if one, ok := forecastFigure(p, t, f, measured); ok {
				p.Tables[i].Figures = append(p.Tables[i].Figures, one)
			}
		}
	}
	return nil
}

// rateOf returns the variance of a measurement times the precision of its leaf.
func rateOf(p *compiled.Forecast, m plan.Measurement) compiled.Rate {
	leaf := leafAt(p, m.Leaf)
	return compiled.Rate{Of: leaf, Factor: continuousVariance(m.Mechanism) * leafPrecision(p, leaf)}
}

// forecastEstimated works out the errors of the estimated tables.
func forecastEstimated(p *compiled.Forecast, e compiled.Estimate) {
	at := map[int]int{} // residuals among those shared
	each, unit := floatOfRat(p.Plan.Sample.RowWeight()), make([]float64, len(e.Residuals))
	// one residual at a time
	of := compiled.Estimate{Workload: e.Workload, Combination: &residual.Combination{Variances: unit}, Axes: e.Axes}
	for marginal, table := range e.Tables {
		if p.Tables[table].Alone != "" {
			continue
		}
		own := make([]float64, len(p.Plan.Leaves))
		t := compiled.TableForecast{Unit: each}
		for _, r := range e.ResidualsOf(marginal) {
			unit[r] = 1
			k := of.MeanVariance(marginal)
			unit[r] = 0
			if k == 0 {
				continue
			}
			precision := precisionOf(p, e, r)
			if len(precision) == 1 {
				own[precision[0].Of] += k / precision[0].Factor
				continue
			}
			if _, ok := at[r]; !ok {
				at[r] = len(p.Shared)
				p.Shared = append(p.Shared, precision)
			}
			t.Shared = append(t.Shared, compiled.Rate{Of: at[r], Factor: k})
		}
		for leaf, factor := range own {
			if factor > 0 {
				t.Own = append(t.Own, compiled.Rate{Of: leaf, Factor: factor})
			}
		}
		p.Tables[table] = t
	}
}

// precisionOf returns the precision of a residual's estimate, relative to that of each leaf that measures it.
func precisionOf(p *compiled.Forecast, e compiled.Estimate, r int) []compiled.Rate {
	sums := make([]float64, len(p.Plan.Leaves))
	for _, part := range e.Parts[r] {
		m := e.Sources[part.Source]
		leaf := leafAt(p, m.Leaf)
		sums[leaf] += part.Weight / e.Variances[r] * m.Mechanism.Variance() / continuousVariance(m.Mechanism) /
			leafPrecision(p, leaf)
	}
	var out []compiled.Rate
	for leaf, sum := range sums {
		if sum > 0 {
			out = append(out, compiled.Rate{Of: leaf, Factor: sum})
		}
	}
	return out
}

// isGaussian reports whether all noise of the leaves that contribute to a table is Gaussian.
func isGaussian(p *compiled.Forecast, t compiled.TableForecast, measured map[string]plan.Measurement) bool {
	rests := make([]bool, len(p.Plan.Leaves))
	for _, own := range t.Own {
		rests[own.Of] = true
	}
	for _, shared := range t.Shared {
		for _, each := range p.Shared[shared.Of] {
			rests[each.Of] = true
		}
	}
	for _, m := range measured {
		if rests[leafAt(p, m.Leaf)] && !m.Mechanism.Kind.Normal() {
			return false
		}
	}
	return true
}

// judgeProspect sets the multiples of its standard error by which a table is judged. A sum of Gaussian noise is
// normal. The law of other noise is kept as it is planned, except for a single measurement, whose law is known.
func judgeProspect(t *compiled.TableForecast, planned plan.Table, draft *workload.Table, gaussian bool) {
	s := planned.Statistics[0]
	largest := max(s.StandardError, s.Uneven)
	law := func(tail, held float64) float64 {
		switch {
		case t.Alone.Name() != "":
			return t.Alone.ContinuousQuantile(tail)
		case gaussian:
			return budget.NormalQuantile(tail / 2)
		}
		return held
	}
	if t.Alone == "" {
		t.Widest = largest / s.StandardError
	}
	t.Margin, t.Median = law(1-counted.Confidence, s.Margin/largest), law(0.5, s.Median/s.StandardError)
	if goal, ok := draft.Goal(); ok {
		t.Target, t.Tail = goal.Margin, 1-goal.Confidence
		t.Aimed = law(t.Tail, planned.Target.Reached/largest)
	}
}

// forecastFigure returns the error forecast of a figure. It reports false if the error depends on more than a number
// of rows.
func forecastFigure(p *compiled.Forecast, t plan.Table, f plan.Figure,
	measured map[string]plan.Measurement) (compiled.FigureForecast, bool) {
	out := compiled.FigureForecast{Name: f.Name, Margin: budget.NormalQuantile((1 - counted.Confidence) / 2)}
	if statistic.OfFigure(f).Ranked() {
		leaf := leafAt(p, measured[f.Part].Leaf)
		out.Margin, out.Wide = 1, true
		if f.Quality.Bins > 0 {
			out.Fixed = f.Quality.Cell / 2
		}
		out.Own = []compiled.Rate{{Of: leaf, Factor: workload.Square(f.Quality.Margin-out.Fixed) * leafPrecision(p,
			leaf)}}
		return out, true
	}
	rows, rest := compiled.ErrorSources(p.Plan.Plan(), t, f, measured)
	per := workload.Square(max(float64(rows), 1))
	out.Count = rest.Counts / per
	for _, part := range rest.Parts {
		one := rateOf(p, measured[part.ID])
		one.Factor *= part.Squared / per
		out.Own = append(out.Own, one)
	}
	return out, out.Count > 0 || out.Own != nil
}

const (
	// mostTimes is the largest factor by which the budget is increased and decreased, and stepsOfTotals the number of
	// steps.
	mostTimes     = 10
	stepsOfTotals = 4
)

// setTotals works out what is divided with other amounts, with the measurements of a draft. It leaves out amounts
// with which nothing can be planned.
func setTotals(p *compiled.Forecast, r *spec.Release, d *draftPlan) error {
	budgeted := r.Budget.Epsilon
	if budgeted == nil {
		budgeted = r.Budget.Rho
	}
	spent := d.division.Cost.Rho
	if p.Pure {
		spent = d.division.Cost.Epsilon
	}
	planned := compiled.Total{Asked: floatOfRat(budgeted), Total: floatOfRat(spent)}
	inner, err := workload.OnSample(r)
	if err != nil {
		return err
	}
	if inner = workload.OnSelections(inner); r.Budget.Delta != nil {
		if planned.Least, err = rhoAt(inner.Budget.Epsilon, inner.Budget.Delta); err != nil {
			return err
		}
		planned.Epsilon = floatOfRat(inner.Budget.Epsilon)
	}
	deltas := otherDeltas(r)
	for _, delta := range deltas {
		p.Deltas = append(p.Deltas, compiled.DeltaTotals{Delta: floatOfRat(delta)})
	}
	for i := -stepsOfTotals; i <= stepsOfTotals; i++ {
		// A little beyond the last amounts, so that they lie between two.
		times := budget.Exp(float64(i) / stepsOfTotals * budget.Log(1.2*mostTimes))
		t := planned
		var loss budget.Loss
		var err error
		switch {
		case r.Budget.Delta == nil && i != 0:
			t, err = totalOf(r, new(big.Rat).SetFloat64(planned.Asked*times))
		case i != 0:
			t, loss, err = d.composeTotal(r, inner.Budget, times, planned)
		case deltas != nil:
			loss, err = budget.Compose(d.plan.Mechanisms()...)
		}
		if err != nil || i != 0 && len(p.Totals) > 0 && t.Asked <= p.Totals[len(p.Totals)-1].Asked {
			continue
		}
		p.Totals = append(p.Totals, t)
		for k, delta := range deltas {
			other, err := atDelta(t, loss, delta)
			if err != nil {
				return err
			}
			p.Deltas[k].Totals = append(p.Deltas[k].Totals, other)
		}
	}
	return nil
}

// otherDeltas returns a thousandth and a tenth of the budget's δ, and ten and a thousand times as much. It returns none
// for a budget without δ, and none where δ is more than a bound on the loss: where units are sampled or groups are
// discovered, it also sets the noise or the thresholds.
func otherDeltas(r *spec.Release) []*big.Rat {
	if r.Budget.Delta == nil || r.Sample().Rate().Cmp(big.NewRat(1, 1)) != 0 || workload.Selections(r) > 0 {
		return nil
	}
	var all []*big.Rat
	for _, times := range []*big.Rat{big.NewRat(1, 1000), big.NewRat(1, 10), big.NewRat(10, 1), big.NewRat(1000, 1)} {
		if times.Mul(times, r.Budget.Delta).Cmp(big.NewRat(1, 1)) < 0 {
			all = append(all, times)
		}
	}
	return all
}

// atDelta returns what a total is with another δ, for measurements with this loss.
func atDelta(t compiled.Total, loss budget.Loss, delta *big.Rat) (compiled.Total, error) {
	bound, err := loss.EpsilonAt(delta)
	if err != nil {
		return t, err
	}
	t.Asked, t.Epsilon = bound.Value, bound.Value
	t.Least, err = rhoAt(new(big.Rat).SetFloat64(bound.Value), delta)
	return t, err
}

// rhoAt returns the ρ that ε and δ allow by the conversion alone.
func rhoAt(epsilon, delta *big.Rat) (float64, error) {
	rho, err := budget.RhoForEpsilonDelta(epsilon, delta)
	if err != nil {
		return 0, err
	}
	return floatOfRat(rho), nil
}

// totalOf returns what is divided with another amount of ε alone, or of ρ.
func totalOf(r *spec.Release, amount *big.Rat) (compiled.Total, error) {
	t := compiled.Total{Asked: floatOfRat(amount), Total: floatOfRat(amount)}
	if r.Budget.Rho != nil {
		return t, nil
	}
	other := *r
	other.Budget.Epsilon = amount
	inner, err := workload.OnSample(&other)
	if err != nil {
		return t, err
	}
	t.Total = floatOfRat(inner.Budget.Epsilon)
	return t, nil
}

// composeTotal returns the ε of about that many times the budget, and the loss: for the ρ that ε and δ allow by the
// conversion, in proportion to the plan's. It returns an error if that is too little for what is needed, or if all
// leaves have fixed amounts.
func (d *draftPlan) composeTotal(r *spec.Release, inner spec.Budget, times float64,
	planned compiled.Total) (t compiled.Total, loss budget.Loss, err error) {
	b := d.blueprint
	needed := b.TargetCosts(d.division.Measurements)
	epsilon := new(big.Rat).SetFloat64(planned.Epsilon * times)
	if t.Least, err = rhoAt(epsilon, inner.Delta); err != nil {
		return t, loss, err
	}
	rho := new(big.Rat).SetFloat64(planned.Total * (t.Least / planned.Least))
	if b.IsFixed(rho, needed) {
		return t, loss, optimise.ErrTooLittle
	}
	trial := &plan.Plan{}
	if trial.Leaves, err = b.Allocate(rho, needed); err != nil {
		return t, loss, err
	}
	if err = optimise.Spend(trial, b, d.division.Measurements); err != nil {
		return t, loss, err
	}
	if loss, err = budget.Compose(trial.Mechanisms()...); err != nil {
		return t, loss, err
	}
	bound, err := loss.EpsilonAt(inner.Delta)
	if err != nil {
		return t, loss, err
	}
	t.Epsilon, t.Total = bound.Value, floatOfRat(rho)
	if t.Least, err = rhoAt(new(big.Rat).SetFloat64(bound.Value), inner.Delta); err != nil {
		return t, loss, err
	}
	bound, err = onAllUnits(r, loss, bound)
	t.Asked = bound.Value
	return t, loss, err
}
