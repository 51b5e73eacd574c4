package source

// This file holds the value buffer: the values of one column, a batch at a time,
// in memory that is used again.

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// valueBuffer collects values of one of the array types of [Coder.Codes]. What it
// takes values from is an array of the same type.
type valueBuffer interface {
	// start begins a batch of at most `most` rows.
	start(most int)
	// values appends the values from..to of an array, nulls among them.
	values(a arrow.Array, from, to int) error
	// entries appends the entry of each index.
	entries(a arrow.Array, index []int32) error
	// nulls appends rows that are null.
	nulls(n int)
	// array is everything since start, valid until the next start.
	array() arrow.Array
}

func newValueBuffer(of arrow.DataType) valueBuffer {
	switch of.ID() {
	case arrow.STRING:
		return &textBuffer[int32]{}
	case arrow.LARGE_STRING:
		return &textBuffer[int64]{}
	case arrow.INT64, arrow.TIMESTAMP:
		return &fixedBuffer[int64]{of: of}
	case arrow.FLOAT64:
		return &fixedBuffer[float64]{of: of}
	case arrow.DECIMAL128:
		return &fixedBuffer[decimal128.Num]{of: of}
	case arrow.DATE32:
		return &fixedBuffer[int32]{of: of}
	case arrow.BOOL:
		return &bitBuffer{}
	}
	panic(fmt.Sprintf("no buffer for the type %s", of))
}

// validity says which rows of a batch are null.
type validity struct {
	bits []byte // 1: not null
	n    int    // rows
	null int    // of them null
}

func (v *validity) start(most int) {
	v.bits = slices.Grow(v.bits[:0], (most+7)/8)[:(most+7)/8]
	for i := range v.bits {
		v.bits[i] = 0xFF
	}
	v.n, v.null = 0, 0
}

// skip notes that the next n rows are null.
func (v *validity) skip(n int) {
	bitutil.SetBitsTo(v.bits, int64(v.n), int64(n), false)
	v.n += n
	v.null += n
}

// array is an array over the buffers whose nulls are those of v.
func (v *validity) array(of arrow.DataType, buffers ...[]byte) arrow.Array {
	all := make([]*memory.Buffer, 1, 3)
	if v.null > 0 {
		all[0] = memory.NewBufferBytes(v.bits[:(v.n+7)/8])
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.MakeFromData(array.NewData(of, v.n, all, nil, v.null, 0))
}

// fixedBuffer is a value buffer of a type of fixed size.
type fixedBuffer[T int32 | int64 | float64 | decimal128.Num] struct {
	validity
	of  arrow.DataType
	out []T // as long as a full batch
}

func (b *fixedBuffer[T]) start(most int) {
	b.validity.start(most)
	b.out = slices.Grow(b.out[:0], most)[:most]
}

// of is the values of an array.
func (b *fixedBuffer[T]) from(a arrow.Array) []T {
	return arrow.GetData[T](a.Data().Buffers()[1].Bytes())[a.Data().Offset():][:a.Len()]
}

func (b *fixedBuffer[T]) values(a arrow.Array, from, to int) error {
	if a.NullN() == 0 {
		b.n += copy(b.out[b.n:b.n+to-from], b.from(a)[from:to])
		return nil
	}
	all := b.from(a)
	for i := from; i < to; i++ {
		b.value(a, all, i)
	}
	return nil
}

// value appends value i of an array.
func (b *fixedBuffer[T]) value(a arrow.Array, all []T, i int) {
	if a.IsNull(i) {
		b.nulls(1)
		return
	}
	b.out[b.n] = all[i]
	b.n++
}

func (b *fixedBuffer[T]) entries(a arrow.Array, index []int32) error {
	all := b.from(a)
	if a.NullN() > 0 {
		for _, i := range index {
			b.value(a, all, int(i))
		}
		return nil
	}
	out := b.out[b.n : b.n+len(index)]
	for at, i := range index {
		out[at] = all[i]
	}
	b.n += len(index)
	return nil
}

func (b *fixedBuffer[T]) nulls(n int) {
	clear(b.out[b.n : b.n+n])
	b.skip(n)
}

func (b *fixedBuffer[T]) array() arrow.Array {
	return b.validity.array(b.of, arrow.GetBytes(b.out[:b.n]))
}

// stringArray is String and LargeString.
type stringArray interface {
	arrow.Array
	Value(i int) string
}

// textBuffer is a value buffer of String or, with offsets of 64 bits, LargeString.
type textBuffer[O int32 | int64] struct {
	validity
	offsets []O
	text    []byte
}

func (b *textBuffer[O]) start(most int) {
	b.validity.start(most)
	b.offsets, b.text = append(slices.Grow(b.offsets[:0], most+1), 0), b.text[:0]
}

// bytes is how much text the batch has.
func (b *textBuffer[O]) bytes() int { return len(b.text) }

// add appends a text.
func (b *textBuffer[O]) add(text []byte) {
	b.text = append(b.text, text...)
	b.offsets = append(b.offsets, O(len(b.text)))
	b.n++
}

func (b *textBuffer[O]) addString(text string) error {
	if len(b.text)+len(text) > textLimit {
		return errLongText
	}
	b.text = append(b.text, text...)
	b.offsets = append(b.offsets, O(len(b.text)))
	b.n++
	return nil
}

func (b *textBuffer[O]) values(a arrow.Array, from, to int) error {
	for i := from; i < to; i++ {
		if err := b.value(a.(stringArray), i); err != nil {
			return err
		}
	}
	return nil
}

func (b *textBuffer[O]) value(a stringArray, i int) error {
	if a.IsNull(i) {
		b.nulls(1)
		return nil
	}
	return b.addString(a.Value(i))
}

func (b *textBuffer[O]) entries(a arrow.Array, index []int32) error {
	for _, i := range index {
		if err := b.value(a.(stringArray), int(i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *textBuffer[O]) nulls(n int) {
	for range n {
		b.offsets = append(b.offsets, O(len(b.text)))
	}
	b.skip(n)
}

func (b *textBuffer[O]) array() arrow.Array {
	of := arrow.DataType(arrow.BinaryTypes.String)
	if _, large := any(O(0)).(int64); large {
		of = arrow.BinaryTypes.LargeString
	}
	return b.validity.array(of, arrow.GetBytes(b.offsets), b.text)
}

// bitBuffer is a value buffer of Boolean.
type bitBuffer struct {
	validity
	out []byte
}

func (b *bitBuffer) start(most int) {
	b.validity.start(most)
	b.out = slices.Grow(b.out[:0], len(b.bits))[:len(b.bits)]
	clear(b.out)
}

func (b *bitBuffer) values(a arrow.Array, from, to int) error {
	for i := from; i < to; i++ {
		b.value(a, i)
	}
	return nil
}

func (b *bitBuffer) value(a arrow.Array, i int) {
	if a.IsNull(i) {
		b.nulls(1)
		return
	}
	bitutil.SetBitTo(b.out, b.n, a.(*array.Boolean).Value(i))
	b.n++
}

func (b *bitBuffer) entries(a arrow.Array, index []int32) error {
	for _, i := range index {
		b.value(a, int(i))
	}
	return nil
}

func (b *bitBuffer) nulls(n int) { b.skip(n) }

func (b *bitBuffer) array() arrow.Array {
	return b.validity.array(arrow.FixedWidthTypes.Boolean, b.out[:(b.n+7)/8])
}
