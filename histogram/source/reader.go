package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds Reader: the pieces of a table's files, one after another.

// Reader goes through the files of a table in the fixed order: files sorted by
// path, rows in file order. It is for one goroutine at a time; the pieces it
// returns are for many.
type Reader struct {
	dir     string
	paths   []string
	infos   []os.FileInfo // when their schemas were checked
	columns []Column
	open    opener
	total   bool // a text that is too long is null
	rows    int64

	at      int  // path being read
	current file // nil before it is opened
	pieces  int  // returned so far
}

// Open finds the files of t, starting from the folder dir, and checks that each
// of them holds every wanted column exactly once and in a type that can be read,
// before any row is. Errors are *[Error] or the context's.
func Open(ctx context.Context, dir string, t spec.TableSource, columns []Column) (*Reader, error) {
	open, err := openerOf(t)
	if err != nil {
		return nil, err
	}
	paths, err := expand(dir, t.Paths)
	if err != nil {
		return nil, err
	}
	r := &Reader{dir: dir, paths: paths, columns: slices.Clone(columns), open: open, total: t.Total}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.look(&handle{path: path, within: within(dir, path)}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// look checks the schema of the next file, and notes what it is and how many rows it holds.
func (r *Reader) look(h *handle) error {
	f, err := r.open(h, r.columns)
	if err != nil {
		return err
	}
	r.infos = append(r.infos, h.info)
	if n := f.rows(); n < 0 || r.rows < 0 {
		r.rows = -1
	} else {
		r.rows += n
	}
	if err := f.close(); err != nil {
		return unreadable(h.path, err)
	}
	return nil
}

func openerOf(t spec.TableSource) (opener, error) {
	switch t.Format {
	case files.Parquet:
		return openParquet, nil
	case files.Arrow:
		return openArrow, nil
	case files.CSV:
		return csvDialect{delimiter: t.Delimiter, nulls: t.Nulls, total: t.Total}.open, nil
	}
	return nil, &Error{Kind: Unreadable, Message: fmt.Sprintf("no reader for the format %q; use parquet, csv or arrow",
		t.Format)}
}

// Rows is how many rows the files hold, −1 where only reading them tells, as with
// CSV and Arrow.
func (r *Reader) Rows() int64 { return r.rows }

// Next returns the next piece in reading order, or io.EOF at the end. Errors are
// *[Error] or the context's: a file that was changed since Open is refused.
func (r *Reader) Next(ctx context.Context) (*Piece, error) {
	for r.at < len(r.paths) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.current == nil {
			path := r.paths[r.at]
			f, err := r.open(&handle{path: path, within: within(r.dir, path), info: r.infos[r.at]}, r.columns)
			if err != nil {
				return nil, err
			}
			r.current = f
		}
		part, err := r.current.next(ctx)
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
		r.pieces++
		return &Piece{of: r, file: r.paths[r.at], info: r.infos[r.at], number: r.pieces - 1, part: part}, nil
	}
	return nil, io.EOF
}

// Close closes the file being read. Pieces already returned stay valid.
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
