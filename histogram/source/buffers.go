package source

// This file holds Buffers, the memory with which one goroutine reads piece after piece, and Batch, the rows that are
// read into it at a time.

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Buffers is the memory with which a goroutine reads pieces. The zero value is ready to use. Buffers fit themselves
// to the reader of a piece and are reused from then on.
type Buffers struct {
	reader   any  // the reader whose columns the buffers fit
	total    bool // a text that is too long is read as null
	columns  []Column
	codes    []codeBuffer  // by wanted column, nil where values are wanted
	values   []valueBuffer // by wanted column, nil where codes are wanted
	types    []arrow.DataType
	batch    Batch
	textRows int // rows of the last batch that had texts as values, 0 before the first

	opened  any // the file whose columns the scratch fits
	scratch any // working memory of the file's format
}

// scratchOf returns the working memory of a format. It keeps that memory between files of the same format.
func scratchOf[T any](b *Buffers) *T {
	s, ok := b.scratch.(*T)
	if !ok {
		s = new(T)
		b.scratch = s
	}
	return s
}

// fitTo fits the buffers to the columns of a reader. If total is set, a text that is too long is read as null.
func (b *Buffers) fitTo(reader any, columns []Column, total bool) {
	if b.reader == reader {
		return
	}
	n := len(columns)
	*b = Buffers{reader: reader, total: total, columns: slices.Clone(columns), codes: make([]codeBuffer, n),
		values: make([]valueBuffer, n), types: make([]arrow.DataType, n)}
	for i, c := range columns {
		if c.Coder != nil {
			b.codes[i] = newCodeBuffer(c.Coder)
		}
	}
	b.batch.Columns = make([]arrow.Array, n)
	b.batch.Largest = make([]uint32, n)
}

// ensureType makes column i able to take values of a type.
func (b *Buffers) ensureType(i int, of arrow.DataType) {
	if b.codes[i] == nil && (b.types[i] == nil || !arrow.TypeEqual(b.types[i], of)) {
		b.values[i], b.types[i] = newValueBuffer(of), of
	}
}

// startBatch begins a batch of at most `most` rows in every column.
func (b *Buffers) startBatch(most int) {
	for i := range b.columns {
		if b.codes[i] != nil {
			b.codes[i].startBatch(most)
		} else {
			b.values[i].startBatch(most)
		}
	}
}

// appendRows appends the rows from..to of an array to column i.
func (b *Buffers) appendRows(i int, a arrow.Array, from, to int) error {
	if b.codes[i] == nil {
		return b.values[i].appendValues(a, from, to)
	}
	b.codes[i].setPage(a)
	b.codes[i].appendRange(from, to)
	return nil
}

// readRows visits the given number of rows in batches of at most `most` rows. fill reads n rows into column i,
// beginning with row from; it is not called for a column whose value the name of a folder gives.
func (b *Buffers) readRows(ctx context.Context, l columnLocations, rows, most int64,
	fill func(i int, from int64, n int) error, visit func(*Batch) error) error {
	for from := int64(0); from < rows; {
		n := b.batchRows(min(rows-from, most))
		b.startBatch(int(min(rows, most)))
		for i, place := range l.indexes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if place < 0 {
				b.repeatConstant(i, l.constants[i], n)
			} else if err := fill(i, from, n); err != nil {
				return err
			}
		}
		if err := b.visitBatch(from, n, visit); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// visitBatch visits the batch of rows in the buffers.
func (b *Buffers) visitBatch(first int64, rows int, visit func(*Batch) error) error {
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

// Batch is consecutive rows of a piece. The batch and its arrays are valid until visit returns.
type Batch struct {
	Rows  int
	First int64 // index of the first row within the piece
	// Columns has an array per wanted column. Codes are a Uint8, Uint16 or Uint32 array without nulls. Values are one
	// of the array types of [Coder.Codes].
	Columns []arrow.Array
	// Largest has an upper bound of the codes of each column of codes, and 0 for each column of values.
	Largest []uint32
}

// repeatConstant appends rows of the constant that the name of a folder gives to column i.
func (b *Buffers) repeatConstant(i int, constant arrow.Array, rows int) {
	if b.codes[i] != nil {
		b.codes[i].setPage(constant)
		b.codes[i].repeatFirst(rows)
		return
	}
	for range rows {
		// The name of a folder is far shorter than the bound of a text.
		_ = b.values[i].appendValues(constant, 0, 1)
	}
}

// textBoundOf returns the bound of the texts of column i.
func (b *Buffers) textBoundOf(i int) textBound {
	most := b.columns[i].MaxLength
	if most == 0 {
		most = MostText
	}
	return textBound{most: most, asNull: b.total}
}

// Sizes of batches with texts.
const (
	firstRows = 1 << 10  // of the first batch
	longTexts = 16 << 20 // bytes in one column beyond which the next batch has half the rows
)

// batchRows returns how many rows, up to most, the next batch should have. A batch after one with long texts has
// fewer rows, so that memory does not grow with the length of ids.
func (b *Buffers) batchRows(most int64) int {
	held := -1 // bytes of the column with the most text
	for _, v := range b.values {
		if t, ok := v.(interface{ textSize() int }); ok {
			held = max(held, t.textSize())
		}
	}
	switch {
	case held < 0:
		return int(most)
	case b.textRows == 0:
		b.textRows = firstRows
	case held > longTexts:
		b.textRows = max(b.textRows/2, firstRows)
	case held < longTexts/2:
		b.textRows = min(2*b.textRows, MaxRows)
	}
	return int(min(most, int64(b.textRows)))
}
