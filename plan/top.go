package plan

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds top tables: tables of the cells with the largest counts, which are chosen privately, one after the
// other, and then counted again with noise of their own.

// Choices says that of the cells of a query some are chosen, one after the other and each once, the likelier the more
// is counted in them; and that the integers of these alone get noise, and are the answers of the measurement.
type Choices struct {
	Of int64 `json:"of"` // how many
	// Select makes each of them, among the cells that are left.
	Select budget.Mechanism `json:"select"`
	// Sensitivity is how far one unit can move the integer of a cell, and Monotone tells that it moves those of all cells
	// up, or all down.
	Sensitivity int64 `json:"sensitivity"`
	Monotone    bool  `json:"monotone,omitempty"`
}

// Moves is how far apart one unit's moves of two cells can be.
func (c *Choices) Moves() *big.Int {
	moves := big.NewInt(c.Sensitivity)
	if !c.Monotone {
		moves.Lsh(moves, 1)
	}
	return moves
}

// Steps are the mechanisms of all choices.
//
// Guarantee: what is learned of the choices is no more than of these mechanisms, composed. Neighbours: those of the
// sensitivity. Theorem: each choice depends on those before it by which cells are left alone, and has the same bound
// whichever these are, so that bounds compose as of mechanisms fixed in advance (pure ε and ρ: Dwork, Rothblum & Vadhan
// 2010; Bun & Steinke 2016, lemma 2.3; dominating pairs: Zhu, Dong & Wang 2022, theorem 10). Argument:
// docs/proofs/topk.md.
func (c *Choices) Steps() []budget.Mechanism {
	steps := make([]budget.Mechanism, c.Of)
	for i := range steps {
		steps[i] = c.Select
	}
	return steps
}

// Top says of a table that it has the cells that were chosen, in the order of their choice.
type Top struct {
	Of int64 `json:"of"`
	// Choosing is the share of the table's amount that the choices take; the rest is for the noise of the counts.
	Choosing string `json:"choosing"`
	// Shortfall bounds by how much the count of a cell that is not in the table exceeds that of one that is: with a
	// probability of Attained or more no such pair is further apart.
	Shortfall float64 `json:"shortfall"`
	Attained  float64 `json:"attained"`
}

// SomeCells tells that a table has some of its cells, by what is counted in them.
func (t Table) SomeCells() bool { return t.Sparse != nil || t.Top != nil || t.Discovered != nil }

// ChoosesBy tells that choices are of as many cells as the table has.
func (t Table) ChoosesBy(c *Choices) bool {
	if t.Top == nil || c == nil {
		return t.Top == nil && c == nil
	}
	return c.Of == t.Top.Of && c.Of < t.Cells && c.Sensitivity > 0
}
