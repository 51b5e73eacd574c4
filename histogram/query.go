package histogram

// This file holds the query as a kernel: strides over level codes.

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"
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
	sizes      []uint64 // categories of each factor
	counts     []int64  // row-major, the last factor fastest
}

// compile resolves the factors of a measurement against the tally's table and
// notes the columns and attributes that it needs.
func (t *tally) compile(m plan.Measurement) (*query, error) {
	q := &query{}
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
		q.sizes = append(q.sizes, uint64(level.Size()))
	}
	if int64(integers) != m.Cells {
		return nil, fmt.Errorf("measurement %s: the plan says %d cells and its factors give %d", m.ID, m.Cells, integers)
	}
	q.counts = make([]int64, cells)
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

// block is how many rows are indexed at a time: the indexes stay in the
// first-level cache while they are used.
const block = 2048

// add counts the rows of a chunk, given the level codes of its attributes.
func (q *query) add(rows int, levels [][]uint32) {
	var cell [block]uint64
	for from := 0; from < rows; from += block {
		to := min(from+block, rows)
		cells := cell[:to-from]
		clear(cells)
		for f, a := range q.attributes {
			size, codes := q.sizes[f], levels[a][from:to]
			for i, c := range codes {
				cells[i] = cells[i]*size + uint64(c)
			}
		}
		for _, c := range cells {
			q.counts[c]++
		}
	}
}

// levelCodes returns the codes of a column at a level.
func levelCodes(a *array.Dictionary, level *spec.Level) []uint32 {
	switch index := a.Indices().(type) {
	case *array.Uint8:
		return coarsen(index.Uint8Values(), level.Of)
	case *array.Uint16:
		return coarsen(index.Uint16Values(), level.Of)
	}
	return coarsen(codesOf[uint32](a), level.Of)
}

// coarsen maps base codes to those of a level; nil is the identity.
func coarsen[T code](base []T, of []uint32) []uint32 {
	out := make([]uint32, len(base))
	for i, c := range base {
		if of == nil {
			out[i] = uint32(c)
		} else {
			out[i] = of[c]
		}
	}
	return out
}
