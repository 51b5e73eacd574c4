package maker

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// This file says in words what each kind of question counts.

// wordsByKind holds the words for each kind of question: what its numbers count or add up ("rows, by bins of age"), its
// sensitivity, what is measured for figures, and the bound on a unit's contribution, which follows the unit of a
// figure.
var wordsByKind = [counted.Kinds]struct {
	counted     func(l *language.Language, q plan.Query, t plan.Table) string
	sensitivity func(p *plan.Plan, m plan.Measurement, s *report.Sensitivity)
	sentence    func(l *language.Language, m plan.Measurement, asked string) string
	most        func(l *language.Language, what counted.Counted) string
}{
	counted.KindRows:       {countedRows, sumSensitivity, sentenceOfSums, noBound},
	counted.KindValues:     {countedValues, valueSensitivity, sentenceOfSums, noBound},
	counted.KindQuantiles:  {countedQuantiles, rankSensitivity, sentenceOfQuantiles, noBound},
	counted.KindBins:       {countedBins, binSensitivity, sentenceOfBins, noBound},
	counted.KindDistinct:   {countedDistinct, sumSensitivity, sentenceOfSums, valuesPerUnit},
	counted.KindDiagnostic: {countedDiagnostic, sumSensitivity, sentenceOfSums, noBound},
	counted.KindReports:    {countedReports, noSensitivity, sentenceOfSums, noBound},
}

// countedRows names what a question of its kind counts, as do the functions below whose names begin in the same way.
func countedRows(l *language.Language, q plan.Query, _ plan.Table) string {
	if q.PerUnit.RowsPerGroup == 1 {
		return l.Text("units that have a row in the cell") + byWeight(l, q.Counted)
	}
	return l.Text("rows") + byWeight(l, q.Counted)
}

func countedValues(l *language.Language, q plan.Query, t plan.Table) string {
	v := q.Counted.(counted.Values)
	switch {
	case v.Beyond:
		return t.Counts.In(l)
	case v.Column == "":
		return countedRows(l, q, t)
	case v.Power == 2:
		return l.Text("the squared distance of %s from the middle of its range", v.Column) + timesWeight(l, v)
	case v.Minus == 0 && v.Per == "":
		return v.Column + timesWeight(l, v)
	}
	return l.Text("the value of %s minus the middle of its range", v.Column) + timesWeight(l, v)
}

func countedQuantiles(l *language.Language, q plan.Query, _ plan.Table) string {
	return l.Text("quantiles of %s", q.Counted.Reads()) + byWeight(l, q.Counted)
}

func countedBins(l *language.Language, q plan.Query, _ plan.Table) string {
	return l.Text("rows, by bins of %s", q.Counted.Reads()) + byWeight(l, q.Counted)
}

func countedDistinct(l *language.Language, q plan.Query, _ plan.Table) string {
	return l.Text("values of %s", q.Counted.Reads()) + valuesPerUnit(l, q.Counted)
}

// valuesPerUnit says how many values of each unit are counted.
func valuesPerUnit(l *language.Language, what counted.Counted) string {
	return " " + l.Text("(at most %s of each unit)", budget.Group(what.(counted.Distinct).PerUnit))
}

// noBound returns "": bounds on rows are stated for the release and for its tables.
func noBound(*language.Language, counted.Counted) string { return "" }

func countedDiagnostic(l *language.Language, _ plan.Query, t plan.Table) string {
	return t.Counts.In(l)
}

func countedReports(l *language.Language, _ plan.Query, _ plan.Table) string {
	return l.Text("reports")
}

// noSensitivity states nothing: reports are private before they are counted.
func noSensitivity(*plan.Plan, plan.Measurement, *report.Sensitivity) {}

// sumSensitivity states the sensitivity of a count, or of a sum of weights.
func sumSensitivity(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	s.Most = mostMoved(m, big.NewRat(1, 1))
	s.Text = movedText(p, s.Most)
}

// valueSensitivity states the sensitivity of a sum of values.
func valueSensitivity(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	v := m.Query.Counted.(counted.Values)
	s.Most = mostMoved(m, scaleOf(p.Release().Table(m.Query.Table), v))
	s.Text = movedText(p, s.Most)
	if l := languageOf(p); v.Per != "" {
		s.Text = l.Text("One %s changes this by at most %s, over all cells together, and by less where the range for "+
			"its %s is narrower.",
			p.Guarantee.Protects, l.Number(words.Rat(s.Most)), v.Per)
	}
}

// mostMoved returns the L1 sensitivity of integers, each of which stands for a multiple of scale.
func mostMoved(m plan.Measurement, scale *big.Rat) string {
	return budget.FormatRat(scale.Mul(scale, new(big.Rat).SetInt(m.Mechanism.L1)))
}

// movedText states such a sensitivity.
func movedText(p *plan.Plan, most string) string {
	l := languageOf(p)
	return l.Text("One %s changes this by at most %s, over all cells together.", p.Guarantee.Protects,
		l.Number(words.Rat(most)))
}

func rankSensitivity(p *plan.Plan, _ plan.Measurement, s *report.Sensitivity) {
	s.Text = languageOf(p).Text("Which value is drawn depends on how many rows are below it. One %s affects this "+
		"only through its rows in the cell, however far apart the values are.",
		p.Guarantee.Protects)
}

func binSensitivity(p *plan.Plan, m plan.Measurement, s *report.Sensitivity) {
	l := languageOf(p)
	s.Text = unitRowsSentence(l, m.Query.Counted, p.Guarantee.Protects) + " " +
		l.Text("One %s changes what is measured by at most %s, over all cells and bins together.", p.Guarantee.Protects,
			budget.GroupDigits(m.Mechanism.L1.String()))
}

func sentenceOfQuantiles(l *language.Language, _ plan.Measurement, asked string) string {
	return l.Text("%s, drawn by the exponential mechanism, with the ends of their intervals.", words.Capital(asked))
}

func sentenceOfBins(l *language.Language, m plan.Measurement, asked string) string {
	asked, noise := words.Capital(asked), l.Text(m.Mechanism.Kind.Name())
	if m.Query.Counted.(counted.Bins).Total > 0 {
		return l.Text("%s: a count of all and sums and differences of these from which counts up to each bin have "+
			"the least error, with %s noise, from which quantiles are read.",
			asked, noise)
	}
	return l.Text("%s: counts of these, with %s noise, from which quantiles are read.", asked, noise)
}

func sentenceOfSums(l *language.Language, m plan.Measurement, asked string) string {
	return l.Text("Sums over each cell, with %s noise: %s.", l.Text(m.Mechanism.Kind.Name()), asked)
}
