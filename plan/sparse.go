package plan

import (
	"math"
	"sort"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds sparse tables: tables of which those cells are published whose noisy count is above a public threshold.

// Sparse says of a table that every possible cell gets noise, and that those whose noisy count is more than Above are
// published: cells with rows and cells without, by the same rule. Whether a cell has rows decides nothing by itself.
type Sparse struct {
	Above int64 `json:"above"`
	// FalseCells is how many cells without a row are expected among those that are published, at most: P(X > Above) times the
	// cells that are possible, by the law of the noise X.
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

// unknownRows is as how many cells a sparse table counts beside others of its leaf, where the spec says nothing of the
// number of rows.
const unknownRows = int64(1) << 20

// FilledOf is as how many cells a sparse table counts where errors are added up: those that can have rows, of which there
// are no more than rows are expected.
func FilledOf(t *spec.Table, possible int64) int64 {
	rows := ExpectedRows(t)
	if rows == 0 {
		rows = unknownRows
	}
	return min(rows, possible)
}

// Held is how many integers of a measurement are in memory while it is measured, about: all of them or, of a sparse one
// or one of which cells are chosen, those of as many cells as rows are expected and of the false ones, with their places.
func (p *Plan) Held(m Measurement) int64 {
	if m.Discovery != nil {
		return 2 * UsualGroups
	}
	if m.Above == 0 && m.Top == nil {
		return m.Cells
	}
	held := FilledOf(p.Release().Table(m.Query.Table), m.Cells-m.Impossible)
	for _, t := range p.Tables {
		if t.Sparse != nil && t.Path == m.ID {
			held += int64(math.Ceil(t.Sparse.FalseCells))
		}
	}
	return 2 * held
}

// LeastAbove is the least n ≥ 0 with P(X > n) at most a chance.
func LeastAbove(noise budget.Mechanism, chance float64) int64 {
	n := 1
	for noise.Above(int64(n)) > chance {
		n *= 2
	}
	return int64(sort.Search(n, func(n int) bool { return noise.Above(int64(n)) <= chance }))
}

// ExpectedRows is the middle of the number of rows that a spec expects of a table; 0 where it expects none.
func ExpectedRows(t *spec.Table) int64 {
	if t.Expect == nil || t.Expect.Rows == nil {
		return 0
	}
	rows := t.Expect.Rows
	return rows.Least + (rows.Most-rows.Least)/2
}
