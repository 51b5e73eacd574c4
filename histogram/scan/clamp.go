package scan

// This file holds the clamp. Values of a column with a range for each stratum are clamped to the range of their row's
// stratum.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/spec"
)

// clamp is a column of numbers whose range depends on the category of another column.
type clamp struct {
	column, by int      // indexes of the task's columns
	low, high  []uint32 // range of codes by base code of `by`
}

// addNumberColumn adds a column that is read as numbers to the task's columns, unless it is among them, and returns its
// index there. If each category of another column has a range of its own, it adds that column and the clamp too. It
// returns an error if the column has no numbers, or if a category has no range.
func (t *task) addNumberColumn(c *spec.Column) (int, error) {
	if c == nil || c.Lattice == nil {
		return 0, errors.New("the column has no values that could be added up or ranked")
	}
	at := indexOrAppend(&t.columns, wantedColumn{column: c, numbers: true})
	l := c.Lattice
	if l.By == "" || slices.ContainsFunc(t.clamps, func(x clamp) bool { return x.column == at }) {
		return at, nil
	}
	by := t.table.Column(l.By)
	if by == nil || by.Domain == nil || by.Domain.Size() != len(l.Strata) {
		return 0, fmt.Errorf("%s: its ranges are not one for each category of %s", c.Name, l.By)
	}
	x := clamp{column: at, by: t.categoryColumn(by)}
	for _, s := range l.Strata {
		if s.First < l.First || s.Last > l.Last || s.First > s.Last {
			return 0, fmt.Errorf("%s: the range of a category of %s is not within that of all", c.Name, l.By)
		}
		x.low, x.high = append(x.low, uint32(s.First-l.First)), append(x.high, uint32(s.Last-l.First))
	}
	t.clamps = append(t.clamps, x)
	return at, nil
}

// clampedCodes is the codes of a chunk as they are counted: as read, but clamped for columns with strata. It is for
// one goroutine.
type clampedCodes struct {
	clamps         []clamp
	clampedColumns []tabulate.Codes
	codes          [][]uint32 // by clamp
}

// columnsOf returns the columns of rows. They are valid until the next call. Columns that were not read stay without
// codes.
func (x *clampedCodes) columnsOf(codes []tabulate.Codes, rows int) []tabulate.Codes {
	if len(x.clamps) == 0 {
		return codes
	}
	x.clampedColumns = append(x.clampedColumns[:0], codes...)
	if x.codes == nil {
		x.codes = make([][]uint32, len(x.clamps))
	}
	for i, c := range x.clamps {
		if codes[c.column].Len() == 0 || codes[c.by].Len() == 0 {
			continue
		}
		x.codes[i] = slices.Grow(x.codes[i][:0], rows)[:rows]
		widenCodes(codes[c.column], x.codes[i])
		switch by := codes[c.by]; {
		case by.U8 != nil:
			clampBy(by.U8, c.low, c.high, x.codes[i])
		case by.U16 != nil:
			clampBy(by.U16, c.low, c.high, x.codes[i])
		default:
			clampBy(by.U32, c.low, c.high, x.codes[i])
		}
		x.clampedColumns[c.column] = tabulate.Codes{U32: x.codes[i]}
	}
	return x.clampedColumns
}

// clampBy clamps codes to the range of their row's stratum. Rows that are left out have a mark as their stratum.
func clampBy[T uint8 | uint16 | uint32](by []T, low, high, codes []uint32) {
	by, high = by[:len(codes)], high[:len(low)]
	for i, s := range by {
		if int(s) < len(low) {
			codes[i] = min(max(codes[i], low[s]), high[s])
		}
	}
}

// widenCodes writes codes of any width as 32-bit codes.
func widenCodes(c tabulate.Codes, out []uint32) {
	switch {
	case c.U8 != nil:
		for i, x := range c.U8[:len(out)] {
			out[i] = uint32(x)
		}
	case c.U16 != nil:
		for i, x := range c.U16[:len(out)] {
			out[i] = uint32(x)
		}
	default:
		copy(out, c.U32[:len(out)])
	}
}
