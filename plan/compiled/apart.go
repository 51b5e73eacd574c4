package compiled

import (
	"maps"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds how far noise drives two cells of a table apart.

// Apart is how far the noise of a table drives two of its cells apart: with a chance of at most what the confidence of
// the table's intervals leaves, the difference of two cells that were picked beforehand is off by more than Margin.
type Apart struct {
	Margin float64
	// Exact tells that it is from the law of the difference, of the two cells for which it is most. Else it is two
	// margins, each with half of what the confidence leaves: no two cells are further apart unless one is beyond its own
	// (Boole's inequality), however their noise hangs together.
	Exact bool
}

const (
	// mostPairs and mostWeights bound the pairs of cells whose laws are worked out, and the weights that this takes: more
	// of tables of one column that shows its cells, many of whose pairs have one law, but for ranges.
	mostPairs, mostOfLevels = 1 << 8, 1 << 13
	mostWeights             = 1 << 22
)

// Aparts are those of the counts of all tables, in the plan's order, from the plan's own estimates; nil for a release
// of a secret sample, whose error grows with the count and is in no law of the noise.
func Aparts(p *plan.Plan, estimates []Estimate) []Apart {
	if growsWithCount(p) {
		return nil
	}
	out := make([]Apart, len(p.Tables))
	for i, t := range p.Tables {
		if m, ok := p.Measurement(t.Statistics[0].Measurement); ok {
			out[i] = apartAlone(m.Mechanism, t.Statistics[0].Confidence)
		}
	}
	known := Laws{}
	for i := range estimates {
		e := &estimates[i]
		for marginal, at := range e.Tables {
			if s := p.Tables[at].Statistics[0]; s.Measurement == "" {
				out[at] = e.apart(marginal, s.Confidence, known)
			}
		}
	}
	for i, t := range p.Tables {
		if unit, err := budget.ParseRat(t.Statistics[0].Unit); err == nil {
			each, _ := unit.Float64()
			out[i].Margin = float64(each * out[i].Margin)
		}
	}
	return out
}

// apartAlone is that of cells with a draw of this noise each: their difference has the law of the sum of two, as each
// is symmetric. An exact zero is driven apart from another cell by less.
func apartAlone(m budget.Mechanism, confidence float64) Apart {
	terms := termsOf(m, []Weight{{1, 2}})
	margin, _ := budget.NewNoiseSum(terms).Margin(confidence)
	return Apart{margin, true}
}

// apart is that of a table that is put together: of the widest law of all pairs of cells where they are few, or alike.
func (e *Estimate) apart(marginal int, confidence float64, known Laws) Apart {
	axes := e.Axes[marginal]
	most := mostPairs
	if len(axes) == 1 && axes[0].Sums != residual.Prefixes && !e.hasRanges(marginal) {
		most = mostOfLevels
	}
	pairs, few := 1, true
	for i, a := range axes {
		n := float64(e.Columns[a.Column].Size(a.Level))
		switch {
		case e.alike(a):
			n = 2 // pairs of one category, and of two
		case i == 0:
			n = float64(n*(n+1)) / 2
		default:
			n *= n
		}
		if few = few && n <= float64(most/pairs); few {
			pairs *= int(n)
		}
	}
	weights := 0
	for _, s := range e.sourcesOf(marginal) {
		weights += int(e.Sources[s].Cells)
		few = few && weights <= mostWeights/pairs
	}
	out := Apart{Exact: few}
	if !few {
		mean, largest := e.Shown(marginal), e.Largest(marginal, e.Variances)
		each := e.Intervals(marginal, math.Sqrt(mean), math.Sqrt(largest), 1-float64((1-confidence)/2), known)
		out.Margin = 2 * each.Margin
		return out
	}
	rows := make([][]pair, len(axes))
	for i, a := range axes {
		rows[i] = e.pairsOf(a, i == 0)
	}
	eachChoice(rows, func(cells []pair) {
		if terms := e.difference(marginal, cells); len(terms) > 0 {
			out.Margin = max(out.Margin, known.of(terms, confidence).margin)
		}
	})
	if out.Margin != math.Floor(out.Margin) { // in digits that every machine agrees on
		out.Margin = budget.RoundUp(float64(out.Margin*(1+1e-9)), plan.Significant)
	}
	return out
}

// sourcesOf are the sources that bear on a marginal.
func (e *Estimate) sourcesOf(marginal int) []int {
	var all []int
	for _, r := range e.Of(marginal) {
		for _, p := range e.Parts[r] {
			if !slices.Contains(all, p.Source) {
				all = append(all, p.Source)
			}
		}
	}
	slices.Sort(all)
	return all
}

// alike tells that nothing tells what an axis shows apart: any two rows of it are to each other as any other two are.
func (e *Estimate) alike(a residual.Axis) bool {
	return e.Columns[a.Column].Plain() && a.Sums != residual.Prefixes
}

// pair is two rows of what an axis shows, as coefficients of the cells.
type pair struct{ one, other []float64 }

// pairsOf are pairs of rows of an axis among which every two are, or two that are to each other as they are: on the
// first axis in one order, as noise is symmetric.
func (e *Estimate) pairsOf(a residual.Axis, first bool) []pair {
	n := e.Columns[a.Column].Size(a.Level)
	if e.alike(a) { // two rows of what may be a million
		one, last := make([]float64, n), make([]float64, n)
		one[0], last[n-1] = 1, 1
		return []pair{{one, one}, {one, last}}
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		if rows[i][i] = 1; a.Sums == residual.Prefixes {
			for j := range i {
				rows[i][j] = 1
			}
		}
	}
	var all []pair
	for i, one := range rows {
		for k, other := range rows {
			if !first || k <= i {
				all = append(all, pair{one, other})
			}
		}
	}
	return all
}

// difference is the noise of one cell less that of another, none where they are the same cell: what both have in common
// cancels.
func (e *Estimate) difference(marginal int, cells []pair) []budget.NoiseTerm {
	one, other := make([][]float64, len(cells)), make([][]float64, len(cells))
	for i, p := range cells {
		one[i], other[i] = p.one, p.other
	}
	a, b := e.Sum(marginal, one), e.Sum(marginal, other)
	residuals := slices.DeleteFunc(slices.Clone(e.Of(marginal)), func(r int) bool { return a.agrees(b, r) })
	plus, minus := a.weightsBy(residuals), b.weightsBy(residuals)
	var terms []budget.NoiseTerm
	largest := 0.0
	for _, source := range slices.Sorted(maps.Keys(plus)) {
		weights := make([]Weight, len(plus[source]))
		for i, w := range plus[source] {
			largest = max(largest, math.Abs(w))
			weights[i] = Weight{w - minus[source][i], 1}
		}
		terms = append(terms, termsOf(e.Sources[source].Mechanism, gathered(weights))...)
	}
	return slices.DeleteFunc(terms,
		func(t budget.NoiseTerm) bool { return math.Abs(t.Weight) <= largest*alikeWeights*1e-3 })
}
