package source

// This file holds what every format gives: an open file, in parts that are read each for itself.

import "context"

// file is an open file of one format.
type file interface {
	// next returns the next part of the file, or io.EOF behind the last.
	next(ctx context.Context) (part, error)
	// rows is how many rows the file holds, −1 where only reading tells.
	rows() int64
	// fields are the columns that the header names.
	fields() []Field
	close() error
}

// opener opens a file and checks its schema, but reads no row.
type opener func(h *handle, columns []Column) (file, error)

// part is a piece as its format has it.
type part interface {
	// rows is how many rows there are, −1 where only reading tells.
	rows() int64
	// read passes batches of at most `most` rows of the columns that b is for.
	read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error
}
