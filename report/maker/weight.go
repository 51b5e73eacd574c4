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
)

// This file holds what a report says of weights, by which rows count.

// weightBoundsOf are the bounds of the weights of a confidential table, none where no published table counts by them.
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

// weightStep is what one step of the weight of a row stands for: 1 where rows do not count by weights.
func weightStep(t *spec.Table, what counted.Counted) *big.Rat {
	if !what.Weighted() {
		return big.NewRat(1, 1)
	}
	return t.Weight.Lattice.Step
}

// byWeight says that what is added up of each row is multiplied by its weight, "" where it is not.
func byWeight(what counted.Counted) string {
	return words.When(what.Weighted(), ", each by the weight of its row")
}

// rowsThere names what a unit has among some rows by which it moves their count.
func rowsThere(what counted.Counted) string {
	return words.Either(what.Weighted(), "the weight that its rows have there", "as many rows as it has there")
}

// sumsOfWeights says of a table that its counts are no numbers of rows, "" where they are.
func sumsOfWeights(t plan.Table) string {
	return words.When(t.Weighted, " Counts here are sums of weights: that is not how many rows there are.")
}

// withoutWeights says of microdata that their rows have lost the weights of those of the data, "" where these had none.
func withoutWeights(t *spec.Table) string {
	return words.When(t.Weight != nil, " Rows are made like those of the data, each as one, without their weights: what is counted in them is of the sample and not of the population, and is no count by weight as the tables have it.")
}
