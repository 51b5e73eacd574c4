package compiled

import (
	"maps"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file bounds the noise of the difference of two cells of a table.

// DifferenceBound bounds the noise of the difference of two cells of a table: for two cells picked beforehand, the
// probability that their difference is off by more than Margin is at most what the confidence of the table's intervals
// leaves.
type DifferenceBound struct {
	Margin float64
	// Exact reports whether Margin comes from the law of the difference, of the two cells with the largest. Otherwise
	// Margin is two margins, each with half of what the confidence leaves: the difference is off by more only if one of
	// the cells is beyond its own margin (Boole's inequality), however their noise is correlated.
	Exact bool
}

const (
	// mostPairs and mostWeights bound the pairs of cells whose laws are worked out, and the weights that this takes.
	// mostOfLevels allows more pairs for a table of one column that shows its cells, because many of these pairs share
	// a law unless the column has ranges.
	mostPairs, mostOfLevels = 1 << 8, 1 << 13
	mostWeights             = 1 << 22
)

// DifferenceBounds returns the bounds for the counts of all tables, in the plan's order, from the plan's own estimates.
// It returns nil for a release of a secret sample, whose error grows with the count and follows no law of the noise.
func DifferenceBounds(p *plan.Plan, estimates []Estimate) []DifferenceBound {
	if growsWithCount(p) {
		return nil
	}
	out := make([]DifferenceBound, len(p.Tables))
	for i, t := range p.Tables {
		if m, ok := p.Measurement(t.Statistics[0].Measurement); ok {
			out[i] = pairMarginOfDraws(m.Mechanism, t.Statistics[0].Confidence)
		}
	}
	known := Laws{}
	for i := range estimates {
		e := &estimates[i]
		for marginal, at := range e.Tables {
			if s := p.Tables[at].Statistics[0]; s.Measurement == "" {
				out[at] = e.pairMargin(marginal, s.Confidence, known)
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

// pairMarginOfDraws returns the bound for cells with one draw of this noise each. Their difference has the law of the
// sum of two draws, as each is symmetric. The difference from an exact zero has less noise.
func pairMarginOfDraws(m budget.Mechanism, confidence float64) DifferenceBound {
	terms := termsOf(m, []Weight{{1, 2}})
	margin, _ := budget.NewNoiseSum(terms).Margin(confidence)
	return DifferenceBound{margin, true}
}

// pairMargin returns the bound for a table that is estimated from several measurements: from the widest law of all
// pairs of cells if these are few, or few up to symmetry.
func (e *Estimate) pairMargin(marginal int, confidence float64, known Laws) DifferenceBound {
	axes := e.Axes[marginal]
	most := mostPairs
	if len(axes) == 1 && axes[0].Sums != residual.Prefixes && !e.hasRanges(marginal) {
		most = mostOfLevels
	}
	pairs, few := 1, true
	for i, a := range axes {
		n := float64(e.Columns[a.Column].Size(a.Level))
		switch {
		case e.isExchangeable(a):
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
	out := DifferenceBound{Exact: few}
	if !few {
		mean, largest := e.MeanVariance(marginal), e.Largest(marginal, e.Variances)
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
			out.Margin = max(out.Margin, known.lawOf(terms, confidence).margin)
		}
	})
	if out.Margin != math.Floor(out.Margin) { // in digits that every machine agrees on
		out.Margin = budget.RoundUp(float64(out.Margin*(1+1e-9)), plan.Significant)
	}
	return out
}

// sourcesOf returns the sources that contribute to a marginal.
func (e *Estimate) sourcesOf(marginal int) []int {
	var all []int
	for _, r := range e.ResidualsOf(marginal) {
		for _, p := range e.Parts[r] {
			if !slices.Contains(all, p.Source) {
				all = append(all, p.Source)
			}
		}
	}
	slices.Sort(all)
	return all
}

// isExchangeable reports whether nothing distinguishes the rows of an axis: any two of them are related in the same
// way.
func (e *Estimate) isExchangeable(a residual.Axis) bool {
	return e.Columns[a.Column].Plain() && a.Sums != residual.Prefixes
}

// pair is two rows of what an axis shows, as coefficients of the cells.
type pair struct{ one, other []float64 }

// pairsOf returns pairs of rows of an axis that represent all pairs up to symmetry. On the first axis each pair is in
// one order, as noise is symmetric.
func (e *Estimate) pairsOf(a residual.Axis, first bool) []pair {
	n := e.Columns[a.Column].Size(a.Level)
	if e.isExchangeable(a) { // two rows of what may be a million
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

// difference returns the noise of one cell minus the noise of another, without what both have in common; nothing for
// the same cell.
func (e *Estimate) difference(marginal int, cells []pair) []budget.NoiseTerm {
	one, other := make([][]float64, len(cells)), make([][]float64, len(cells))
	for i, p := range cells {
		one[i], other[i] = p.one, p.other
	}
	a, b := e.Sum(marginal, one), e.Sum(marginal, other)
	residuals := slices.DeleteFunc(slices.Clone(e.ResidualsOf(marginal)), func(r int) bool { return a.agrees(b, r) })
	plus, minus := a.weightsBy(residuals), b.weightsBy(residuals)
	var terms []budget.NoiseTerm
	largest := 0.0
	for _, source := range slices.Sorted(maps.Keys(plus)) {
		weights := make([]Weight, len(plus[source]))
		for i, w := range plus[source] {
			largest = max(largest, math.Abs(w))
			weights[i] = Weight{w - minus[source][i], 1}
		}
		terms = append(terms, termsOf(e.Sources[source].Mechanism, mergeEqual(weights))...)
	}
	return slices.DeleteFunc(terms,
		func(t budget.NoiseTerm) bool { return math.Abs(t.Weight) <= largest*equalWeights*1e-3 })
}
