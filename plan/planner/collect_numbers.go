package planner

import (
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file plans questions that ask for numbers: to how many points of the range a device rounds them.

// positions is how many positions of a number in its range the error of a mean is compared at, less one.
const positions = 40

// mostPoints bounds the points. At the largest ε more of them leave little less error.
const mostPoints = 64

// numberReports returns the reports of a question for the numbers of a column in each of so many cells. It has as many
// points as make the error of a mean least: the standard error in a cell of average size, all of whose respondents have
// one number, the one where it is largest. With two points and one cell it is the mechanism of one bit, which is best
// for a small ε.
// Source: Duchi, Jordan & Wainwright 2018, Minimax optimal procedures for locally private estimation, section 4.2.
func numberReports(epsilon *big.Rat, column *spec.Column, cells int64) (best counted.Reports, err error) {
	least := math.Inf(1)
	for points := int64(2); points <= mostPoints && points <= int64(column.Lattice.PointCount()) &&
		(points == 2 || points*cells <= counted.MostInSet); points++ {
		r, err := counted.NewReports(epsilon, points*cells)
		if err != nil {
			return r, err
		}
		r.Of, r.Points = column.Name, points
		of := numberCell{r, unitRange(points), 1 / float64(cells), 1, 1}
		if worst := of.worstMean(); worst < least*(1-1e-9) {
			best, least = r, worst
		}
	}
	return best, nil
}

// unitRange returns the points of a range from 0 to 1.
func unitRange(points int64) []float64 {
	values := make([]float64, points)
	for j := range values {
		values[j] = float64(j) / float64(points-1)
	}
	return values
}

// numberCell is a cell of a question for numbers, which the points stand for, with a part of all respondents. All of
// these have one number.
type numberCell struct {
	of                   counted.Reports
	values               []float64
	part                 float64
	respondents, reports int64 // to the question
}

// worstMean returns the largest standard error of the mean, whatever the number is.
func (c numberCell) worstMean() float64 {
	return c.worst(func(number float64) float64 { return number }) / float64(c.part*float64(c.respondents))
}

// worstSum returns the largest standard error of the sum, whatever the number is.
func (c numberCell) worstSum() float64 { return c.worst(func(float64) float64 { return 0 }) }

// worst returns the largest standard error of the sum of what the numbers differ from a centre.
func (c numberCell) worst(centre func(number float64) float64) (most float64) {
	law := local.Weighted{Randomiser: c.of.Randomiser(), Respondents: c.respondents, Reports: c.reports,
		Weights: make([]float64, len(c.values)), Gap: c.values[1] - c.values[0]}
	gaps := len(c.values) - 1
	for i := range positions + 1 {
		at := float64(float64(i*gaps) / positions)
		below := min(int(at), gaps-1)
		above := at - float64(below)
		parts := make([]float64, len(c.values))
		parts[below], parts[below+1] = c.part*(1-above), float64(c.part*above)
		middle := centre(float64(c.values[below]*(1-above)) + float64(c.values[below+1]*above))
		for j, v := range c.values {
			law.Weights[j] = v - middle
		}
		most = math.Max(most, law.Deviation(parts))
	}
	return most
}

// numberCell returns a cell of average size.
func (q inquiry) numberCell(values []float64, respondents int64) numberCell {
	return numberCell{q.reports, values, q.evenShare(), respondents, q.asked(respondents)}
}

// meanError returns the largest standard error of a mean of numbers in a cell of average size, in ranges; 0 for a
// question that asks for none.
func (q inquiry) meanError(respondents int64) float64 {
	if q.reports.Of == "" {
		return 0
	}
	return q.numberCell(unitRange(q.reports.Points), respondents).worstMean()
}

// setQuality sets the accuracy of the figures of a question for numbers, for a cell of average size in which all have
// the number with the largest error.
func (q inquiry) setQuality(figures []plan.Figure, column *spec.Column, respondents int64) {
	cell := q.numberCell(q.reports.PointValues(column.Lattice), respondents)
	for i := range figures {
		deviation := cell.worstMean()
		if statistic.OfFigure(figures[i]).Additive() {
			deviation = cell.worstSum()
		}
		quality := &figures[i].Quality
		quality.Rows = max(1, int64(math.Round(float64(float64(respondents)*q.evenShare()))))
		quality.StandardError = budget.RoundUp(deviation, plan.Significant)
		quality.Margin = budget.RoundUp(marginOf(float64(deviation*deviation), counted.Confidence), plan.Significant)
	}
}
