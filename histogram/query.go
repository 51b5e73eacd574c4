package histogram

// This file holds the query: the table that one measurement asks for.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// attribute is a column of a table at a level.
type attribute struct {
	column int // among the tally's columns
	level  *spec.Level
}

// query counts the rows of one measurement: the marginal over its factors.
type query struct {
	attributes []int    // places of its factors among the tally's attributes
	sparse     bool     // only cells that some row falls into are counted
	cells      []uint64 // of a sparse query: which cells have the counts, ascending; nil: all
	counts     []int64  // row-major, the last factor fastest
}

// compile resolves the factors of a measurement against the tally's table and
// notes the columns and attributes that it needs.
func (t *tally) compile(m plan.Measurement) (*query, error) {
	q := &query{sparse: m.Above > 0}
	cells, integers := uint64(1), uint64(1)
	for _, f := range m.Query.Factors {
		column := t.table.Column(f.Attribute)
		if column == nil || f.Basis != plan.Identity && f.Basis != plan.Residual && f.Basis != plan.Ranges {
			return nil, fmt.Errorf("measurement %s: the factor %s is not one that this version can count", m.ID, f)
		}
		level, ok := column.Domain.Level(f.Level)
		if !ok || level.Size() == 0 {
			return nil, fmt.Errorf("measurement %s: the column %s has no level %q", m.ID, f.Attribute, f.Level)
		}
		high, low := bits.Mul64(cells, uint64(level.Size()))
		if high != 0 || low > math.MaxInt64 {
			return nil, fmt.Errorf("measurement %s: has too many cells to be counted", m.ID)
		}
		cells = low
		integers *= uint64(level.Size()) // no more than cells
		if f.Basis == plan.Ranges {
			integers -= integers / uint64(level.Size())
		}
		q.attributes = append(q.attributes, t.attribute(column, level))
	}
	if int64(integers) != m.Cells {
		return nil, fmt.Errorf("measurement %s: the plan says %d cells and its factors give %d", m.ID, m.Cells, integers)
	}
	return q, nil
}

// attribute is the place of a column at a level among the tally's attributes.
func (t *tally) attribute(c *spec.Column, level *spec.Level) int {
	wanted := attribute{t.column(c), level}
	if i := slices.Index(t.attributes, wanted); i >= 0 {
		return i
	}
	t.attributes = append(t.attributes, wanted)
	return len(t.attributes) - 1
}

// column is the place of a column among the tally's.
func (t *tally) column(c *spec.Column) int {
	if i := slices.Index(t.columns, c); i >= 0 {
		return i
	}
	t.columns = append(t.columns, c)
	return len(t.columns) - 1
}

// counter counts all queries at once. rows is about how many there will be, 0 where
// that is not known, and limit the memory that tables may take.
func (t *tally) counter(rows, limit int64) (*tabulate.Counter, error) {
	r := tabulate.Request{Rows: max(rows, 0), Workers: t.workers, Memory: limit}
	for _, a := range t.attributes {
		r.Axes = append(r.Axes, tabulate.Axis{Column: a.column, Size: a.level.Size(), Of: a.level.Of})
	}
	for _, q := range t.queries {
		r.Asks = append(r.Asks, tabulate.Ask{Axes: q.attributes, Sparse: q.sparse})
	}
	return tabulate.New(r)
}

// answer gives the queries what was counted.
func (t *tally) answer(ctx context.Context, c *tabulate.Counter, limit int64) error {
	tables, err := c.Finish(ctx)
	if err != nil {
		return within(limit, err)
	}
	for i, q := range t.queries {
		q.cells, q.counts = tables[i].Cells, tables[i].Counts
	}
	return nil
}

// within says of an error for lack of memory how much there is.
func within(limit int64, err error) error {
	if errors.Is(err, tabulate.ErrMemory) {
		return &MemoryError{Have: limit}
	}
	return err
}
