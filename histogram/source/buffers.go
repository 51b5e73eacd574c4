package source

// This file holds Buffers, the memory that one goroutine reads with, piece after piece, and Batch: the rows that are
// read into it at a time.

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Buffers is the memory that a goroutine reads pieces with. The zero value is
// ready; it fits itself to the reader of the piece and is reused from then on.
type Buffers struct {
	of      any  // the reader that the rest is for
	total   bool // a text that is too long is null
	columns []Column
	codes   []codeBuffer  // of each wanted column, nil where values are wanted
	values  []valueBuffer // of each wanted column, nil where codes are
	types   []arrow.DataType
	batch   Batch
	texts   int // rows of the last batch with texts as values, 0 before the first

	opened  any // the file that the scratch is for
	scratch any // what the format of the file reads with
}

// scratchOf returns what a format reads with: that of the last file, where it had the same format.
func scratchOf[T any](b *Buffers) *T {
	s, ok := b.scratch.(*T)
	if !ok {
		s = new(T)
		b.scratch = s
	}
	return s
}

// prepare fits the buffers to the columns of a reader. With total, a text that is too long is null.
func (b *Buffers) prepare(reader any, columns []Column, total bool) {
	if b.of == reader {
		return
	}
	n := len(columns)
	*b = Buffers{of: reader, total: total, columns: slices.Clone(columns), codes: make([]codeBuffer, n),
		values: make([]valueBuffer, n), types: make([]arrow.DataType, n)}
	for i, c := range columns {
		if c.Coder != nil {
			b.codes[i] = newCodeBuffer(c.Coder)
		}
	}
	b.batch.Columns = make([]arrow.Array, n)
	b.batch.Largest = make([]uint32, n)
}

// hold makes sure that column i can take values of a type.
func (b *Buffers) hold(i int, of arrow.DataType) {
	if b.codes[i] == nil && (b.types[i] == nil || !arrow.TypeEqual(b.types[i], of)) {
		b.values[i], b.types[i] = newValueBuffer(of), of
	}
}

// start begins a batch of at most `most` rows in every column.
func (b *Buffers) start(most int) {
	for i := range b.columns {
		if b.codes[i] != nil {
			b.codes[i].start(most)
		} else {
			b.values[i].start(most)
		}
	}
}

// take appends the rows from..to of an array to column i.
func (b *Buffers) take(i int, a arrow.Array, from, to int) error {
	if b.codes[i] == nil {
		return b.values[i].values(a, from, to)
	}
	b.codes[i].page(a)
	b.codes[i].take(from, to)
	return nil
}

// readRows passes so many rows in batches of at most `most`. fill puts n rows from one on into column i, unless the name
// of a folder gives it.
func (b *Buffers) readRows(ctx context.Context, l located, rows, most int64, fill func(i int, from int64, n int) error,
	visit func(*Batch) error) error {
	for from := int64(0); from < rows; {
		n := b.batchRows(min(rows-from, most))
		b.start(int(min(rows, most)))
		for i, place := range l.places {
			if err := ctx.Err(); err != nil {
				return err
			}
			if place < 0 {
				b.repeat(i, l.constants[i], n)
			} else if err := fill(i, from, n); err != nil {
				return err
			}
		}
		if err := b.pass(from, n, visit); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// pass visits the batch of rows that the buffers hold.
func (b *Buffers) pass(first int64, rows int, visit func(*Batch) error) error {
	b.batch.First, b.batch.Rows = first, rows
	for i, codes := range b.codes {
		if codes != nil {
			b.batch.Columns[i], b.batch.Largest[i] = codes.array(), codes.largest()
		} else {
			b.batch.Columns[i] = b.values[i].array()
		}
	}
	return visit(&b.batch)
}

// Batch is rows of a piece that stand one after another. It and its arrays are
// valid until visit returns.
type Batch struct {
	Rows  int
	First int64 // place of the first row within the piece
	// Columns has an array per wanted column. Codes are an Uint8, Uint16 or Uint32
	// array without nulls, values one of the array types of [Coder.Codes].
	Columns []arrow.Array
	// Largest is of each column of codes an upper bound of them, 0 of the others.
	Largest []uint32
}

// repeat appends rows of the constant that a folder's name gives to column i.
func (b *Buffers) repeat(i int, constant arrow.Array, rows int) {
	if b.codes[i] != nil {
		b.codes[i].page(constant)
		b.codes[i].repeat(rows)
		return
	}
	for range rows {
		// A text of a folder's name is far from being too long.
		_ = b.values[i].values(constant, 0, 1)
	}
}

// bound is the bound of the texts of column i.
func (b *Buffers) bound(i int) textBound {
	most := b.columns[i].Most
	if most == 0 {
		most = MostText
	}
	return textBound{most: most, asNull: b.total}
}

// Sizes of batches with texts.
const (
	firstRows = 1 << 10  // of the first batch
	longTexts = 16 << 20 // from which the next batch has half the rows
)

// batchRows returns how many rows, up to most, the next batch is to have: fewer where the texts of the last were long,
// so that what is held at once does not grow with the length of ids.
func (b *Buffers) batchRows(most int64) int {
	held := -1 // bytes of the longest column of texts
	for _, v := range b.values {
		if t, ok := v.(interface{ bytes() int }); ok {
			held = max(held, t.bytes())
		}
	}
	switch {
	case held < 0:
		return int(most)
	case b.texts == 0:
		b.texts = firstRows
	case held > longTexts:
		b.texts = max(b.texts/2, firstRows)
	case held < longTexts/2:
		b.texts = min(2*b.texts, MaxRows)
	}
	return int(min(most, int64(b.texts)))
}
