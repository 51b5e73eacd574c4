package encoding

// This file holds the reading of values as numbers: by their places on the lattice of their column.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// OfNumbers is the encoder of a column's values: the code of a value is the place that it is rounded and clamped to,
// counted from the first, whatever the stratum of its row. It fails where a lattice is too large to have codes.
//
// Guarantee: the code of a row depends on its own value alone, and no code is outside the lattice. Neighbours: both
// relations. Argument: docs/proofs/values.md.
func OfNumbers(table *spec.Table, c *spec.Column) (*Encoder, error) {
	e, err := encoderWith(table, c, c.Lattice.Places())
	if err != nil {
		return nil, err
	}
	e.Numbers = true
	return e, nil
}

// codeAt is the code of a place.
func (e *Encoder) codeAt(place int64) uint32 { return uint32(place - e.Column.Lattice.First) }

// placed is the code of what was read as a number or not: NaN is as a null is, and a text that is no number is a matter
// of the policy for unknown values. None of these is the category that it may count as elsewhere.
func (e *Encoder) placed(place int64, fit domain.Fit) (uint32, domain.Fit) {
	switch {
	case fit == domain.Fits:
		return e.codeAt(place), fit
	case fit == domain.NaN:
		return e.absent(), fit
	case e.Column.Unknown.Action == spec.Drop:
		return Dropped, fit
	}
	return Breached, fit
}

// placeReader returns how a row of raw that is not null is encoded as a number.
func (e *Encoder) placeReader(raw arrow.Array) func(row int) (uint32, domain.Fit) {
	l := e.Column.Lattice
	ofText := func(text string) (uint32, domain.Fit) { return e.placed(l.PlaceOfText(text, domain.Whole)) }
	switch a := raw.(type) {
	case *array.Dictionary:
		return lookUp(a, ofText)
	case textArray:
		return func(i int) (uint32, domain.Fit) { return ofText(a.Value(i)) }
	case *array.Int64:
		return func(i int) (uint32, domain.Fit) { return e.codeAt(l.PlaceOfInt(a.Value(i), domain.Whole)), domain.Fits }
	case *array.Float64:
		return func(i int) (uint32, domain.Fit) { return e.placed(l.PlaceOfFloat(a.Value(i), domain.Whole)) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(i int) (uint32, domain.Fit) {
			v := a.Value(i)
			return e.codeAt(l.PlaceOfDecimal(v.HighBits(), v.LowBits(), scale, domain.Whole)), domain.Fits
		}
	}
	return func(int) (uint32, domain.Fit) { return Breached, domain.WrongType }
}
