package synth

import (
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/hierarchy"
)

// This file holds the figures of questions that devices answered in bands of several widths.

// banded estimates sums of the cells of a question.
type banded struct {
	estimator   *hierarchy.Estimator
	cells       []float64 // the parts of the respondents who have each cell, about
	respondents int64
	supports    [][]int64 // by level that has reports
	normal      float64   // how many standard errors an interval reaches
}

// newBanded returns the estimates of a question from so many respondents.
func newBanded(p *plan.Plan, m measured.Measured, respondents int64, confidence float64) banded {
	question, _ := m.Measurement.Reports()
	of, _ := m.Measurement.Query.Along(p.Release(), question.Along) // checked as the plan was read
	return newBands(of, question, m.Values.Int64Values(), respondents, confidence)
}

// newBands is [newBanded] from what was counted of the reports.
func newBands(of hierarchy.Question, question counted.Reports, counts []int64, respondents int64,
	confidence float64) banded {
	supports, reports := question.OfLevels(counts)
	b := banded{estimator: hierarchy.New(of, respondents, question.Levels(reports)), cells: make([]float64, of.Cells()),
		respondents: respondents, normal: budget.NormalQuantile((1 - confidence) / 2)}
	for h, n := range reports {
		if n > 0 {
			b.supports = append(b.supports, supports[h])
		}
	}
	sum, one := 0.0, make([]float64, len(b.cells))
	for i := range b.cells {
		one[i] = 1
		b.cells[i] = math.Max(0, b.estimator.Sum(one).Estimate(b.supports))
		sum += b.cells[i]
		one[i] = 0
	}
	for i := range b.cells {
		b.cells[i] /= sum // which is at least the number of respondents, as the estimates of all cells add up to that
	}
	return b
}

// sum returns the number of respondents in the cells whose weight is 1. Its interval has the numbers of which the
// estimate is no further than so many of the standard errors that it would have.
// Source: Wilson 1927, Probable inference, the law of succession, and statistical inference.
func (b banded) sum(cells []float64) (sum ReportSum) {
	for _, weight := range cells {
		sum.Cells += int(weight)
	}
	all := float64(b.respondents)
	if sum.Cells == len(b.cells) { // every respondent's answer is there
		sum.Unbiased, sum.Low, sum.High = all, all, all
		return sum
	}
	law := b.lawOf(cells)
	sum.Unbiased = law.Estimate(b.supports)
	sum.Error = law.deviation(sum.Unbiased)
	low, high := law.intervalEnd(sum.Unbiased, -b.normal), law.intervalEnd(sum.Unbiased, b.normal)
	sum.Low = math.Min(sum.Unbiased, math.Floor(low)) // the number is whole
	sum.High = math.Max(sum.Unbiased, math.Ceil(high))
	return sum
}

// reportsPerForm returns the number of reports to each form of a question, nil if it has one form only.
func reportsPerForm(m measured.Measured) []int64 {
	question, _ := m.Measurement.Reports()
	if len(question.Bands) == 0 {
		return m.Reports.Forms
	}
	_, reports := question.OfLevels(m.Values.Int64Values())
	return reports
}

// bandedLaw is the law of an estimated number of respondents in some cells. By level, it has the parts of these
// respondents, and of the others, who have each band, about.
type bandedLaw struct {
	local.Combined
	inside, outside [][]float64
}

// lawOf returns the law of the number in the cells whose weight is 1.
func (b banded) lawOf(cells []float64) bandedLaw {
	parts := func(of float64) [][]float64 {
		chosen, sum, n := make([]float64, len(cells)), 0.0, 0.0
		for i, weight := range cells {
			if weight == of {
				chosen[i] = b.cells[i]
				sum, n = sum+b.cells[i], n+1
			}
		}
		for i, weight := range cells {
			switch {
			case weight != of:
			case sum > 0:
				chosen[i] /= sum
			default: // nothing is known of them
				chosen[i] = 1 / n
			}
		}
		return b.estimator.Parts(chosen)
	}
	return bandedLaw{b.estimator.Sum(cells), parts(1), parts(0)}
}

// deviation returns the standard error if that many respondents are in the cells, or the nearest number that can be.
func (l bandedLaw) deviation(number float64) float64 {
	share := l.clamp(number) / float64(l.Respondents)
	mixed := make([][]float64, len(l.inside))
	for h := range mixed {
		mixed[h] = make([]float64, len(l.inside[h]))
		for band := range mixed[h] {
			mixed[h][band] = float64(share*l.inside[h][band]) + float64((1-share)*l.outside[h][band])
		}
	}
	return l.Deviation(mixed, float64(share*(1-share)))
}

// clamp returns the nearest number of respondents that can be.
func (l bandedLaw) clamp(number float64) float64 {
	return math.Min(math.Max(number, 0), float64(l.Respondents))
}

// endRounds is how often an end of an interval is improved: its distance is a standard error, which changes little with
// the end.
const endRounds = 8

// intervalEnd returns an end of an interval: the number from which the estimate is the given number of its standard
// errors away.
func (l bandedLaw) intervalEnd(estimate, normal float64) float64 {
	number := estimate
	for range endRounds {
		number = l.clamp(estimate + float64(normal*l.deviation(number)))
	}
	return number
}

// sumsOfCells returns the figures of the question's table, as [cellSums] does.
func (b banded) sumsOfCells(keys []Key, up []bool) []ReportSum {
	sums := make([]ReportSum, len(b.cells))
	for i := range sums {
		cells := make([]float64, len(b.cells))
		for other := range cells {
			if isCounted(other, i, keys, up) {
				cells[other] = 1
			}
		}
		sums[i] = b.sum(cells)
	}
	return sums
}

// isCounted reports whether a cell is counted in another one, or is that itself: it is before it along keys on which
// the table counts up, and at the same place along the others.
func isCounted(cell, in int, keys []Key, up []bool) bool {
	for k := len(keys) - 1; k >= 0; k-- {
		size := keys[k].Level.Size()
		if place, last := cell%size, in%size; place > last || place < last && !up[k] {
			return false
		}
		cell, in = cell/size, in/size
	}
	return true
}

// sumsOfRows adds up the cells of each row.
func (b banded) sumsOfRows(rowOf []int, rows int) []ReportSum {
	sums := make([]ReportSum, rows)
	for row := range sums {
		cells := make([]float64, len(rowOf))
		for cell, at := range rowOf {
			if at == row {
				cells[cell] = 1
			}
		}
		sums[row] = b.sum(cells)
	}
	return sums
}
