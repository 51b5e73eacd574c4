package source

// This file holds what every format provides: an open file, in parts that are read independently of each other.

import "context"

// file is an open file of one format.
type file interface {
	// nextPart returns the next part of the file, or io.EOF after the last.
	nextPart(ctx context.Context) (part, error)
	// rowCount returns how many rows the file holds, −1 if only reading them tells.
	rowCount() int64
	// position returns how many bytes of the file the parts so far take, about. It never falls.
	position() int64
	// fields returns the columns that the header names.
	fields() []Field
	close() error
}

// opener opens a file and checks its schema, but reads no row.
type opener func(h *handle, columns []Column) (file, error)

// part is the format's side of a piece.
type part interface {
	// rowCount returns how many rows the part holds, −1 if only reading them tells.
	rowCount() int64
	// readBatches visits batches of at most `most` rows of the columns for which b was prepared.
	readBatches(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error
}
