package planner

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file plans questions that ask for numbers: to how many points of the range a device rounds them.

// positions is how many positions of a number in its range the error of a mean is compared at, less one; pairPositions
// of two numbers that respondents give, in each of these parts.
const positions, pairPositions = 40, 10

var pairParts = [...]float64{0.1, 0.25, 0.5, 0.75, 0.9}

// many respondents, all of whom answer.
const many = 1 << 30

// mostPoints bounds the points. At the largest ε more of them leave little less error.
const mostPoints = 64

// numberReports returns the reports of a question for the numbers of a column in each of so many cells. It has as many
// points as make the largest error of a mean least, in a cell of average size, where all respondents answer. With two
// points and one cell it is the mechanism of one bit, which is best for a small ε.
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
		of := numberCell{r, unitRange(points), 1 / float64(cells), many, many}
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

// numberCell is a cell of a question for numbers, which the points stand for, with a part of all respondents.
type numberCell struct {
	of                   counted.Reports
	values               []float64
	part                 float64
	respondents, reports int64 // to the question
}

// worstMean returns the largest standard error of the mean, whatever the numbers are.
func (c numberCell) worstMean() float64 {
	return c.worst(func(mean float64) float64 { return mean }) / float64(c.part*float64(c.respondents))
}

// worstSum returns the largest standard error of the sum, whatever the numbers are.
func (c numberCell) worstSum() float64 { return c.worst(func(float64) float64 { return 0 }) }

// worst returns the largest standard error of the sum of what numbers differ from a centre, which may depend on their
// mean. For a given mean the variance is linear in the parts of the respondents who give each number, so that it is
// largest where no more than two numbers are given.
func (c numberCell) worst(centre func(mean float64) float64) (most float64) {
	for i := range positions + 1 {
		x := float64(i) / positions
		most = math.Max(most, c.deviation(x, x, 1, centre))
	}
	for i := range pairPositions {
		for k := i + 1; k <= pairPositions; k++ {
			for _, part := range pairParts {
				most = math.Max(most, c.deviation(float64(i)/pairPositions, float64(k)/pairPositions, part, centre))
			}
		}
	}
	return most
}

// deviation returns the standard error of the sum of what numbers differ from a centre, if a part of the respondents in
// the cell gives the first of two numbers, and the others the second, as positions in the range.
func (c numberCell) deviation(first, second, part float64, centre func(mean float64) float64) float64 {
	law := local.Weighted{Randomiser: c.of.Randomiser(), Respondents: c.respondents, Reports: c.reports,
		Weights: make([]float64, len(c.values))}
	low, wide := c.values[0], c.values[len(c.values)-1]-c.values[0]
	one, other := low+float64(first*wide), low+float64(second*wide)
	middle := centre(float64(part*one) + float64((1-part)*other))
	for j, v := range c.values {
		law.Weights[j] = v - middle
	}
	parts := make([]float64, len(c.values))
	c.round(parts, first, float64(c.part*part))
	c.round(parts, second, float64(c.part*(1-part)))
	one, other = one-middle, other-middle
	mean := float64(c.part * (float64(part*one) + float64((1-part)*other)))
	square := float64(c.part * (float64(float64(part*one)*one) + float64(float64((1-part)*other)*other)))
	return law.DeviationAmong(parts, math.Max(0, square-float64(mean*mean)))
}

// round adds respondents with a number, by its position in the range, to the parts who have each point.
func (c numberCell) round(parts []float64, position, part float64) {
	gaps := len(c.values) - 1
	at := float64(position * float64(gaps))
	below := min(int(at), gaps-1)
	above := at - float64(below)
	parts[below] += float64(part * (1 - above))
	parts[below+1] += float64(part * above)
}

// numberCell returns a cell of average size.
func (q inquiry) numberCell(values []float64, respondents int64) numberCell {
	return numberCell{q.reports, values, q.evenShare(), respondents, q.respondentsAsked(respondents)}
}

// meanError returns the largest standard error of a mean of numbers in a cell of average size, in ranges; 0 for a
// question that asks for none.
func (q inquiry) meanError(respondents int64) float64 {
	if q.reports.Of == "" {
		return 0
	}
	return q.numberCell(unitRange(q.reports.Points), respondents).worstMean()
}

// setQuality sets the accuracy of the figures of a question for numbers, for a cell of average size and the numbers
// with the largest error.
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

// checkOneAnswer returns an error if a column is asked as a number, and by categories of other texts: devices have one
// answer for both.
func checkOneAnswer(r *spec.Release, tables []*workload.Table) error {
	for _, t := range tables {
		column := r.Table(t.Marginal.Table).Column(t.Marginal.Asked())
		if column == nil {
			continue
		}
		for _, other := range tables {
			if !slices.Contains(other.By, spec.Attribute{Column: column.Name}) || hasNumbersAsTexts(column) {
				continue
			}
			return r.Problem("marginals."+other.Marginal.Name+".by", document.Problem{
				Message: fmt.Sprintf("%s is asked by its categories, and as a number by %s: devices have one answer to both", column.Name,
					t.Path),
				Expected: "a level of " + column.Name + ", which is a question of its own"})
		}
	}
	return nil
}

// hasNumbersAsTexts reports whether the categories of a column are the numbers of its range.
func hasNumbersAsTexts(c *spec.Column) bool {
	level, ok := c.Domain.Level("")
	if !ok || level.Size() != c.Lattice.PointCount() {
		return false
	}
	for i, category := range level.Categories {
		if category.Code != document.FormatNumber(c.Lattice.Value(c.Lattice.First+int64(i))) {
			return false
		}
	}
	return true
}
