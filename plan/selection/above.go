package selection

import (
	"errors"

	"github.com/dprelease/dprelease/budget"
)

// Above gives out the answers whose noisy integer is larger than a public threshold: a sparse table. Every possible
// cell gets noise, whether or not it has rows.
type Above struct{ Threshold int64 }

// Threshold returns the threshold of a selection, 0 if it has none.
func Threshold(s Selection) int64 {
	above, _ := s.(Above)
	return above.Threshold
}

// Kind returns [KindAbove].
func (Above) Kind() Kind { return KindAbove }

// Check returns an error unless the threshold is 1 or more.
func (a Above) Check() error {
	if a.Threshold < 1 {
		return errors.New("there is no such threshold")
	}
	return nil
}

// Steps returns nil: comparing noisy integers with a public number costs nothing more than their noise.
//
// Guarantee: post-processing. Argument: docs/proofs/sparse.md.
func (Above) Steps() []budget.Mechanism { return nil }

// AboveFacts describes a sparse table. Every possible cell gets noise, and the cells whose noisy count is more than
// Above are published: cells with rows and cells without, by the same rule. Whether a cell has rows decides nothing
// by itself.
type AboveFacts struct {
	Above int64 `json:"above"`
	// FalseCells is an upper bound on the mean number of published cells without a row: P(X > Above) times the cells
	// that are possible, by the law of the noise X.
	FalseCells float64 `json:"false_cells"`
	// Bound is the largest number of rows of a cell that is not published: a cell with more is missed with a
	// probability of at most what the statistic's confidence leaves.
	Bound int64 `json:"bound"`
	// Missed are the probabilities with which cells of some numbers of rows are not published.
	Missed []Missed `json:"missed"`
}

// Missed is the probability with which a cell of that many rows is not published: P(Rows + X ≤ Above), rounded up.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}
