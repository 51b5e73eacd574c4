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
}

// planned is a measurement whose noise is fixed but for its size.
type planned struct {
	measurement   Measurement // without its mechanism
	noise         budget.Kind
	l1, l2Squared *big.Int
	shifts        []budget.Shift
	leaf          int
	share         *big.Rat // of what the leaf has
	adds          float64  // what noise of variance 1 on it adds on the mean to that of its table, if it is of one
	// needs is what targets ask for in place of a share: a ρ for Gaussian noise, an ε for Laplace noise.
	needs *big.Rat
}

// spend gives a planned measurement the noise that its part of a leaf's amount buys.
//
// Guarantee: the mechanism costs at most its part: of ε; of ρ for Gaussian noise; and for Laplace noise of ε in a budget
// of ρ ε²/2 is at most its part. Theorem: pure ε is (ε²/2)-zCDP (Bun & Steinke 2016, proposition 1.4).
// Argument: docs/proofs/sensitivity.md.
func (p planned) spend(amount budget.Cost) (Measurement, error) {
	m := p.measurement
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
func (g *group) direct(r *spec.Release, measured []table, kind StrategyKind, noise budget.Kind) (design, error) {
	d := design{kind: kind, noise: noise, planned: make([]planned, 0, len(measured))}
	weights, place := g.served(measured)
	var sum float64
	for i, t := range measured {
		portions, err := g.portions(r, t, noise)
		if err != nil {
			return d, err
		}
		for _, p := range portions {
			part := partOf(r.Budget.Minimise, noise, float64(weights[i]*p.adds), p)
			d.planned, d.parts = append(d.planned, p), append(d.parts, part)
			sum += part
		}
	}
	variances := make([]float64, len(d.planned))
	for i := range d.planned {
		d.parts[i] /= sum
		variances[i] = d.planned[i].variance(d.parts[i])
	}
	return d, g.predict(&d, place, variances)
}

// portions are the measurements of a table by itself: its cells or, where columns of it have ranges, for every set of
// these the residual of them, by the cells of all other columns: what the others leave out of it is measured apart.
func (g *group) portions(r *spec.Release, t table, noise budget.Kind) ([]planned, error) {
	ranged := g.chains.ranged(t)
	if len(ranged) == 0 || t.apart() {
		return []planned{g.byItself(r, t, noise)}, nil
	}
	if len(ranged) > mostRanged {
		return nil, &fault{"", fmt.Sprintf("table %s has %d columns along which counts are added up", t.path, len(ranged)), fmt.Sprintf("at most %d", mostRanged)}
	}
	var out []planned
	for which := range 1 << len(ranged) {
		var axes residual.Set
		p := planned{noise: noise, leaf: g.leaf, adds: 1, measurement: Measurement{Leaf: r.Budget.Leaves[t.leaf].Path, Query: Query{Table: t.marginal.Table, Factors: []Factor{}}, Cells: 1}}
		var names []string
		for _, a := range g.chains.axes(t) {
			column := g.chains.columns[a.Column]
			place := slices.Index(ranged, a)
			switch {
			case place < 0:
				p.measurement.Query.Factors = append(p.measurement.Query.Factors, g.chains.factor(a, Identity))
				p.measurement.Cells *= int64(column.Size(a.Level))
			case which>>place&1 == 1:
				a = residual.Axis{Column: a.Column, Level: column.Levels()}
				f := g.chains.factor(a, Ranges)
				axes = append(axes, a)
				names = append(names, f.String())
				p.measurement.Query.Factors = append(p.measurement.Query.Factors, f)
				p.measurement.Cells *= int64(column.Integers(a.Level))
				p.adds *= column.Mean(ranged[place], column.Levels())
			default:
				p.adds *= column.Mean(a, 0)
			}
		}
		if p.adds == 0 {
			continue // the residual of a level of one category
		}
		if axes == nil {
			names = []string{"total"}
			p.l1, p.l2Squared, p.shifts = sensitivity(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, p.measurement.Cells)
		} else {
			p.l1, p.l2Squared, p.shifts, _ = g.moves(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, axes)
		}
		p.measurement.ID = "ranges/" + t.path + "/" + strings.Join(names, "_x_")
		out = append(out, p)
	}
	return out, nil
}

// mostRanged bounds the columns with ranges of a table that is measured by itself.
const mostRanged = 10

// factor is an axis as a factor of a query.
func (c chains) factor(a residual.Axis, basis Basis) Factor {
	f := Factor{Attribute: c.attribute(a), Level: c.names[a.Column][a.Level-1], Basis: basis}
	if ranging, ok := c.columns[a.Column].Ranging(); ok && basis != Identity {
		return f.ranged(ranging)
	}
	if basis == Residual && a.Level > 1 {
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
func (g *group) byItself(r *spec.Release, t table, noise budget.Kind) planned {
	p := planned{measurement: Measurement{ID: t.path, Leaf: r.Budget.Leaves[t.leaf].Path, Query: t.query(), Cells: t.cells, Impossible: t.impossible}, noise: noise, leaf: g.leaf, adds: g.chains.added(t)}
	p.l1, p.l2Squared, p.shifts = sensitivity(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, t.cells)
	return p
}

// added is of how many cells what a table shows is the sum, on the mean: 1, or along n categories (n+1)/2 for prefix sums
// and (n+2)/3 for ranges.
func (c chains) added(t table) float64 {
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
// sum. place says where the measured tables are in the group.
func (g *group) served(measured []table) (weights []float64, place []int) {
	weights, place = make([]float64, len(measured)), make([]int, len(measured))
	at := make(map[string]int, len(measured))
	for i, m := range measured {
		at[m.path] = i
	}
	for k, t := range g.tables {
		from, itself := at[t.path]
		if itself {
			place[from] = k
		} else {
			from = -1
			for i, m := range measured {
				if contains(m, t) && (from < 0 || m.cells < measured[from].cells) {
					from = i
				}
			}
		}
		if g.minimise == spec.LeastLargest {
			weights[from] = max(weights[from], float64(t.weight()*float64(measured[from].possible()))/float64(t.possible()))
		} else {
			weights[from] += float64(t.weight() * float64(measured[from].possible()))
		}
	}
	return weights, place
}

// predict works out the error of a design of direct measurements, of these variances, as the tables will be put together:
// by generalised least squares where every column has one level; where one has several, of each table by itself or as
// the sum of least variance.
func (g *group) predict(d *design, place []int, variances []float64) error {
	if g.apart() || g.several() {
		g.predictSums(d, place, variances)
		return nil
	}
	w, err := g.workload()
	if err != nil {
		return err
	}
	sources := make([]residual.Source, len(variances))
	for i, p := range d.planned {
		sources[i] = g.chains.from(p.measurement, variances[i])
	}
	c, err := w.Combine(sources)
	if err != nil {
		return err
	}
	g.count(d, w, c.Variances)
	return nil
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
func (g *group) predictSums(d *design, place []int, variances []float64) {
	least := make([]float64, len(g.tables)) // Σ variance of all cells
	for i, at := range place {
		for k, t := range g.tables {
			if sum := float64(variances[i] * float64(g.tables[at].possible())); k != at && contains(g.tables[at], t) && (least[k] == 0 || sum < least[k]) {
				least[k] = sum
			}
		}
	}
	for i, at := range place {
		least[at] = float64(variances[i] * float64(g.tables[at].possible()))
	}
	d.error, d.spread = 0, 0
	for k, t := range g.tables {
		each := float64(least[k] / float64(t.possible()) * g.chains.added(t))
		g.add(d, t, each, each)
	}
}

// add adds the cells of a table, of this variance on the mean and at most, to the errors of a design.
func (g *group) add(d *design, t table, mean, peak float64) {
	all := float64(mean * float64(t.possible()))
	d.spread += all
	if g.minimise == spec.LeastLargest {
		d.error = max(d.error, float64(t.weight()*peak))
	} else {
		d.error += float64(t.weight() * all)
	}
}

// workload is that of the group's tables, as its marginals. Designs share it.
func (g *group) workload() (w *residual.Workload, err error) {
	if g.work != nil {
		return g.work, nil
	}
	marginals := make([]residual.Marginal, len(g.tables))
	for i, t := range g.tables {
		marginals[i] = residual.Marginal{Axes: set(g.chains.axes(t)), Weight: t.weight()}
	}
	g.work, err = residual.NewWorkload(g.chains.columns, marginals)
	return g.work, err
}

const (
	// mostReach bounds by how much the integers of a residual exceed the counts: with fewer than 2^32 rows they then stay
	// below 2^62.
	mostReach = int64(1) << 30
	// manyCells is how many cells are counted without asking for how many are published.
	manyCells = int64(1) << 22
	// muchMore is by how much more cells may be counted than are published.
	muchMore = 8
)

// residuals designs the strategy of residuals. why says why it cannot be taken.
func (g *group) residuals(r *spec.Release) (d design, why string, err error) {
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
	d.planned = make([]planned, 0, len(w.Residuals))
	var counted, published int64
	for i, res := range w.Residuals {
		p := planned{measurement: g.residual(r, res.Axes), noise: d.noise, leaf: g.leaf}
		var reach *big.Int
		p.l1, p.l2Squared, p.shifts, reach = g.moves(r.Privacy.Neighbours, r.Table(g.tables[0].marginal.Table).Unit.MaxRows, res.Axes)
		if reach.Cmp(big.NewInt(mostReach)) > 0 {
			return nil, fmt.Sprintf("its integers could overflow: %s multiplies counts by %s", p.measurement.ID, reach)
		}
		w.Residuals[i].Squares = floatOf(p.l2Squared)
		d.planned = append(d.planned, p)
		counted += p.measurement.Cells
	}
	for _, t := range g.tables {
		published += t.cells
	}
	if counted > manyCells && counted > muchMore*published {
		return nil, fmt.Sprintf("it would count %s cells for %s that are published", budget.Group(counted), budget.Group(published))
	}
	return w, ""
}

// residual is the measurement of a residual.
func (g *group) residual(r *spec.Release, axes residual.Set) Measurement {
	path, table := r.Budget.Leaves[g.leaf].Path, g.tables[0].marginal.Table
	m := Measurement{Leaf: path, Query: Query{Table: table, Factors: []Factor{}}, Cells: 1}
	var names []string
	for _, a := range axes {
		f := g.chains.factor(a, Residual)
		m.Cells *= int64(g.chains.columns[a.Column].Integers(a.Level))
		m.Query.Factors = append(m.Query.Factors, f)
		names = append(names, f.String())
	}
	name := strings.Join(names, "_x_")
	switch {
	case name == "" && g.place > 0:
		name = fmt.Sprintf("total-%d", g.place+1)
	case name == "":
		name = "total"
	}
	if path != "" {
		name = path + "/" + name
	}
	m.ID = "residuals/" + table + "/" + name
	return m
}

// moves is how far one unit can move the integers of a residual: L1, squared L2, the shifts where there is but one
// shape, and by how much counts are multiplied at most.
//
// Guarantee: no two neighbours have integers further apart. Neighbours: both relations; a unit has at most k counted
// rows. Theorem: the integers are a Kronecker product, a row is one of its columns, and norms are convex. Two columns
// have an inner product of at least −Π squares·(apart/squares) for the one axis where that is most. The total is
// 1 × 1 and moves by k at most. Argument: docs/proofs/residuals.md.
func (g *group) moves(n spec.Neighbours, maxRows int64, axes residual.Set) (l1, l2Squared *big.Int, shifts []budget.Shift, reach *big.Int) {
	if len(axes) == 0 {
		l1, l2Squared, shifts = sensitivity(n, maxRows, 1)
		return l1, l2Squared, shifts, big.NewInt(1)
	}
	k := big.NewInt(maxRows)
	l1, l2Squared, reach = big.NewInt(maxRows), new(big.Int).Mul(k, k), big.NewInt(1)
	facing := new(big.Rat) // the most that an axis adds, relatively, where two rows differ in it alone
	for _, a := range axes {
		column := g.chains.columns[a.Column]
		m := column.Moves(a.Level)
		l1.Mul(l1, big.NewInt(m.Norm))
		l2Squared.Mul(l2Squared, big.NewInt(m.Squares))
		reach.Mul(reach, big.NewInt(m.Reach))
		if f := big.NewRat(m.Facing, m.Squares); f.Cmp(facing) > 0 {
			facing = f
		}
	}
	if n == spec.Replace { // 2·Π squares·(1 + facing), whole as facing is over one of the squares
		l1.Lsh(l1, 1)
		l2Squared.Lsh(l2Squared, 1)
		apart := new(big.Int).Mul(l2Squared, facing.Num())
		l2Squared.Add(l2Squared, apart.Quo(apart, facing.Denom()))
	}
	return l1, l2Squared, nil, reach
}

// floatOf is an integer to the nearest float.
func floatOf(x *big.Int) float64 {
	f, _ := new(big.Float).SetInt(x).Float64()
	return f
}

// cubeRoot is ∛x for x > 0.
func cubeRoot(x float64) float64 { return budget.Exp(budget.Log(x) / 3) }
