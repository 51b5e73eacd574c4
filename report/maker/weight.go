package maker

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes the weights by which rows count.

// weightBoundsOf returns the bounds of a confidential table's weights, none if no published table counts by them.
func weightBoundsOf(p *plan.Plan, t *spec.Table) []report.WeightBounds {
	w, byWeight := t.Weight, func(of plan.Table) bool { return of.From == t.Name && of.Weighted }
	if w == nil || !slices.ContainsFunc(p.Tables, byWeight) {
		return nil
	}
	return []report.WeightBounds{{
		Table: t.Name, From: w.From, Kind: words.Either(w.Calibrated, report.CalibratedWeights, report.DesignWeights),
		Step: budget.FormatRat(w.Lattice.Step), Low: budget.FormatRat(w.Lattice.Value(w.Lattice.First)),
		High: budget.FormatRat(w.Lattice.Value(w.Lattice.Last)),
	}}
}

// weightStep returns the value of one step of a row's weight, 1 if rows do not count by weights.
func weightStep(t *spec.Table, what counted.Counted) *big.Rat {
	if !what.Weighted() {
		return big.NewRat(1, 1)
	}
	return t.Weight.Lattice.Step
}

// byWeight says that the contribution of each row is multiplied by its weight, "" if it is not.
func byWeight(l *language.Language, what counted.Counted) string {
	return words.When(what.Weighted(), ", "+l.Text("each by the weight of its row"))
}

// unitRowsSentence says how much a unit contributes to counts of some rows.
func unitRowsSentence(l *language.Language, what counted.Counted) string {
	return words.Either(what.Weighted(),
		l.Text("Counts change by the weight that its rows have there, however far its values lie."),
		l.Text("Counts change by as many rows as it has there, however far its values lie."))
}

// sumsOfWeights says for a table that its counts are not numbers of rows, "" if they are.
func sumsOfWeights(l *language.Language, t plan.Table) string {
	return words.When(t.Weighted, " "+l.Text("Counts here are sums of weights: that is not how many rows there are."))
}

// missingWeightsCaveat warns that rows of microdata lack the weights that the rows of the data have, "" if the data
// have no weights.
func missingWeightsCaveat(l *language.Language, t *spec.Table) string {
	return words.When(t.Weight != nil,
		" "+l.Text("Rows are made like those of the data, each as one, without their weights: what is counted in them is of the sample and not of the population, and is no count by weight as the tables have it."))
}
