package plan

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the groups: tables of one budget leaf that share columns, and the designs that each can choose from.

// group is tables of one leaf and one confidential table that share columns.
type group struct {
	release     *spec.Release
	leaf        int
	place       int // among the groups of its leaf and confidential table
	tables      []*table
	chains      chains // of all tables of the confidential table
	minimise    spec.Objective
	unit        float64 // what an integer of its tables stands for
	needed      bool    // the leaf gets what targets need
	designs     []design
	best        []int                         // the best design of each kind of noise, the first noise that the budget suits first
	reasons     []Alternative                 // those that cannot be
	work        *residual.Workload            // of the tables, once it is asked for
	kinds       []residual.Moves              // that axes of its residuals have
	known       map[[mostShared]int]*distance // of residuals whose axes have these kinds of moves, in ascending order
	knownCounts [2]*distance                  // of one count, and of more
}

// path is that of the group's leaf.
func (g *group) path() string { return g.chains.leaves[g.leaf] }

// noises are the kinds of noise that a budget can be spent on: discrete Laplace noise for a pure ε, discrete Gaussian
// noise for a ρ, and for ε and δ the one that is asked for or else either, whichever the whole composition makes the
// better one.
func noises(b spec.Budget) []budget.Kind {
	switch {
	case b.Delta != nil && b.Noise == "":
		return []budget.Kind{budget.DiscreteGaussian, budget.DiscreteLaplace}
	case b.Delta == nil && b.Epsilon != nil, b.Noise == spec.LaplaceNoise:
		return []budget.Kind{budget.DiscreteLaplace}
	}
	return []budget.Kind{budget.DiscreteGaussian}
}

// connected parts tables into groups that share columns; a total goes with the first group. A table that stands apart is
// a group of its own.
func connected(tables []*table, c chains) [][]*table {
	group := make([]int, len(c.columns)) // of each column, 0 for none
	var groups, alone [][]*table
	find := func(t *table) []int {
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
		if t.apart() {
			alone = append(alone, []*table{t})
		}
		if len(t.by) == 0 || t.apart() {
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
	groups = slices.DeleteFunc(groups, func(g []*table) bool { return g == nil })
	for _, t := range tables {
		if len(t.by) > 0 || t.apart() {
			continue
		}
		if len(groups) == 0 {
			groups = append(groups, nil)
		}
		groups[0] = append(groups[0], t)
	}
	return append(groups, alone...)
}

// design lists the designs of a group, and finds the best of each kind of noise. A group that has no way of its own with a
// kind takes discrete Gaussian noise, with which it always has one. Designs of a leaf of targets keep margins that are
// smaller than asked by the factor tighten.
func (g *group) design(r *spec.Release, tighten float64) error {
	for _, noise := range noises(r.Budget) {
		best, err := g.bestWith(r, noise, tighten)
		if err != nil {
			return err
		}
		if best < 0 && len(g.best) > 0 {
			best = g.best[0]
		} else if best < 0 {
			if best, err = g.bestWith(r, budget.DiscreteGaussian, tighten); err != nil {
				return err
			}
		}
		g.best = append(g.best, best)
	}
	return nil
}

// bestWith adds the designs of one kind of noise, and returns the place of the best of them, -1 where there is none.
func (g *group) bestWith(r *spec.Release, noise budget.Kind, tighten float64) (best int, err error) {
	from := len(g.designs)
	if g.needed {
		err = g.designForTargets(r, noise, tighten)
	} else {
		err = g.designFor(r, noise)
	}
	if err != nil || len(g.designs) == from {
		return -1, err
	}
	for i := from; i < len(g.designs) && g.apart() && g.minimise == spec.Guarded && !g.needed; i++ {
		g.designs[i].apartGuard(g)
	}
	best = from
	for i, d := range g.designs[from:] {
		if d.error < g.designs[best].error*(1-1e-9) || d.kind == Residuals && g.several() && !g.needed {
			best = from + i
		}
	}
	return best, nil
}

// designFor adds the designs of one kind of noise. The residuals of a single marginal of columns of one level have the
// very error of its cells and are left out. Of columns with ranges a strategy for discrete Laplace noise is known for a
// pure budget alone; under ε and δ they have discrete Gaussian noise.
func (g *group) designFor(r *spec.Release, noise budget.Kind) error {
	if t := g.tables[0]; t.distributions[noise] != nil {
		p, err := t.planDistribution(g, noise, *t.distributions[noise])
		if err != nil {
			return err
		}
		d := design{kind: Direct, noise: noise, planned: []planned{p}, parts: []float64{1}}
		each := float64(p.variance(1) * p.adds)
		g.add(&d, t, each, each)
		g.designs = append(g.designs, d)
		return nil
	}
	if g.tables[0].top() > 0 {
		if noise == budget.DiscreteLaplace && r.Budget.Delta != nil {
			return nil // under ε and δ choices have bounded range, and counts Gaussian noise
		}
		d, err := g.chosen(r, noise)
		if err == nil {
			g.designs = append(g.designs, d)
		}
		return err
	}
	if t := g.tables[0]; t.discovers != nil {
		if noise == budget.DiscreteLaplace && t.differ(r.Privacy.Neighbours) > mostResponses {
			return nil
		}
		d, err := g.discovered(noise)
		g.designs = append(g.designs, d)
		return err
	}
	if g.minimise == spec.Guarded && !g.apart() {
		return g.guardedFor(r, noise)
	}
	laplace, ranged := noise == budget.DiscreteLaplace, g.ranged() || g.summed() && g.several()
	switch {
	case laplace && ranged && r.Budget.Delta != nil:
		return nil
	case !ranged || laplace:
		each, err := g.direct(r, g.all(), Direct, noise)
		if err != nil {
			return err
		}
		g.designs = append(g.designs, each)
	}
	switch {
	case laplace && !ranged && !g.several():
		largest := g.outermost()
		if len(largest) == len(g.tables) {
			return nil
		}
		d, err := g.direct(r, largest, Largest, noise)
		if err != nil {
			return err
		}
		g.designs = append(g.designs, d)
	case !laplace && (len(g.tables) > 1 || g.several() || ranged):
		d, why, err := g.residuals(r)
		if err != nil {
			return err
		}
		if why != "" && ranged {
			return &fault{"", "the tables along whose columns counts are added up cannot be measured: " + why, "fewer attributes or coarser levels"}
		}
		if why != "" {
			g.reasons = append(g.reasons, Alternative{Kind: Residuals, Noise: noise, Why: why})
			return nil
		}
		g.designs = append(g.designs, d)
	}
	return nil
}

// ranged tells that columns of the group have ranges.
func (g *group) ranged() bool {
	return slices.ContainsFunc(g.tables, func(t *table) bool { return !t.apart() && len(g.chains.ranged(t)) > 0 })
}

// summed tells that a table of the group counts up along a column, or is asked for ranges.
func (g *group) summed() bool { return slices.ContainsFunc(g.tables, (*table).summed) }

// apart tells that the group is a table that is measured by itself.
func (g *group) apart() bool { return g.tables[0].apart() }

// several tells that a column of the group is used at several levels that residuals part: direct measurements then bear
// on their own table alone, so that residuals are taken wherever they can be.
func (g *group) several() bool {
	return slices.ContainsFunc(g.tables, func(t *table) bool {
		return !t.apart() && slices.ContainsFunc(g.chains.axes(t), func(a residual.Axis) bool {
			column := g.chains.columns[a.Column]
			_, ranged := column.Ranging()
			return !ranged && column.Levels() > 1
		})
	})
}

// all are the places of the group's tables.
func (g *group) all() []int {
	out := make([]int, len(g.tables))
	for i := range out {
		out[i] = i
	}
	return out
}

// outermost are the places of the tables whose attributes are not all in another table of the group; of those that show the same
// cells it is the first.
func (g *group) outermost() []int {
	var out []int
	for i, t := range g.tables {
		inner := false
		for j, other := range g.tables {
			inner = inner || (len(other.by) > len(t.by) || len(other.by) == len(t.by) && j < i) && contains(other, t)
		}
		if !inner {
			out = append(out, i)
		}
	}
	return out
}

// contains tells that a table has all attributes of another.
func contains(outer, inner *table) bool {
	for _, a := range inner.counted {
		if !slices.Contains(outer.counted, a) {
			return false
		}
	}
	return true
}
