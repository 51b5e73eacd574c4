package selection

import (
	"errors"

	"github.com/dprelease/dprelease/budget"
)

// Above gives out the answers whose noisy integer is larger than a public threshold: a sparse table. Every possible cell
// gets noise, whether or not it has rows.
type Above struct{ Threshold int64 }

// Threshold returns the threshold of a selection, 0 where it has none.
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

// AboveFacts says of a sparse table that every possible cell gets noise, and that those whose noisy count is more than Above are
// published: cells with rows and cells without, by the same rule. Whether a cell has rows decides nothing by itself.
type AboveFacts struct {
	Above int64 `json:"above"`
	// FalseCells is how many cells without a row are expected among those that are published, at most: P(X > Above) times
	// the cells that are possible, by the law of the noise X.
	FalseCells float64 `json:"false_cells"`
	// Bound is how many rows a cell that is not published has at most: one of more is missed with a chance of at most what
	// the statistic's confidence leaves open.
	Bound int64 `json:"bound"`
	// Missed is with what chance a cell of some numbers of rows is not published.
	Missed []Missed `json:"missed"`
}

// Missed is with what chance a cell of so many rows is not published: P(Rows + X ≤ Above), rounded up.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}
