package scan

// This file holds the query: the table of counts that one measurement needs.

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
	// attributes are the indexes, among the task's attributes, of the query's factors, followed by the attribute whose
	// values are ranked or distinguished.
	attributes     []int
	sparse         bool // only cells with rows are counted
	countsOccupied bool // the answer is how many cells along the last attribute have rows
	value          int  // what a row adds: an index among the task's values
	allowance      int  // which rows of a unit are counted: an index among the task's allowances
	diagnostic     counted.Diagnostic
	answer.Answer  // row-major, the last factor fastest
}

// compileMeasurement resolves the factors of a measurement against the task's table, and adds the columns and
// attributes that it needs.
func (t *task) compileMeasurement(m plan.Measurement) (*query, error) {
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
		if cells, ok = multiplyCells(cells, uint64(level.Size())); !ok {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, errManyCells)
		}
		integers *= uint64(level.Size()) // at most cells
		if f.Basis == plan.Ranges {
			integers -= integers / uint64(level.Size())
		}
		q.attributes = append(q.attributes, t.attributeIndex(column, level))
	}
	integers, err := t.refineQuery(q, m, cells, integers)
	if err != nil {
		return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
	}
	if cellsFor.listed && int64(integers) != m.Cells {
		return nil, fmt.Errorf("measurement %s: the plan says %d cells and its factors give %d", m.ID, m.Cells,
			integers)
	}
	return q, nil
}

// errManyCells stops a plan whose number of cells does not fit into 63 bits. If categories are discovered, that
// depends on how many there are. It is then handled like a lack of memory for them (docs/proofs/discover.md, 7):
// before the debit, and without a number.
var errManyCells = errors.New(
	"has too many cells to be counted; where values are discovered, ask by fewer of such columns")

// multiplyCells returns a·b, and whether it is below 2^63.
func multiplyCells(a, b uint64) (uint64, bool) {
	high, low := bits.Mul64(a, b)
	return low, high == 0 && low <= math.MaxInt64
}

// refineQuery records what a query asks in addition to its factors. It returns how many answers there are.
func (t *task) refineQuery(q *query, m plan.Measurement, cells, integers uint64) (uint64, error) {
	if err := m.Check(t.table); err != nil {
		return 0, err
	}
	what := m.Query.Counted
	kind := counters[what.Kind()]
	if err := kind.refine(t, q, what, cells); err != nil {
		return 0, err
	}
	kind.queue(t, q)
	integers, ok := multiplyCells(integers, uint64(what.PerCell(t.table)))
	if !ok {
		return 0, errManyCells
	}
	var err error
	q.allowance, err = kind.allow(t, m.Query, q)
	return integers, err
}

// alongLattice adds the lattice indexes of a column to the attributes of a query, which has the given number of
// cells.
func (t *task) alongLattice(attributes []int, c *spec.Column, cells uint64) ([]int, error) {
	at, err := t.addNumberColumn(c)
	if err != nil {
		return nil, err
	}
	if _, ok := multiplyCells(cells, uint64(c.Lattice.PointCount())); !ok {
		return nil, errManyCells
	}
	return append(attributes, indexOrAppend(&t.attributes, attribute{column: at})), nil
}

// hideShortage returns the error of counting with discovered values in memory. How much memory these leave would
// reveal how many and how long they are, so the error says how much there was for both, which is public.
func hideShortage(err error, both int64) error {
	if short := (*memory.Error)(nil); errors.Is(err, bounding.ErrMemory) || errors.As(err, &short) && short.Need == 0 {
		return &memory.Error{Have: both}
	}
	return err
}

// describeShortage turns an error for lack of memory into one that says how much there is, and an error for lack of
// bits into one that says what to do.
func describeShortage(limit int64, err error) error {
	switch {
	case errors.Is(err, tabulate.ErrMemory):
		return &memory.Error{Have: limit}
	case errors.Is(err, tabulate.ErrSums):
		return errLargeSum
	}
	return err
}
