package synth

import (
	"math"
	"slices"

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
	middle   float64   // of the range: what numbers differ from it is added up, so that nothing cancels out
	offsets  []float64 // that the points of a cell are from it, ascending
	supports []int64   // of all cells, the points of each next to one another
	whole    bool      // all respondents are in the one cell, so that their number is known
	normal   float64   // how many standard errors an interval reaches
}

// newReportNumber returns the estimates for points that stand for these numbers.
func newReportNumber(values []float64, law local.Weighted, supports []int64) reportNumber {
	n := reportNumber{law: law, middle: (values[0] + values[len(values)-1]) / 2, supports: supports,
		whole: len(supports) == len(values), normal: budget.NormalQuantile((1 - confidence) / 2)}
	for _, v := range values {
		n.offsets = append(n.offsets, v-n.middle)
	}
	n.law.Gap = values[1] - values[0]
	return n
}

// reportNumbers returns the figures of a table of reports, whose estimated counts are given, in the plan's order.
//
// Guarantee: over the devices' rounding, their randomisation, and which respondents drew the question, the estimate of
// a sum is unbiased. Intervals take the error of a sum of numbers, or of their differences from a mean, for normal,
// with the variance of [local.Weighted.Deviation] at the estimated numbers of respondents. Theorem:
// docs/proofs/local.md.
func reportNumbers(p *plan.Plan, t plan.Table, m measured.Measured, respondents int64, counts *array.Float64) []Number {
	question, _ := m.Measurement.Reports()
	if question.Of == "" {
		return nil
	}
	n := newReportNumber(question.PointValues(p.Release().Table(t.From).Column(question.Of).Lattice),
		local.Weighted{Randomiser: question.Randomiser(), Respondents: respondents, Reports: m.Reports.Kept},
		m.Values.Int64Values())
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
	supports = n.supports[cell*len(n.offsets):][:len(n.offsets)]
	parts = make([]float64, len(n.offsets))
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

// about returns the estimated sum over a cell of what its numbers differ from a centre, which is given by its distance
// from the middle, and its standard error.
func (n reportNumber) about(supports []int64, parts []float64, centre float64) (estimate, deviation float64) {
	law := n.law
	law.Weights = make([]float64, len(n.offsets))
	for j, v := range n.offsets {
		law.Weights[j] = v - centre
	}
	return law.Estimate(supports), law.Deviation(parts)
}

// count returns the estimated number of respondents in a cell.
func (n reportNumber) count(supports []int64) float64 {
	if n.whole {
		return float64(n.law.Respondents)
	}
	law := n.law
	law.Weights = slices.Repeat([]float64{1}, len(n.offsets))
	return law.Estimate(supports)
}

// sum returns the sum of a cell's numbers.
func (n reportNumber) sum(cell int) Figure {
	supports, parts := n.cellOf(cell)
	estimate, deviation := n.about(supports, parts, 0)
	if !n.whole { // the error of the count counts too
		_, deviation = n.about(supports, parts, -n.middle)
	}
	all, last := float64(n.law.Respondents), n.offsets[len(n.offsets)-1]
	return additiveFigure(estimate+float64(n.middle*n.count(supports)), deviation, n.margin(deviation),
		float64(all*math.Min(0, n.middle-last)), float64(all*math.Max(0, n.middle+last)))
}

// mean returns the mean of a cell's numbers: the centres about which their sum is not significant.
// Source: Fieller 1954, Some problems in interval estimation.
func (n reportNumber) mean(cell int) Figure {
	supports, parts := n.cellOf(cell)
	sum, _ := n.about(supports, parts, 0)
	count, from, to := n.count(supports), n.offsets[0], n.offsets[len(n.offsets)-1]
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
	return boundedFigure(mean, deviation/count, low, high).Scaled(n.middle, 1)
}
