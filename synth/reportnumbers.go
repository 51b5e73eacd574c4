package synth

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
)

// This file holds the sums and means of the numbers that respondents gave through their randomising devices.

// reportNumber estimates figures of a question for numbers, cell by cell.
type reportNumber struct {
	law      local.Weighted
	values   []float64 // that the points of a cell stand for, ascending
	supports []int64   // of all cells, the points of each next to one another
	normal   float64   // how many standard errors an interval reaches
}

// reportNumbers returns the figures of a table of reports, whose estimated counts are given, in the plan's order.
//
// Guarantee: over the devices' rounding, their randomisation, and which respondents drew the question, the estimate of a
// sum is unbiased. Intervals take the error of a sum of numbers, or of their differences from a mean, for normal, with
// the variance of [local.Weighted.Deviation] at the estimated numbers of respondents. Theorem: docs/proofs/local.md.
func reportNumbers(p *plan.Plan, t plan.Table, m measured.Measured, respondents int64, counts *array.Float64) []Number {
	question, _ := m.Measurement.Reports()
	if question.Of == "" {
		return nil
	}
	values := question.PointValues(p.Release().Table(t.From).Column(question.Of).Lattice)
	n := reportNumber{values: values, supports: m.Values.Int64Values(), normal: budget.NormalQuantile((1 - confidence) / 2),
		law: local.Weighted{Randomiser: question.Randomiser(), Respondents: respondents, Reports: m.Reports.Kept,
			Gap: values[1] - values[0]}}
	out := make([]Number, len(t.Figures))
	for i, f := range t.Figures {
		cells := make([]Figure, t.Cells)
		for cell := range cells {
			if statistic.OfFigure(f).Additive() {
				cells[cell] = n.sum(cell)
			} else {
				cells[cell] = n.mean(cell)
			}
			if t.Show > 0 {
				cells[cell] = cells[cell].ShownFrom(float64(t.Show), counts.Value(cell))
			}
		}
		out[i] = Number{Figure: f, FigureColumns: ColumnsOf(cells)}
	}
	return out
}

// cellOf returns how many reports hold each point of a cell, and about which parts of all respondents have them.
func (n reportNumber) cellOf(cell int) (supports []int64, parts []float64) {
	supports = n.supports[cell*len(n.values):][:len(n.values)]
	parts = make([]float64, len(n.values))
	one, sum := n.law, 0.0
	one.Weights = []float64{1}
	for j := range parts {
		parts[j] = math.Max(0, one.Estimate(supports[j:])) / float64(one.Respondents)
		sum += parts[j]
	}
	for j := range parts {
		parts[j] /= math.Max(1, sum)
	}
	return supports, parts
}

// margin returns how far an interval reaches: so many standard errors, and half a step, as estimates lie on a lattice.
func (n reportNumber) margin(deviation float64) float64 {
	return float64(n.normal*deviation) + float64(n.law.Step()/2)
}

// about returns the estimated sum over a cell of what its numbers differ from a centre, and its standard error.
func (n reportNumber) about(supports []int64, parts []float64, centre float64) (estimate, deviation float64) {
	law := n.law
	law.Weights = make([]float64, len(n.values))
	for j, v := range n.values {
		law.Weights[j] = v - centre
	}
	return law.Estimate(supports), law.Deviation(parts)
}

// sum returns the sum of a cell's numbers.
func (n reportNumber) sum(cell int) Figure {
	supports, parts := n.cellOf(cell)
	estimate, deviation := n.about(supports, parts, 0)
	all := float64(n.law.Respondents)
	return additiveFigure(estimate, deviation, n.margin(deviation), float64(all*math.Min(0, n.values[0])),
		float64(all*math.Max(0, n.values[len(n.values)-1])))
}

// mean returns the mean of a cell's numbers: the centres about which their sum is not significant.
// Source: Fieller 1954, Some problems in interval estimation.
func (n reportNumber) mean(cell int) Figure {
	supports, parts := n.cellOf(cell)
	sum, _ := n.about(supports, parts, 0)
	less, _ := n.about(supports, parts, 1)
	count, from, to := sum-less, n.values[0], n.values[len(n.values)-1]
	if count <= 0 {
		return unpublishedFigure(Unbounded)
	}
	low, high, ok := spanWithin(sum/count, from, to, func(centre float64) bool {
		estimate, deviation := n.about(supports, parts, centre)
		return math.Abs(estimate) <= n.margin(deviation)
	})
	if !ok {
		return unpublishedFigure(Unbounded)
	}
	mean := math.Min(math.Max(sum/count, from), to)
	_, deviation := n.about(supports, parts, mean)
	return boundedFigure(mean, deviation/count, low, high)
}
