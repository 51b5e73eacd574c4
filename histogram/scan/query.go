package scan

// This file holds the query: the table that one measurement asks for.

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
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
	diagnostic    plan.Diagnostic
	answer.Answer // row-major, the last factor fastest
}

// compile resolves the factors of a measurement against the task's table and
// notes the columns and attributes that it needs.
func (t *task) compile(m plan.Measurement) (*query, error) {
	q := &query{sparse: m.Above > 0 || m.Top != nil || m.Discovery != nil}
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
	if m.Discovery != nil { // how many groups there are is known now, and nowhere else
		return q, nil
	}
	if int64(integers) != m.Cells {
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

// refine notes what a query asks beside its factors: what a row adds, which rows of a unit are counted, and the values
// that are ranked or told apart. It returns how many answers there are.
func (t *task) refine(q *query, m plan.Measurement, cells, integers uint64) (uint64, error) {
	var err error
	asked := m.Query
	if q.diagnostic = asked.Diagnostic; q.diagnostic != "" {
		q.allowance, err = t.diagnosed(asked)
		return integers, err
	}
	if asked.Quantile != nil || asked.Distinct != nil || asked.Distribution != nil {
		kinds := 0
		for _, is := range []bool{asked.Quantile != nil, asked.Distinct != nil, asked.Distribution != nil} {
			if is {
				kinds++
			}
		}
		several := asked.Value != nil || kinds > 1 || asked.Distinct != nil && asked.PerUnit != nil
		if several || q.sparse ||
			slices.ContainsFunc(asked.Factors, func(f plan.Factor) bool { return f.Basis != plan.Identity }) {
			return 0, errors.New("asks for what this version cannot count at once")
		}
		q.sparse = true
	}
	value := asked.Value
	switch {
	case asked.Quantile != nil:
		if q.attributes, err = t.along(q.attributes, t.table.Column(asked.Quantile.Column), cells); err != nil {
			return 0, err
		}
		if asked.Quantile.Weight {
			value = &plan.Value{Weight: true}
		}
		var ok bool
		if integers, ok = product(integers, uint64(asked.Quantile.Draws())); !ok {
			return 0, errManyCells
		}
	case asked.Distribution != nil:
		d := asked.Distribution
		if err = d.Check(t.table); err != nil {
			return 0, err
		}
		column := t.table.Column(d.Column)
		if q.attributes, err = t.along(q.attributes, column, cells); err != nil {
			return 0, err
		}
		if d.Weight {
			value = &plan.Value{Weight: true}
		}
		var ok bool
		if integers, ok = product(integers, uint64(d.Bins(column.Lattice))); !ok {
			return 0, errManyCells
		}
	case asked.Distinct != nil:
		q.occupied = true
		if q.attributes, err = t.toldApart(q.attributes, asked.Distinct, cells); err != nil {
			return 0, err
		}
	}
	if q.value, err = t.value(value); err != nil {
		return 0, err
	}
	q.allowance, err = t.allowance(asked, q)
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
	case errors.Is(err, tabulate.ErrWeights):
		return errLargeSum
	}
	return err
}
