package encoding

// This file holds the cells of a grid: from longitudes and latitudes to the numbers of cells.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec/domain"
)

// gridCells returns the cell of each pair of coordinates as an Int64 array: null where either is null, else −1 where
// the place is not in the box or a coordinate is no number. Coordinates are as a [source.Coder] gets them or
// dictionaries of String; where they are of a type that has no numbers they are returned as they are, and no grid takes
// them for cells.
func gridCells(g *domain.Grid, longitude, latitude arrow.Array) arrow.Array {
	x, y := along(g.X, longitude), along(g.Y, latitude)
	for _, unread := range []struct {
		of   func(int) int
		what arrow.Array
	}{{x, longitude}, {y, latitude}} {
		if unread.of == nil {
			unread.what.Retain()
			return unread.what
		}
	}
	n := longitude.Len()
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	some := longitude.NullN()+latitude.NullN() > 0
	for i := range n {
		if some && (longitude.IsNull(i) || latitude.IsNull(i)) {
			b.UnsafeAppendBoolToBitmap(false)
			continue
		}
		b.UnsafeAppend(int64(g.Cell(x(i), y(i))))
	}
	return b.NewInt64Array()
}

// along returns how a coordinate that is not null is placed along an axis, nil of a type that has no numbers.
func along(axis *domain.Axis, coordinates arrow.Array) func(row int) int {
	switch a := coordinates.(type) {
	case *array.Float64:
		values := a.Float64Values()
		return func(i int) int { return axis.OfFloat(values[i]) }
	case *array.Int64:
		return func(i int) int { return axis.OfInt(a.Value(i)) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(i int) int {
			v := a.Value(i)
			if small := int64(v.LowBits()); v.HighBits() == small>>63 {
				return axis.OfSmallDecimal(small, scale)
			}
			return axis.OfDecimal(v.BigInt(), scale)
		}
	case textArray:
		return func(i int) int { return axis.OfText(a.Value(i)) }
	case *array.Dictionary:
		texts, ok := a.Dictionary().(*array.String)
		if !ok {
			return nil
		}
		cells := make([]int, texts.Len())
		for i := range cells {
			if texts.IsValid(i) {
				cells[i] = axis.OfText(texts.Value(i))
			}
		}
		return func(i int) int { return cells[a.GetValueIndex(i)] }
	}
	return nil
}
