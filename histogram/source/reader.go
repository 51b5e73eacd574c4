package source

// This file holds Reader: the rows of a table's files, one record after another.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
)

// MaxRows is the most rows of a record.
const MaxRows = 64 << 10

// textLimit is the most bytes of text in one column of a record; an Arrow
// string array holds less than 2 GiB.
const textLimit = 1 << 30

// file is an open file of one format.
type file interface {
	// next returns the next record, at most MaxRows rows of the wanted columns
	// in the wanted order, or io.EOF. The caller releases it.
	next(ctx context.Context) (arrow.Record, error)
	close() error
}

// opener opens a file and checks its schema, but reads no row.
type opener func(path string, columns []string, mem memory.Allocator) (file, error)

// Reader reads the files of a table in the fixed order: files sorted by path,
// rows in file order. It is for one goroutine at a time.
type Reader struct {
	paths   []string
	columns []string
	open    opener
	mem     memory.Allocator

	at      int   // path being read
	current file  // nil before it is opened
	first   int64 // row in the file of the next record

	recordFile string
	recordRow  int64
}

// Open finds the files of t, starting from the folder dir, and checks that each
// of them holds every wanted column exactly once and in a type that can be read,
// before any row is. Errors are *[Error] or the context's.
func Open(ctx context.Context, dir string, t spec.TableSource, columns []string) (*Reader, error) {
	return openWith(ctx, dir, t, columns, memory.DefaultAllocator)
}

func openWith(ctx context.Context, dir string, t spec.TableSource, columns []string, mem memory.Allocator) (*Reader, error) {
	open, err := openerOf(t)
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if slices.Contains(columns[:i], c) {
			return nil, &Error{Kind: Duplicate, Column: c, Message: "is wanted twice"}
		}
	}
	paths, err := expand(dir, t.Paths)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := open(path, columns, mem)
		if err != nil {
			return nil, err
		}
		if err := f.close(); err != nil {
			return nil, unreadable(path, err)
		}
	}
	return &Reader{paths: paths, columns: slices.Clone(columns), open: open, mem: mem}, nil
}

func openerOf(t spec.TableSource) (opener, error) {
	switch t.Format {
	case spec.Parquet:
		return openParquet, nil
	case spec.Arrow:
		return openArrow, nil
	case spec.CSV:
		return csvDialect{delimiter: t.Delimiter, nulls: t.Nulls}.open, nil
	}
	return nil, &Error{Kind: Unreadable, Message: fmt.Sprintf("no reader for the format %q; use parquet, csv or arrow", t.Format)}
}

// Next returns the next record: 1 to [MaxRows] rows, a column per wanted column
// in that order, or io.EOF at the end. The type of a column may differ from
// record to record (a dictionary that overflowed goes on as plain strings). The
// caller releases the record.
func (r *Reader) Next(ctx context.Context) (arrow.Record, error) {
	for r.at < len(r.paths) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.current == nil {
			f, err := r.open(r.paths[r.at], r.columns, r.mem)
			if err != nil {
				return nil, err
			}
			r.current, r.first = f, 0
		}
		record, err := r.current.next(ctx)
		if errors.Is(err, io.EOF) {
			if err := r.closeCurrent(); err != nil {
				return nil, err
			}
			r.at++
			continue
		}
		if err != nil {
			return nil, err
		}
		if record.NumRows() == 0 {
			record.Release()
			continue
		}
		r.recordFile, r.recordRow = r.paths[r.at], r.first
		r.first += record.NumRows()
		return record, nil
	}
	return nil, io.EOF
}

// Position is where the last record of Next began: its file and the place of
// its first row there, from 0. It is for diagnostics only.
func (r *Reader) Position() (file string, firstRow int64) { return r.recordFile, r.recordRow }

// Close closes the file being read. Records already returned stay valid.
func (r *Reader) Close() error {
	r.at = len(r.paths)
	return r.closeCurrent()
}

func (r *Reader) closeCurrent() error {
	if r.current == nil {
		return nil
	}
	f := r.current
	r.current = nil
	if err := f.close(); err != nil {
		return unreadable(r.paths[min(r.at, len(r.paths)-1)], err)
	}
	return nil
}
