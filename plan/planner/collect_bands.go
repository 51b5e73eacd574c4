package planner

import (
	"math"

	"github.com/dprelease/dprelease/budget/local"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/hierarchy"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file plans questions whose categories are summed up along an attribute: how coarsely devices answer them.

// summationAxis is how the categories of a question lie along the one attribute that they are summed up along.
type summationAxis struct {
	hierarchy.Question
	attribute string
	sums      residual.Sums // that the table is for
	shares    []float64     // of those who are asked the question, who are asked each level, if it has bands
}

// orderOf returns the order of a question, nil if its categories are summed up along none or several attributes, or
// have no law for sums, or if it asks for numbers.
func orderOf(r *spec.Release, q inquiry) *summationAxis {
	var order *summationAxis
	for i, sums := range q.Sums {
		switch {
		case sums == residual.Cells:
			continue
		case order != nil || !q.reports.HasSums() || q.reports.Of != "":
			return nil
		}
		order = &summationAxis{attribute: q.CountedBy[i].String(), sums: sums}
		order.Question, _ = q.Query().Along(r, order.attribute)
	}
	return order
}

// formShares returns the shares, of those who are asked a question, of its forms: single categories, or whole texts,
// come first.
func (q inquiry) formShares() []float64 {
	switch {
	case q.texts != nil:
		return append([]float64{wholeShare}, q.texts.shares...)
	case len(q.reports.Bands) > 0:
		return q.order.shares
	}
	return []float64{1}
}

// displayedSums returns which sums the table shows.
func (o *summationAxis) displayedSums() residual.Sums {
	if o.sums == residual.Ranges {
		return residual.Cells
	}
	return o.sums
}

// chooseBands lets devices draw how coarsely they answer, if that lowers the errors that the table is asked for. About
// so many reports to the question are expected.
func (q *inquiry) chooseBands(reports float64) {
	if q.order == nil {
		return
	}
	levels := q.reports.Levels([]int64{0})
	for width := 2; width < 2*q.order.Size && q.order.Bands(width) > 1; width *= 2 {
		randomiser, err := local.New(q.epsilon, int64(q.order.Bands(width)))
		if err != nil {
			return
		}
		levels = append(levels, hierarchy.Level{Width: width, Randomiser: randomiser})
	}
	levels, q.order.shares = hierarchy.Choose(q.order.Question, q.order.sums, levels, reports)
	for _, l := range levels[1:] {
		q.reports.Along = q.order.attribute
		q.reports.Bands = append(q.reports.Bands, counted.Bands{Width: int64(l.Width), Categories: l.Categories,
			Support: l.Support, Keep: l.Keep})
	}
}

// estimator returns the estimator of an ordered question for a very large number of respondents, so that rounding their
// shares to whole numbers does not matter, and the factor that scales its deviations to the number that is given.
func (q inquiry) estimator(respondents int64) (e *hierarchy.Estimator, scale float64) {
	const many = 1 << 60
	shares := q.formShares()
	reports := make([]int64, len(shares))
	for h, share := range shares {
		reports[h] = max(1, int64(float64(share*q.share)*many))
	}
	return hierarchy.New(q.order.Question, many, q.reports.Levels(reports)), math.Sqrt(float64(respondents) / many)
}

// meanDeviation returns the root mean square of the standard errors of sums along the order of a question, if all cells
// have equally many respondents.
func (q inquiry) meanDeviation(sums residual.Sums, respondents int64) float64 {
	e, scale := q.estimator(respondents)
	return float64(scale * e.MeanDeviation(sums))
}

// askedDeviation returns the root mean square of the standard errors of the sums that the table is asked for, if all
// cells have equally many respondents: of the single cells, unless the question is ordered.
func (q inquiry) askedDeviation(respondents int64) float64 {
	if q.order == nil {
		return q.evenDeviation(respondents)
	}
	return q.meanDeviation(q.order.sums, respondents)
}

// largestOfBands returns an upper bound of the variance of the figures that the table of an ordered question shows,
// which is the same in all rows.
func (q inquiry) largestOfBands(respondents int64) float64 {
	e, scale := q.estimator(respondents)
	answers, most := e.Answers(), 0.0
	for _, sum := range e.Shown(q.order.sums == residual.Prefixes) {
		most = math.Max(most, float64(scale*sum.MostDeviation(answers)))
	}
	return float64(most * most)
}
