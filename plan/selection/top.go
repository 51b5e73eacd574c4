package selection

import (
	"errors"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// Top gives out the answers of the cells with the largest counts, as far as private choices find them: cells are
// chosen one after the other and each once, with larger counts more likely. Only the integers of these get noise, and
// are the answers of the measurement.
type Top struct {
	Of int64 `json:"of"` // how many
	// Select makes each choice, among the cells that are left.
	Select budget.Mechanism `json:"select"`
	// Sensitivity is the most by which one unit changes the exact count of any one cell: its most rows in a cell, times
	// their largest weight. ScoreSensitivity is twice that unless Monotone. The choices alone use it; the
	// noise on the chosen counts has a sensitivity of its own, that of Of cells together, in the measurement's
	// mechanism. Monotone reports whether a unit changes the counts of all cells in one direction.
	Sensitivity int64 `json:"sensitivity"`
	Monotone    bool  `json:"monotone,omitempty"`
}

// Kind returns [KindTop].
func (Top) Kind() Kind { return KindTop }

// Check returns an error unless a choosing mechanism makes at most as many choices as a spec can ask for. The number
// of cells is a matter of the table.
func (c Top) Check() error {
	chooses := c.Select.Kind == budget.ExponentialMechanism || c.Select.Kind == budget.PermuteAndFlip
	if !chooses || c.Of < 1 || c.Of > spec.MostTop || c.Sensitivity < 1 {
		return errors.New("there are no such choices")
	}
	return nil
}

// ScoreSensitivity returns the largest difference between one unit's changes of two cells.
func (c Top) ScoreSensitivity() *big.Int {
	moves := big.NewInt(c.Sensitivity)
	if !c.Monotone {
		moves.Lsh(moves, 1)
	}
	return moves
}

// Steps returns the mechanisms of all choices.
//
// Guarantee: what is learned of the choices is no more than of these mechanisms, composed. Neighbours: those of the
// sensitivity. Theorem: each choice depends on those before it by which cells are left alone, and has the same bound
// whichever these are, so that bounds compose as of mechanisms fixed in advance (pure ε and ρ: Dwork, Rothblum & Vadhan
// 2010; Bun & Steinke 2016, lemma 2.3; dominating pairs: Zhu, Dong & Wang 2022, theorem 10). Argument:
// docs/proofs/topk.md.
func (c Top) Steps() []budget.Mechanism {
	steps := make([]budget.Mechanism, c.Of)
	for i := range steps {
		steps[i] = c.Select
	}
	return steps
}

// TopFacts describes a table of chosen cells, which are in the order of their choice.
type TopFacts struct {
	Of int64 `json:"of"`
	// Choosing is the share of the table's amount that the choices take; the rest pays for the noise of the counts.
	Choosing string `json:"choosing"`
	// Shortfall bounds by how much the count of a cell that is not in the table exceeds that of one that is: with a
	// probability of Attained or more it is larger for no such pair.
	Shortfall float64 `json:"shortfall"`
	Attained  float64 `json:"attained"`
}
