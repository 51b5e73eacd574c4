package plan

import (
	"math/big"

	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what the integers of a table's count stand for: sums of weights, or each as many rows as others.

// IntegerWeight returns what one of the integers of a table's count stands for: 1, the step of the weights or, for a
// sample, the inverse of its share.
func (p *Plan) IntegerWeight(t Table) *big.Rat {
	if !t.Weighted {
		return p.Sample.RowWeight()
	}
	return p.Release().Table(t.From).Weight.Lattice.Step
}

// OfRows reports whether the table counts the rows of the confidential table that its own bound keeps, each as 1.
func (t Table) OfRows() bool { return !t.Weighted && t.countsRows() && t.PerUnit == (spec.PerUnit{}) }

// Sampled reports whether the table counts units that were drawn, each of which stands for several.
func (t Table) Sampled() bool { return !t.Weighted && t.Statistics[0].Unit != "" }

// whyNotWhole says why the counts of a table are not whole, "" if they are.
func (t Table) whyNotWhole() phrase.Code {
	if t.Weighted {
		return phrase.WeightsAddedUp
	}
	return ""
}
