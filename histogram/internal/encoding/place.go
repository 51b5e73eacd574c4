package encoding

// This file holds the reading of values as numbers, by their indexes on the lattice of their column.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// OfNumbers returns the encoder of a column's numbers. The code of a value is the lattice index to which it is
// rounded and clamped, counted from the first, whatever the stratum of its row. It returns an error if the lattice is
// too large to have codes.
//
// Guarantee: the code of a row depends on its own value alone, and no code is outside the lattice. Neighbours: both
// relations. Argument: docs/proofs/values.md.
func OfNumbers(table *spec.Table, c *spec.Column) (*Encoder, error) {
	e, err := encoderWith(table, c, c.Lattice.PointCount())
	if err != nil {
		return nil, err
	}
	e.Numbers = true
	return e, nil
}

// codeAt returns the code of a lattice index.
func (e *Encoder) codeAt(place int64) uint32 { return uint32(place - e.Column.Lattice.First) }

// codeOfNumber returns the code of a value that was read as a number or could not be. NaN is treated like a null. A
// text that is not a number is subject to the policy for unknown values. Neither becomes a category that stands for
// such values elsewhere.
func (e *Encoder) codeOfNumber(place int64, fit domain.Fit) (uint32, domain.Fit) {
	switch {
	case fit == domain.Fits:
		return e.codeAt(place), fit
	case fit == domain.NaN:
		return e.nullCode(), fit
	case e.Column.Unknown.Action == spec.Drop:
		return Dropped, fit
	}
	return Breached, fit
}

// numberReader returns a function that encodes a row of raw that is not null as a number.
func (e *Encoder) numberReader(raw arrow.Array) func(row int) (uint32, domain.Fit) {
	l := e.Column.Lattice
	ofText := func(text string) (uint32, domain.Fit) { return e.codeOfNumber(l.IndexOfText(text, domain.NoStratum)) }
	switch a := raw.(type) {
	case *array.Dictionary:
		return lookUp(a, ofText)
	case textArray:
		return func(i int) (uint32, domain.Fit) { return ofText(a.Value(i)) }
	case *array.Int64:
		return func(i int) (uint32, domain.Fit) {
			return e.codeAt(l.IndexOfInt(a.Value(i), domain.NoStratum)), domain.Fits
		}
	case *array.Float64:
		return func(i int) (uint32, domain.Fit) { return e.codeOfNumber(l.IndexOfFloat(a.Value(i), domain.NoStratum)) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(i int) (uint32, domain.Fit) {
			v := a.Value(i)
			return e.codeAt(l.IndexOfDecimal(v.HighBits(), v.LowBits(), scale, domain.NoStratum)), domain.Fits
		}
	}
	return func(int) (uint32, domain.Fit) { return Breached, domain.WrongType }
}
