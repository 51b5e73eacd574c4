package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the designs: the ways in which a group of tables can be measured, and the error that each gives.

// design is one way to measure a group: what is measured, and how the group's amount is divided among it.
type design struct {
	kind    StrategyKind
	noise   budget.Kind
	planned []planned
	// parts are those of the measurements, in proportion: of ρ for Gaussian noise, of ε for Laplace noise.
	parts []float64
	// error is what is to be least, for an amount of 1: a ρ, or in a pure budget an ε. With the amount as a ρ it falls as
	// 1/ρ, with an ε as 1/ε².
	error float64
	// spread is Σ variance over all cells for an amount of 1.
	spread float64
	// guard is the problem that a guarded design is a solution of, and amounts are that: as parts, but of ρ under ε and δ
	// whatever the noise. worst is the largest variance over its cap, and blame says of tables how much they are in the way of others.
	guard   *guard
	amounts []float64
	worst   float64
	blame   []float64
}

// planned is a measurement whose noise is fixed but for its size.
type planned struct {
	group *group
	table *table // which it is for; nil for a residual that tables share
	// asks is what it asks of the columns of the chains, without a variance; nothing where table stands apart, whose cells
	// it is.
	asks  residual.Source
	cells int64
	noise budget.Kind
	*distance
	share *big.Rat // of what the leaf has
	// choices are those of the cells that get noise, which take choosing of the measurement's cost; nil where all cells do.
	choices  *Choices
	choosing *big.Rat
	adds     float64 // what noise of variance 1 on it adds on the mean to that of its table, if it is of one
	// distribution is what is measured in place of its table's quantiles; nil where these are drawn.
	distribution *Distribution
	// needs is what targets ask for in place of a share: a ρ for Gaussian noise, an ε for Laplace noise.
	needs *big.Rat
}

// measurement is what is measured, without its mechanism.
func (p planned) measurement() Measurement {
	g := p.group
	m := Measurement{ID: p.id(), Leaf: g.path(), Query: Query{Table: g.tables[0].marginal.Table, Factors: make([]Factor, len(p.asks.Axes))}, Cells: p.cells}
	if p.itself() {
		m.Query, m.Impossible, m.Above = p.table.query(), p.table.impossible, p.table.above()
		if p.distribution != nil {
			m.Query.Quantile, m.Query.Distribution = nil, p.distribution
		}
		return m
	}
	for i, a := range p.asks.Axes {
		m.Query.Factors[i] = g.chains.factor(a, p.asks.Plain[i])
	}
	return m
}

// itself tells that the cells of its table are measured.
func (p planned) itself() bool {
	return p.table != nil && (p.table.apart() || len(p.asks.Axes) == len(p.table.counted) && p.asks.Marginal())
}

// id is the measurement's own name: the table's, or that of the columns that are not measured as counts.
func (p planned) id() string {
	if p.itself() {
		return p.table.path
	}
	var names []string
	for i, a := range p.asks.Axes {
		if !p.asks.Plain[i] {
			names = append(names, p.group.chains.factor(a, false).String())
		}
	}
	name := strings.Join(names, "_x_")
	switch {
	case p.table != nil && name == "":
		name = "total"
	case name == "" && p.group.place > 0:
		name = fmt.Sprintf("total-%d", p.group.place+1)
	case name == "":
		name = "total"
	}
	if p.table != nil {
		return "ranges/" + p.table.path + "/" + name
	}
	if path := p.group.path(); path != "" {
		name = path + "/" + name
	}
	return "residuals/" + p.group.tables[0].marginal.Table + "/" + name
}

// spend gives a planned measurement the noise that its part of a leaf's amount buys.
//
// Guarantee: the mechanism costs at most its part: of ε; of ρ for Gaussian noise; and for Laplace noise of ε in a budget
// of ρ ε²/2 is at most its part. Theorem: pure ε is (ε²/2)-zCDP (Bun & Steinke 2016, proposition 1.4).
// Argument: docs/proofs/sensitivity.md.
func (p planned) spend(amount budget.Cost) (Measurement, error) {
	m := p.measurement()
	cost := p.needs
	if cost == nil {
		if cost = amount.Epsilon; cost == nil {
			cost = amount.Rho
		}
		cost = new(big.Rat).Mul(cost, p.share)
		if p.noise == budget.DiscreteLaplace && amount.Epsilon == nil {
			cost = rootBelow(cost.Add(cost, cost), laplaceBits)
		}
	}
	var err error
	if p.table != nil && p.table.discovers != nil {
		m.Cells = 0
		return m, p.discover(&m, new(big.Rat).Mul(amount.Rho, p.share))
	}
	if p.table != nil && p.table.quantile != nil && p.distribution == nil {
		if p.noise == budget.DiscreteLaplace {
			err = p.table.draw(p.group.release, &m, budget.Cost{Epsilon: cost})
		} else {
			err = p.table.draw(p.group.release, &m, budget.Cost{Rho: cost})
		}
		return m, err
	}
	if p.choices != nil {
		if cost, err = p.choose(&m, cost); err != nil {
			return m, err
		}
	}
	if p.noise == budget.DiscreteLaplace {
		m.Mechanism, err = budget.LaplaceFor(p.l1, cost)
	} else {
		m.Mechanism, err = budget.GaussianFor(p.l1, p.l2Squared, cost)
	}
	m.Mechanism.Shifts = p.shifts
	return m, err
}

// charge is what a measurement that targets ask for takes of its leaf: of ε in a pure budget, else of ρ.
func (p planned) charge(pure bool) *big.Rat {
	if pure || p.noise != budget.DiscreteLaplace {
		return p.needs
	}
	half := new(big.Rat).Mul(p.needs, p.needs)
	return half.Quo(half, big.NewRat(2, 1))
}

// laplaceBits is the number of fractional bits of an ε that comes from a ρ.
const laplaceBits = 44

// rootBelow is the largest multiple of 2^−bits whose square is at most x ≥ 0.
func rootBelow(x *big.Rat, bits uint) *big.Rat {
	scaled := new(big.Int).Lsh(x.Num(), 2*bits)
	scaled.Quo(scaled, x.Denom())
	return new(big.Rat).SetFrac(scaled.Sqrt(scaled), new(big.Int).Lsh(big.NewInt(1), bits))
}

// direct measures some of the tables by themselves, with parts for which the error of all tables is least, each taken
// from the smallest measured table that has its attributes, itself if it is measured. With n cells of weight w and a
// sensitivity s, and a variance of s²/2ρ_i or 2(s/ε_i)², the sum asks for ρ_i ∝ √(w·n·s²), ε_i ∝ ∛(w·n·s²) (Lagrange),
// and the largest for ρ_i ∝ w·s², ε_i ∝ √(w·s²).
//
// measured are places among the group's tables.
func (g *group) direct(r *spec.Release, measured []int, kind StrategyKind, noise budget.Kind) (design, error) {
	d := design{kind: kind, noise: noise, planned: make([]planned, 0, len(measured)), parts: make([]float64, 0, len(measured))}
	weights := g.served(measured)
	var sum float64
	for i, place := range measured {
		from := len(d.planned)
		if err := g.portions(r, &d, g.tables[place]); err != nil {
			return d, err
		}
		for _, p := range d.planned[from:] {
			part := partOf(g.minimise, noise, float64(weights[i]*p.adds), p)
			d.parts = append(d.parts, part)
			sum += part
		}
	}
	for i := range d.parts {
		d.parts[i] /= sum
	}
	return d, g.predict(&d, measured, d.variances())
}

// variances are those of the measurements of a design where the amount is 1.
func (d *design) variances() []float64 {
	out := make([]float64, len(d.planned))
	for i, p := range d.planned {
		out[i] = p.variance(d.parts[i])
	}
	return out
}

// portions adds to a design the measurements of a table by itself: its cells or, where columns of it have ranges, for every
// set of these the residual of them, by the cells of all other columns: what the others leave out of it is measured apart.
func (g *group) portions(r *spec.Release, d *design, t *table) error {
	ranged := g.chains.ranged(t)
	if len(ranged) == 0 {
		d.planned = append(d.planned, g.byItself(r, t, d.noise))
		return nil
	}
	if len(ranged) > mostRanged {
		return &fault{"", fmt.Sprintf("table %s has %d columns along which counts are added up", t.path, len(ranged)), fmt.Sprintf("at most %d", mostRanged)}
	}
	for which := range 1 << len(ranged) {
		var residuals residual.Set
		p := planned{group: g, table: t, noise: d.noise, adds: 1}
		for _, a := range g.chains.axes(t) {
			column := g.chains.columns[a.Column]
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
		p.cells = g.chains.integers(p.asks)
		if residuals == nil {
			p.distance = g.counts(r, p.cells)
		} else {
			p.distance = g.moves(r, residuals)
		}
		d.planned = append(d.planned, p)
	}
	return nil
}

// ask adds an axis to what is asked, of counts or as a residual.
func (p *planned) ask(a residual.Axis, plain bool) {
	a.Sums = residual.Cells
	p.asks.Axes, p.asks.Plain = append(p.asks.Axes, a), append(p.asks.Plain, plain)
}

// integers is how many integers a source has.
func (c chains) integers(s residual.Source) int64 {
	n := int64(1)
	for i, a := range s.Axes {
		if s.Plain[i] {
			n *= int64(c.columns[a.Column].Size(a.Level))
		} else {
			n *= int64(c.columns[a.Column].Integers(a.Level))
		}
	}
	return n
}

// mostRanged bounds the columns with ranges of a table that is measured by itself.
const mostRanged = 10

// factor is an axis as a factor of a query: of counts (plain), or as its residual.
func (c chains) factor(a residual.Axis, plain bool) Factor {
	f := Factor{Attribute: c.attribute(a), Level: c.names[a.Column][a.Level-1], Basis: Residual}
	switch ranging, ok := c.columns[a.Column].Ranging(); {
	case plain:
		f.Basis = Identity
	case ok:
		return f.ranged(ranging)
	case a.Level > 1:
		f.Within = c.names[a.Column][a.Level-2]
	}
	return f
}

// equalShares measures each of several tables by itself, all for the same part.
func (g *group) equalShares(r *spec.Release, noise budget.Kind) (design, bool) {
	if len(g.tables) < 2 && !g.summed() || g.needed {
		return design{}, false
	}
	d := design{kind: EqualShares, noise: noise}
	for _, t := range g.tables {
		p := g.byItself(r, t, noise)
		each := 1 / float64(len(g.tables))
		d.planned, d.parts = append(d.planned, p), append(d.parts, each)
		variance := float64(p.variance(each) * g.chains.added(t))
		g.add(&d, t, variance, variance)
	}
	return d, true
}

// byItself is the measurement of a table by itself.
func (g *group) byItself(r *spec.Release, t *table, noise budget.Kind) planned {
	axes := g.chains.axes(t)
	p := planned{
		group: g, table: t, cells: t.cells, noise: noise, distance: g.moved(r, t), adds: g.chains.added(t),
		asks: residual.CountsOf(make(residual.Set, len(axes)), 0),
	}
	for i, a := range axes {
		p.asks.Axes[i] = residual.Axis{Column: a.Column, Level: a.Level}
	}
	return p
}

// added is of how many cells what a table shows is the sum, on the mean: 1, or along n categories (n+1)/2 for prefix sums
// and (n+2)/3 for ranges.
func (c chains) added(t *table) float64 {
	out := 1.0
	for i, a := range c.axes(t) {
		n := float64(1)
		if t.sums[i] != residual.Cells {
			n = float64(c.columns[a.Column].Size(a.Level))
		}
		switch t.sums[i] {
		case residual.Prefixes:
			out *= (n + 1) / 2
		case residual.Ranges:
			out *= (n + 2) / 3
		}
	}
	return out
}

// partOf is a measurement's part where the variance of each of its cells counts by a weight.
func partOf(minimise spec.Objective, noise budget.Kind, weight float64, p planned) float64 {
	squared := floatOf(p.l2Squared)
	if noise == budget.DiscreteLaplace {
		l1 := floatOf(p.l1)
		squared = l1 * l1
	}
	x := float64(weight * squared)
	switch {
	case minimise == spec.LeastLargest && noise == budget.DiscreteLaplace:
		return math.Sqrt(x)
	case minimise == spec.LeastLargest:
		return x
	case noise == budget.DiscreteLaplace:
		return cubeRoot(x)
	}
	return math.Sqrt(x)
}

// variance is about that of the noise that an ε or ρ buys.
func (p planned) variance(amount float64) float64 {
	if p.noise == budget.DiscreteLaplace {
		scale := floatOf(p.l1) / amount
		return 2 * scale * scale
	}
	return floatOf(p.l2Squared) / amount / 2
}

// served is by how much the variance of each measured table counts: that of the tables that are taken from it, as the
// smallest that has their attributes, each itself where it is measured. Each of their cells is a sum of measured ones,
// and all of them together have the noise of all of those; where the largest variance counts, it is that of one such
// sum.
func (g *group) served(measured []int) []float64 {
	weights, from := make([]float64, len(measured)), make([]int, len(g.tables))
	for k := range from {
		from[k] = -1
	}
	for i, place := range measured {
		from[place] = i
	}
	for k, t := range g.tables {
		best := from[k]
		if best < 0 {
			for i, place := range measured {
				if contains(g.tables[place], t) && (best < 0 || g.tables[place].cells < g.tables[measured[best]].cells) {
					best = i
				}
			}
		}
		possible := float64(g.tables[measured[best]].possible())
		if g.minimise == spec.LeastLargest {
			weights[best] = max(weights[best], float64(t.weight*possible)/float64(t.possible()))
		} else {
			weights[best] += float64(t.weight * possible)
		}
	}
	return weights
}

// predict works out the error of a design of direct measurements, of these variances, as the tables will be put together:
// by generalised least squares where every column has one level; where one has several, of each table by itself or as
// the sum of least variance. measured are the places of its tables.
func (g *group) predict(d *design, measured []int, variances []float64) error {
	if g.apart() || g.several() {
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

// estimated are the variances of the residuals of the group's tables, as estimated from a design's measurements of these.
func (g *group) estimated(d *design, variances []float64) (w *residual.Workload, of []float64, err error) {
	if w, err = g.workload(); err != nil {
		return nil, nil, err
	}
	sources := make([]residual.Source, len(variances))
	for i, p := range d.planned {
		sources[i] = p.asks
		sources[i].Variance = variances[i]
	}
	of, err = w.Estimated(sources)
	return w, of, err
}

// count works out the errors of a design from the variances of its residuals.
func (g *group) count(d *design, w *residual.Workload, variances []float64) {
	d.error, d.spread = 0, 0
	for i, t := range g.tables {
		mean, peak := w.Variance(i, variances)
		g.add(d, t, mean, peak)
	}
}

// predictSums predicts tables that are measured, or sums of one that is.
func (g *group) predictSums(d *design, measured []int, variances []float64) {
	least := make([]float64, len(g.tables)) // Σ variance of all cells
	for i, at := range measured {
		for k, t := range g.tables {
			if sum := float64(variances[i] * float64(g.tables[at].possible())); k != at && contains(g.tables[at], t) && (least[k] == 0 || sum < least[k]) {
				least[k] = sum
			}
		}
	}
	for i, at := range measured {
		least[at] = float64(variances[i] * float64(g.tables[at].possible()))
	}
	d.error, d.spread = 0, 0
	for k, t := range g.tables {
		each := float64(least[k] / float64(t.possible()) * g.chains.added(t))
		g.add(d, t, each, each)
	}
}

// add adds the cells of a table, of this variance on the mean and at most, to the errors of a design.
func (g *group) add(d *design, t *table, mean, peak float64) {
	all := float64(mean * float64(t.possible()))
	d.spread += all
	if g.minimise == spec.LeastLargest {
		d.error = max(d.error, float64(t.weight*peak))
	} else {
		d.error += float64(t.weight * all)
	}
}

// workload is that of the group's tables, as its marginals. Designs share it.
func (g *group) workload() (w *residual.Workload, err error) {
	if g.work != nil {
		return g.work, nil
	}
	marginals := make([]residual.Marginal, len(g.tables))
	for i, t := range g.tables {
		marginals[i] = residual.Marginal{Axes: set(g.chains.axes(t)), Weight: t.weight}
	}
	g.work, err = residual.NewWorkload(g.chains.columns, marginals)
	return g.work, err
}

// mostReach bounds by how much the integers of a residual exceed the counts: with fewer than 2^32 rows they then stay
// below 2^62.
const mostReach = int64(1) << 30

const (
	// manyCells is how many cells are counted without asking for how many are published.
	manyCells = int64(1) << 22
	// muchMore is by how much more cells may be counted than are published.
	muchMore = 8
)

// residuals designs the strategy of residuals. why says why it cannot be taken.
func (g *group) residuals(r *spec.Release) (d design, why string, err error) {
	if g.tables[0].sparse() {
		return d, "the table is sparse, and residuals have no threshold", nil
	}
	if g.apart() {
		return d, "some cells are impossible, and what is known of the others is no sum of residuals", nil
	}
	w, why := g.residualWorkload(r, &d)
	if why != "" {
		return d, why, nil
	}
	var variances []float64 // at a ρ of 1
	if g.minimise == spec.LeastLargest {
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

// residualWorkload is the workload of the group with the sensitivities of its residuals, whose measurements it adds to a
// design. why says why they cannot be measured.
func (g *group) residualWorkload(r *spec.Release, d *design) (w *residual.Workload, why string) {
	d.kind, d.noise = Residuals, budget.DiscreteGaussian
	w, err := g.workload()
	if err != nil {
		return nil, err.Error()
	}
	return w, g.planResiduals(r, d, w)
}

// planResiduals adds the residuals of a workload to a design, and gives the workload their sensitivities. why says why they cannot be
// measured.
func (g *group) planResiduals(r *spec.Release, d *design, w *residual.Workload) (why string) {
	d.planned = make([]planned, len(w.Residuals))
	var counted, published int64
	for i, res := range w.Residuals {
		p := planned{group: g, asks: residual.ResidualOf(res.Axes, 0), noise: d.noise, distance: g.moves(r, res.Axes)}
		if p.reach.Cmp(big.NewInt(mostReach)) > 0 {
			return fmt.Sprintf("its integers could overflow: %s multiplies counts by %s", p.id(), p.reach)
		}
		p.cells = g.chains.integers(p.asks)
		w.Residuals[i].Squares = floatOf(p.l2Squared)
		d.planned[i] = p
		counted += p.cells
	}
	for _, t := range g.tables {
		published += t.cells
	}
	if counted > manyCells && counted > muchMore*published {
		return fmt.Sprintf("it would count %s cells for %s that are published", budget.Group(counted), budget.Group(published))
	}
	return ""
}

// floatOf is an integer to the nearest float.
func floatOf(x *big.Int) float64 {
	f, _ := x.Float64()
	return f
}

// cubeRoot is ∛x for x > 0.
func cubeRoot(x float64) float64 { return budget.Exp(budget.Log(x) / 3) }
