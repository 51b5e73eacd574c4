package source

// This file holds the table of Arrow types: which types are read, and how.

import (
	"errors"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A conversion converts the rows from..to of an array, which is not a dictionary, into one of the array types of
// [Coder.Codes]. In a damaged batch the offsets may lie anywhere, so its arrays must not leave the recoverDecoder
// guard of their file.
type conversion func(a arrow.Array, from, to int) (arrow.Array, error)

var errTimeOfDay = errors.New("a date has a time of day")

var errArrowType = errors.New("a column has another type than the schema says")

// conversionOf returns the type into which an Arrow type, or the value type of a dictionary type, is converted, and
// the conversion. Both are nil if the type is not read.
func conversionOf(t arrow.DataType) (arrow.DataType, conversion) {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.Int64Type, *arrow.Float64Type, *arrow.BooleanType, *arrow.Date32Type:
		return withoutConversion(t)
	case *arrow.LargeStringType:
		return convertEach(arrow.BinaryTypes.String, (*array.LargeString).Value)
	case *arrow.DictionaryType:
		if isText(t.ValueType) {
			return conversionOf(t.ValueType)
		}
	case *arrow.Int8Type:
		return convertIntegers((*array.Int8).Value)
	case *arrow.Int16Type:
		return convertIntegers((*array.Int16).Value)
	case *arrow.Int32Type:
		return convertIntegers((*array.Int32).Value)
	case *arrow.Uint8Type:
		return convertIntegers((*array.Uint8).Value)
	case *arrow.Uint16Type:
		return convertIntegers((*array.Uint16).Value)
	case *arrow.Uint32Type:
		return convertIntegers((*array.Uint32).Value)
	case *arrow.Uint64Type:
		return convertEach(uint64Type,
			func(a *array.Uint64, i int) decimal128.Num { return decimal128.FromU64(a.Value(i)) })
	case *arrow.Float32Type:
		return convertEach(arrow.PrimitiveTypes.Float64,
			func(a *array.Float32, i int) float64 { return float64(a.Value(i)) })
	case *arrow.Decimal128Type:
		if t.Scale >= 0 && t.Scale <= maxDigits {
			return withoutConversion(t)
		}
	case *arrow.Date64Type:
		return convertDates()
	case *arrow.TimestampType:
		return convertTimestamps(t.Unit)
	}
	return nil, nil
}

// numberKey is the key of the metadata of a spooled column of texts that are the numbers of a column of numbers. Such a
// column is read as a CSV file's is.
const numberKey = "dprelease.number"

// Metadata of columns that are put into a [Spool].
var (
	// NumberMetadata marks texts that are numbers.
	NumberMetadata = arrow.NewMetadata([]string{numberKey}, []string{"text"})
	// UUIDMetadata marks UUIDs, of 16 bytes each: Arrow's canonical extension type.
	UUIDMetadata = arrow.NewMetadata([]string{ipc.ExtensionTypeKeyName}, []string{"arrow.uuid"})
)

// conversionOfField is conversionOf for a column, whose metadata may say more than its type.
func conversionOfField(f arrow.Field) (arrow.DataType, conversion) {
	fixed, ok := f.Type.(*arrow.FixedSizeBinaryType)
	if at := f.Metadata.FindKey(ipc.ExtensionTypeKeyName); ok && fixed.ByteWidth == 16 && at >= 0 &&
		f.Metadata.Values()[at] == "arrow.uuid" {
		return convertEach(arrow.BinaryTypes.LargeString, func(a *array.FixedSizeBinary, i int) string {
			return string(appendUUID(nil, a.Value(i)))
		})
	}
	return conversionOf(f.Type)
}

// Convert returns values of a column, as they are put into a [Spool], as readers of one get them: in the array types of
// [Coder.Codes], each text within [MostText]. Errors are *[Error] and name the file and the column.
func Convert(column, file string, f arrow.Field, values arrow.Array) (arrow.Array, error) {
	_, convert := conversionOfField(f)
	if convert == nil {
		return nil, errArrowType
	}
	converted, err := convert(values, 0, values.Len())
	if err == nil {
		converted, err = textBound{most: MostText}.apply(converted)
	}
	if long := asTextTooLong(file, column, "", err); long != nil {
		return nil, long
	}
	return converted, err
}

// CheckField returns an error if a column, as it is put into a [Spool], has texts and the spec gives it another type.
func CheckField(c Column, file string, f arrow.Field) error {
	if f.Metadata.FindKey(numberKey) >= 0 {
		return nil
	}
	return c.checkType(file, f.Type)
}

// withoutConversion returns the conversion of a type that is read unchanged.
func withoutConversion(of arrow.DataType) (arrow.DataType, conversion) {
	return of, func(a arrow.Array, from, to int) (arrow.Array, error) {
		if !arrow.TypeEqual(a.DataType(), of) {
			return nil, errArrowType
		}
		return array.NewSlice(a, int64(from), int64(to)), nil
	}
}

// convertEach returns a conversion that copies value by value.
func convertEach[A arrow.Array, T any](of arrow.DataType, value func(A, int) T) (arrow.DataType, conversion) {
	return of, func(a arrow.Array, from, to int) (arrow.Array, error) {
		typed, ok := a.(A)
		if !ok {
			return nil, errArrowType
		}
		b := array.NewBuilder(memory.DefaultAllocator, of).(appender[T])
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

// convertIntegers returns the conversion of integers of up to 32 bits.
func convertIntegers[A arrow.Array, T int8 | int16 | int32 | uint8 | uint16 | uint32](
	value func(A, int) T) (arrow.DataType, conversion) {
	return convertEach(arrow.PrimitiveTypes.Int64, func(a A, i int) int64 { return int64(value(a, i)) })
}

// convertDates returns the conversion of dates in milliseconds to days. It refuses dates with a time of day, which
// the format forbids: two of them within a day would become one id.
func convertDates() (arrow.DataType, conversion) {
	const day = 86_400_000
	of, convert := convertEach(arrow.FixedWidthTypes.Date32,
		func(a *array.Date64, i int) arrow.Date32 { return arrow.Date32(floorDiv(int64(a.Value(i)), day)) })
	return of, func(a arrow.Array, from, to int) (arrow.Array, error) {
		if dates, ok := a.(*array.Date64); ok {
			for i := from; i < to; i++ {
				if dates.IsValid(i) && dates.Value(i)%day != 0 {
					return nil, errTimeOfDay
				}
			}
		}
		return convert(a, from, to)
	}
}

// appender is the part of an Arrow builder that takes values of type T.
type appender[T any] interface {
	array.Builder
	Append(T)
}

func isText(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
}

// convertTimestamps returns the conversion of every unit to microseconds, rounded down. A time zone in the type only
// says how to show a time; the stored number is UTC and is kept.
func convertTimestamps(unit arrow.TimeUnit) (arrow.DataType, conversion) {
	factor := int64(unit.Multiplier() / time.Microsecond)
	micros := func(v int64) int64 { return scaleUp(v, factor) }
	if unit == arrow.Nanosecond {
		micros = func(v int64) int64 { return floorDiv(v, 1_000) }
	}
	return convertEach(microType, func(a *array.Timestamp, i int) arrow.Timestamp {
		return arrow.Timestamp(micros(int64(a.Value(i))))
	})
}
