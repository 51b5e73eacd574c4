package optimise

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the designs: the ways in which a group of tables can be measured, and the error that each gives.

// Design is one way to measure a group: what is measured, and how the group's amount is divided among it.
type Design struct {
	Kind    strategy.Kind
	Noise   budget.Kind
	Planned []Planned
	// parts are those of the measurements, in proportion: of ρ for Gaussian noise, of ε for Laplace noise.
	parts []float64
	// error is what is to be least, for an amount of 1: a ρ, or in a pure budget an ε. With the amount as a ρ it falls as
	// 1/ρ, with an ε as 1/ε².
	Error float64
	// spread is Σ variance over all cells for an amount of 1.
	Spread float64
	// guard is the problem that a guarded design is a solution of, and amounts are that: as parts, but of ρ under ε and δ
	// whatever the noise. worst is the largest variance over its cap, and blame says of tables how much they are in the
	// way of others.
	guard   *guard
	amounts []float64
	worst   float64
	blame   []float64
}

// Planned is a measurement whose noise is fixed but for its size.
type Planned struct {
	Group *Group
	Table *workload.Table // which it is for; nil for a residual that tables share
	// asks is what it asks of the columns of the chains, without a variance; nothing where table stands apart, whose cells
	// it is.
	asks  residual.Source
	Cells int64
	Noise budget.Kind
	*counted.Sensitivity
	Share *big.Rat // of what the leaf has
	// What is what is counted: what its table asks for, or bins that its table's quantiles are read from.
	What counted.Counted
	// Selection is which answers are given out; choices among cells take Choosing of the measurement's cost.
	Selection selection.Selection
	Choosing  *big.Rat
	adds      float64 // what noise of variance 1 on it adds on the mean to that of its table, if it is of one
	// needs is what targets ask for in place of a share: a ρ for Gaussian noise, an ε for Laplace noise.
	Needs *big.Rat
}

// measurement is what is measured, without its mechanism.
func (p Planned) measurement() plan.Measurement {
	g := p.Group
	m := plan.Measurement{ID: p.id(), Leaf: g.path(), Query: plan.Query{Table: g.Tables[0].Marginal.Table,
		Factors: make([]plan.Factor, len(p.asks.Axes)), Counted: p.What}, Cells: p.Cells, Selection: p.Selection}
	if p.itself() {
		m.Query, m.Impossible = p.Table.Query(), p.Table.Impossible
		m.Query.Counted = p.What
		return m
	}
	for i, a := range p.asks.Axes {
		m.Query.Factors[i] = g.Chains.Factor(a, p.asks.Plain[i])
	}
	return m
}

// itself tells that the cells of its table are measured.
func (p Planned) itself() bool {
	return p.Table != nil && (p.Table.Apart() || len(p.asks.Axes) == len(p.Table.Counted) && p.asks.Marginal())
}

// id is the measurement's own name: the table's, or that of the columns that are not measured as counts.
func (p Planned) id() string {
	if p.itself() {
		return p.Table.Path
	}
	var names []string
	for i, a := range p.asks.Axes {
		if !p.asks.Plain[i] {
			names = append(names, p.Group.Chains.Factor(a, false).String())
		}
	}
	name := strings.Join(names, "_x_")
	switch {
	case p.Table != nil && name == "":
		name = "total"
	case name == "" && p.Group.place > 0:
		name = fmt.Sprintf("total-%d", p.Group.place+1)
	case name == "":
		name = "total"
	}
	if p.Table != nil {
		return "ranges/" + p.Table.Path + "/" + name
	}
	if path := p.Group.path(); path != "" {
		name = path + "/" + name
	}
	return "residuals/" + p.Group.Tables[0].Marginal.Table + "/" + name
}

// Spend gives a planned measurement the noise that its part of a leaf's amount buys.
//
// Guarantee: the mechanism costs at most its part: of ε; of ρ for Gaussian noise; and for Laplace noise of ε in a
// budget of ρ ε²/2 is at most its part. Theorem: pure ε is (ε²/2)-zCDP (Bun & Steinke 2016, proposition 1.4). Argument:
// docs/proofs/sensitivity.md.
func (p Planned) Spend(amount budget.Cost) (plan.Measurement, error) {
	m := p.measurement()
	cost := p.Needs
	if cost == nil {
		own := p.CostWith(p.Noise, amount)
		cost = cmp.Or(own.Epsilon, own.Rho)
	}
	return m, spending[p.Selection.Kind()](p, &m, amount, cost)
}

// spending lists, by which answers are given out, what buys a measurement's mechanisms: of an amount of ρ or ε, of
// which the measurement has its share, or of a cost in the parameter of its noise.
var spending = [selection.Kinds]func(p Planned, m *plan.Measurement, amount budget.Cost, cost *big.Rat) error{
	selection.KindAll:   Planned.spendOnAnswers,
	selection.KindAbove: Planned.spendOnAnswers,
	selection.KindTop: func(p Planned, m *plan.Measurement, _ budget.Cost, cost *big.Rat) error {
		return p.choose(m, cost)
	},
	selection.KindGroups: func(p Planned, m *plan.Measurement, amount budget.Cost, _ *big.Rat) error {
		return p.discover(m, new(big.Rat).Mul(amount.Rho, p.Share))
	},
}

// spendOnAnswers spends all of a measurement's cost on its answers.
func (p Planned) spendOnAnswers(m *plan.Measurement, _ budget.Cost, cost *big.Rat) error {
	if p.What.Kind().Traits().Drawn {
		return p.draw(m, cost)
	}
	return p.noise(m, cost)
}

// noise gives a measurement the noise that a cost buys.
func (p Planned) noise(m *plan.Measurement, cost *big.Rat) (err error) {
	m.Mechanism, err = noiseFor(p.Noise, p.Sensitivity, cost)
	return err
}

// draw gives a measurement of quantiles the mechanism that a cost buys, and the ends of its intervals.
//
// Guarantee: as [budget.QuantilesFor]. Argument: docs/proofs/quantile.md.
func (p Planned) draw(m *plan.Measurement, cost *big.Rat) (err error) {
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

// charge is what a measurement that targets ask for takes of its leaf: of ε in a pure budget, else of ρ.
func (p Planned) charge(pure bool) *big.Rat {
	if pure || !p.Noise.Pure() {
		return p.Needs
	}
	half := new(big.Rat).Mul(p.Needs, p.Needs)
	return half.Quo(half, big.NewRat(2, 1))
}

// LaplaceBits is the number of fractional bits of an ε that comes from a ρ.
const LaplaceBits = 44

// direct measures some of the tables by themselves, with parts for which the error of all tables is least, each taken
// from the smallest measured table that has its attributes, itself if it is measured. With n cells of weight w and a
// sensitivity s, and a variance of s²/2ρ_i or 2(s/ε_i)², the sum asks for ρ_i ∝ √(w·n·s²), ε_i ∝ ∛(w·n·s²) (Lagrange),
// and the largest for ρ_i ∝ w·s², ε_i ∝ √(w·s²).
//
// measured are places among the group's tables.
func (g *Group) direct(r *spec.Release, measured []int, kind strategy.Kind, noise budget.Kind) (Design, error) {
	d := Design{Kind: kind, Noise: noise, Planned: make([]Planned, 0, len(measured)),
		parts: make([]float64, 0, len(measured))}
	weights := g.served(measured)
	for i, place := range measured {
		from := len(d.Planned)
		if err := g.portions(r, &d, g.Tables[place]); err != nil {
			return d, err
		}
		for _, p := range d.Planned[from:] {
			d.parts = append(d.parts, partOf(g.Minimise, noise, float64(weights[i]*p.adds), p))
		}
	}
	normalise(d.parts)
	return d, g.predict(&d, measured, d.variances())
}

// normalise scales parts to a sum of 1.
func normalise(parts []float64) {
	all := sum(parts)
	for i := range parts {
		parts[i] /= all
	}
}

// sum is Σ x, in order.
func sum(x []float64) float64 {
	var all float64
	for _, v := range x {
		all += v
	}
	return all
}

// variances are those of the measurements of a design where the amount is 1.
func (d *Design) variances() []float64 {
	out := make([]float64, len(d.Planned))
	for i, p := range d.Planned {
		out[i] = p.variance(d.parts[i])
	}
	return out
}

// portions adds to a design the measurements of a table by itself: its cells or, where columns of it have ranges, for
// every set of these the residual of them, by the cells of all other columns: what the others leave out of it is
// measured apart.
func (g *Group) portions(r *spec.Release, d *Design, t *workload.Table) error {
	ranged := g.Chains.Ranged(t)
	if len(ranged) == 0 {
		d.Planned = append(d.Planned, g.ByItself(r, t, d.Noise))
		return nil
	}
	if len(ranged) > mostRanged {
		return &workload.Fault{Key: "", Message: fmt.Sprintf("table %s has %d columns along which counts are added up",
			t.Path, len(ranged)), Expected: fmt.Sprintf("at most %d", mostRanged)}
	}
	for which := range 1 << len(ranged) {
		var residuals residual.Set
		p := Planned{Group: g, Table: t, What: t.What, Selection: t.Selection, Noise: d.Noise, adds: 1}
		for _, a := range g.Chains.Axes(t) {
			column := g.Chains.Columns[a.Column]
			place := slices.Index(ranged, a)
			switch {
			case place < 0:
				p.ask(a, true)
			case which>>place&1 == 1:
				finest := residual.Axis{Column: a.Column, Level: column.Levels()}
				p.ask(finest, false)
				residuals = append(residuals, finest)
				p.adds *= column.Mean(a, column.Levels())
			default:
				p.adds *= column.Mean(a, 0)
			}
		}
		if p.adds == 0 {
			continue // the residual of a level of one category
		}
		p.Cells = g.Chains.Integers(p.asks)
		if residuals == nil {
			p.Sensitivity = g.counts(r, p.Cells)
		} else {
			p.Sensitivity = g.moves(r, residuals)
		}
		d.Planned = append(d.Planned, p)
	}
	return nil
}

// ask adds an axis to what is asked, of counts or as a residual.
func (p *Planned) ask(a residual.Axis, plain bool) {
	a.Sums = residual.Cells
	p.asks.Axes, p.asks.Plain = append(p.asks.Axes, a), append(p.asks.Plain, plain)
}

// mostRanged bounds the columns with ranges of a table that is measured by itself.
const mostRanged = 10

// equalShares measures each of several tables by itself, all for the same part.
func (g *Group) equalShares(r *spec.Release, noise budget.Kind) (Design, bool) {
	if len(g.Tables) < 2 && !g.summed() || g.Needed {
		return Design{}, false
	}
	d := Design{Kind: strategy.EqualShares, Noise: noise}
	for _, t := range g.Tables {
		p := g.ByItself(r, t, noise)
		each := 1 / float64(len(g.Tables))
		d.Planned, d.parts = append(d.Planned, p), append(d.parts, each)
		variance := float64(p.variance(each) * g.Chains.Added(t))
		g.add(&d, t, variance, variance)
	}
	return d, true
}

// ByItself is the measurement of a table by itself.
func (g *Group) ByItself(r *spec.Release, t *workload.Table, noise budget.Kind) Planned {
	axes := g.Chains.Axes(t)
	p := Planned{
		Group: g, Table: t, What: t.What, Selection: t.Selection, Cells: t.Cells, Noise: noise, Sensitivity: g.moved(r, t), adds: g.Chains.Added(t),
		asks: residual.CountsOf(make(residual.Set, len(axes)), 0),
	}
	for i, a := range axes {
		p.asks.Axes[i] = residual.Axis{Column: a.Column, Level: a.Level}
	}
	return p
}

// partOf is a measurement's part where the variance of each of its cells counts by a weight.
func partOf(minimise spec.Objective, noise budget.Kind, weight float64, p Planned) float64 {
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

// variance is about that of the noise that an ε or ρ buys.
func (p Planned) variance(amount float64) float64 {
	return p.Noise.RoughVariance(floatOf(p.L1), floatOf(p.L2Squared), amount)
}

// served is by how much the variance of each measured table counts: that of the tables that are taken from it, as the
// smallest that has their attributes, each itself where it is measured. Each of their cells is a sum of measured ones,
// and all of them together have the noise of all of those; where the largest variance counts, it is that of one such
// sum.
func (g *Group) served(measured []int) []float64 {
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
				if workload.Contains(g.Tables[place], t) && (best < 0 || g.Tables[place].Cells < g.Tables[measured[best]].Cells) {
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

// predict works out the error of a design of direct measurements, of these variances, as the tables will be put
// together: by generalised least squares where every column has one level; where one has several, of each table by
// itself or as the sum of least variance. measured are the places of its tables.
func (g *Group) predict(d *Design, measured []int, variances []float64) error {
	if g.Apart() || g.Several() {
		g.predictSums(d, measured, variances)
		return nil
	}
	w, of, err := g.estimated(d, variances)
	if err != nil {
		return err
	}
	g.count(d, w, of)
	return nil
}

// estimated are the variances of the residuals of the group's tables, as estimated from a design's measurements of
// these.
func (g *Group) estimated(d *Design, variances []float64) (w *residual.Workload, of []float64, err error) {
	if w, err = g.workload(); err != nil {
		return nil, nil, err
	}
	sources := make([]residual.Source, len(variances))
	for i, p := range d.Planned {
		sources[i] = p.asks
		sources[i].Variance = variances[i]
	}
	of, err = w.Estimated(sources)
	return w, of, err
}

// count works out the errors of a design from the variances of its residuals.
func (g *Group) count(d *Design, w *residual.Workload, variances []float64) {
	d.Error, d.Spread = 0, 0
	for i, t := range g.Tables {
		mean, peak := w.Variance(i, variances)
		g.add(d, t, mean, peak)
	}
}

// predictSums predicts tables that are measured, or sums of one that is.
func (g *Group) predictSums(d *Design, measured []int, variances []float64) {
	least := make([]float64, len(g.Tables)) // Σ variance of all cells
	for i, at := range measured {
		for k, t := range g.Tables {
			if sum := float64(variances[i] * float64(g.Tables[at].Possible())); k != at && workload.Contains(g.Tables[at], t) &&
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
		each := float64(least[k] / float64(t.Possible()) * g.Chains.Added(t))
		g.add(d, t, each, each)
	}
}

// add adds the cells of a table, of this variance on the mean and at most, to the errors of a design.
func (g *Group) add(d *Design, t *workload.Table, mean, peak float64) {
	all := float64(mean * float64(t.Possible()))
	d.Spread += all
	if g.Minimise == spec.LeastLargest {
		d.Error = max(d.Error, float64(t.Weight*peak))
	} else {
		d.Error += float64(t.Weight * all)
	}
}

// workload is that of the group's tables, as its marginals. Designs share it.
func (g *Group) workload() (w *residual.Workload, err error) {
	if g.work != nil {
		return g.work, nil
	}
	marginals := make([]residual.Marginal, len(g.Tables))
	for i, t := range g.Tables {
		marginals[i] = residual.Marginal{Axes: workload.SetOf(g.Chains.Axes(t)), Importance: t.Weight}
	}
	g.work, err = residual.NewWorkload(g.Chains.Columns, marginals)
	return g.work, err
}

const (
	// manyCells is how many cells are counted without asking for how many are published.
	manyCells = int64(1) << 22
	// muchMore is by how much more cells may be counted than are published.
	muchMore = 8
)

// noResiduals lists, by which answers are given out, why residuals cannot be measured in place of counts; "" where they
// can.
var noResiduals = [selection.Kinds]string{
	selection.KindAll:    "",
	selection.KindAbove:  "the table is sparse, and residuals have no threshold",
	selection.KindTop:    "cells are chosen by their counts, and residuals are none",
	selection.KindGroups: "nobody lists the groups that residuals would be of",
}

// residuals designs the strategy of residuals. why says why it cannot be taken.
func (g *Group) residuals(r *spec.Release) (d Design, why string, err error) {
	if why := noResiduals[g.Tables[0].Selection.Kind()]; why != "" {
		return d, why, nil
	}
	if g.Apart() {
		return d, "some cells are impossible, and what is known of the others is no sum of residuals", nil
	}
	w, why := g.residualWorkload(r, &d)
	if why != "" {
		return d, why, nil
	}
	var variances []float64 // at a ρ of 1
	if g.Minimise == spec.LeastLargest {
		if variances, _, _, err = w.LeastLargest(2); err != nil {
			return d, "", err
		}
	} else {
		variances = w.LeastSum(2)
	}
	d.parts = make([]float64, len(variances))
	for i, v := range variances {
		d.parts[i] = w.Residuals[i].Squares / v / 2
	}
	g.count(&d, w, variances)
	return d, "", nil
}

// residualWorkload is the workload of the group with the sensitivities of its residuals, whose measurements it adds to
// a design. why says why they cannot be measured.
func (g *Group) residualWorkload(r *spec.Release, d *Design) (w *residual.Workload, why string) {
	d.Kind, d.Noise = strategy.Residuals, noiseInRho(r.Budget)
	w, err := g.workload()
	if err != nil {
		return nil, err.Error()
	}
	return w, g.planResiduals(r, d, w)
}

// planResiduals adds the residuals of a workload to a design, and gives the workload their sensitivities. why says why
// they cannot be measured.
func (g *Group) planResiduals(r *spec.Release, d *Design, w *residual.Workload) (why string) {
	d.Planned = make([]Planned, len(w.Residuals))
	var integers, published int64
	for i, res := range w.Residuals {
		p := Planned{Group: g, What: counted.Rows{}, Selection: selection.All{}, asks: residual.ResidualOf(res.Axes, 0),
			Noise: d.Noise, Sensitivity: g.moves(r, res.Axes)}
		if p.Reach.Cmp(big.NewInt(limit.Reach)) > 0 {
			return fmt.Sprintf("its integers could overflow: %s multiplies counts by %s", p.id(), p.Reach)
		}
		p.Cells = g.Chains.Integers(p.asks)
		w.Residuals[i].Squares = floatOf(p.L2Squared)
		d.Planned[i] = p
		integers += p.Cells
	}
	for _, t := range g.Tables {
		published += t.Cells
	}
	if integers > manyCells && integers > muchMore*published {
		return fmt.Sprintf("it would count %s cells for %s that are published", budget.Group(integers),
			budget.Group(published))
	}
	return ""
}

// floatOf is an integer to the nearest float.
func floatOf(x *big.Int) float64 {
	f, _ := x.Float64()
	return f
}
