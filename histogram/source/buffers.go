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
	values  []valueBuffer // of each wanted column that a file has the type of, nil where codes are
	batch   Batch

	opened any    // the file that decoders are for
	sinks  []sink // of a Parquet file, one per column
	chunks []columnChunk

	index  []int32 // of an Arrow dictionary
	levels []byte
}

// prepare fits the buffers to the columns of a reader.
func (b *Buffers) prepare(r *Reader, columns []Column) {
	if b.of == r && len(b.columns) == len(columns) {
		return
	}
	*b = Buffers{of: r, columns: slices.Clone(columns), codes: make([]codeBuffer, len(columns)), values: make([]valueBuffer, len(columns))}
	for i, c := range columns {
		if c.Coder != nil {
			b.codes[i] = newCodeBuffer(c.Coder)
		}
	}
	b.batch.Columns = make([]arrow.Array, len(columns))
	b.batch.Largest = make([]uint32, len(columns))
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
	defer b.release()
	return visit(&b.batch)
}

// release lets go of the values of the last batch.
func (b *Buffers) release() {
	for i, a := range b.batch.Columns {
		if b.codes[i] == nil {
			a.Release()
		}
		b.batch.Columns[i] = nil
	}
}
