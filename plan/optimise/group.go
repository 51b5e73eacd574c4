package optimise

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the groups: tables of one budget leaf that share columns, and the designs that each can choose from.

// Group is tables of one leaf and one confidential table that share columns.
type Group struct {
	Release  *spec.Release
	Leaf     int
	place    int // among the groups of its leaf and confidential table
	Tables   []*workload.Table
	Chains   workload.Chains // of all tables of the confidential table
	Minimise spec.Objective
	Unit     float64 // what an integer of its tables stands for
	Needed   bool    // the leaf gets what targets need
	Designs  []Design
	// the best design of each kind of noise, the first noise that the budget suits first
	Best    []int
	Reasons []strategy.Alternative // those that cannot be
	work    *residual.Workload     // of the tables, once it is asked for
	kinds   []residual.Moves       // that axes of its residuals have
	// of residuals whose axes have these kinds of moves, in ascending order
	known       map[[limit.SharedAttributes]int]*counted.Sensitivity
	knownCounts [2]*counted.Sensitivity // of one count, and of more
}

// path is that of the group's leaf.
func (g *Group) path() string { return g.Chains.Leaves[g.Leaf] }

// design lists the designs of a group, and finds the best of each kind of noise. A group that has no way of its own
// with a kind takes discrete Gaussian noise, with which it always has one. Designs of a leaf of targets keep margins
// that are smaller than asked by the factor tighten.
func (g *Group) design(r *spec.Release, tighten float64) error {
	for _, noise := range Noises(r.Budget) {
		best, err := g.bestWith(r, noise, tighten)
		if err != nil {
			return err
		}
		if best < 0 && len(g.Best) > 0 {
			best = g.Best[0]
		} else if best < 0 {
			if best, err = g.bestWith(r, noiseInRho(r.Budget), tighten); err != nil {
				return err
			}
		}
		g.Best = append(g.Best, best)
	}
	return nil
}

// bestWith adds the designs of one kind of noise, and returns the place of the best of them, -1 where there is none.
func (g *Group) bestWith(r *spec.Release, noise budget.Kind, tighten float64) (best int, err error) {
	from := len(g.Designs)
	if g.Needed {
		err = g.designForTargets(r, noise, tighten)
	} else {
		err = g.designFor(r, noise)
	}
	if err != nil || len(g.Designs) == from {
		return -1, err
	}
	for i := from; i < len(g.Designs) && g.Apart() && g.Minimise == spec.Guarded && !g.Needed; i++ {
		g.Designs[i].apartGuard(g)
	}
	best = from
	for i, d := range g.Designs[from:] {
		if d.Error < g.Designs[best].Error*(1-1e-9) || d.Kind == strategy.Residuals && g.Several() && !g.Needed {
			best = from + i
		}
	}
	return best, nil
}

// designFor adds the designs of one kind of noise. The residuals of a single marginal of columns of one level have the
// very error of its cells and are left out. Of columns with ranges a strategy for discrete Laplace noise is known for a
// pure budget alone; under ε and δ they have discrete Gaussian noise.
func (g *Group) designFor(r *spec.Release, noise budget.Kind) error {
	if bins, ok := g.Tables[0].Bins[noise]; ok {
		t := g.Tables[0]
		p, err := planDistribution(t, g, noise, bins)
		if err != nil {
			return err
		}
		d := Design{Kind: strategy.Direct, Noise: noise, Planned: []Planned{p}, parts: []float64{1}}
		each := float64(p.variance(1) * p.adds)
		g.add(&d, t, each, each)
		g.Designs = append(g.Designs, d)
		return nil
	}
	return designing[g.Tables[0].Selection.Kind()](g, r, noise)
}

// designing lists, by which answers are given out, what adds the designs of one kind of noise.
var designing = [selection.Kinds]func(g *Group, r *spec.Release, noise budget.Kind) error{
	selection.KindAll:    (*Group).designAnswers,
	selection.KindAbove:  (*Group).designAnswers,
	selection.KindTop:    (*Group).designTop,
	selection.KindGroups: (*Group).designGroups,
}

// designTop adds the design of a table of the largest cells, if choices can be made with the noise.
func (g *Group) designTop(r *spec.Release, noise budget.Kind) error {
	if noise.Pure() && r.Budget.Delta != nil {
		return nil // under ε and δ choices have bounded range, and counts Gaussian noise
	}
	d, err := g.chosen(r, noise)
	if err == nil {
		g.Designs = append(g.Designs, d)
	}
	return err
}

// designGroups adds the design of a table of groups that nobody lists, if they can be selected with the noise.
func (g *Group) designGroups(r *spec.Release, noise budget.Kind) error {
	if noise.Pure() && g.Tables[0].Differ(r) > selection.MostResponses {
		return nil
	}
	d, err := g.discovered(noise)
	g.Designs = append(g.Designs, d)
	return err
}

// designAnswers adds the designs of tables whose cells all get noise.
func (g *Group) designAnswers(r *spec.Release, noise budget.Kind) error {
	if g.Minimise == spec.Guarded && !g.Apart() {
		return g.guardedFor(r, noise)
	}
	laplace, ranged := noise.Pure(), g.ranged() || g.summed() && g.Several()
	switch {
	case laplace && ranged && r.Budget.Delta != nil:
		return nil
	case !ranged || laplace:
		each, err := g.direct(r, g.all(), strategy.Direct, noise)
		if err != nil {
			return err
		}
		g.Designs = append(g.Designs, each)
	}
	switch {
	case laplace && !ranged && !g.Several():
		largest := g.outermost()
		if len(largest) == len(g.Tables) {
			return nil
		}
		d, err := g.direct(r, largest, strategy.Largest, noise)
		if err != nil {
			return err
		}
		g.Designs = append(g.Designs, d)
	case !laplace && (len(g.Tables) > 1 || g.Several() || ranged):
		d, why, err := g.residuals(r)
		if err != nil {
			return err
		}
		return g.offerResiduals(d, why, ranged)
	}
	return nil
}

// offerResiduals adds the design of residuals to those of the group, or the reason why they cannot be measured. It
// fails on a reason where nothing else can be.
func (g *Group) offerResiduals(d Design, why string, alone bool) error {
	switch {
	case why == "":
		g.Designs = append(g.Designs, d)
	case alone:
		return unmeasurable(why)
	default:
		g.Reasons = append(g.Reasons, strategy.Alternative{Kind: strategy.Residuals, Noise: noiseInRho(g.Release.Budget),
			Why: why})
	}
	return nil
}

// unmeasurable is the error for tables of ranges whose residuals cannot be measured.
func unmeasurable(why string) error {
	return &workload.Fault{Key: "",
		Message:  "the tables along whose columns counts are added up cannot be measured: " + why,
		Expected: "fewer attributes or coarser levels"}
}

// ranged tells that columns of the group have ranges.
func (g *Group) ranged() bool {
	return slices.ContainsFunc(g.Tables, func(t *workload.Table) bool { return !t.Apart() && len(g.Chains.Ranged(t)) > 0 })
}

// summed tells that a table of the group counts up along a column, or is asked for ranges.
func (g *Group) summed() bool { return slices.ContainsFunc(g.Tables, (*workload.Table).Summed) }

// Apart tells that the group is a table that is measured by itself.
func (g *Group) Apart() bool { return g.Tables[0].Apart() }

// Several tells that a column of the group is used at several levels that residuals part: direct measurements then bear
// on their own table alone, so that residuals are taken wherever they can be.
func (g *Group) Several() bool {
	return slices.ContainsFunc(g.Tables, func(t *workload.Table) bool {
		return !t.Apart() && slices.ContainsFunc(g.Chains.Axes(t), func(a residual.Axis) bool {
			column := g.Chains.Columns[a.Column]
			_, ranged := column.Ranging()
			return !ranged && column.Levels() > 1
		})
	})
}

// all are the places of the group's tables.
func (g *Group) all() []int {
	out := make([]int, len(g.Tables))
	for i := range out {
		out[i] = i
	}
	return out
}

// outermost are the places of the tables whose attributes are not all in another table of the group; of those that show
// the same cells it is the first.
func (g *Group) outermost() []int {
	var out []int
	for i, t := range g.Tables {
		inner := false
		for j, other := range g.Tables {
			inner = inner || (len(other.By) > len(t.By) || len(other.By) == len(t.By) && j < i) && workload.Contains(other, t)
		}
		if !inner {
			out = append(out, i)
		}
	}
	return out
}
