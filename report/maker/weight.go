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

// byWeight says that rows count by their weights, "" if they do not.
func byWeight(l *language.Language, what counted.Counted) string {
	return words.When(what.Weighted(), " "+l.Text("(weighted)"))
}

// timesWeight says that what a row adds is multiplied by its weight, "" if it is not.
func timesWeight(l *language.Language, what counted.Counted) string {
	return words.When(what.Weighted(), ", "+l.Text("times the weight of the row"))
}

// unitRowsSentence says how much a unit contributes to counts of some rows.
func unitRowsSentence(l *language.Language, what counted.Counted, protects string) string {
	return words.Either(what.Weighted(),
		l.Text("One %s changes the count of a bin by the weight of its rows in that bin, however far apart the "+
			"values are.", protects),
		l.Text("One %s changes the count of a bin by the number of its rows in that bin, however far apart the "+
			"values are.", protects))
}

// sumsOfWeights says for a table that its counts are not numbers of rows, "" if they are.
func sumsOfWeights(l *language.Language, t plan.Table) string {
	return words.When(t.Weighted, " "+l.Text("Counts here are sums of weights, not numbers of rows."))
}

// missingWeightsCaveat warns that rows of microdata lack the weights that the rows of the data have, "" if the data
// have no weights.
func missingWeightsCaveat(l *language.Language, t *spec.Table) string {
	return words.When(t.Weight != nil,
		" "+l.Text("The rows have no weights. So counts of them describe the sample, not the population, and are "+
			"not weighted counts as in the tables."))
}
