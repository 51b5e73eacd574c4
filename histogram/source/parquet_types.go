package source

// This file holds the table of Parquet types: which are read, and how.

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// sinkOf returns what makes the sink of a Parquet type, nil where the type is
// not read.
func sinkOf(t parquet.Type) func(memory.Allocator) sink {
	var logical any
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	if d, ok := logical.(*format.DecimalType); ok {
		return decimalSink(t, d)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return booleans
	case parquet.Int32:
		return int32Sink(logical)
	case parquet.Int64:
		return int64Sink(logical)
	case parquet.Float:
		return floats(func(dst []float64, data encoding.Values, n int) ([]float64, error) {
			return each(dst, data.Float(), n, func(v float32) float64 { return float64(v) })
		})
	case parquet.Double:
		return floats(func(_ []float64, data encoding.Values, n int) ([]float64, error) {
			return asIs(data.Double(), n)
		})
	case parquet.ByteArray:
		return byteArraySink(t, logical)
	case parquet.FixedLenByteArray:
		if _, ok := logical.(*format.UUIDType); ok && t.Length() == 16 {
			return uuids
		}
	}
	return nil
}

func int32Sink(logical any) func(memory.Allocator) sink {
	switch l := logical.(type) {
	case *format.DateType:
		return func(mem memory.Allocator) sink {
			return &plainSink[arrow.Date32]{builder: array.NewDate32Builder(mem),
				convert: func(dst []arrow.Date32, data encoding.Values, n int) ([]arrow.Date32, error) {
					return each(dst, data.Int32(), n, func(v int32) arrow.Date32 { return arrow.Date32(v) })
				}}
		}
	case *format.IntType:
		if !l.IsSigned {
			return integers(func(dst []int64, data encoding.Values, n int) ([]int64, error) {
				return each(dst, data.Uint32(), n, func(v uint32) int64 { return int64(v) })
			})
		}
	case nil:
	default:
		return nil
	}
	return integers(func(dst []int64, data encoding.Values, n int) ([]int64, error) {
		return each(dst, data.Int32(), n, func(v int32) int64 { return int64(v) })
	})
}

func int64Sink(logical any) func(memory.Allocator) sink {
	switch l := logical.(type) {
	case *format.TimestampType:
		return timestampSink(l)
	case *format.IntType:
		if !l.IsSigned {
			return decimals(wholeType, func(dst []decimal128.Num, data encoding.Values, n int) ([]decimal128.Num, error) {
				return each(dst, data.Uint64(), n, decimal128.FromU64)
			})
		}
	case nil:
	default:
		return nil
	}
	return integers(func(_ []int64, data encoding.Values, n int) ([]int64, error) {
		return asIs(data.Int64(), n)
	})
}

func timestampSink(t *format.TimestampType) func(memory.Allocator) sink {
	var toMicros func(int64) arrow.Timestamp
	switch t.Unit.Value.(type) {
	case *format.MilliSeconds:
		toMicros = func(v int64) arrow.Timestamp { return arrow.Timestamp(scaleUp(v, 1000)) }
	case *format.MicroSeconds:
		toMicros = func(v int64) arrow.Timestamp { return arrow.Timestamp(v) }
	case *format.NanoSeconds:
		toMicros = func(v int64) arrow.Timestamp { return arrow.Timestamp(floorDiv(v, 1000)) }
	default:
		return nil
	}
	return func(mem memory.Allocator) sink {
		return &plainSink[arrow.Timestamp]{builder: array.NewTimestampBuilder(mem, microType),
			convert: func(dst []arrow.Timestamp, data encoding.Values, n int) ([]arrow.Timestamp, error) {
				return each(dst, data.Int64(), n, toMicros)
			}}
	}
}

// byteArraySink reads text: annotated as such, as an enumeration or JSON, or
// not at all.
func byteArraySink(t parquet.Type, logical any) func(memory.Allocator) sink {
	switch logical.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return newTextSink
	case nil:
		if t.ConvertedType() == nil {
			return newTextSink
		}
	}
	return nil
}

// decimalSink reads a decimal of at most 38 digits in any of its physical types.
func decimalSink(t parquet.Type, d *format.DecimalType) func(memory.Allocator) sink {
	if d.Precision < 1 || d.Precision > maxDigits || d.Scale < 0 || d.Scale > d.Precision {
		return nil
	}
	to := &arrow.Decimal128Type{Precision: d.Precision, Scale: d.Scale}
	switch t.Kind() {
	case parquet.Int32:
		return decimals(to, func(dst []decimal128.Num, data encoding.Values, n int) ([]decimal128.Num, error) {
			return each(dst, data.Int32(), n, func(v int32) decimal128.Num { return decimal128.FromI64(int64(v)) })
		})
	case parquet.Int64:
		return decimals(to, func(dst []decimal128.Num, data encoding.Values, n int) ([]decimal128.Num, error) {
			return each(dst, data.Int64(), n, decimal128.FromI64)
		})
	case parquet.FixedLenByteArray:
		return decimals(to, fixedDecimals)
	case parquet.ByteArray:
		return decimals(to, variableDecimals)
	}
	return nil
}

func fixedDecimals(dst []decimal128.Num, data encoding.Values, n int) ([]decimal128.Num, error) {
	bytes, size := data.FixedLenByteArray()
	if len(bytes) != size*n {
		return nil, errShortPage
	}
	for i := range n {
		v, ok := bigEndianDecimal(bytes[i*size : (i+1)*size])
		if !ok {
			return nil, fmt.Errorf("a decimal has more than %d digits", maxDigits)
		}
		dst = append(dst, v)
	}
	return dst, nil
}

func variableDecimals(dst []decimal128.Num, data encoding.Values, n int) ([]decimal128.Num, error) {
	bytes, offsets := data.ByteArray()
	if err := checkOffsets(bytes, offsets, n); err != nil {
		return nil, err
	}
	for i := range n {
		v, ok := bigEndianDecimal(bytes[offsets[i]:offsets[i+1]])
		if !ok {
			return nil, fmt.Errorf("a decimal is empty or has more than %d digits", maxDigits)
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// uuids reads UUIDs as their canonical text, in an array type of their own: an id
// written as a UUID in one file and as text, perhaps in capitals, in another
// must not pass for two ids of one type.
func uuids(mem memory.Allocator) sink {
	return &plainSink[string]{builder: array.NewLargeStringBuilder(mem),
		convert: func(dst []string, data encoding.Values, n int) ([]string, error) {
			bytes, size := data.FixedLenByteArray()
			if size != 16 || len(bytes) != 16*n {
				return nil, errShortPage
			}
			text := make([]byte, 0, 36)
			for i := range n {
				dst = append(dst, string(appendUUID(text, bytes[16*i:16*i+16])))
			}
			return dst, nil
		}}
}

func booleans(mem memory.Allocator) sink {
	return &plainSink[bool]{builder: array.NewBooleanBuilder(mem),
		convert: func(dst []bool, data encoding.Values, n int) ([]bool, error) {
			bits := data.Boolean()
			if 8*len(bits) < n {
				return nil, errShortPage
			}
			for i := range n {
				dst = append(dst, bits[i/8]>>(i%8)&1 == 1)
			}
			return dst, nil
		}}
}

func integers(convert func([]int64, encoding.Values, int) ([]int64, error)) func(memory.Allocator) sink {
	return func(mem memory.Allocator) sink {
		return &plainSink[int64]{builder: array.NewInt64Builder(mem), convert: convert}
	}
}

func floats(convert func([]float64, encoding.Values, int) ([]float64, error)) func(memory.Allocator) sink {
	return func(mem memory.Allocator) sink {
		return &plainSink[float64]{builder: array.NewFloat64Builder(mem), convert: convert}
	}
}

func decimals(to *arrow.Decimal128Type, convert func([]decimal128.Num, encoding.Values, int) ([]decimal128.Num, error)) func(memory.Allocator) sink {
	return func(mem memory.Allocator) sink {
		return &plainSink[decimal128.Num]{builder: array.NewDecimal128Builder(mem, to), convert: convert}
	}
}

// asIs is the n values of a page themselves.
func asIs[T any](values []T, n int) ([]T, error) {
	if len(values) != n {
		return nil, errShortPage
	}
	return values, nil
}

// each converts the n values of a page.
func each[P, T any](dst []T, values []P, n int, convert func(P) T) ([]T, error) {
	if len(values) != n {
		return nil, errShortPage
	}
	for _, v := range values {
		dst = append(dst, convert(v))
	}
	return dst, nil
}
