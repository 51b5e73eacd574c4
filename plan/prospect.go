package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the prospects: how good every table would be with another budget or other shares of it, as a formula that
// is worked out without the planner.

// Prospects say how good the tables of a plan would be with other amounts of its budget and other shares of its leaves, where
// all that the plan chose stays: which measurements there are, their parts of their leaves, and their kinds of noise. Then the
// variance of a measurement is in proportion to 1/x of its leaf, where x is the leaf's ρ or, in a pure budget, the square of
// its ε; that of an estimate from several is put together from theirs ([residual.Combination]).
//
// The noise is taken to be continuous: that on integers has a variance that is less by at most 1/6.
type Prospects struct {
	Plan *Plan `json:"-"`
	// Key is the amount that is varied, epsilon or rho, and Pure tells that leaves have an ε of their own; else they have a ρ.
	Key  string `json:"key"`
	Pure bool   `json:"pure"`
	// Split is the tree of the budget, and Amounts what its leaves have in the plan: those that are needed keep it.
	Split   []spec.Part `json:"-"`
	Amounts []float64   `json:"-"`
	// Totals are what is divided among the leaves for several amounts of the budget, the planned one with them.
	Totals []Total `json:"totals"`
	// Roots are, of each leaf, Σ√(2ρ) of its measurements without Gaussian noise, over the root of its ρ: what they add up to in
	// ε. Laplace tells that all noise of the plan is Laplace noise.
	Roots   []float64 `json:"roots"`
	Laplace bool      `json:"laplace"`
	// Shared are the residuals that several leaves measure: the precision of each is Σ factor·x.
	Shared [][]Rate   `json:"shared,omitempty"`
	Tables []Prospect `json:"tables"`
}

// Total is what is divided among the leaves with an amount of the budget: of ρ or, in a pure budget, of ε. For a budget of ε
// and δ, found for the planned split, Least is what the conversion of ρ alone allows for every split, and Epsilon what mechanisms may
// add up to in ε.
type Total struct {
	Asked   float64 `json:"asked"`
	Total   float64 `json:"total"`
	Least   float64 `json:"least,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
}

// Rate is a factor that goes with a leaf, or with a shared residual, by its place. Its JSON form is an array of the two.
type Rate struct {
	Of     int
	Factor float64
}

// MarshalJSON writes ten digits of the factor.
func (r Rate) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%s]", r.Of, strconv.FormatFloat(r.Factor, 'g', 10, 64)), nil
}

// Prospect is the error of one table. The variance of its counts is Σ factor/x over Own, by leaf, plus Σ factor/precision over
// Shared, by residual, times the square of Unit.
type Prospect struct {
	Own    []Rate  `json:"own,omitempty"`
	Shared []Rate  `json:"shared,omitempty"`
	Unit   float64 `json:"unit"`
	// Alone is the law of the integers of a table that is one measurement; "" where it is put together from several. Then Widest
	// is the largest standard error over that of the mean, and the multiples are those of the planned law.
	Alone  budget.Kind `json:"alone,omitempty"`
	Widest float64     `json:"widest,omitempty"`
	Margin float64     `json:"margin"` // over the largest standard error
	Median float64     `json:"median"` // over the standard error
	// Aimed is the margin of its target over the largest standard error, at a confidence of 1 − Tail; 0 where it has none.
	Aimed float64 `json:"aimed,omitempty"`
	Tail  float64 `json:"tail,omitempty"`
	// Target is the margin of its target, and Cell its average cell; 0 where there is none.
	Target float64 `json:"target,omitempty"`
	Cell   float64 `json:"cell,omitempty"`
	// Unfit is the relative standard error above which a cell is in the last class of `fit`, 0 without classes, and Single is true
	// where cells cannot be added up.
	Unfit   float64          `json:"unfit,omitempty"`
	Single  bool             `json:"single,omitempty"`
	Figures []FigureProspect `json:"figures,omitempty"`
}

// FigureProspect is the error of a figure: its variance is Σ factor/x over Own, by leaf, plus Count times that of the table's
// count. Its margin is Margin standard errors, and Fixed more.
type FigureProspect struct {
	Name   string  `json:"-"`
	Own    []Rate  `json:"own,omitempty"`
	Count  float64 `json:"count,omitempty"`
	Margin float64 `json:"margin"`
	Fixed  float64 `json:"fixed,omitempty"`
	// Wide tells that only the margin is known, as of a quantile.
	Wide bool `json:"wide,omitempty"`
}

// NewProspects plans a release and says what other budgets would buy. It fails as [New] does.
func NewProspects(r *spec.Release) (*Prospects, error) {
	var d *draftPlan
	plan, err := passes(r, func(_ string, last *draftPlan) { d = last })
	if err != nil {
		return nil, err
	}
	p := &Prospects{Plan: plan, Key: key(r.Budget), Pure: d.blueprint.pure, Split: r.Budget.Split(), Roots: make([]float64, len(plan.Leaves))}
	for _, l := range plan.Leaves {
		amount := l.Amount.Rho
		if p.Pure {
			amount = l.Amount.Epsilon
		}
		x, _ := amount.Float64()
		p.Amounts = append(p.Amounts, x)
	}
	p.roots()
	if err := p.tables(d.tables); err != nil {
		return nil, err
	}
	return p, p.totals(r, d)
}

// x is what variances of a leaf are inverse to.
func (p *Prospects) x(leaf int) float64 {
	if p.Pure {
		return square(p.Amounts[leaf])
	}
	return p.Amounts[leaf]
}

// leafAt is the place of a leaf.
func (p *Prospects) leafAt(path string) int {
	return slices.IndexFunc(p.Plan.Leaves, func(l Leaf) bool { return l.Path == path })
}

// roots works out what measurements without Gaussian noise add up to.
func (p *Prospects) roots() {
	p.Laplace = !p.Plan.Adapts()
	for _, m := range p.Plan.Measurements {
		for _, step := range mechanisms([]Measurement{m}) {
			p.Laplace = p.Laplace && step.Kind == budget.DiscreteLaplace
			if step.Kind != budget.DiscreteGaussian {
				leaf := p.leafAt(m.Leaf)
				p.Roots[leaf] += math.Sqrt(2 * floatOfRat(step.Rho()) / p.Amounts[leaf])
			}
		}
	}
}

func floatOfRat(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

// smooth is the variance of the continuous law of a mechanism's parameter.
func smooth(m budget.Mechanism) float64 {
	parameter := floatOfRat(m.Parameter)
	if m.Kind == budget.DiscreteLaplace {
		return 2 * square(parameter)
	}
	return parameter
}

// tables works out the errors of all tables.
func (p *Prospects) tables(drafts []*table) error {
	estimates, err := p.Plan.Estimates()
	if err != nil {
		return err
	}
	measured := p.Plan.measured()
	p.Tables = make([]Prospect, len(p.Plan.Tables))
	for i, t := range p.Plan.Tables {
		if m, ok := measured[t.Statistics[0].Measurement]; ok {
			unit, _ := p.Plan.eachOf(t).Float64()
			p.Tables[i] = Prospect{Own: []Rate{p.rate(m)}, Unit: unit, Alone: m.Mechanism.Kind}
		}
	}
	for _, e := range estimates {
		p.together(e)
	}
	for i, t := range p.Plan.Tables {
		p.Tables[i].judge(t, drafts[i], p.gaussian(p.Tables[i], measured))
		if t.Usefulness.Label() != "" {
			p.Tables[i].Cell, p.Tables[i].Unfit, p.Tables[i].Single = t.Usefulness.AverageCell, p.Plan.unfitFrom(), !p.Plan.summable(t)
		}
		for _, f := range t.Figures {
			if one, ok := p.figure(t, f, measured); ok {
				p.Tables[i].Figures = append(p.Tables[i].Figures, one)
			}
		}
	}
	return nil
}

// rate is the variance of a measurement times the x of its leaf.
func (p *Prospects) rate(m Measurement) Rate {
	leaf := p.leafAt(m.Leaf)
	return Rate{leaf, smooth(m.Mechanism) * p.x(leaf)}
}

// together works out the tables that are put together.
func (p *Prospects) together(e Estimate) {
	at := map[int]int{} // residuals among those shared
	each, unit := floatOfRat(p.Plan.Sample.Each()), make([]float64, len(e.Residuals))
	of := Estimate{Workload: e.Workload, Combination: &residual.Combination{Variances: unit}, Axes: e.Axes} // one residual at a time
	for marginal, table := range e.Tables {
		if p.Tables[table].Alone != "" {
			continue
		}
		own := make([]float64, len(p.Plan.Leaves))
		t := Prospect{Unit: each}
		for _, r := range e.Of(marginal) {
			unit[r] = 1
			k := of.shown(marginal)
			unit[r] = 0
			if k == 0 {
				continue
			}
			precision := p.precision(e, r)
			if len(precision) == 1 {
				own[precision[0].Of] += k / precision[0].Factor
				continue
			}
			if _, ok := at[r]; !ok {
				at[r] = len(p.Shared)
				p.Shared = append(p.Shared, precision)
			}
			t.Shared = append(t.Shared, Rate{at[r], k})
		}
		for leaf, factor := range own {
			if factor > 0 {
				t.Own = append(t.Own, Rate{leaf, factor})
			}
		}
		p.Tables[table] = t
	}
}

// precision is that of a residual's estimate over the x of the leaves that measure it.
func (p *Prospects) precision(e Estimate, r int) []Rate {
	sums := make([]float64, len(p.Plan.Leaves))
	for _, part := range e.Parts[r] {
		m := e.Sources[part.Source]
		leaf := p.leafAt(m.Leaf)
		sums[leaf] += part.Weight / e.Variances[r] * m.Mechanism.Variance() / smooth(m.Mechanism) / p.x(leaf)
	}
	var out []Rate
	for leaf, sum := range sums {
		if sum > 0 {
			out = append(out, Rate{leaf, sum})
		}
	}
	return out
}

// gaussian tells that all noise of the leaves that a table rests on is Gaussian.
func (p *Prospects) gaussian(t Prospect, measured map[string]Measurement) bool {
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
		if rests[p.leafAt(m.Leaf)] && m.Mechanism.Kind != budget.DiscreteGaussian {
			return false
		}
	}
	return true
}

// judge says by which multiples of its standard error a table is judged. A law of Gaussian noise is normal; that of other
// noise is held as it is planned, and that of Laplace noise alone is known.
func (t *Prospect) judge(planned Table, draft *table, gaussian bool) {
	s := planned.Statistics[0]
	largest := max(s.StandardError, s.Uneven)
	law := func(tail, held float64) float64 {
		switch {
		case t.Alone == budget.DiscreteLaplace:
			return -budget.Log(tail) / math.Sqrt2
		case gaussian || t.Alone == budget.DiscreteGaussian:
			return budget.NormalQuantile(tail / 2)
		}
		return held
	}
	if t.Alone == "" {
		t.Widest = largest / s.StandardError
	}
	t.Margin, t.Median = law(1-confidence, s.Margin/largest), law(0.5, s.Median/s.StandardError)
	if asked, ok := draft.goal(); ok {
		t.Target, t.Tail = asked.margin, 1-asked.confidence
		t.Aimed = law(t.Tail, planned.Target.Reached/largest)
	}
}

// figure is the error of a figure, false where it depends on more than a number of rows.
func (p *Prospects) figure(t Table, f Figure, measured map[string]Measurement) (FigureProspect, bool) {
	out := FigureProspect{Name: f.Name, Margin: budget.NormalQuantile((1 - confidence) / 2)}
	if f.Kind == spec.Quantiles {
		leaf := p.leafAt(measured[f.Part].Leaf)
		out.Margin, out.Wide = 1, true
		if f.Quality.Bins > 0 {
			out.Fixed = f.Quality.Cell / 2
		}
		out.Own = []Rate{{leaf, square(f.Quality.Margin-out.Fixed) * p.x(leaf)}}
		return out, true
	}
	rows, counts, parts := p.Plan.restsOn(t, f, measured)
	per := square(max(float64(rows), 1))
	out.Count = counts / per
	for _, part := range parts {
		one := p.rate(measured[part.id])
		one.Factor *= part.squared / per
		out.Own = append(out.Own, one)
	}
	return out, out.Count > 0 || out.Own != nil
}

const (
	// mostTimes is how many times as much and as little of a budget is looked at, and stepsOfTotals in how many steps.
	mostTimes     = 10
	stepsOfTotals = 4
)

// totals works out what is divided with other amounts, with the measurements of a draft. Amounts with which nothing can be
// planned are left out.
func (p *Prospects) totals(r *spec.Release, d *draftPlan) error {
	asked := r.Budget.Epsilon
	if asked == nil {
		asked = r.Budget.Rho
	}
	spent := d.division.cost.Rho
	if p.Pure {
		spent = d.division.cost.Epsilon
	}
	planned := Total{Asked: floatOfRat(asked), Total: floatOfRat(spent)}
	inner, err := onSample(r)
	if err != nil {
		return err
	}
	if inner = onSelections(inner); r.Budget.Delta != nil {
		if planned.Least, err = rhoAt(inner.Budget.Epsilon, inner.Budget.Delta); err != nil {
			return err
		}
		planned.Epsilon = floatOfRat(inner.Budget.Epsilon)
	}
	for i := -stepsOfTotals; i <= stepsOfTotals; i++ {
		if i == 0 {
			p.Totals = append(p.Totals, planned)
			continue
		}
		// A little beyond the last amounts, so that they lie between two.
		times := budget.Exp(float64(i) / stepsOfTotals * budget.Log(1.2*mostTimes))
		var t Total
		var err error
		if r.Budget.Delta == nil {
			t, err = ofOther(r, new(big.Rat).SetFloat64(planned.Asked*times))
		} else {
			t, err = d.composed(r, inner.Budget, times, planned)
		}
		if err == nil && (len(p.Totals) == 0 || t.Asked > p.Totals[len(p.Totals)-1].Asked) {
			p.Totals = append(p.Totals, t)
		}
	}
	return nil
}

// rhoAt is the ρ that ε and δ allow by the conversion alone.
func rhoAt(epsilon, delta *big.Rat) (float64, error) {
	rho, err := budget.RhoForEpsilonDelta(epsilon, delta)
	if err != nil {
		return 0, err
	}
	return floatOfRat(rho), nil
}

// ofOther is what is divided of another amount of ε alone, or of ρ.
func ofOther(r *spec.Release, asked *big.Rat) (Total, error) {
	t := Total{Asked: floatOfRat(asked), Total: floatOfRat(asked)}
	if r.Budget.Rho != nil {
		return t, nil
	}
	other := *r
	other.Budget.Epsilon = asked
	inner, err := onSample(&other)
	if err != nil {
		return t, err
	}
	t.Total = floatOfRat(inner.Budget.Epsilon)
	return t, nil
}

// composed is the ε of about so many times the budget: of the ρ that ε and δ allow by the conversion, in proportion to that
// of the plan. It fails where that is too little for what is needed, and where all leaves have their amounts whatever the
// budget is.
func (d *draftPlan) composed(r *spec.Release, inner spec.Budget, times float64, planned Total) (t Total, err error) {
	b := d.blueprint
	needed := b.needs(d.division.planned)
	epsilon := new(big.Rat).SetFloat64(planned.Epsilon * times)
	if t.Least, err = rhoAt(epsilon, inner.Delta); err != nil {
		return t, err
	}
	rho := new(big.Rat).SetFloat64(planned.Total * (t.Least / planned.Least))
	if b.isFixed(rho, needed) {
		return t, errTooLittle
	}
	trial := &Plan{}
	if trial.Leaves, err = b.allocate(rho, needed); err != nil {
		return t, err
	}
	if err = trial.spend(b, d.division.planned); err != nil {
		return t, err
	}
	loss, err := budget.Compose(trial.Mechanisms()...)
	if err != nil {
		return t, err
	}
	bound, err := loss.EpsilonAt(inner.Delta)
	if err != nil {
		return t, err
	}
	t.Asked, t.Epsilon, t.Total = bound.Value, bound.Value, floatOfRat(rho)
	if t.Least, err = rhoAt(new(big.Rat).SetFloat64(bound.Value), inner.Delta); err != nil {
		return t, err
	}
	if share := r.Sampled(); share != nil {
		if loss, err = loss.Sampled(share); err != nil {
			return t, err
		}
		if bound, err = loss.EpsilonAt(r.Budget.Delta); err != nil {
			return t, err
		}
		t.Asked = bound.Value
	}
	return t, nil
}
