package source

// This file holds the table of Parquet types: which types are read, and into which Arrow arrays.

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

// A decoder turns the first n values of a page or a dictionary, which may be followed by padding, into an array. The
// array is valid as long as the values are, and until the next call.
type decoder func(data encoding.Values, n int) (arrow.Array, error)

// physicalType is how a Parquet type is read.
type physicalType struct {
	dataType   arrow.DataType // type of the arrays
	newDecoder func() decoder // each has memory of its own
}

// physicalTypeOf returns how a Parquet type is read, nil if it is not read.
func physicalTypeOf(t parquet.Type) *physicalType {
	var logical any
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	if d, ok := logical.(*format.DecimalType); ok {
		return decimalOf(t, d)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return &physicalType{arrow.FixedWidthTypes.Boolean, func() decoder { return decodeBooleans }}
	case parquet.Int32:
		return int32Of(logical)
	case parquet.Int64:
		return int64Of(logical)
	case parquet.Float:
		return convertedType(arrow.PrimitiveTypes.Float64, (*encoding.Values).Float,
			func(v float32) float64 { return float64(v) })
	case parquet.Double:
		return unconvertedType(arrow.PrimitiveTypes.Float64, (*encoding.Values).Double)
	case parquet.ByteArray:
		return textOfBytes(t, logical)
	case parquet.FixedLenByteArray:
		if _, ok := logical.(*format.UUIDType); ok && t.Length() == 16 {
			return &physicalType{arrow.BinaryTypes.LargeString, newUUIDDecoder}
		}
	}
	return nil
}

func int32Of(logical any) *physicalType {
	switch l := logical.(type) {
	case *format.DateType:
		return unconvertedType(arrow.FixedWidthTypes.Date32, (*encoding.Values).Int32)
	case *format.IntType:
		if !l.IsSigned {
			return convertedType(arrow.PrimitiveTypes.Int64, (*encoding.Values).Uint32,
				func(v uint32) int64 { return int64(v) })
		}
	case nil:
	default:
		return nil
	}
	return convertedType(arrow.PrimitiveTypes.Int64, (*encoding.Values).Int32, func(v int32) int64 { return int64(v) })
}

func int64Of(logical any) *physicalType {
	switch l := logical.(type) {
	case *format.TimestampType:
		return timestampOf(l)
	case *format.IntType:
		if !l.IsSigned {
			return convertedType(uint64Type, (*encoding.Values).Uint64, decimal128.FromU64)
		}
	case nil:
	default:
		return nil
	}
	return unconvertedType(arrow.PrimitiveTypes.Int64, (*encoding.Values).Int64)
}

func timestampOf(t *format.TimestampType) *physicalType {
	switch t.Unit.Value.(type) {
	case *format.MilliSeconds:
		return convertedType(microType, (*encoding.Values).Int64, func(v int64) int64 { return scaleUp(v, 1000) })
	case *format.MicroSeconds:
		return unconvertedType(microType, (*encoding.Values).Int64)
	case *format.NanoSeconds:
		return convertedType(microType, (*encoding.Values).Int64, func(v int64) int64 { return floorDiv(v, 1000) })
	}
	return nil
}

// textOfBytes returns how a byte array is read: as text if it is annotated as text, as an enumeration or as JSON, or
// if it has no annotation. Others are not read.
func textOfBytes(t parquet.Type, logical any) *physicalType {
	text := &physicalType{arrow.BinaryTypes.String, func() decoder { return decodeTexts }}
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

// decimalOf returns how a decimal of at most 38 digits is read from any of its physical types.
func decimalOf(t parquet.Type, d *format.DecimalType) *physicalType {
	if d.Precision < 1 || d.Precision > maxDigits || d.Scale < 0 || d.Scale > d.Precision {
		return nil
	}
	to := &arrow.Decimal128Type{Precision: d.Precision, Scale: d.Scale}
	switch t.Kind() {
	case parquet.Int32:
		return convertedType(to, (*encoding.Values).Int32,
			func(v int32) decimal128.Num { return decimal128.FromI64(int64(v)) })
	case parquet.Int64:
		return convertedType(to, (*encoding.Values).Int64, decimal128.FromI64)
	case parquet.FixedLenByteArray:
		return &physicalType{to, func() decoder { return newDecimalDecoder(to, fixedLengthBytes) }}
	case parquet.ByteArray:
		return &physicalType{to, func() decoder { return newDecimalDecoder(to, variableLengthBytes) }}
	}
	return nil
}

// fixedLengthBytes and variableLengthBytes return a function that returns the bytes of value i of n.
func fixedLengthBytes(data encoding.Values, n int) (func(i int) []byte, error) {
	bytes, size := data.FixedLenByteArray()
	if len(bytes) < size*n {
		return nil, errShortPage
	}
	return func(i int) []byte { return bytes[i*size : (i+1)*size] }, nil
}

func variableLengthBytes(data encoding.Values, n int) (func(i int) []byte, error) {
	bytes, offsets := data.ByteArray()
	if err := checkOffsets(bytes, offsets, n); err != nil {
		return nil, err
	}
	return func(i int) []byte { return bytes[offsets[i]:offsets[i+1]] }, nil
}

func newDecimalDecoder(to arrow.DataType, values func(encoding.Values, int) (func(int) []byte, error)) decoder {
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
		return wrapBuffers(to, n, arrow.GetBytes(scratch)), nil
	}
}

// checkOffsets checks that n texts lie within the bytes, in order.
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

// decodeTexts returns an array over the texts of a page, without copying them.
func decodeTexts(data encoding.Values, n int) (arrow.Array, error) {
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
	return wrapBuffers(arrow.BinaryTypes.String, n, arrow.GetBytes(offsets[:n+1]), bytes), nil
}

// newUUIDDecoder reads UUIDs as their canonical text, in an array type of their own. An id that is a UUID in one file
// and a text, perhaps in capitals, in another must not pass for two ids of one type.
func newUUIDDecoder() decoder {
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
		return wrapBuffers(arrow.BinaryTypes.LargeString, n, arrow.GetBytes(offsets), text), nil
	}
}

func decodeBooleans(data encoding.Values, n int) (arrow.Array, error) {
	bits := data.Boolean()
	if 8*len(bits) < n {
		return nil, errShortPage
	}
	return wrapBuffers(arrow.FixedWidthTypes.Boolean, n, bits), nil
}

// number is a type of fixed size that pages or arrays hold.
type number interface {
	int32 | int64 | uint32 | uint64 | float32 | float64 | decimal128.Num
}

// unconvertedType is a type whose values have the same layout in a page and in an array.
func unconvertedType[T int32 | int64 | float64](of arrow.DataType, values func(*encoding.Values) []T) *physicalType {
	return &physicalType{of, func() decoder {
		return func(data encoding.Values, n int) (arrow.Array, error) {
			page := values(&data)
			if len(page) < n {
				return nil, errShortPage
			}
			page = page[:n]
			return wrapBuffers(of, n, arrow.GetBytes(page)), nil
		}
	}}
}

// convertedType is a type whose values are converted one by one.
func convertedType[P, T number](of arrow.DataType, values func(*encoding.Values) []P, convert func(P) T) *physicalType {
	return &physicalType{of, func() decoder {
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
			return wrapBuffers(of, n, arrow.GetBytes(scratch)), nil
		}
	}}
}

// typeName returns the name of a Parquet type in the terms of its documentation.
func typeName(t parquet.Type) string {
	if logical := t.LogicalType(); logical != nil && logical.Value != nil {
		return fmt.Sprintf("%s %s", t.Kind(), logical)
	}
	return t.String()
}
