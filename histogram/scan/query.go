package scan

// This file holds the query: the table that one measurement asks for.

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// query counts the rows of one measurement: the marginal over its factors.
type query struct {
	// places of its factors among the task's attributes and, behind them, of the values that are ranked or told apart
	attributes    []int
	sparse        bool // only cells that some row falls into are counted
	occupied      bool // what is asked is how many cells along the last attribute have rows
	value         int  // what a row adds: a place among the task's values
	allowance     int  // which rows of a unit are counted: a place among the task's allowances
	diagnostic    counted.Diagnostic
	answer.Answer // row-major, the last factor fastest
}

// compile resolves the factors of a measurement against the task's table and
// notes the columns and attributes that it needs.
func (t *task) compile(m plan.Measurement) (*query, error) {
	cellsFor := countedFor[m.Selection.Kind()]
	q := &query{sparse: cellsFor.occupied}
	cells, integers := uint64(1), uint64(1)
	for _, f := range m.Query.Factors {
		column := t.table.Column(f.Attribute)
		if column == nil || column.Domain == nil || f.Basis != plan.Identity && f.Basis != plan.Residual &&
			f.Basis != plan.Ranges {
			return nil, fmt.Errorf("measurement %s: the factor %s is not one that this version can count", m.ID, f)
		}
		level, ok := column.Domain.Level(f.Level)
		if !ok || level.Size() == 0 {
			return nil, fmt.Errorf("measurement %s: the column %s has no level %q", m.ID, f.Attribute, f.Level)
		}
		if cells, ok = product(cells, uint64(level.Size())); !ok {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, errManyCells)
		}
		integers *= uint64(level.Size()) // no more than cells
		if f.Basis == plan.Ranges {
			integers -= integers / uint64(level.Size())
		}
		q.attributes = append(q.attributes, t.attribute(column, level))
	}
	integers, err := t.refine(q, m, cells, integers)
	if err != nil {
		return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
	}
	if cellsFor.listed && int64(integers) != m.Cells {
		return nil, fmt.Errorf("measurement %s: the plan says %d cells and its factors give %d", m.ID, m.Cells, integers)
	}
	return q, nil
}

// errManyCells stops a plan whose cells have no place in 63 bits. Where categories are discovered it depends on how
// many there are, and is covered as a lack of memory for them is (docs/proofs/discover.md, 7): before the debit, and
// without a number.
var errManyCells = errors.New(
	"has too many cells to be counted; where values are discovered, ask by fewer of such columns")

// product is a·b; false where it is not below 2^63.
func product(a, b uint64) (uint64, bool) {
	high, low := bits.Mul64(a, b)
	return low, high == 0 && low <= math.MaxInt64
}

// refine notes what a query asks in addition to its factors. It returns how many answers there are.
func (t *task) refine(q *query, m plan.Measurement, cells, integers uint64) (uint64, error) {
	if err := m.Check(t.table); err != nil {
		return 0, err
	}
	what := m.Query.Counted
	kind := counters[what.Kind()]
	if err := kind.refine(t, q, what, cells); err != nil {
		return 0, err
	}
	kind.queue(t, q)
	integers, ok := product(integers, uint64(what.PerCell(t.table)))
	if !ok {
		return 0, errManyCells
	}
	var err error
	q.allowance, err = kind.allow(t, m.Query, q)
	return integers, err
}

// along adds the places of a column's values to the attributes of a query, whose cells are so many.
func (t *task) along(attributes []int, c *spec.Column, cells uint64) ([]int, error) {
	at, err := t.number(c)
	if err != nil {
		return nil, err
	}
	if _, ok := product(cells, uint64(c.Lattice.Places())); !ok {
		return nil, errManyCells
	}
	return append(attributes, place(&t.attributes, attribute{column: at})), nil
}

// besides is the error of counting beside values that were discovered: how much memory these left says how many there
// are, and how long. What is said is how much there was for both, which is public.
func besides(err error, both int64) error {
	if short := (*memory.Error)(nil); errors.Is(err, bounding.ErrMemory) || errors.As(err, &short) && short.Need == 0 {
		return &memory.Error{Have: both}
	}
	return err
}

// within says of an error for lack of memory how much there is, and of one for lack of bits what to do.
func within(limit int64, err error) error {
	switch {
	case errors.Is(err, tabulate.ErrMemory):
		return &memory.Error{Have: limit}
	case errors.Is(err, tabulate.ErrSums):
		return errLargeSum
	}
	return err
}
