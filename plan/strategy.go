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

// This file holds the strategies: which questions are asked so that the tables have the least error.

// StrategyKind names a way to measure a group of tables.
type StrategyKind string

const (
	// Direct measures each table by itself.
	Direct StrategyKind = "direct"
	// Largest measures the tables that lie in no other of the group; the others are sums of them.
	Largest StrategyKind = "largest"
	// Residuals measures every part that the tables share once.
	Residuals StrategyKind = "residuals"
)

// Strategy is how a group of tables is measured: tables of one budget leaf that share columns.
type Strategy struct {
	Leaf   string       `json:"leaf,omitempty"`
	Kind   StrategyKind `json:"kind"`
	Tables []string     `json:"tables"`
	// Measurements is how many of the plan's measurements are for this group; they stand in the order of the strategies.
	Measurements int `json:"measurements"`
	// RMSE is the root mean square of the standard errors of all cells of these tables, as planned from this group's
	// measurements alone, every table put together from all of them that bear on it.
	RMSE float64 `json:"rmse"`
	// Instead are the strategies that were not taken, with what they would have had.
	Instead []Alternative `json:"instead,omitempty"`
}

// Alternative is a strategy that was not taken: for its error, or because it cannot be.
type Alternative struct {
	Kind StrategyKind `json:"kind"`
	RMSE float64      `json:"rmse,omitempty"`
	Why  string       `json:"why,omitempty"`
}

// planned is a measurement whose noise is fixed but for the size of its leaf.
type planned struct {
	measurement   Measurement // without its mechanism
	l1, l2Squared *big.Int
	shifts        []budget.Shift
	leaf          int
	share         *big.Rat // of what the leaf has
}

// strategies are those of the plan, with the errors that an amount of every leaf gives.
func (b *blueprint) strategies(leaves []Leaf) []Strategy {
	var all []Strategy
	for _, g := range b.groups {
		s := Strategy{
			Leaf: leaves[g.leaf].Path, Kind: g.kind, Measurements: len(g.planned),
			RMSE: g.rmse(g.design, leaves[g.leaf].Amount), Instead: slices.Clone(g.reasons),
		}
		for _, d := range g.instead {
			s.Instead = append(s.Instead, Alternative{Kind: d.kind, RMSE: g.rmse(d, leaves[g.leaf].Amount)})
		}
		for _, t := range g.tables {
			s.Tables = append(s.Tables, t.path)
		}
		all = append(all, s)
	}
	return all
}

// rmse is the root mean square error of the group's cells by a design, for the group's part of an amount.
func (g group) rmse(d design, amount budget.Cost) float64 {
	var cells float64
	for _, t := range g.tables {
		cells += float64(t.possible())
	}
	if amount.Epsilon != nil {
		e, _ := amount.Epsilon.Float64()
		e *= g.share
		return budget.RoundUp(math.Sqrt(d.spread/cells)/e, significant)
	}
	rho, _ := amount.Rho.Float64()
	return budget.RoundUp(math.Sqrt(d.spread/cells/(rho*g.share)), significant)
}

// spend gives a planned measurement the noise that its part of a leaf's amount buys.
func (p planned) spend(amount budget.Cost) (Measurement, error) {
	m := p.measurement
	var err error
	if amount.Epsilon != nil {
		m.Mechanism, err = budget.LaplaceFor(p.l1, new(big.Rat).Mul(amount.Epsilon, p.share))
	} else {
		m.Mechanism, err = budget.GaussianFor(p.l1, p.l2Squared, new(big.Rat).Mul(amount.Rho, p.share))
	}
	m.Mechanism.Shifts = p.shifts
	return m, err
}

// blueprint is how the tables of a release are measured, whatever the size of its budget.
type blueprint struct {
	groups  []group
	planned []planned
}

// group is tables of one leaf and one confidential table that share columns.
type group struct {
	leaf   int
	place  int // among the groups of its leaf and confidential table
	tables []table
	chains chains // of all tables of the confidential table
	pure   bool
	share  float64 // of the leaf
	design
	instead []design
	reasons []Alternative
}

// design is one strategy for a group: its measurements, with shares of sum at most 1, and the error that they give.
type design struct {
	kind    StrategyKind
	planned []planned
	// error is Σ weight·variance over all cells for a whole leaf: in units of 1/ρ or 1/ε².
	error float64
	// spread is Σ variance, the same without weights.
	spread float64
}

// newBlueprint groups the tables and chooses a strategy for each group.
func newBlueprint(r *spec.Release, tables []table) (*blueprint, error) {
	b := &blueprint{}
	pure := r.Budget.Epsilon != nil && r.Budget.Delta == nil
	for _, confidential := range r.Tables {
		var own []table
		for _, t := range tables {
			if t.marginal.Table == confidential.Name {
				own = append(own, t)
			}
		}
		if own == nil {
			continue
		}
		c := newChains(r, own)
		for leaf := range r.Budget.Leaves {
			var of []table
			for _, t := range own {
				if t.leaf == leaf {
					of = append(of, t)
				}
			}
			for place, tables := range connected(of, c) {
				g := group{leaf: leaf, place: place, tables: tables, chains: c, pure: pure}
				if err := g.choose(r); err != nil {
					return nil, fmt.Errorf("budget leaf %q: %w", r.Budget.Leaves[leaf].Path, err)
				}
				b.groups = append(b.groups, g)
			}
		}
	}
	b.divide(len(r.Budget.Leaves), pure)
	return b, b.distinct()
}

// distinct refuses two measurements of one name, which their noise is derived from.
func (b *blueprint) distinct() error {
	seen := make(map[string]bool, len(b.planned))
	for _, p := range b.planned {
		if seen[p.measurement.ID] {
			return fmt.Errorf("two measurements would have one name, %s: give a column another name and say where it comes from (from: …)", p.measurement.ID)
		}
		seen[p.measurement.ID] = true
	}
	return nil
}

// connected parts tables into groups that share columns; a total goes with the first group. A table with impossible
// cells is a group of its own.
func connected(tables []table, c chains) [][]table {
	group := make([]int, len(c.columns)) // of each column, 0 for none
	var groups, alone [][]table
	find := func(t table) []int {
		var found []int
		for _, a := range c.axes(t) {
			if g := group[a.Column]; g > 0 && !slices.Contains(found, g) {
				found = append(found, g)
			}
		}
		slices.Sort(found)
		return found
	}
	for _, t := range tables {
		if t.masked() {
			alone = append(alone, []table{t})
		}
		if len(t.by) == 0 || t.masked() {
			continue
		}
		found := find(t)
		if len(found) == 0 {
			groups = append(groups, nil)
			found = []int{len(groups)}
		}
		first := found[0]
		for _, g := range found[1:] { // joined by this table
			groups[first-1], groups[g-1] = append(groups[first-1], groups[g-1]...), nil
			for i := range group {
				if group[i] == g {
					group[i] = first
				}
			}
		}
		groups[first-1] = append(groups[first-1], t)
		for _, a := range c.axes(t) {
			group[a.Column] = first
		}
	}
	groups = slices.DeleteFunc(groups, func(g []table) bool { return g == nil })
	for _, t := range tables {
		if len(t.by) > 0 {
			continue
		}
		if len(groups) == 0 {
			groups = append(groups, nil)
		}
		groups[0] = append(groups[0], t)
	}
	return append(groups, alone...)
}

// choose designs a group every way there is, and takes the one of least error.
func (g *group) choose(r *spec.Release) error {
	each, err := g.direct(r, g.tables, Direct)
	if err != nil {
		return err
	}
	designs := []design{each}
	if g.masked() {
		g.design = each
		return nil
	}
	if g.pure {
		if largest := g.outermost(); len(largest) < len(g.tables) && !g.several() {
			d, err := g.direct(r, largest, Largest)
			if err != nil {
				return err
			}
			designs = append(designs, d)
		}
	} else if d, why, err := g.residuals(r); err != nil {
		return err
	} else if why != "" {
		g.reasons = append(g.reasons, Alternative{Kind: Residuals, Why: why})
	} else {
		designs = append(designs, d)
	}
	best := 0
	for i, d := range designs {
		if d.error < designs[best].error*(1-1e-9) || d.kind == Residuals && g.several() {
			best = i
		}
	}
	g.design = designs[best]
	g.instead = slices.Delete(designs, best, best+1)
	return nil
}

// masked tells that the group is a table with impossible cells, which is measured by itself.
func (g *group) masked() bool { return g.tables[0].masked() }

// several tells that a column of the group is used at several levels: direct measurements then bear on their own table
// alone, so that residuals are taken wherever they can be.
func (g *group) several() bool {
	return slices.ContainsFunc(g.tables, func(t table) bool { return !g.chains.flat(t) })
}

// outermost are the tables whose attributes are not all in another table of the group; of those that show the same
// cells it is the first.
func (g *group) outermost() []table {
	var out []table
	for i, t := range g.tables {
		inner := false
		for j, other := range g.tables {
			inner = inner || (len(other.by) > len(t.by) || len(other.by) == len(t.by) && j < i) && contains(other, t)
		}
		if !inner {
			out = append(out, t)
		}
	}
	return out
}

// contains tells that a table has all attributes of another.
func contains(outer, inner table) bool {
	for _, a := range inner.counted {
		if !slices.Contains(outer.counted, a) {
			return false
		}
	}
	return true
}

// direct measures some of the tables by themselves. Its shares are those for which the weighted sum of the variances of
// all tables is least, each taken from the smallest measured table that has its attributes, itself if it is measured:
// with n cells of weight w and a sensitivity s, a variance of (s/ρ_i or (s/ε_i)²) asks for ρ_i ∝ √(w·n·s),
// ε_i ∝ ∛(w·n·s²) (Lagrange).
func (g *group) direct(r *spec.Release, measured []table, kind StrategyKind) (design, error) {
	d := design{kind: kind}
	weights, place := g.served(measured)
	parts := make([]float64, len(measured))
	for i, t := range measured {
		p := planned{measurement: Measurement{ID: t.path, Leaf: r.Budget.Leaves[t.leaf].Path, Query: t.query(), Cells: t.cells, Impossible: t.impossible}}
		p.l1, p.l2Squared, p.shifts = sensitivity(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, t.cells)
		d.planned = append(d.planned, p)
		if g.pure {
			l1 := floatOf(p.l1)
			parts[i] = cubeRoot(float64(weights[i]*l1) * l1)
		} else {
			parts[i] = math.Sqrt(float64(weights[i] * floatOf(p.l2Squared)))
		}
	}
	variances := make([]float64, len(measured))
	for i, share := range exactShares(parts) {
		p := &d.planned[i]
		p.share = share
		part, _ := share.Float64()
		if g.pure { // about 2·(L1/ε)²
			l1 := floatOf(p.l1)
			variances[i] = 2 * (l1 / part) * (l1 / part)
		} else {
			variances[i] = floatOf(p.l2Squared) / part / 2
		}
	}
	return d, g.predict(&d, place, variances)
}

// served is by how much the variance of each measured table counts: that of the tables that are taken from it, as the
// smallest that has their attributes, each itself where it is measured. Each of their cells is a sum of measured ones,
// and all of them together have the noise of all of those. place says where the measured tables are in the group.
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
		weights[from] += float64(t.weight() * float64(measured[from].possible()))
	}
	return weights, place
}

// predict works out the error of a design of direct measurements, of these variances, as the tables will be put together:
// by generalised least squares where every column has one level; of each table by itself where one has several; and
// for a pure budget each that is not measured as the sum of least variance.
func (g *group) predict(d *design, place []int, variances []float64) error {
	if g.pure || g.masked() || g.several() {
		g.predictSums(d, place, variances)
		return nil
	}
	w, err := g.workload()
	if err != nil {
		return err
	}
	sources := make([]residual.Source, len(place))
	for i, at := range place {
		sources[i] = residual.CountsOf(g.chains.axes(g.tables[at]), variances[i])
	}
	c, err := w.Combine(sources)
	if err != nil {
		return err
	}
	for i, t := range g.tables {
		mean, _ := w.Variance(i, c.Variances)
		d.count(t, mean)
	}
	return nil
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
	for k, t := range g.tables {
		d.count(t, least[k]/float64(t.possible()))
	}
}

// count adds the cells of a table to the errors.
func (d *design) count(t table, variance float64) {
	d.error += float64(t.weight() * float64(variance*float64(t.possible())))
	d.spread += float64(variance * float64(t.possible()))
}

// workload is that of the group's tables, as its marginals.
func (g *group) workload() (*residual.Workload, error) {
	marginals := make([]residual.Marginal, len(g.tables))
	for i, t := range g.tables {
		marginals[i] = residual.Marginal{Axes: set(g.chains.axes(t)), Weight: t.weight()}
	}
	return residual.NewWorkload(g.chains.columns, marginals)
}

// floatOf is an integer to the nearest float.
func floatOf(x *big.Int) float64 {
	f, _ := new(big.Float).SetInt(x).Float64()
	return f
}

// cubeRoot is ∛x for x > 0.
func cubeRoot(x float64) float64 { return budget.Exp(budget.Log(x) / 3) }

// partBits is how many digits of a share are kept.
const partBits = 30

// exactShares are shares in proportion to parts, as exact fractions of few digits: each rounded down by less than 2⁻²⁹
// of it, unless it has no more digits than that.
//
// Contract: they add up to at most 1, whatever the rounding of floats.
func exactShares(parts []float64) []*big.Rat {
	var sum float64
	for _, p := range parts {
		sum += p
	}
	out, total, most := make([]*big.Rat, len(parts)), new(big.Rat), 0
	for i, p := range parts {
		fraction, exponent := math.Frexp(p / sum)
		out[i] = new(big.Rat).SetInt64(int64(math.Floor(math.Ldexp(fraction, partBits))))
		out[i].Quo(out[i], new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(partBits-exponent))))
		total.Add(total, out[i])
		if out[i].Cmp(out[most]) > 0 {
			most = i
		}
	}
	if excess := total.Sub(total, big.NewRat(1, 1)); excess.Sign() > 0 {
		out[most].Sub(out[most], excess)
	}
	return out
}

// mostReach bounds by how much the integers of a residual exceed the counts: with fewer than 2^34 rows they then stay
// below 2^62.
const mostReach = int64(1) << 28

// residuals designs the strategy of residuals. why says why it cannot be taken.
func (g *group) residuals(r *spec.Release) (d design, why string, err error) {
	w, err := g.workload()
	if err != nil {
		return d, "", err
	}
	confidential := r.Table(g.tables[0].marginal.Table)
	d.kind = Residuals
	for i, res := range w.Residuals {
		p := planned{measurement: g.residual(r, res.Axes)}
		var reach *big.Int
		p.l1, p.l2Squared, p.shifts, reach = g.moves(r.Privacy.Neighbours, confidential.Unit.MaxRows, res.Axes)
		if reach.Cmp(big.NewInt(mostReach)) > 0 {
			return d, fmt.Sprintf("its integers could overflow: %s multiplies counts by %s", p.measurement.ID, reach), nil
		}
		w.Residuals[i].Squares = floatOf(p.l2Squared)
		d.planned = append(d.planned, p)
	}
	variances := w.LeastSum(2) // of a ρ of 1
	parts := make([]float64, len(variances))
	for i, v := range variances {
		parts[i] = w.Residuals[i].Squares / v
	}
	for i, share := range exactShares(parts) {
		d.planned[i].share = share
	}
	for i, t := range g.tables {
		mean, _ := w.Variance(i, variances)
		d.count(t, mean)
	}
	return d, "", nil
}

// residual is the measurement of a residual.
func (g *group) residual(r *spec.Release, axes residual.Set) Measurement {
	path, table := r.Budget.Leaves[g.leaf].Path, g.tables[0].marginal.Table
	m := Measurement{Leaf: path, Query: Query{Table: table, Factors: []Factor{}}, Cells: 1}
	var names []string
	for _, a := range axes {
		f := Factor{Attribute: g.chains.attribute(a), Level: g.chains.names[a.Column][a.Level-1], Basis: Residual}
		if a.Level > 1 {
			f.Within = g.chains.names[a.Column][a.Level-2]
		}
		m.Query.Factors = append(m.Query.Factors, f)
		m.Cells *= int64(g.chains.columns[a.Column].Size(a.Level))
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

// divide shares every leaf among its groups: as much to each as makes the weighted sum of variances least, which for an
// error of e/ρ is ∝ √e and for e/ε² ∝ ∛e.
func (b *blueprint) divide(leaves int, pure bool) {
	of, roots := make([][]int, leaves), make([][]float64, leaves)
	for i, g := range b.groups {
		root := math.Sqrt(g.error)
		if pure {
			root = cubeRoot(g.error)
		}
		of[g.leaf], roots[g.leaf] = append(of[g.leaf], i), append(roots[g.leaf], root)
	}
	exact := make([]*big.Rat, len(b.groups))
	for leaf := range of {
		for i, share := range exactShares(roots[leaf]) {
			exact[of[leaf][i]] = share
		}
	}
	for i := range b.groups {
		g := &b.groups[i]
		g.share, _ = exact[i].Float64()
		for _, p := range g.planned {
			p.leaf, p.share = g.leaf, new(big.Rat).Mul(p.share, exact[i])
			b.planned = append(b.planned, p)
		}
	}
}
