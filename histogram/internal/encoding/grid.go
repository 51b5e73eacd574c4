package encoding

// This file holds the cells of a grid: it turns longitudes and latitudes into the numbers of cells.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec/domain"
)

// gridCells returns the cell of each pair of coordinates as an Int64 array: null if either is null, and −1 if the
// point is not in the box or a coordinate is not a number. Coordinates are arrays as a [source.Coder] gets them, or
// dictionaries of String. An array of a type without numbers is returned unchanged, which no grid accepts as cells.
func gridCells(g *domain.Grid, longitude, latitude arrow.Array) arrow.Array {
	x, y := axisReader(g.X, longitude), axisReader(g.Y, latitude)
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

// axisReader returns a function that places a coordinate that is not null on an axis, nil for a type without numbers.
func axisReader(axis *domain.Axis, coordinates arrow.Array) func(row int) int {
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
