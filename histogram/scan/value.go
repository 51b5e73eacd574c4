package scan

// This file holds the value: the integer that a row adds to its cell, if that is not 1.

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/tabulate"
)

// Reasons for which sums are refused. Neither shows a figure.
var (
	errLargeValue = errors.New("a row could add more than 61 bits hold; make the step coarser or the range narrower")
	errLargeSum   = errors.New(
		"the sums of this table do not fit 61 bits; make the step coarser, the range narrower or the weights smaller")
)

// value is a [counted.Values] resolved against a task. nil stands for 1.
type value struct {
	name   string // definition of the value
	column int    // index of the column whose lattice indexes are added; −1: none
	weight int    // index of the column of weights; −1: none
	strata int    // index of the column of strata with multipliers of their own; −1: none

	times, base int64 // times·code + base is Times·p, less Minus if there are no strata
	by, off     []int64
	square      bool
	lightest    int64 // the weight of code 0

	// beyond makes the value 1 if the code of column is not within low and high, by stratum if there are any, and else
	// 0
	beyond    bool
	low, high []int64
}

// readValues adds the columns that a sum of values reads.
func (t *task) readValues(what counted.Counted) error {
	v := what.(counted.Values)
	if v.Per != "" {
		t.categoryColumn(t.table.Column(v.Per))
	}
	if v.Column != "" {
		if _, err := t.addNumberColumn(t.table.Column(v.Column)); err != nil {
			return err
		}
	}
	if v.Beyond {
		if _, err := t.addWidenedColumn(t.table.Column(v.Column)); err != nil {
			return err
		}
	}
	return t.readWeight(v)
}

// refineValues records what a row adds.
func (t *task) refineValues(q *query, what counted.Counted, _ uint64) (err error) {
	q.value, err = t.valueIndex(what.(counted.Values))
	return err
}

// valueIndex returns the index of a value among the task's values. Index 0 is the value of rows that each add 1.
func (t *task) valueIndex(v counted.Values) (int, error) {
	if v.CountsRows() {
		return 0, nil
	}
	name, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	if i := slices.IndexFunc(t.values, func(x *value) bool { return x != nil && x.name == string(name) }); i >= 0 {
		return i, nil
	}
	made := &value{name: string(name), column: -1, weight: -1, strata: -1}
	most := big.NewInt(1)
	switch {
	case v.Beyond:
		err = t.resolveClamped(made, v.Column)
	case v.Power > 0:
		most, err = t.resolveColumn(made, v)
	}
	if err != nil {
		return 0, err
	}
	if most, err = t.resolveWeight(made, v, most); err != nil {
		return 0, err
	}
	if most.Cmp(big.NewInt(answer.MaxMagnitude)) > 0 {
		return 0, errLargeValue
	}
	t.values = append(t.values, made)
	return len(t.values) - 1, nil
}

// resolveColumn resolves the column's part of a value, and returns the largest absolute value that the part can have.
func (t *task) resolveColumn(made *value, v counted.Values) (*big.Int, error) {
	column := t.table.Column(v.Column)
	at, err := t.addNumberColumn(column)
	if err != nil {
		return nil, err
	}
	l := column.Lattice
	made.column, made.times, made.square = at, v.Times, v.Power == 2
	minus, by, ranges := []int64{v.Minus}, []int64{1}, []domain.Stratum{{First: l.First, Last: l.Last}}
	if v.Per != "" {
		of := t.table.Column(v.Per)
		if of == nil || of.Domain == nil || len(v.By) != of.Domain.Size() || len(v.Off) != len(v.By) {
			return nil, fmt.Errorf("%s: its strata are not the categories of the column %s", v.Column, v.Per)
		}
		made.strata, made.by, made.off = t.categoryColumn(of), v.By, v.Off
		minus, by = v.Off, v.By
		ranges = slices.Repeat(ranges, len(by))
		if l.By == v.Per {
			ranges = l.Strata
		}
	}
	most := new(big.Int)
	for i := range by {
		for _, p := range []int64{ranges[i].First, ranges[i].Last} {
			x := new(big.Int).Mul(big.NewInt(v.Times), big.NewInt(p))
			x.Sub(x, big.NewInt(minus[i]))
			most = largerMagnitude(most, x.Mul(x, big.NewInt(by[i])))
		}
	}
	base := new(big.Int).Mul(big.NewInt(v.Times), big.NewInt(l.First))
	if v.Per == "" {
		base.Sub(base, big.NewInt(v.Minus))
	}
	if !base.IsInt64() {
		return nil, errLargeValue
	}
	made.base = base.Int64()
	if made.square {
		most.Mul(most, most)
	}
	return most, nil
}

// addWidenedColumn returns the index of a column of numbers that is read a second time, over a lattice with one more
// point on either side; these stand for everything beyond the range.
func (t *task) addWidenedColumn(column *spec.Column) (int, error) {
	for i, c := range t.columns {
		if c.widened && c.column.Name == column.Name {
			return i, nil
		}
	}
	wide, all := *column, *column.Lattice
	all.First, all.Last, all.By, all.Strata = all.First-1, all.Last+1, "", nil
	wide.Lattice = &all
	at, err := t.addNumberColumn(&wide)
	if err == nil {
		t.columns[at].widened = true
	}
	return at, err
}

// resolveClamped resolves the count of values that are clamped.
func (t *task) resolveClamped(made *value, name string) error {
	column := t.table.Column(name)
	if _, err := t.addNumberColumn(column); err != nil {
		return err
	}
	l := column.Lattice
	made.beyond, made.low, made.high = true, []int64{1}, []int64{l.Last - l.First + 1}
	if l.By != "" {
		made.strata, made.low, made.high = t.categoryColumn(t.table.Column(l.By)), nil, nil
		for _, s := range l.Strata {
			made.low, made.high = append(made.low, s.First-l.First+1), append(made.high, s.Last-l.First+1)
		}
	}
	var err error
	made.column, err = t.addWidenedColumn(column)
	return err
}

// largerMagnitude returns the larger of two absolute values.
func largerMagnitude(a, b *big.Int) *big.Int {
	a, b = new(big.Int).Abs(a), new(big.Int).Abs(b)
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// writeValues writes what each row adds. Rows that are left out may get anything.
//
// Guarantee: the integer of a row is a function of its own values, and of no more than 61 bits: lattice indexes are
// within the lattice and, if it has strata, within the range of the row's own. Neighbours: both relations. Argument:
// docs/proofs/values.md.
func (v *value) writeValues(columns []tabulate.Codes, out []int64) {
	if v.column < 0 {
		writeLinear(columns[v.weight], 1, v.lightest, out)
		return
	}
	if v.beyond {
		v.writeClamped(columns, out)
		return
	}
	writeLinear(columns[v.column], v.times, v.base, out)
	if v.strata >= 0 {
		switch c := columns[v.strata]; {
		case c.U8 != nil:
			perStratum(c.U8, v.off, v.by, out)
		case c.U16 != nil:
			perStratum(c.U16, v.off, v.by, out)
		default:
			perStratum(c.U32, v.off, v.by, out)
		}
	}
	if v.square {
		for i, x := range out {
			out[i] = x * x
		}
	}
	v.multiplyWeights(columns, out)
}

// writeClamped writes 1 for each row whose value is clamped.
func (v *value) writeClamped(columns []tabulate.Codes, out []int64) {
	writeLinear(columns[v.column], 1, 0, out)
	if v.strata < 0 {
		for i, x := range out {
			out[i] = isOutside(x, v.low[0], v.high[0])
		}
		return
	}
	switch c := columns[v.strata]; {
	case c.U8 != nil:
		outsideStratum(c.U8, v.low, v.high, out)
	case c.U16 != nil:
		outsideStratum(c.U16, v.low, v.high, out)
	default:
		outsideStratum(c.U32, v.low, v.high, out)
	}
}

// isOutside returns 1 if x is not within low and high, and 0 if it is.
func isOutside(x, low, high int64) int64 {
	if x < low || x > high {
		return 1
	}
	return 0
}

// outsideStratum is isOutside for the range of each row's stratum. The codes of rows that are left out are of no
// stratum.
func outsideStratum[T uint8 | uint16 | uint32](codes []T, low, high, out []int64) {
	codes = codes[:len(out)]
	for i, c := range codes {
		if int(c) < len(low) {
			out[i] = isOutside(out[i], low[c], high[c])
		}
	}
}

// writeLinear writes times·code + base.
func writeLinear(c tabulate.Codes, times, base int64, out []int64) {
	switch {
	case c.U8 != nil:
		linearOf(c.U8, times, base, out)
	case c.U16 != nil:
		linearOf(c.U16, times, base, out)
	default:
		linearOf(c.U32, times, base, out)
	}
}

func linearOf[T uint8 | uint16 | uint32](codes []T, times, base int64, out []int64) {
	codes = codes[:len(out)]
	for i, c := range codes {
		out[i] = times*int64(c) + base
	}
}

// perStratum subtracts the offset of a row's stratum and multiplies by its multiplier. The codes of rows that are
// left out are of no stratum.
func perStratum[T uint8 | uint16 | uint32](codes []T, off, by, out []int64) {
	codes, off = codes[:len(out)], off[:len(by)]
	for i, c := range codes {
		if int(c) < len(by) {
			out[i] = (out[i] - off[c]) * by[c]
		}
	}
}
