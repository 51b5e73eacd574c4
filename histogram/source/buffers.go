package source

// This file holds Buffers: the memory that one goroutine reads with, piece after
// piece.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Buffers is the memory that a goroutine reads pieces with. The zero value is
// ready; it fits itself to the reader of the piece and is reused from then on.
type Buffers struct {
	of      *Reader
	columns []Column
	codes   []codeBuffer  // of each wanted column, nil where values are wanted
	values  []valueBuffer // of each wanted column, nil where codes are
	types   []arrow.DataType
	batch   Batch
	texts   int // rows of the last batch with texts as values, 0 before the first

	opened any // the file that the rest is for
	chunks []*columnChunk
	text   textScratch
	arrow  arrowScratch
}

// prepare fits the buffers to the columns of a reader.
func (b *Buffers) prepare(r *Reader, columns []Column) {
	if b.of == r {
		return
	}
	n := len(columns)
	*b = Buffers{of: r, columns: slices.Clone(columns), codes: make([]codeBuffer, n),
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
