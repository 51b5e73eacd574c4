package source

// This file holds the canonical texts of values, by which keys are compared.

import (
	"strconv"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// CanonicalTexts returns a function that appends the canonical text of a row's value, which must not be null, and
// reports whether the value has one. It returns nil for an array of a type without canonical texts.
func CanonicalTexts(values arrow.Array) func(text []byte, row int) ([]byte, bool) {
	switch a := values.(type) {
	case *array.Dictionary:
		entries, ok := a.Dictionary().(*array.String)
		if !ok {
			return nil
		}
		return func(text []byte, row int) ([]byte, bool) {
			return append(text, entries.Value(a.GetValueIndex(row))...), true
		}
	case *array.String:
		return func(text []byte, row int) ([]byte, bool) { return append(text, a.Value(row)...), true }
	case *array.LargeString:
		return func(text []byte, row int) ([]byte, bool) { return append(text, a.Value(row)...), true }
	case *array.Int64:
		return func(text []byte, row int) ([]byte, bool) { return strconv.AppendInt(text, a.Value(row), 10), true }
	case *array.Float64:
		return func(text []byte, row int) ([]byte, bool) { return domain.AppendFloat(text, a.Value(row)) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(text []byte, row int) ([]byte, bool) {
			return domain.AppendDecimal(text, a.Value(row).BigInt(), scale)
		}
	case *array.Boolean:
		return func(text []byte, row int) ([]byte, bool) { return strconv.AppendBool(text, a.Value(row)), true }
	case *array.Date32:
		return func(text []byte, row int) ([]byte, bool) { return domain.AppendDate(text, int64(a.Value(row))), true }
	}
	return nil
}
