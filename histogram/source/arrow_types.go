package source

// This file holds the table of Arrow types: which are read, and how. Everything
// is copied, so that a damaged batch fails here and not in a kernel.

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// conversion copies the rows from..to of an array into one of the types that
// records hold.
type conversion func(mem memory.Allocator, a arrow.Array, from, to int) (arrow.Array, error)

// conversionOf returns the conversion of an Arrow type, nil where the type is
// not read.
func conversionOf(t arrow.DataType) conversion {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.LargeStringType:
		return copyOf(newStrings, textOf)
	case *arrow.DictionaryType:
		if isText(t.ValueType) {
			return copyDictionary
		}
	case *arrow.Int8Type:
		return copyOf(newInts, func(a *array.Int8, i int) int64 { return int64(a.Value(i)) })
	case *arrow.Int16Type:
		return copyOf(newInts, func(a *array.Int16, i int) int64 { return int64(a.Value(i)) })
	case *arrow.Int32Type:
		return copyOf(newInts, func(a *array.Int32, i int) int64 { return int64(a.Value(i)) })
	case *arrow.Int64Type:
		return copyOf(newInts, (*array.Int64).Value)
	case *arrow.Uint8Type:
		return copyOf(newInts, func(a *array.Uint8, i int) int64 { return int64(a.Value(i)) })
	case *arrow.Uint16Type:
		return copyOf(newInts, func(a *array.Uint16, i int) int64 { return int64(a.Value(i)) })
	case *arrow.Uint32Type:
		return copyOf(newInts, func(a *array.Uint32, i int) int64 { return int64(a.Value(i)) })
	case *arrow.Uint64Type:
		return copyOf(newDecimals(wholeType), func(a *array.Uint64, i int) decimal128.Num { return decimal128.FromU64(a.Value(i)) })
	case *arrow.Float32Type:
		return copyOf(newFloats, func(a *array.Float32, i int) float64 { return float64(a.Value(i)) })
	case *arrow.Float64Type:
		return copyOf(newFloats, (*array.Float64).Value)
	case *arrow.Decimal128Type:
		if t.Scale < 0 || t.Scale > maxDigits {
			return nil
		}
		return copyOf(newDecimals(t), (*array.Decimal128).Value)
	case *arrow.BooleanType:
		return copyOf(newBooleans, (*array.Boolean).Value)
	case *arrow.Date32Type:
		return copyOf(newDates, (*array.Date32).Value)
	case *arrow.Date64Type:
		return copyOf(newDates, func(a *array.Date64, i int) arrow.Date32 {
			return arrow.Date32(floorDiv(int64(a.Value(i)), 86_400_000))
		})
	case *arrow.TimestampType:
		return copyTimestamps(t.Unit)
	}
	return nil
}

// copyOf makes a conversion that copies value by value.
func copyOf[A arrow.Array, T any](newBuilder func(memory.Allocator) appender[T], value func(A, int) T) conversion {
	return func(mem memory.Allocator, a arrow.Array, from, to int) (arrow.Array, error) {
		typed, ok := a.(A)
		if !ok {
			return nil, errors.New("a column has another type than the schema says")
		}
		b := newBuilder(mem)
		defer b.Release()
		b.Reserve(to - from)
		for i := from; i < to; i++ {
			if typed.IsNull(i) {
				b.AppendNull()
			} else {
				b.Append(value(typed, i))
			}
		}
		return b.NewArray(), nil
	}
}

// texts is String and LargeString.
type texts interface {
	arrow.Array
	Value(i int) string
}

func textOf(a texts, i int) string { return a.Value(i) }

func isText(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
}

// copyTimestamps brings every unit to microseconds, rounded down. A zone in the
// type says how to show a time; the stored number is UTC and is kept.
func copyTimestamps(unit arrow.TimeUnit) conversion {
	var micros func(int64) int64
	switch unit {
	case arrow.Second:
		micros = func(v int64) int64 { return scaleUp(v, 1_000_000) }
	case arrow.Millisecond:
		micros = func(v int64) int64 { return scaleUp(v, 1_000) }
	case arrow.Microsecond:
		micros = func(v int64) int64 { return v }
	default:
		micros = func(v int64) int64 { return floorDiv(v, 1_000) }
	}
	return copyOf(newTimestamps, func(a *array.Timestamp, i int) arrow.Timestamp {
		return arrow.Timestamp(micros(int64(a.Value(i))))
	})
}

// copyDictionary brings any index type to Int32. A null in the dictionary is a
// null of the row.
func copyDictionary(mem memory.Allocator, a arrow.Array, from, to int) (arrow.Array, error) {
	d, ok := a.(*array.Dictionary)
	if !ok {
		return nil, errors.New("a column has another type than the schema says")
	}
	values, err := copyOf(newStrings, textOf)(mem, d.Dictionary(), 0, d.Dictionary().Len())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	b := array.NewInt32Builder(mem)
	defer b.Release()
	b.Reserve(to - from)
	for i := from; i < to; i++ {
		if d.IsNull(i) {
			b.AppendNull()
			continue
		}
		index := d.GetValueIndex(i)
		switch {
		case index < 0 || index >= values.Len():
			return nil, errIndex
		case values.IsNull(index):
			b.AppendNull()
		default:
			b.Append(int32(index))
		}
	}
	index := b.NewArray()
	defer index.Release()
	return array.NewDictionaryArray(textDictionary, index, values), nil
}

func newStrings(mem memory.Allocator) appender[string] { return array.NewStringBuilder(mem) }

func newInts(mem memory.Allocator) appender[int64] { return array.NewInt64Builder(mem) }

func newFloats(mem memory.Allocator) appender[float64] { return array.NewFloat64Builder(mem) }

func newBooleans(mem memory.Allocator) appender[bool] { return array.NewBooleanBuilder(mem) }

func newDates(mem memory.Allocator) appender[arrow.Date32] { return array.NewDate32Builder(mem) }

func newTimestamps(mem memory.Allocator) appender[arrow.Timestamp] {
	return array.NewTimestampBuilder(mem, microType)
}

func newDecimals(t *arrow.Decimal128Type) func(memory.Allocator) appender[decimal128.Num] {
	return func(mem memory.Allocator) appender[decimal128.Num] { return array.NewDecimal128Builder(mem, t) }
}
