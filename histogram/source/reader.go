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

// Reader goes through the files of a table in a fixed order: files sorted by path, rows in file order. Only one
// goroutine at a time may use a Reader; many may use the pieces that it returns.
type Reader struct {
	dir     string
	paths   []string
	infos   []os.FileInfo // when their schemas were checked
	columns []Column
	open    opener
	total   bool // a text that is too long is read as null
	rows    int64

	at      int   // path being read
	current file  // nil before the file at index at is opened
	passed  int64 // bytes of the current file in the pieces returned so far
	pieces  int   // returned so far
}

// Open finds the files of t, starting from the folder dir. Before any row is read, it checks that each file has every
// wanted column exactly once and in a type that can be read. Errors are *[Error] or the context's.
func Open(ctx context.Context, dir string, t spec.TableSource, columns []Column) (*Reader, error) {
	open, err := openerOf(t)
	if err != nil {
		return nil, err
	}
	paths, err := expandGlobs(dir, t.Paths)
	if err != nil {
		return nil, err
	}
	r := &Reader{dir: dir, paths: paths, columns: slices.Clone(columns), open: open, total: t.Total}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.addFile(&handle{path: path, relative: relativePath(dir, path)}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// addFile checks the schema of the next file, and records its identity and its number of rows.
func (r *Reader) addFile(h *handle) error {
	f, err := r.open(h, r.columns)
	if err != nil {
		return err
	}
	r.infos = append(r.infos, h.info)
	if n := f.rowCount(); n < 0 || r.rows < 0 {
		r.rows = -1
	} else {
		r.rows += n
	}
	if err := f.close(); err != nil {
		return unreadableFile(h.path, err)
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

// Rows returns how many rows the files hold, −1 if only reading them tells, as with CSV and Arrow.
func (r *Reader) Rows() int64 { return r.rows }

// Bytes returns the size of the files.
func (r *Reader) Bytes() (n int64) {
	for _, info := range r.infos {
		n += info.Size()
	}
	return n
}

// Next returns the next piece in reading order, or io.EOF at the end. Errors are *[Error] or the context's. A file
// that was changed since Open is refused.
func (r *Reader) Next(ctx context.Context) (*Piece, error) {
	for r.at < len(r.paths) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.current == nil {
			path := r.paths[r.at]
			f, err := r.open(&handle{path: path, relative: relativePath(r.dir, path), info: r.infos[r.at]}, r.columns)
			if err != nil {
				return nil, err
			}
			r.current, r.passed = f, 0
		}
		part, err := r.current.nextPart(ctx)
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
		before := r.passed
		r.passed = r.current.position()
		return &Piece{reader: r, file: r.paths[r.at], info: r.infos[r.at], number: r.pieces - 1, bytes: r.passed - before,
			part: part}, nil
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
		return unreadableFile(r.paths[min(r.at, len(r.paths)-1)], err)
	}
	return nil
}
