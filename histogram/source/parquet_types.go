package source

// This file holds the table of Parquet types: which are read, and as which Arrow
// arrays.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

var (
	errShortPage = errors.New("a page holds fewer values than its header says")
	errDigits    = fmt.Errorf("a decimal is empty or has more than %d digits", maxDigits)
)

// decoder turns the first n values of a page or of a dictionary, which may have
// padding behind them, into an array. It is valid as long as these are and until the
// next call.
type decoder func(data encoding.Values, n int) (arrow.Array, error)

// physical is a Parquet type that is read.
type physical struct {
	of         arrow.DataType // of the arrays
	newDecoder func() decoder // each has memory of its own
}

// physicalOf returns how a Parquet type is read, nil where it is not.
func physicalOf(t parquet.Type) *physical {
	var logical any
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	if d, ok := logical.(*format.DecimalType); ok {
		return decimalOf(t, d)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return &physical{arrow.FixedWidthTypes.Boolean, func() decoder { return booleans }}
	case parquet.Int32:
		return int32Of(logical)
	case parquet.Int64:
		return int64Of(logical)
	case parquet.Float:
		return converted(arrow.PrimitiveTypes.Float64, (*encoding.Values).Float,
			func(v float32) float64 { return float64(v) })
	case parquet.Double:
		return asIs(arrow.PrimitiveTypes.Float64, (*encoding.Values).Double)
	case parquet.ByteArray:
		return textOfBytes(t, logical)
	case parquet.FixedLenByteArray:
		if _, ok := logical.(*format.UUIDType); ok && t.Length() == 16 {
			return &physical{arrow.BinaryTypes.LargeString, uuids}
		}
	}
	return nil
}

func int32Of(logical any) *physical {
	switch l := logical.(type) {
	case *format.DateType:
		return asIs(arrow.FixedWidthTypes.Date32, (*encoding.Values).Int32)
	case *format.IntType:
		if !l.IsSigned {
			return converted(arrow.PrimitiveTypes.Int64, (*encoding.Values).Uint32, func(v uint32) int64 { return int64(v) })
		}
	case nil:
	default:
		return nil
	}
	return converted(arrow.PrimitiveTypes.Int64, (*encoding.Values).Int32, func(v int32) int64 { return int64(v) })
}

func int64Of(logical any) *physical {
	switch l := logical.(type) {
	case *format.TimestampType:
		return timestampOf(l)
	case *format.IntType:
		if !l.IsSigned {
			return converted(wholeType, (*encoding.Values).Uint64, decimal128.FromU64)
		}
	case nil:
	default:
		return nil
	}
	return asIs(arrow.PrimitiveTypes.Int64, (*encoding.Values).Int64)
}

func timestampOf(t *format.TimestampType) *physical {
	switch t.Unit.Value.(type) {
	case *format.MilliSeconds:
		return converted(microType, (*encoding.Values).Int64, func(v int64) int64 { return scaleUp(v, 1000) })
	case *format.MicroSeconds:
		return asIs(microType, (*encoding.Values).Int64)
	case *format.NanoSeconds:
		return converted(microType, (*encoding.Values).Int64, func(v int64) int64 { return floorDiv(v, 1000) })
	}
	return nil
}

// textOfBytes reads text: annotated as such, as an enumeration or JSON, or not at
// all.
func textOfBytes(t parquet.Type, logical any) *physical {
	text := &physical{arrow.BinaryTypes.String, func() decoder { return texts }}
	switch logical.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return text
	case nil:
		if t.ConvertedType() == nil {
			return text
		}
	}
	return nil
}

// decimalOf reads a decimal of at most 38 digits in any of its physical types.
func decimalOf(t parquet.Type, d *format.DecimalType) *physical {
	if d.Precision < 1 || d.Precision > maxDigits || d.Scale < 0 || d.Scale > d.Precision {
		return nil
	}
	to := &arrow.Decimal128Type{Precision: d.Precision, Scale: d.Scale}
	switch t.Kind() {
	case parquet.Int32:
		return converted(to, (*encoding.Values).Int32, func(v int32) decimal128.Num { return decimal128.FromI64(int64(v)) })
	case parquet.Int64:
		return converted(to, (*encoding.Values).Int64, decimal128.FromI64)
	case parquet.FixedLenByteArray:
		return &physical{to, func() decoder { return bytesOfDecimals(to, fixedLengths) }}
	case parquet.ByteArray:
		return &physical{to, func() decoder { return bytesOfDecimals(to, anyLengths) }}
	}
	return nil
}

// fixedLengths and anyLengths return the bytes of value i of n.
func fixedLengths(data encoding.Values, n int) (func(i int) []byte, error) {
	bytes, size := data.FixedLenByteArray()
	if len(bytes) < size*n {
		return nil, errShortPage
	}
	return func(i int) []byte { return bytes[i*size : (i+1)*size] }, nil
}

func anyLengths(data encoding.Values, n int) (func(i int) []byte, error) {
	bytes, offsets := data.ByteArray()
	if err := checkOffsets(bytes, offsets, n); err != nil {
		return nil, err
	}
	return func(i int) []byte { return bytes[offsets[i]:offsets[i+1]] }, nil
}

func bytesOfDecimals(to arrow.DataType, values func(encoding.Values, int) (func(int) []byte, error)) decoder {
	var scratch []decimal128.Num
	return func(data encoding.Values, n int) (arrow.Array, error) {
		value, err := values(data, n)
		if err != nil {
			return nil, err
		}
		scratch = scratch[:0]
		for i := range n {
			v, ok := bigEndianDecimal(value(i))
			if !ok {
				return nil, errDigits
			}
			scratch = append(scratch, v)
		}
		return wrap(to, n, arrow.GetBytes(scratch)), nil
	}
}

// checkOffsets makes sure that the n texts lie within the bytes, in order.
func checkOffsets(bytes []byte, offsets []uint32, n int) error {
	if n == 0 {
		return nil
	}
	if len(offsets) < n+1 {
		return errShortPage
	}
	for i := range n {
		if offsets[i] > offsets[i+1] {
			return errShortPage
		}
	}
	if int64(offsets[n]) > int64(len(bytes)) {
		return errShortPage
	}
	return nil
}

// texts are the values of a page as they lie there.
func texts(data encoding.Values, n int) (arrow.Array, error) {
	bytes, offsets := data.ByteArray()
	if err := checkOffsets(bytes, offsets, n); err != nil {
		return nil, err
	}
	if len(bytes) > textLimit {
		return nil, errLongText
	}
	if n == 0 {
		offsets = []uint32{0}
	}
	return wrap(arrow.BinaryTypes.String, n, arrow.GetBytes(offsets[:n+1]), bytes), nil
}

// uuids reads UUIDs as their canonical text, in an array type of their own: an id
// written as a UUID in one file and as text, perhaps in capitals, in another
// must not pass for two ids of one type.
func uuids() decoder {
	var text []byte
	var offsets []int64
	return func(data encoding.Values, n int) (arrow.Array, error) {
		bytes, size := data.FixedLenByteArray()
		if size != 16 || len(bytes) < 16*n {
			return nil, errShortPage
		}
		text, offsets = text[:0], append(offsets[:0], 0)
		for i := range n {
			text = appendUUID(text, bytes[16*i:16*i+16])
			offsets = append(offsets, int64(len(text)))
		}
		return wrap(arrow.BinaryTypes.LargeString, n, arrow.GetBytes(offsets), text), nil
	}
}

func booleans(data encoding.Values, n int) (arrow.Array, error) {
	bits := data.Boolean()
	if 8*len(bits) < n {
		return nil, errShortPage
	}
	return wrap(arrow.FixedWidthTypes.Boolean, n, bits), nil
}

// number is a type of fixed size that pages or arrays hold.
type number interface {
	int32 | int64 | uint32 | uint64 | float32 | float64 | decimal128.Num
}

// asIs is a type whose values lie in a page as in an array.
func asIs[T int32 | int64 | float64](of arrow.DataType, values func(*encoding.Values) []T) *physical {
	return &physical{of, func() decoder {
		return func(data encoding.Values, n int) (arrow.Array, error) {
			page := values(&data)
			if len(page) < n {
				return nil, errShortPage
			}
			page = page[:n]
			return wrap(of, n, arrow.GetBytes(page)), nil
		}
	}}
}

// converted is a type whose values are converted one by one.
func converted[P, T number](of arrow.DataType, values func(*encoding.Values) []P, convert func(P) T) *physical {
	return &physical{of, func() decoder {
		var scratch []T
		return func(data encoding.Values, n int) (arrow.Array, error) {
			page := values(&data)
			if len(page) < n {
				return nil, errShortPage
			}
			page = page[:n]
			scratch = slices.Grow(scratch[:0], n)[:n]
			for i, v := range page {
				scratch[i] = convert(v)
			}
			return wrap(of, n, arrow.GetBytes(scratch)), nil
		}
	}}
}

// typeName is a Parquet type in the words of its documentation.
func typeName(t parquet.Type) string {
	if logical := t.LogicalType(); logical != nil && logical.Value != nil {
		return fmt.Sprintf("%s %s", t.Kind(), logical)
	}
	return t.String()
}
