package scan

// This file holds the clamp: values that have a range for each stratum are put within that of their row's.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/spec"
)

// clamp is a column of numbers whose range depends on the category of another column.
type clamp struct {
	column, by int      // among the task's columns
	low, high  []uint32 // of each base code of by, the range of codes
}

// number is the place of a column among the task's, as numbers. It fails where a column has none, or where not every
// category has a range.
func (t *task) number(c *spec.Column) (int, error) {
	if c == nil || c.Lattice == nil {
		return 0, errors.New("the column has no values that could be added up or ranked")
	}
	at := place(&t.columns, wanted{c, true})
	l := c.Lattice
	if l.By == "" || slices.ContainsFunc(t.clamps, func(x clamp) bool { return x.column == at }) {
		return at, nil
	}
	by := t.table.Column(l.By)
	if by == nil || by.Domain == nil || by.Domain.Size() != len(l.Strata) {
		return 0, fmt.Errorf("%s: its ranges are not one for each category of %s", c.Name, l.By)
	}
	x := clamp{column: at, by: t.column(by)}
	for _, s := range l.Strata {
		if s.First < l.First || s.Last > l.Last || s.First > s.Last {
			return 0, fmt.Errorf("%s: the range of a category of %s is not within that of all", c.Name, l.By)
		}
		x.low, x.high = append(x.low, uint32(s.First-l.First)), append(x.high, uint32(s.Last-l.First))
	}
	t.clamps = append(t.clamps, x)
	return at, nil
}

// clamped are the codes of a chunk as they are counted: those that were read but, of columns with strata, clamped. For
// one goroutine.
type clamped struct {
	clamps  []clamp
	columns []tabulate.Codes
	codes   [][]uint32 // of each clamp
}

// of returns the columns of rows, valid until the next call. Columns that were not read stay without codes.
func (x *clamped) of(codes []tabulate.Codes, rows int) []tabulate.Codes {
	if len(x.clamps) == 0 {
		return codes
	}
	x.columns = append(x.columns[:0], codes...)
	if x.codes == nil {
		x.codes = make([][]uint32, len(x.clamps))
	}
	for i, c := range x.clamps {
		if codes[c.column].Len() == 0 || codes[c.by].Len() == 0 {
			continue
		}
		x.codes[i] = slices.Grow(x.codes[i][:0], rows)[:rows]
		widen(codes[c.column], x.codes[i])
		switch by := codes[c.by]; {
		case by.Narrow != nil:
			clampBy(by.Narrow, c.low, c.high, x.codes[i])
		case by.Middle != nil:
			clampBy(by.Middle, c.low, c.high, x.codes[i])
		default:
			clampBy(by.Wide, c.low, c.high, x.codes[i])
		}
		x.columns[c.column] = tabulate.Codes{Wide: x.codes[i]}
	}
	return x.columns
}

// clampBy puts codes within the range of their row's stratum. The strata of rows that are left out are marks.
func clampBy[T uint8 | uint16 | uint32](by []T, low, high, codes []uint32) {
	by, high = by[:len(codes)], high[:len(low)]
	for i, s := range by {
		if int(s) < len(low) {
			codes[i] = min(max(codes[i], low[s]), high[s])
		}
	}
}

// widen writes codes of any width.
func widen(c tabulate.Codes, out []uint32) {
	switch {
	case c.Narrow != nil:
		for i, x := range c.Narrow[:len(out)] {
			out[i] = uint32(x)
		}
	case c.Middle != nil:
		for i, x := range c.Middle[:len(out)] {
			out[i] = uint32(x)
		}
	default:
		copy(out, c.Wide[:len(out)])
	}
}
