package optimise

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the groups: tables of one budget leaf that share columns, and the designs that each can choose
// from.

// Group is a set of tables of one leaf and one confidential table that share columns.
type Group struct {
	Release  *spec.Release
	Leaf     int
	index    int // among the groups of its leaf and confidential table
	Tables   []*workload.Table
	Chains   workload.Chains // of all tables of the confidential table
	Minimise spec.Objective
	Unit     float64 // what one integer of its tables stands for
	Needed   bool    // the leaf gets what its targets need
	Designs  []Design
	// Best is the index of the best design of each kind of noise, in the order of [Noises].
	Best      []int
	Reasons   []strategy.Alternative // designs that are not possible, and why
	workload  *residual.Workload     // of the tables, made when first needed
	moveKinds []residual.Sensitivity // the distinct moves of its residuals' axes
	// knownResiduals are the sensitivities of residuals, by the sorted kinds of moves of their axes.
	knownResiduals map[[limit.SharedAttributes]int]*counted.Sensitivity
	knownCounts    [2]*counted.Sensitivity // of one count, and of more
}

// leafPath returns the path of the group's leaf.
func (g *Group) leafPath() string { return g.Chains.Leaves[g.Leaf] }

// addDesigns adds the designs of a group, and finds the best of each kind of noise. If a kind has no design, the
// group takes discrete Gaussian noise, which always has one. Designs of a leaf of targets keep margins that are
// smaller than requested by the factor tighten.
func (g *Group) addDesigns(r *spec.Release, tighten float64) error {
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

// bestWith adds the designs of one kind of noise, and returns the index of the best of them, or -1 if there is none.
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
	for i := from; i < len(g.Designs) && g.IsStandalone() && g.Minimise == spec.Guarded && !g.Needed; i++ {
		g.Designs[i].guardStandalone(g)
	}
	best = from
	for i, d := range g.Designs[from:] {
		if d.Error < g.Designs[best].Error*(1-1e-9) || d.Kind == strategy.Residuals && g.HasSeparableLevels() &&
			!g.Needed {
			best = from + i
		}
	}
	return best, nil
}

// designFor adds the designs of one kind of noise. It leaves out the residuals of a single marginal of columns of one
// level, which have the same error as its cells. For columns with ranges a strategy with discrete Laplace noise is
// known only for a pure budget; under ε and δ they have discrete Gaussian noise.
func (g *Group) designFor(r *spec.Release, noise budget.Kind) error {
	if bins, ok := g.Tables[0].Bins[noise]; ok {
		t := g.Tables[0]
		p, err := planDistribution(t, g, noise, bins)
		if err != nil {
			return err
		}
		d := Design{Kind: strategy.Direct, Noise: noise, Measurements: []PlannedMeasurement{p}, parts: []float64{1}}
		each := float64(p.variance(1) * p.addedVariance)
		g.addErrors(&d, t, each, each)
		g.Designs = append(g.Designs, d)
		return nil
	}
	return designing[g.Tables[0].Selection.Kind()](g, r, noise)
}

// designing lists, by selection, the functions that add the designs of one kind of noise.
var designing = [selection.Kinds]func(g *Group, r *spec.Release, noise budget.Kind) error{
	selection.KindAll:    (*Group).designAnswers,
	selection.KindAbove:  (*Group).designAnswers,
	selection.KindTop:    (*Group).designTop,
	selection.KindGroups: (*Group).designGroups,
	selection.KindTexts:  (*Group).designAnswers, // in no such group
}

// designTop adds the design of a table of the largest cells, if choices are possible with the noise.
func (g *Group) designTop(r *spec.Release, noise budget.Kind) error {
	if noise.Pure() && r.Budget.Delta != nil {
		return nil // under ε and δ choices have bounded range, and counts Gaussian noise
	}
	d, err := g.designChosen(r, noise)
	if err == nil {
		g.Designs = append(g.Designs, d)
	}
	return err
}

// designGroups adds the design of a table of groups that nobody lists, if groups can be selected with the noise.
func (g *Group) designGroups(r *spec.Release, noise budget.Kind) error {
	if noise.Pure() && g.Tables[0].MaxDifferingGroups(r) > selection.MostResponses {
		return nil
	}
	d, err := g.designDiscovered(noise)
	g.Designs = append(g.Designs, d)
	return err
}

// designAnswers adds the designs of tables whose cells all get noise.
func (g *Group) designAnswers(r *spec.Release, noise budget.Kind) error {
	if g.Minimise == spec.Guarded && !g.IsStandalone() {
		return g.designGuarded(r, noise)
	}
	laplace, ranged := noise.Pure(), g.hasRanges() || g.hasSums() && g.HasSeparableLevels()
	switch {
	case laplace && ranged && r.Budget.Delta != nil:
		return nil
	case !ranged || laplace:
		each, err := g.designDirect(r, g.allTables(), strategy.Direct, noise)
		if err != nil {
			return err
		}
		g.Designs = append(g.Designs, each)
	}
	switch {
	case laplace && !ranged && !g.HasSeparableLevels():
		largest := g.outermostTables()
		if len(largest) == len(g.Tables) {
			return nil
		}
		d, err := g.designDirect(r, largest, strategy.Largest, noise)
		if err != nil {
			return err
		}
		g.Designs = append(g.Designs, d)
	case !laplace && ranged, !byTables(noise) && (len(g.Tables) > 1 || g.HasSeparableLevels()):
		d, why, err := g.designResiduals(r)
		if err != nil {
			return err
		}
		return g.offerResiduals(d, why, ranged)
	}
	return nil
}

// offerResiduals adds the design of residuals to the group's designs, or the reason why they cannot be measured. If
// there is no other design, it returns that reason as an error.
func (g *Group) offerResiduals(d Design, why phrase.Phrase, isOnlyDesign bool) error {
	switch {
	case why.IsZero():
		g.Designs = append(g.Designs, d)
	case isOnlyDesign:
		return rangesUnmeasurable(why)
	default:
		g.Reasons = append(g.Reasons, strategy.Alternative{Kind: strategy.Residuals,
			Noise: noiseInRho(g.Release.Budget),
			Why:   why})
	}
	return nil
}

// rangesUnmeasurable returns the error for tables of ranges whose residuals cannot be measured.
func rangesUnmeasurable(why phrase.Phrase) error {
	return &workload.Fault{Key: "",
		Message:  "the tables along whose columns counts are added up cannot be measured: " + why.String(),
		Expected: "fewer attributes or coarser levels"}
}

// hasRanges reports whether columns of the group have ranges.
func (g *Group) hasRanges() bool {
	return slices.ContainsFunc(g.Tables, func(t *workload.Table) bool {
		return !t.IsStandalone() && len(g.Chains.RangedAxes(t)) > 0
	})
}

// hasSums reports whether a table of the group accumulates along a column, or needs ranges.
func (g *Group) hasSums() bool { return slices.ContainsFunc(g.Tables, (*workload.Table).HasSums) }

// IsStandalone reports whether the group is one standalone table, whose measurement is shared with no other.
func (g *Group) IsStandalone() bool { return g.Tables[0].IsStandalone() }

// HasSeparableLevels reports whether a column of the group is used at several levels that residuals separate. Direct
// measurements then contribute only to their own table, so residuals are taken wherever possible.
func (g *Group) HasSeparableLevels() bool {
	return slices.ContainsFunc(g.Tables, func(t *workload.Table) bool {
		return !t.IsStandalone() && slices.ContainsFunc(g.Chains.Axes(t), func(a residual.Axis) bool {
			column := g.Chains.Columns[a.Column]
			_, ranged := column.Ranging()
			return !ranged && column.Levels() > 1
		})
	})
}

// allTables returns the indices of the group's tables.
func (g *Group) allTables() []int {
	out := make([]int, len(g.Tables))
	for i := range out {
		out[i] = i
	}
	return out
}

// outermostTables returns the indices of the tables whose attributes are not all in another table of the group. Of
// several tables that show the same cells it includes the first.
func (g *Group) outermostTables() []int {
	var out []int
	for i, t := range g.Tables {
		inner := false
		for j, other := range g.Tables {
			inner = inner || (len(other.By) > len(t.By) || len(other.By) == len(t.By) && j < i) &&
				workload.Contains(other, t)
		}
		if !inner {
			out = append(out, i)
		}
	}
	return out
}
