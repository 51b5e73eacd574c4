package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the single file of a public table: its header, its rows, and its text where it is compressed.

// openFile opens a Parquet or Arrow file by its path, which is no glob, to read all columns of it that can be read, and
// says which columns it has. Errors are *[Error] or the context's.
func openFile(ctx context.Context, path string, admitted os.FileInfo, format files.Format) (*Reader, []Field, error) {
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
	return r, d.Fields, r.look(&handle{path: path, within: filepath.Base(path), info: admitted})
}

// readText reads a CSV file as it is, or through gzip or zstd where its name ends in .gz or .zst. More than `most`
// bytes of text are refused, and so is a file that is not the one admitted. Errors are *[Error] or the context's.
func readText(ctx context.Context, path string, admitted os.FileInfo, most int64) (string, error) {
	f, err := openText(path, admitted)
	if err != nil {
		return "", err
	}
	defer f.close()
	var read strings.Builder // so that the text is held once
	n, err := io.Copy(&read, io.LimitReader(files.Interruptible(ctx, f.plain), most+1))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", f.fault(err)
	case n > most:
		return "", malformed(path, "", fmt.Sprintf("holds more than %d bytes", most), "")
	}
	return read.String(), nil
}

// openText opens a CSV file, its text in plain. admitted is the file that it must be, nil for any.
func openText(path string, admitted os.FileInfo) (*csvFile, error) {
	if err := distinct([]string{path}); err != nil {
		return nil, err
	}
	h := &handle{path: path, info: admitted}
	if err := h.hold(); err != nil {
		return nil, err
	}
	f := &csvFile{handle: h, closers: []func() error{h.drop}}
	if err := f.mistaken(files.CSV); err != nil {
		return nil, errors.Join(err, f.close())
	}
	var err error
	if f.plain, err = f.decompress(io.NewSectionReader(f, 0, f.size())); err != nil {
		return nil, errors.Join(f.fault(err), f.close())
	}
	return f, nil
}

// Digest is the digest of a file as it is. Errors are *[Error] or the context's.
func Digest(ctx context.Context, path string) (files.Digest, error) {
	f, err := regular.Open(path)
	if err != nil {
		return files.Digest{}, unreadable(path, err)
	}
	defer f.Close()
	d, err := files.DigestOf(ctx, f)
	if err != nil && ctx.Err() == nil {
		err = unreadable(path, err)
	}
	return d, err
}

// TextDigest is the digest of the text of a compressed CSV file, and whether it has at most `most` bytes of it; a file
// of another name is not compressed, and has none. Errors are *[Error] or the context's.
func TextDigest(ctx context.Context, path string, most int64) (d files.Digest, ok bool, err error) {
	if h := (&handle{path: path}); !h.endsIn(".gz") && !h.endsIn(".zst") {
		return d, false, nil
	}
	f, err := openText(path, nil)
	if err != nil {
		return d, false, err
	}
	defer f.close()
	d, err = files.DigestOf(ctx, io.LimitReader(f.plain, most+1))
	switch {
	case ctx.Err() != nil:
		return d, false, ctx.Err()
	case err != nil:
		return d, false, f.fault(err)
	}
	return d, d.Size <= most, nil
}
