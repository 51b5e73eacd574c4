package optimise

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the designs: the ways to measure a group of tables, and the error of each.

// Design is one way to measure a group: what is measured, and how the group's amount is divided among it.
type Design struct {
	Kind         strategy.Kind
	Noise        budget.Kind
	Measurements []PlannedMeasurement
	// parts are the measurements' parts of the amount, in proportion: of ρ for Gaussian noise, of ε for Laplace noise.
	parts []float64
	// Error is the objective, for an amount of 1: a ρ, or in a pure budget an ε. It falls as 1/ρ in the amount as a ρ,
	// and as 1/ε² in an ε.
	Error float64
	// Spread is Σ variance over all cells for an amount of 1.
	Spread float64
	// guard is the problem whose solution a guarded design is, and guardAmounts are that solution: as parts, but of ρ
	// under ε and δ whatever the noise. worst is the largest ratio of a variance to its cap, and blame is how much each
	// table keeps the caps from being met.
	guard        *guard
	guardAmounts []float64
	worst        float64
	blame        []float64
}

// PlannedMeasurement is a measurement whose noise is fixed except for its size.
type PlannedMeasurement struct {
	Group *Group
	Table *workload.Table // the table that it is for; nil for a residual that tables share
	// source is what it measures of the columns of the chains, without a variance. It is empty for a standalone table,
	// whose cells are measured.
	source residual.Source
	Cells  int64
	Noise  budget.Kind
	*counted.Sensitivity
	Share *big.Rat // of the leaf's amount
	// Counted is what is counted: what its table asks for, or bins that its table's quantiles are read from.
	Counted counted.Counted
	// Selection is which answers are given out. Choosing is the part of the measurement's cost that choices among cells
	// take.
	Selection     selection.Selection
	Choosing      *big.Rat
	addedVariance float64 // mean variance that unit variance here adds to a cell of Table
	// TargetCost is the cost that targets require in place of a share: a ρ for Gaussian noise, an ε for Laplace noise.
	TargetCost *big.Rat
}

// withoutMechanism returns the measurement as the plan writes it, but without its mechanism.
func (p PlannedMeasurement) withoutMechanism() plan.Measurement {
	g := p.Group
	m := plan.Measurement{ID: p.id(), Leaf: g.leafPath(), Query: plan.Query{Table: g.Tables[0].Marginal.Table,
		Factors: make([]plan.Factor, len(p.source.Axes)), Counted: p.Counted}, Cells: p.Cells, Selection: p.Selection}
	if p.measuresCells() {
		m.Query, m.Impossible = p.Table.Query(), p.Table.Impossible
		m.Query.Counted = p.Counted
		return m
	}
	for i, a := range p.source.Axes {
		m.Query.Factors[i] = g.Chains.Factor(a, p.source.Plain[i])
	}
	return m
}

// measuresCells reports whether the cells of the measurement's table are measured.
func (p PlannedMeasurement) measuresCells() bool {
	return p.Table != nil && (p.Table.IsStandalone() || len(p.source.Axes) == len(p.Table.CountedBy) &&
		p.source.Marginal())
}

// id returns the measurement's name in the plan: its table's path, or a name made of the columns that are not
// measured as counts.
func (p PlannedMeasurement) id() string {
	if p.measuresCells() {
		return p.Table.Path
	}
	var names []string
	for i, a := range p.source.Axes {
		if !p.source.Plain[i] {
			names = append(names, p.Group.Chains.Factor(a, false).String())
		}
	}
	name := strings.Join(names, "_x_")
	switch {
	case p.Table != nil && name == "":
		name = "total"
	case name == "" && p.Group.index > 0:
		name = fmt.Sprintf("total-%d", p.Group.index+1)
	case name == "":
		name = "total"
	}
	if p.Table != nil {
		return "ranges/" + p.Table.Path + "/" + name
	}
	if path := p.Group.leafPath(); path != "" {
		name = path + "/" + name
	}
	return "residuals/" + p.Group.Tables[0].Marginal.Table + "/" + name
}

// Spend gives a planned measurement the noise that its part of a leaf's amount buys.
//
// Guarantee: the mechanism costs at most its part: of ε; of ρ for Gaussian noise; and for Laplace noise of ε in a
// budget of ρ ε²/2 is at most its part. Theorem: pure ε is (ε²/2)-zCDP (Bun & Steinke 2016, proposition 1.4).
// Argument: docs/proofs/sensitivity.md.
func (p PlannedMeasurement) Spend(amount budget.Cost) (plan.Measurement, error) {
	m := p.withoutMechanism()
	cost := p.TargetCost
	if cost == nil {
		own := p.CostWith(p.Noise, amount)
		cost = cmp.Or(own.Epsilon, own.Rho)
	}
	return m, spending[p.Selection.Kind()](p, &m, amount, cost)
}

// spending lists, by selection, the functions that buy a measurement's mechanisms: with the measurement's share of an
// amount of ρ or ε, or with a cost in the parameter of its noise.
var spending = [selection.Kinds]func(p PlannedMeasurement, m *plan.Measurement, amount budget.Cost,
	cost *big.Rat) error{
	selection.KindAll:   PlannedMeasurement.spendOnAnswers,
	selection.KindAbove: PlannedMeasurement.spendOnAnswers,
	selection.KindTop: func(p PlannedMeasurement, m *plan.Measurement, _ budget.Cost, cost *big.Rat) error {
		return p.spendOnChoices(m, cost)
	},
	selection.KindGroups: func(p PlannedMeasurement, m *plan.Measurement, amount budget.Cost, _ *big.Rat) error {
		return p.spendOnGroups(m, new(big.Rat).Mul(amount.Rho, p.Share))
	},
	selection.KindTexts: PlannedMeasurement.spendOnAnswers, // in no such design
}

// spendOnAnswers spends all of a measurement's cost on its answers.
func (p PlannedMeasurement) spendOnAnswers(m *plan.Measurement, _ budget.Cost, cost *big.Rat) error {
	if p.Counted.Kind().Traits().Drawn {
		return p.setQuantiles(m, cost)
	}
	return p.setNoise(m, cost)
}

// setNoise gives a measurement the noise that a cost buys.
func (p PlannedMeasurement) setNoise(m *plan.Measurement, cost *big.Rat) (err error) {
	m.Mechanism, err = noiseFor(p.Noise, p.Sensitivity, cost)
	m.Mechanism.Shares = sharesOf(p.Group.Release, p.Noise)
	return err
}

// setQuantiles gives a measurement of quantiles the mechanism that a cost buys, and the ends of its intervals.
//
// Guarantee: as [budget.QuantilesFor]. Argument: docs/proofs/quantile.md.
func (p PlannedMeasurement) setQuantiles(m *plan.Measurement, cost *big.Rat) (err error) {
	q, u := p.Table.Quantiles(), p.Table.Unit(p.Group.Release)
	if p.Noise.Pure() {
		m.Mechanism, err = q.Mechanism(u, budget.Cost{Epsilon: cost})
	} else {
		m.Mechanism, err = q.Mechanism(u, budget.Cost{Rho: cost})
	}
	if err != nil {
		return err
	}
	m.Query.Counted, err = q.WithEnds(u.Table, m.Mechanism)
	return err
}

// leafCharge returns what a measurement with a target takes of its leaf: ε in a pure budget, else ρ.
func (p PlannedMeasurement) leafCharge(pure bool) *big.Rat {
	if pure || !p.Noise.Pure() {
		return p.TargetCost
	}
	half := new(big.Rat).Mul(p.TargetCost, p.TargetCost)
	return half.Quo(half, big.NewRat(2, 1))
}

// LaplaceBits is the number of fractional bits of an ε that is worked out from a ρ.
const LaplaceBits = 44

// designDirect measures some of the tables by themselves, with the parts that minimise the error of all tables. A
// table that is not measured is taken from the smallest measured table that has its attributes. With n cells of
// weight w, a sensitivity s, and a variance of s²/2ρ_i or 2(s/ε_i)², the sum is least for ρ_i ∝ √(w·n·s²), ε_i ∝
// ∛(w·n·s²) (Lagrange), and the largest variance is least for ρ_i ∝ w·s², ε_i ∝ √(w·s²).
//
// measured are indices of the group's tables.
func (g *Group) designDirect(r *spec.Release, measured []int, kind strategy.Kind, noise budget.Kind) (Design, error) {
	d := Design{Kind: kind, Noise: noise, Measurements: make([]PlannedMeasurement, 0, len(measured)),
		parts: make([]float64, 0, len(measured))}
	weights := g.servedWeights(measured)
	for i, index := range measured {
		from := len(d.Measurements)
		if err := g.planPortions(r, &d, g.Tables[index]); err != nil {
			return d, err
		}
		for _, p := range d.Measurements[from:] {
			d.parts = append(d.parts, optimalPart(g.Minimise, noise, float64(weights[i]*p.addedVariance), p))
		}
	}
	normalise(d.parts)
	return d, g.predictErrors(&d, measured, d.unitVariances())
}

// normalise scales parts to a sum of 1.
func normalise(parts []float64) {
	all := sum(parts)
	for i := range parts {
		parts[i] /= all
	}
}

// sum returns Σ x, added in order.
func sum(x []float64) float64 {
	var all float64
	for _, v := range x {
		all += v
	}
	return all
}

// unitVariances returns the variances of a design's measurements for an amount of 1.
func (d *Design) unitVariances() []float64 {
	out := make([]float64, len(d.Measurements))
	for i, p := range d.Measurements {
		out[i] = p.variance(d.parts[i])
	}
	return out
}

// planPortions adds to a design the measurements of a table by itself. These are its cells or, if it has columns with
// ranges, one residual for each set of these columns, by the cells of all its other columns. Each residual measures
// what the others leave out.
func (g *Group) planPortions(r *spec.Release, d *Design, t *workload.Table) error {
	ranged := g.Chains.RangedAxes(t)
	if len(ranged) == 0 {
		d.Measurements = append(d.Measurements, g.StandaloneMeasurement(r, t, d.Noise))
		return nil
	}
	if len(ranged) > mostRanged {
		return &workload.Fault{Key: "", Message: fmt.Sprintf("table %s has %d columns along which counts are added up",
			t.Path, len(ranged)), Expected: fmt.Sprintf("at most %d", mostRanged)}
	}
	for which := range 1 << len(ranged) {
		var residuals residual.Set
		p := PlannedMeasurement{Group: g, Table: t, Counted: t.Counted, Selection: t.Selection, Noise: d.Noise,
			addedVariance: 1}
		for _, a := range g.Chains.Axes(t) {
			column := g.Chains.Columns[a.Column]
			index := slices.Index(ranged, a)
			switch {
			case index < 0:
				p.addAxis(a, true)
			case which>>index&1 == 1:
				finest := residual.Axis{Column: a.Column, Level: column.Levels()}
				p.addAxis(finest, false)
				residuals = append(residuals, finest)
				p.addedVariance *= column.Mean(a, column.Levels())
			default:
				p.addedVariance *= column.Mean(a, 0)
			}
		}
		if p.addedVariance == 0 {
			continue // the residual of a level of one category
		}
		p.Cells = g.Chains.Integers(p.source)
		if residuals == nil {
			p.Sensitivity = g.countSensitivity(r, p.Cells)
		} else {
			p.Sensitivity = g.residualSensitivity(r, residuals)
		}
		d.Measurements = append(d.Measurements, p)
	}
	return nil
}

// addAxis adds an axis to what is measured, as counts or as a residual.
func (p *PlannedMeasurement) addAxis(a residual.Axis, plain bool) {
	a.Sums = residual.Cells
	p.source.Axes, p.source.Plain = append(p.source.Axes, a), append(p.source.Plain, plain)
}

// mostRanged bounds the columns with ranges of a table that is measured by itself.
const mostRanged = 10

// equalShares returns the design that measures each of several tables by itself, all with the same part. It reports
// false if there is no such design.
func (g *Group) equalShares(r *spec.Release, noise budget.Kind) (Design, bool) {
	if len(g.Tables) < 2 && !g.hasSums() || g.Needed {
		return Design{}, false
	}
	d := Design{Kind: strategy.EqualShares, Noise: noise}
	for _, t := range g.Tables {
		p := g.StandaloneMeasurement(r, t, noise)
		each := 1 / float64(len(g.Tables))
		d.Measurements, d.parts = append(d.Measurements, p), append(d.parts, each)
		variance := float64(p.variance(each) * g.Chains.MeanCellsAdded(t))
		g.addErrors(&d, t, variance, variance)
	}
	return d, true
}

// StandaloneMeasurement returns the measurement of a table by itself.
func (g *Group) StandaloneMeasurement(r *spec.Release, t *workload.Table, noise budget.Kind) PlannedMeasurement {
	axes := g.Chains.Axes(t)
	p := PlannedMeasurement{
		Group: g, Table: t, Counted: t.Counted, Selection: t.Selection, Cells: t.Cells, Noise: noise,
		Sensitivity: g.tableSensitivity(r, t), addedVariance: g.Chains.MeanCellsAdded(t),
		source: residual.CountsOf(make(residual.Set, len(axes)), 0),
	}
	for i, a := range axes {
		p.source.Axes[i] = residual.Axis{Column: a.Column, Level: a.Level}
	}
	return p
}

// optimalPart returns a measurement's part, in proportion, if the variance of each of its cells counts with a weight.
func optimalPart(minimise spec.Objective, noise budget.Kind, weight float64, p PlannedMeasurement) float64 {
	squared := floatOf(p.L2Squared)
	if noise.Pure() {
		l1 := floatOf(p.L1)
		squared = l1 * l1
	}
	x := float64(weight * squared)
	switch {
	case minimise == spec.LeastLargest && noise.Pure():
		return math.Sqrt(x)
	case minimise == spec.LeastLargest:
		return x
	case noise.Pure():
		return budget.CubeRoot(x)
	}
	return math.Sqrt(x)
}

// variance returns the approximate variance of the noise that an ε or ρ buys.
func (p PlannedMeasurement) variance(amount float64) float64 {
	of := p.Noise.RoughVariance(floatOf(p.L1), floatOf(p.L2Squared), amount)
	return float64(of * budget.Mechanism{Shares: sharesOf(p.Group.Release, p.Noise)}.Draws())
}

// servedWeights returns the weight of the variance of each measured table. A table's weight counts for the smallest
// measured table that has its attributes, or for itself if it is measured. Each of its cells is a sum of measured
// ones, and all of them together have the noise of all measured cells. If the largest variance counts, the weight is
// that of one such sum.
func (g *Group) servedWeights(measured []int) []float64 {
	weights, from := make([]float64, len(measured)), make([]int, len(g.Tables))
	for k := range from {
		from[k] = -1
	}
	for i, place := range measured {
		from[place] = i
	}
	for k, t := range g.Tables {
		best := from[k]
		if best < 0 {
			for i, place := range measured {
				if workload.Contains(g.Tables[place], t) &&
					(best < 0 || g.Tables[place].Cells < g.Tables[measured[best]].Cells) {
					best = i
				}
			}
		}
		possible := float64(g.Tables[measured[best]].Possible())
		if g.Minimise == spec.LeastLargest {
			weights[best] = max(weights[best], float64(t.Weight*possible)/float64(t.Possible()))
		} else {
			weights[best] += float64(t.Weight * possible)
		}
	}
	return weights
}

// predictErrors works out the errors of a design of direct measurements with these variances, by the way that the
// tables will be combined: by generalised least squares if every column has one level; if one has several, from each
// table by itself or as the sum with the least variance. measured are the indices of its tables.
func (g *Group) predictErrors(d *Design, measured []int, variances []float64) error {
	if g.IsStandalone() || g.HasSeparableLevels() {
		g.predictSums(d, measured, variances)
		return nil
	}
	w, of, err := g.residualVariances(d, variances)
	if err != nil {
		return err
	}
	g.setErrors(d, w, of)
	return nil
}

// residualVariances returns the variances of the residuals of the group's tables, as estimated from a design's
// measurements.
func (g *Group) residualVariances(d *Design, variances []float64) (w *residual.Workload, of []float64, err error) {
	if w, err = g.residualWorkload(); err != nil {
		return nil, nil, err
	}
	sources := make([]residual.Source, len(variances))
	for i, p := range d.Measurements {
		sources[i] = p.source
		sources[i].Variance = variances[i]
	}
	of, err = w.Estimated(sources)
	return w, of, err
}

// setErrors works out the errors of a design from the variances of its residuals.
func (g *Group) setErrors(d *Design, w *residual.Workload, variances []float64) {
	d.Error, d.Spread = 0, 0
	for i, t := range g.Tables {
		mean, peak := w.Variance(i, variances)
		g.addErrors(d, t, mean, peak)
	}
}

// predictSums predicts the errors of tables that are measured, or that are sums of cells of one that is.
func (g *Group) predictSums(d *Design, measured []int, variances []float64) {
	least := make([]float64, len(g.Tables)) // Σ variance of all cells
	for i, at := range measured {
		for k, t := range g.Tables {
			if sum := float64(variances[i] * float64(g.Tables[at].Possible())); k != at &&
				workload.Contains(g.Tables[at], t) &&
				(least[k] == 0 || sum < least[k]) {
				least[k] = sum
			}
		}
	}
	for i, at := range measured {
		least[at] = float64(variances[i] * float64(g.Tables[at].Possible()))
	}
	d.Error, d.Spread = 0, 0
	for k, t := range g.Tables {
		each := float64(least[k] / float64(t.Possible()) * g.Chains.MeanCellsAdded(t))
		g.addErrors(d, t, each, each)
	}
}

// addErrors adds the cells of a table to the errors of a design. mean and peak are their mean and largest variance.
func (g *Group) addErrors(d *Design, t *workload.Table, mean, peak float64) {
	all := float64(mean * float64(t.Possible()))
	d.Spread += all
	if g.Minimise == spec.LeastLargest {
		d.Error = max(d.Error, float64(t.Weight*peak))
	} else {
		d.Error += float64(t.Weight * all)
	}
}

// plannedWorkload returns the group's tables as the marginals of a residual workload. Designs share it.
func (g *Group) residualWorkload() (w *residual.Workload, err error) {
	if g.workload != nil {
		return g.workload, nil
	}
	marginals := make([]residual.Marginal, len(g.Tables))
	for i, t := range g.Tables {
		marginals[i] = residual.Marginal{Axes: workload.SetOf(g.Chains.Axes(t)), Importance: t.Weight}
	}
	g.workload, err = residual.NewWorkload(g.Chains.Columns, marginals)
	return g.workload, err
}

const (
	// manyCells is the number of cells up to which residuals are counted whatever the number of published cells.
	manyCells = int64(1) << 22
	// muchMore is the largest ratio of counted cells to published cells beyond manyCells.
	muchMore = 8
)

// noResiduals lists, by selection, why residuals cannot be measured in place of counts; "" if they can.
var noResiduals = [selection.Kinds]phrase.Code{
	selection.KindAll:    "",
	selection.KindAbove:  phrase.Threshold,
	selection.KindTop:    phrase.ChosenCells,
	selection.KindGroups: phrase.UnlistedGroups,
	selection.KindTexts:  phrase.UnlistedGroups,
}

// designResiduals designs the strategy of residuals. why is the reason if it cannot be taken.
func (g *Group) designResiduals(r *spec.Release) (d Design, why phrase.Phrase, err error) {
	if code := noResiduals[g.Tables[0].Selection.Kind()]; code != "" {
		return d, phrase.New(code), nil
	}
	if g.IsStandalone() {
		return d, phrase.New(phrase.ImpossibleCells), nil
	}
	w, why, err := g.plannedWorkload(r, &d)
	if err != nil || !why.IsZero() {
		return d, why, err
	}
	var variances []float64 // at a ρ of 1
	if g.Minimise == spec.LeastLargest {
		if variances, _, _, err = w.MinimiseLargest(2); err != nil {
			return d, why, err
		}
	} else {
		variances = w.MinimiseSum(2)
	}
	d.parts = make([]float64, len(variances))
	for i, v := range variances {
		d.parts[i] = w.Residuals[i].Squares / v / 2
	}
	g.setErrors(&d, w, variances)
	return d, why, nil
}

// asReason returns the reason that an error of a workload is against residuals, or the error if it is none.
func asReason(err error) (phrase.Phrase, error) {
	if errors.Is(err, residual.ErrManyResiduals) {
		return phrase.New(phrase.ManyResiduals, residual.MostResiduals), nil
	}
	return phrase.Phrase{}, err
}

// plannedWorkload returns the group's workload with the sensitivities of its residuals, and adds their measurements
// to a design. why is the reason if they cannot be measured.
func (g *Group) plannedWorkload(r *spec.Release, d *Design) (w *residual.Workload, why phrase.Phrase, err error) {
	d.Kind, d.Noise = strategy.Residuals, noiseInRho(r.Budget)
	w, err = g.residualWorkload()
	if err != nil {
		why, err = asReason(err)
		return nil, why, err
	}
	return w, g.planResiduals(r, d, w), nil
}

// planResiduals adds the residuals of a workload to a design, and gives the workload their sensitivities. why is the
// reason if they cannot be measured.
func (g *Group) planResiduals(r *spec.Release, d *Design, w *residual.Workload) (why phrase.Phrase) {
	d.Measurements = make([]PlannedMeasurement, len(w.Residuals))
	var integers, published int64
	for i, res := range w.Residuals {
		p := PlannedMeasurement{Group: g, Counted: counted.Rows{}, Selection: selection.All{},
			source: residual.ResidualOf(res.Axes, 0), Noise: d.Noise, Sensitivity: g.residualSensitivity(r, res.Axes)}
		if p.LargestFactor.Cmp(big.NewInt(limit.ResidualFactor)) > 0 {
			return phrase.New(phrase.Overflow, p.id(), p.LargestFactor)
		}
		p.Cells = g.Chains.Integers(p.source)
		w.Residuals[i].Squares = floatOf(p.L2Squared)
		d.Measurements[i] = p
		integers += p.Cells
	}
	for _, t := range g.Tables {
		published += t.Cells
	}
	if integers > manyCells && integers > muchMore*published {
		return phrase.New(phrase.ManyIntegers, integers, published)
	}
	return why
}

// floatOf returns the float nearest to an integer.
func floatOf(x *big.Int) float64 {
	f, _ := x.Float64()
	return f
}
