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
	// RMSE is the root mean square of the standard errors of all cells of these tables, as planned from this group's
	// measurements alone.
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
		s := Strategy{Leaf: leaves[g.leaf].Path, Kind: g.kind, RMSE: g.rmse(g.design, leaves[g.leaf].Amount), Instead: slices.Clone(g.reasons)}
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
		cells += float64(t.cells)
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
					return nil, err
				}
				b.groups = append(b.groups, g)
			}
		}
	}
	b.divide(len(r.Budget.Leaves), pure)
	return b, nil
}

// connected parts tables into groups that share columns; a total goes with the first group.
func connected(tables []table, c chains) [][]table {
	group := make([]int, len(c.columns)) // of each column, 0 for none
	var groups [][]table
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
		if len(t.by) == 0 {
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
	return groups
}

// choose designs a group every way there is, and takes the one of least error.
func (g *group) choose(r *spec.Release) error {
	designs := []design{g.direct(r, g.tables, Direct)}
	if g.pure {
		if largest := g.outermost(); len(largest) < len(g.tables) && !g.several() {
			designs = append(designs, g.direct(r, largest, Largest))
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

// several tells that a column of the group is used at several levels: direct measurements then bear on their own table
// alone, so that residuals are taken wherever they can be.
func (g *group) several() bool {
	for _, t := range g.tables {
		for _, a := range g.chains.axes(t) {
			if g.chains.columns[a.Column].Levels() > 1 {
				return true
			}
		}
	}
	return false
}

// outermost are the tables whose attributes are not all in another table of the group.
func (g *group) outermost() []table {
	return slices.DeleteFunc(slices.Clone(g.tables), func(t table) bool {
		return slices.ContainsFunc(g.tables, func(other table) bool { return len(other.by) > len(t.by) && contains(other, t) })
	})
}

// contains tells that a table has all attributes of another.
func contains(outer, inner table) bool {
	for _, a := range inner.by {
		if !slices.Contains(outer.by, a) {
			return false
		}
	}
	return true
}

// direct measures some of the tables by themselves, so that the weighted sum of the variances of all tables is least,
// each taken from the smallest measured table that has its attributes. With n cells of weight w and a sensitivity s, a
// variance of (s/ρ_i or (s/ε_i)²) asks for ρ_i ∝ √(w·n·s), ε_i ∝ ∛(w·n·s²) (Lagrange).
func (g *group) direct(r *spec.Release, measured []table, kind StrategyKind) design {
	d := design{kind: kind}
	weights, cells := make([]float64, len(measured)), make([]float64, len(measured))
	for _, t := range g.tables {
		from := 0
		for i, m := range measured {
			if contains(m, t) && (!contains(measured[from], t) || m.cells < measured[from].cells) {
				from = i
			}
		}
		// Each of its cells is a sum of m.cells/t.cells measured ones: together they have the noise of all of them.
		weights[from] += float64(t.weight() * float64(measured[from].cells))
		cells[from] += float64(measured[from].cells)
	}
	parts := make([]float64, len(measured))
	var sum float64
	for i, t := range measured {
		p := planned{measurement: Measurement{ID: t.path, Leaf: r.Budget.Leaves[t.leaf].Path, Query: t.query(), Cells: t.cells}}
		p.l1, p.l2Squared, p.shifts = sensitivity(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, t.cells)
		d.planned = append(d.planned, p)
		if g.pure {
			l1, _ := new(big.Float).SetInt(p.l1).Float64()
			parts[i] = cubeRoot(float64(weights[i]*l1) * l1)
		} else {
			l2, _ := new(big.Float).SetInt(p.l2Squared).Float64()
			parts[i] = math.Sqrt(float64(weights[i] * l2))
		}
		sum += parts[i]
	}
	for i, p := range d.planned {
		share := parts[i] / sum
		d.planned[i].share = exactShare(share)
		var variance float64
		if g.pure { // about 2·(L1/ε)²
			l1, _ := new(big.Float).SetInt(p.l1).Float64()
			variance = 2 * (l1 / share) * (l1 / share)
		} else {
			l2, _ := new(big.Float).SetInt(p.l2Squared).Float64()
			variance = l2 / share / 2
		}
		d.error += float64(weights[i] * variance)
		d.spread += float64(cells[i] * variance)
	}
	return d
}

// cubeRoot is ∛x for x > 0.
func cubeRoot(x float64) float64 { return budget.Exp(budget.Log(x) / 3) }

// partBits is how many digits of a share are kept: rounded down, so that shares never add up to more than 1.
const partBits = 30

// exactShare is a share of a leaf as an exact fraction with few digits, rounded down by less than 2⁻²⁹ of it; a whole is a
// whole.
func exactShare(share float64) *big.Rat {
	if share >= 1 {
		return big.NewRat(1, 1)
	}
	fraction, exponent := math.Frexp(share)
	whole := int64(math.Floor(math.Ldexp(fraction, partBits) * (1 - 0x1p-40)))
	out := new(big.Rat).SetFrac(big.NewInt(whole), new(big.Int).Lsh(big.NewInt(1), uint(partBits-exponent)))
	return out
}

// mostReach bounds by how much the integers of a residual exceed the counts: with fewer than 2^34 rows they then stay
// below 2^62.
const mostReach = int64(1) << 28

// residuals designs the strategy of residuals. why says why it cannot be taken.
func (g *group) residuals(r *spec.Release) (d design, why string, err error) {
	var marginals []residual.Marginal
	for _, t := range g.tables {
		marginals = append(marginals, residual.Marginal{Axes: set(g.chains.axes(t)), Weight: t.weight()})
	}
	w, err := residual.NewWorkload(g.chains.columns, marginals)
	if err != nil {
		return d, "", fmt.Errorf("budget leaf %q: %w", r.Budget.Leaves[g.leaf].Path, err)
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
		squares, _ := new(big.Float).SetInt(p.l2Squared).Float64()
		w.Residuals[i].Squares = squares
		d.planned = append(d.planned, p)
	}
	variances := w.LeastSum(2) // of a ρ of 1
	for i := range d.planned {
		d.planned[i].share = exactShare(w.Residuals[i].Squares / variances[i] / 2)
	}
	for i, t := range g.tables {
		mean, _ := w.Variance(i, variances)
		d.error += float64(t.weight() * float64(mean*float64(t.cells)))
		d.spread += float64(mean * float64(t.cells))
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
// Contract: the integers are the Kronecker product of the axes' residuals (docs/proofs/residuals.md), so that one row
// moves them by a column of norms Π l1 and Π l2²; k rows, added or removed, by k times that at most, as norms are
// convex. Under replace two columns are left apart: their inner product is Π over the axes of n(n−1) where they
// agree and −n where they do not, least where they differ in one axis, the one of fewest categories; across groups
// of several levels the triangle inequality stands in. The total is 1 × 1 and moves by k at most.
func (g *group) moves(n spec.Neighbours, maxRows int64, axes residual.Set) (l1, l2Squared *big.Int, shifts []budget.Shift, reach *big.Int) {
	if len(axes) == 0 {
		l1, l2Squared, shifts = sensitivity(n, maxRows, 1)
		return l1, l2Squared, shifts, big.NewInt(1)
	}
	k := big.NewInt(maxRows)
	l1, l2Squared, reach = big.NewInt(maxRows), new(big.Int).Mul(k, k), big.NewInt(1)
	fewest, flat := int64(math.MaxInt64), true
	for _, a := range axes {
		column := g.chains.columns[a.Column]
		norm, squares, most := column.Moves(a.Level)
		l1.Mul(l1, big.NewInt(norm))
		l2Squared.Mul(l2Squared, big.NewInt(squares))
		reach.Mul(reach, big.NewInt(most))
		fewest = min(fewest, int64(column.Size(a.Level)))
		flat = flat && a.Level == 1
	}
	if n == spec.Replace {
		l1.Lsh(l1, 1)
		if flat { // 2·Πn(n−1)·(1 + 1/(n−1)) for the fewest n
			l2Squared.Mul(l2Squared, big.NewInt(2*fewest))
			l2Squared.Quo(l2Squared, big.NewInt(fewest-1))
		} else {
			l2Squared.Lsh(l2Squared, 2)
		}
	}
	return l1, l2Squared, nil, reach
}

// divide shares every leaf among its groups: as much to each as makes the weighted sum of variances least, which for an
// error of e/ρ is ∝ √e and for e/ε² ∝ ∛e.
func (b *blueprint) divide(leaves int, pure bool) {
	sums := make([]float64, leaves)
	roots := make([]float64, len(b.groups))
	for i, g := range b.groups {
		if pure {
			roots[i] = cubeRoot(g.error)
		} else {
			roots[i] = math.Sqrt(g.error)
		}
		sums[g.leaf] += roots[i]
	}
	for i := range b.groups {
		g := &b.groups[i]
		g.share = roots[i] / sums[g.leaf]
		share := exactShare(g.share)
		for _, p := range g.planned {
			p.leaf, p.share = g.leaf, new(big.Rat).Mul(p.share, share)
			b.planned = append(b.planned, p)
		}
	}
}
