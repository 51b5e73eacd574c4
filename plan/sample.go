package plan

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the sample: which units are measured.

// Sample is the secret draw of the units that are measured; the zero value draws every unit.
type Sample struct {
	// Share is the probability with which each unit is drawn, an exact fraction.
	Share string `json:"share"`
	// Spent is the sum of the mechanisms' costs, for the units that are drawn.
	Spent budget.Cost `json:"spent"`
}

// Spent returns the sum of the mechanisms' costs, of which each leaf and measurement has its part: the charge or, on
// a sample, what the drawn units lose.
func (p *Plan) Spent() budget.Cost {
	if p.Sample.Partial() {
		return p.Sample.Spent
	}
	return p.Cost
}

// RowWeight returns what one of the rows that a table counts stands for, apart from its weight: 1, or the inverse of
// the share that is drawn.
func (s Sample) RowWeight() *big.Rat { return new(big.Rat).Inv(s.Rate()) }

// Rate returns the probability with which each unit is drawn.
func (s Sample) Rate() *big.Rat {
	if !s.Partial() {
		return big.NewRat(1, 1)
	}
	return Amount(s.Share)
}

// Partial reports whether some units are left out.
func (s Sample) Partial() bool { return s.Share != "" }
