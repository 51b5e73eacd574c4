package maker

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// This file holds what a report says of each kind of what is counted.

// counting lists what is said: what a query adds up, by how much one unit moves it, what is measured for figures, and
// what of each unit counts at most in a figure, behind the unit of the figure.
var counting = [counted.Kinds]struct {
	of          func(q plan.Query, t plan.Table) string
	sensitivity func(p *plan.Plan, m plan.Measurement, s *report.Sensitivity)
	sentence    func(m plan.Measurement, asked string) string
	most        func(what counted.Counted) string
}{
	counted.KindRows:       {ofRows, movedSum, sentenceOfSums, noMost},
	counted.KindValues:     {ofValues, movedValues, sentenceOfSums, noMost},
	counted.KindQuantiles:  {ofQuantiles, movedRanks, sentenceOfQuantiles, noMost},
	counted.KindBins:       {ofBins, movedBins, sentenceOfBins, noMost},
	counted.KindDistinct:   {ofDistinct, movedSum, sentenceOfSums, mostOfUnit},
	counted.KindDiagnostic: {ofWhatIsLeftOut, movedSum, sentenceOfSums, noMost},
}

func ofRows(q plan.Query, _ plan.Table) string {
	if q.PerUnit.RowsPerGroup == 1 {
		return "units that have a row in the cell"
	}
	return "rows"
}

func ofValues(q plan.Query, t plan.Table) string {
	v := q.Counted.(counted.Values)
	switch {
	case v.Beyond:
		return t.Counts
	case v.Column == "":
		return ofRows(q, t)
	case v.Power == 2:
		return "squares of the distance of " + v.Column + " from the middle of its range"
	case v.Minus == 0 && v.Per == "":
		return v.Column
	}
	return "the distance of " + v.Column + " from the middle of its range, below it negative"
}

func ofQuantiles(q plan.Query, _ plan.Table) string { return "quantiles of " + q.Counted.Reads() }

func ofBins(q plan.Query, _ plan.Table) string { return "rows, by bins of " + q.Counted.Reads() }

func ofDistinct(q plan.Query, _ plan.Table) string {
	return "values of " + q.Counted.Reads() + mostOfUnit(q.Counted)
}

// mostOfUnit says how many values of each unit are counted.
func mostOfUnit(what counted.Counted) string {
	return fmt.Sprintf(", of each unit %s at most", budget.Group(what.(counted.Distinct).PerUnit))
}

// noMost says nothing: bounds of rows are said of the release and of its tables.
func noMost(counted.Counted) string { return "" }

func ofWhatIsLeftOut(_ plan.Query, t plan.Table) string { return t.Counts }

// movedSum says by how much one unit moves a count, or a sum of weights.
func movedSum(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	movedBy(p, m, big.NewRat(1, 1), s)
	s.Text += "."
}

// movedValues says by how much one unit moves a sum of values.
func movedValues(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	v := m.Query.Counted.(counted.Values)
	movedBy(p, m, scaleOf(p.Release().Table(m.Query.Table), v), s)
	if v.Per != "" {
		s.Text += fmt.Sprintf(", and by less where the range of its %s is narrower", v.Per)
	}
	s.Text += "."
}

// movedBy says by how much one unit moves integers that each stand for a scale.
func movedBy(p *plan.Plan, m plan.Measurement, scale *big.Rat, s *report.Sensitivity) {
	s.Most = budget.FormatRat(scale.Mul(scale, new(big.Rat).SetInt(m.Mechanism.L1)))
	s.Text = fmt.Sprintf("One %s moves it by at most %s, over all cells together", p.Guarantee.Protects,
		words.Rat(s.Most))
}

func movedRanks(p *plan.Plan, _ plan.Measurement, s *report.Sensitivity) {
	s.Text = fmt.Sprintf("A value is drawn by how many rows lie below it. One %s bears on that with as many rows as it has there, however far its values lie.", p.Guarantee.Protects)
}

func movedBins(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	s.Text = fmt.Sprintf("Counts change by %s, however far its values lie. One %s moves what is measured by at most %s, over all cells and bins together.", rowsThere(m.Query.Counted), p.Guarantee.Protects, budget.GroupDigits(m.Mechanism.L1.String()))
}

func sentenceOfQuantiles(_ plan.Measurement, asked string) string {
	return words.Capital(asked) +
		", drawn by the exponential mechanism, with the ends of their intervals."
}

func sentenceOfBins(m plan.Measurement, asked string) string {
	answers := "counts of these"
	if m.Query.Counted.(counted.Bins).Total > 0 {
		answers = "a count of all and sums and differences of these from which counts up to each bin have the least error"
	}
	return words.Capital(asked) +
		fmt.Sprintf(": %s, with %s noise, from which quantiles are read.", answers, m.Mechanism.Kind.Name())
}

func sentenceOfSums(m plan.Measurement, asked string) string {
	return fmt.Sprintf("Sums over each cell, with %s noise: %s.", m.Mechanism.Kind.Name(), asked)
}
