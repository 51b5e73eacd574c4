package source

// This file holds the value buffer: the values of one column as an Arrow array.

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// valueBuffer collects values of one type, a batch at a time.
type valueBuffer interface {
	start(most int)
	// values appends the values from..to of an array, nulls among them.
	values(a arrow.Array, from, to int) error
	// entries appends the entry of each index.
	entries(a arrow.Array, index []int32) error
	nulls(n int)
	array() arrow.Array // of everything since start, for the caller to release
}

// newValueBuffer makes a buffer of one of the array types of [Coder.Codes].
func newValueBuffer(of arrow.DataType) valueBuffer {
	mem := memory.DefaultAllocator
	switch t := of.(type) {
	case *arrow.StringType:
		return &valuesOfType[string, *array.String]{builder: array.NewStringBuilder(mem), text: true}
	case *arrow.LargeStringType:
		return &valuesOfType[string, *array.LargeString]{builder: array.NewLargeStringBuilder(mem), text: true}
	case *arrow.Int64Type:
		return &valuesOfType[int64, *array.Int64]{builder: array.NewInt64Builder(mem)}
	case *arrow.Float64Type:
		return &valuesOfType[float64, *array.Float64]{builder: array.NewFloat64Builder(mem)}
	case *arrow.Decimal128Type:
		return &valuesOfType[decimal128.Num, *array.Decimal128]{builder: array.NewDecimal128Builder(mem, t)}
	case *arrow.BooleanType:
		return &valuesOfType[bool, *array.Boolean]{builder: array.NewBooleanBuilder(mem)}
	case *arrow.Date32Type:
		return &valuesOfType[arrow.Date32, *array.Date32]{builder: array.NewDate32Builder(mem)}
	case *arrow.TimestampType:
		return &valuesOfType[arrow.Timestamp, *array.Timestamp]{builder: array.NewTimestampBuilder(mem, t)}
	}
	panic(fmt.Sprintf("no buffer for the type %s", of))
}

// appender is the part of an Arrow builder that takes values of type T.
type appender[T any] interface {
	array.Builder
	Append(T)
}

// valuesOfType is a value buffer over a builder.
type valuesOfType[T any, A interface {
	arrow.Array
	Value(int) T
}] struct {
	builder appender[T]
	text    bool
	length  int // bytes of text
}

func (b *valuesOfType[T, A]) start(most int) {
	if b.builder.Len() > 0 { // left behind by an error
		b.builder.NewArray().Release()
	}
	b.builder.Reserve(most)
	b.length = 0
}

func (b *valuesOfType[T, A]) values(a arrow.Array, from, to int) error {
	typed := a.(A)
	for i := from; i < to; i++ {
		if typed.IsNull(i) {
			b.builder.AppendNull()
		} else if err := b.append(typed.Value(i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *valuesOfType[T, A]) entries(a arrow.Array, index []int32) error {
	typed := a.(A)
	for _, i := range index {
		if int(i) >= typed.Len() || i < 0 {
			return errIndex
		}
		if typed.IsNull(int(i)) {
			b.builder.AppendNull()
		} else if err := b.append(typed.Value(int(i))); err != nil {
			return err
		}
	}
	return nil
}

// append appends a value where the text of the batch stays short enough.
func (b *valuesOfType[T, A]) append(v T) error {
	if b.text {
		if b.length += len(any(v).(string)); b.length > textLimit {
			return errLongText
		}
	}
	b.builder.Append(v)
	return nil
}

func (b *valuesOfType[T, A]) nulls(n int)        { b.builder.AppendNulls(n) }
func (b *valuesOfType[T, A]) array() arrow.Array { return b.builder.NewArray() }
