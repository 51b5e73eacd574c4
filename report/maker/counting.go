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

// This file says in words what each kind of question counts.

// wordsByKind holds the words for each kind of question: what its numbers count or add up ("rows, by bins of age"), its
// sensitivity, what is measured for figures, and the bound on a unit's contribution, which follows the unit of a
// figure.
var wordsByKind = [counted.Kinds]struct {
	counted     func(q plan.Query, t plan.Table) string
	sensitivity func(p *plan.Plan, m plan.Measurement, s *report.Sensitivity)
	sentence    func(m plan.Measurement, asked string) string
	most        func(what counted.Counted) string
}{
	counted.KindRows:       {countedRows, sumSensitivity, sentenceOfSums, noBound},
	counted.KindValues:     {countedValues, valueSensitivity, sentenceOfSums, noBound},
	counted.KindQuantiles:  {countedQuantiles, rankSensitivity, sentenceOfQuantiles, noBound},
	counted.KindBins:       {countedBins, binSensitivity, sentenceOfBins, noBound},
	counted.KindDistinct:   {countedDistinct, sumSensitivity, sentenceOfSums, valuesPerUnit},
	counted.KindDiagnostic: {countedDiagnostic, sumSensitivity, sentenceOfSums, noBound},
}

// countedRows names what a question of its kind counts, as do the functions below whose names begin in the same way.
func countedRows(q plan.Query, _ plan.Table) string {
	if q.PerUnit.RowsPerGroup == 1 {
		return "units that have a row in the cell"
	}
	return "rows"
}

func countedValues(q plan.Query, t plan.Table) string {
	v := q.Counted.(counted.Values)
	switch {
	case v.Beyond:
		return t.Counts.String()
	case v.Column == "":
		return countedRows(q, t)
	case v.Power == 2:
		return "squares of the distance of " + v.Column + " from the middle of its range"
	case v.Minus == 0 && v.Per == "":
		return v.Column
	}
	return "the distance of " + v.Column + " from the middle of its range, below it negative"
}

func countedQuantiles(q plan.Query, _ plan.Table) string { return "quantiles of " + q.Counted.Reads() }

func countedBins(q plan.Query, _ plan.Table) string { return "rows, by bins of " + q.Counted.Reads() }

func countedDistinct(q plan.Query, _ plan.Table) string {
	return "values of " + q.Counted.Reads() + valuesPerUnit(q.Counted)
}

// valuesPerUnit says how many values of each unit are counted.
func valuesPerUnit(what counted.Counted) string {
	return fmt.Sprintf(", of each unit %s at most", budget.Group(what.(counted.Distinct).PerUnit))
}

// noBound returns "": bounds on rows are stated for the release and for its tables.
func noBound(counted.Counted) string { return "" }

func countedDiagnostic(_ plan.Query, t plan.Table) string { return t.Counts.String() }

// sumSensitivity states the sensitivity of a count, or of a sum of weights.
func sumSensitivity(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	setSensitivity(p, m, big.NewRat(1, 1), s)
	s.Text += "."
}

// valueSensitivity states the sensitivity of a sum of values.
func valueSensitivity(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	v := m.Query.Counted.(counted.Values)
	setSensitivity(p, m, scaleOf(p.Release().Table(m.Query.Table), v), s)
	if v.Per != "" {
		s.Text += fmt.Sprintf(", and by less where the range of its %s is narrower", v.Per)
	}
	s.Text += "."
}

// setSensitivity states the L1 sensitivity of integers, each of which stands for a multiple of scale.
func setSensitivity(p *plan.Plan, m plan.Measurement, scale *big.Rat, s *report.Sensitivity) {
	s.Most = budget.FormatRat(scale.Mul(scale, new(big.Rat).SetInt(m.Mechanism.L1)))
	s.Text = fmt.Sprintf("One %s moves it by at most %s, over all cells together", p.Guarantee.Protects,
		words.Rat(s.Most))
}

func rankSensitivity(p *plan.Plan, _ plan.Measurement, s *report.Sensitivity) {
	s.Text = fmt.Sprintf("A value is drawn by how many rows lie below it. One %s bears on that with as many rows as it has there, however far its values lie.",
		p.Guarantee.Protects)
}

func binSensitivity(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	s.Text = fmt.Sprintf("Counts change by %s, however far its values lie. One %s moves what is measured by at most %s, over all cells and bins together.",
		unitRowsText(m.Query.Counted), p.Guarantee.Protects, budget.GroupDigits(m.Mechanism.L1.String()))
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
