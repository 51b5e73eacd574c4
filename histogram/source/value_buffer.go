package source

// This file holds the value buffer: the values of one column, a batch at a time, in memory that is reused.

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// valueBuffer collects values of one of the array types of [Coder.Codes]. It takes values from arrays of the same
// type.
type valueBuffer interface {
	// startBatch begins a batch of at most `most` rows.
	startBatch(most int)
	// appendValues appends the values from..to of an array, including nulls.
	appendValues(a arrow.Array, from, to int) error
	// appendEntries appends the entry of each index.
	appendEntries(a arrow.Array, index []int32) error
	// appendNulls appends n rows that are null.
	appendNulls(n int)
	// array returns everything since startBatch. It is valid until the next startBatch.
	array() arrow.Array
}

func newValueBuffer(of arrow.DataType) valueBuffer {
	switch of.ID() {
	case arrow.STRING:
		return &textBuffer[int32]{}
	case arrow.LARGE_STRING:
		return &textBuffer[int64]{}
	case arrow.INT64, arrow.TIMESTAMP:
		return &fixedBuffer[int64]{dataType: of}
	case arrow.FLOAT64:
		return &fixedBuffer[float64]{dataType: of}
	case arrow.DECIMAL128:
		return &fixedBuffer[decimal128.Num]{dataType: of}
	case arrow.DATE32:
		return &fixedBuffer[int32]{dataType: of}
	case arrow.BOOL:
		return &bitBuffer{}
	}
	panic(fmt.Sprintf("no buffer for the type %s", of))
}

// validity marks which rows of a batch are null.
type validity struct {
	bits []byte // 1: not null
	n    int    // rows
	null int    // number of null rows
}

func (v *validity) startBatch(most int) {
	v.bits = slices.Grow(v.bits[:0], (most+7)/8)[:(most+7)/8]
	for i := range v.bits {
		v.bits[i] = 0xFF
	}
	v.n, v.null = 0, 0
}

// skipNulls marks the next n rows as null.
func (v *validity) skipNulls(n int) {
	bitutil.SetBitsTo(v.bits, int64(v.n), int64(n), false)
	v.n += n
	v.null += n
}

// buildArray returns an array over the buffers with the nulls of v.
func (v *validity) buildArray(of arrow.DataType, buffers ...[]byte) arrow.Array {
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
	dataType arrow.DataType
	out      []T // as long as a full batch
}

func (b *fixedBuffer[T]) startBatch(most int) {
	b.validity.startBatch(most)
	b.out = slices.Grow(b.out[:0], most)[:most]
}

// dataOf returns the values of an array.
func (b *fixedBuffer[T]) dataOf(a arrow.Array) []T {
	return arrow.GetData[T](a.Data().Buffers()[1].Bytes())[a.Data().Offset():][:a.Len()]
}

func (b *fixedBuffer[T]) appendValues(a arrow.Array, from, to int) error {
	if a.NullN() == 0 {
		b.n += copy(b.out[b.n:b.n+to-from], b.dataOf(a)[from:to])
		return nil
	}
	all := b.dataOf(a)
	for i := from; i < to; i++ {
		b.appendValue(a, all, i)
	}
	return nil
}

// appendValue appends value i of an array.
func (b *fixedBuffer[T]) appendValue(a arrow.Array, all []T, i int) {
	if a.IsNull(i) {
		b.appendNulls(1)
		return
	}
	b.out[b.n] = all[i]
	b.n++
}

func (b *fixedBuffer[T]) appendEntries(a arrow.Array, index []int32) error {
	all := b.dataOf(a)
	if a.NullN() > 0 {
		for _, i := range index {
			b.appendValue(a, all, int(i))
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

func (b *fixedBuffer[T]) appendNulls(n int) {
	clear(b.out[b.n : b.n+n])
	b.skipNulls(n)
}

func (b *fixedBuffer[T]) array() arrow.Array {
	return b.validity.buildArray(b.dataType, arrow.GetBytes(b.out[:b.n]))
}

// stringArray is a String or LargeString array.
type stringArray interface {
	arrow.Array
	Value(i int) string
}

// textBuffer is a value buffer of String or, with 64-bit offsets, LargeString.
type textBuffer[O int32 | int64] struct {
	validity
	offsets []O
	text    []byte
}

func (b *textBuffer[O]) startBatch(most int) {
	b.validity.startBatch(most)
	b.offsets, b.text = append(slices.Grow(b.offsets[:0], most+1), 0), b.text[:0]
}

// textSize returns the number of bytes of text in the batch.
func (b *textBuffer[O]) textSize() int { return len(b.text) }

func (b *textBuffer[O]) appendText(text []byte) {
	b.text = append(b.text, text...)
	b.offsets = append(b.offsets, O(len(b.text)))
	b.n++
}

func (b *textBuffer[O]) appendString(text string) error {
	if len(b.text)+len(text) > textLimit {
		return errLongText
	}
	b.text = append(b.text, text...)
	b.offsets = append(b.offsets, O(len(b.text)))
	b.n++
	return nil
}

func (b *textBuffer[O]) appendValues(a arrow.Array, from, to int) error {
	for i := from; i < to; i++ {
		if err := b.appendValue(a.(stringArray), i); err != nil {
			return err
		}
	}
	return nil
}

func (b *textBuffer[O]) appendValue(a stringArray, i int) error {
	if a.IsNull(i) {
		b.appendNulls(1)
		return nil
	}
	return b.appendString(a.Value(i))
}

func (b *textBuffer[O]) appendEntries(a arrow.Array, index []int32) error {
	for _, i := range index {
		if err := b.appendValue(a.(stringArray), int(i)); err != nil {
			return err
		}
	}
	return nil
}

func (b *textBuffer[O]) appendNulls(n int) {
	for range n {
		b.offsets = append(b.offsets, O(len(b.text)))
	}
	b.skipNulls(n)
}

func (b *textBuffer[O]) array() arrow.Array {
	of := arrow.DataType(arrow.BinaryTypes.String)
	if _, large := any(O(0)).(int64); large {
		of = arrow.BinaryTypes.LargeString
	}
	return b.validity.buildArray(of, arrow.GetBytes(b.offsets), b.text)
}

// bitBuffer is a value buffer of Boolean.
type bitBuffer struct {
	validity
	out []byte
}

func (b *bitBuffer) startBatch(most int) {
	b.validity.startBatch(most)
	b.out = slices.Grow(b.out[:0], len(b.bits))[:len(b.bits)]
	clear(b.out)
}

func (b *bitBuffer) appendValues(a arrow.Array, from, to int) error {
	for i := from; i < to; i++ {
		b.appendValue(a, i)
	}
	return nil
}

func (b *bitBuffer) appendValue(a arrow.Array, i int) {
	if a.IsNull(i) {
		b.appendNulls(1)
		return
	}
	bitutil.SetBitTo(b.out, b.n, a.(*array.Boolean).Value(i))
	b.n++
}

func (b *bitBuffer) appendEntries(a arrow.Array, index []int32) error {
	for _, i := range index {
		b.appendValue(a, int(i))
	}
	return nil
}

func (b *bitBuffer) appendNulls(n int) { b.skipNulls(n) }

func (b *bitBuffer) array() arrow.Array {
	return b.validity.buildArray(arrow.FixedWidthTypes.Boolean, b.out[:(b.n+7)/8])
}
