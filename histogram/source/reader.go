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
	spool   *Spool        // in place of the file at the only path; nil for files
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

// Open finds the files of a table, or the rows of it that were fetched from a database. Before any row is read, it
// checks that each file has every wanted column exactly once and in a type that can be read. Errors are *[Error] or
// the context's.
func Open(ctx context.Context, from Data, t *spec.Table, columns []Column) (*Reader, error) {
	r := &Reader{dir: from.Dir, columns: slices.Clone(columns), total: t.Source.Total}
	var err error
	if t.Source.Database != nil {
		if r.spool = from.Fetched[t.Name]; r.spool == nil {
			return nil, errNotFetched
		}
		r.paths = []string{r.spool.name}
		r.open, err = openerOf(spec.TableSource{Format: r.spool.format})
	} else {
		if r.open, err = openerOf(t.Source); err == nil {
			r.paths, err = expandGlobs(from.Dir, t.Source.Paths)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, path := range r.paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.addFile(r.handleOf(path, nil)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// handleOf returns a handle of one of the files. info is what it was when its schema was checked, nil before that.
func (r *Reader) handleOf(path string, info os.FileInfo) *handle {
	if r.spool != nil {
		return &handle{path: path, spool: r.spool, info: info}
	}
	return &handle{path: path, relative: relativePath(r.dir, path), info: info}
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
			f, err := r.open(r.handleOf(path, r.infos[r.at]), r.columns)
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
		return &Piece{reader: r, file: r.paths[r.at], info: r.infos[r.at], number: r.pieces - 1,
			bytes: r.passed - before,
			part:  part}, nil
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
