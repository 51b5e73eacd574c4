package source

// This file holds the single file of a public table: its header, its rows, and its text where it is compressed.

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/spec"
)

// OpenFile opens a Parquet or Arrow file by its path, which is no glob, to read all columns of it that can be read, and says
// which columns it has. Errors are *[Error] or the context's.
func OpenFile(ctx context.Context, path string, format spec.Format) (*Reader, []Field, error) {
	open, err := openerOf(spec.TableSource{Format: format})
	if err != nil {
		return nil, nil, err
	}
	if err := distinct([]string{path}); err != nil {
		return nil, nil, err
	}
	d, err := describeTyped(path, format)
	if err != nil {
		return nil, nil, err
	}
	r := &Reader{dir: filepath.Dir(path), paths: []string{path}, open: open}
	for _, f := range d.Fields {
		if f.Type != "" {
			r.columns = append(r.columns, Column{Name: f.Name})
		}
	}
	h := &handle{path: path, within: filepath.Base(path)}
	f, err := open(h, r.columns)
	if err != nil {
		return nil, nil, err
	}
	r.infos, r.rows = append(r.infos, h.info), f.rows()
	if err := f.close(); err != nil {
		return nil, nil, unreadable(path, err)
	}
	return r, d.Fields, nil
}

// ReadText reads a CSV file as it is, or through gzip or zstd where its name ends in .gz or .zst. More than `most` bytes of text are refused.
// Errors are *[Error].
func ReadText(path string, most int64) (text string, err error) {
	if err := distinct([]string{path}); err != nil {
		return "", err
	}
	h := &handle{path: path}
	if err := h.hold(); err != nil {
		return "", err
	}
	f := &csvFile{handle: h, closers: []func() error{h.drop}}
	defer f.close()
	if err := f.mistaken(spec.CSV); err != nil {
		return "", err
	}
	if f.plain, err = f.decompress(io.NewSectionReader(f, 0, f.size())); err != nil {
		return "", f.fault(err)
	}
	var read strings.Builder // so that the text is held once
	n, err := io.Copy(&read, io.LimitReader(f.plain, most+1))
	switch {
	case err != nil:
		return "", f.fault(err)
	case n > most:
		return "", malformed(path, "", fmt.Sprintf("holds more than %d bytes", most), "")
	}
	return read.String(), nil
}
