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

// This file holds the single file of a public table: its header, its rows, and its text if it is compressed.

// openFile opens a Parquet or Arrow file by its path, which is not a glob, to read all of its columns that can be
// read. It also returns all columns that the file has. Errors are *[Error] or the context's.
func openFile(ctx context.Context, path string, admitted os.FileInfo, format files.Format) (*Reader, []Field, error) {
	open, err := openerOf(spec.TableSource{Format: format})
	if err != nil {
		return nil, nil, err
	}
	if err := checkDistinct([]string{path}); err != nil {
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
	return r, d.Fields, r.addFile(&handle{path: path, relative: filepath.Base(path), info: admitted})
}

// readText reads a CSV file as it is, or through gzip or zstd if its name ends in .gz or .zst. It refuses more than
// `most` bytes of text, and a file other than the admitted one. Errors are *[Error] or the context's.
func readText(ctx context.Context, path string, admitted os.FileInfo, most int64) (string, error) {
	f, err := openText(path, admitted)
	if err != nil {
		return "", err
	}
	defer f.close()
	var read strings.Builder // keeps a single copy of the text
	n, err := io.Copy(&read, io.LimitReader(files.Interruptible(ctx, f.plain), most+1))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", f.readError(err)
	case n > most:
		return "", malformedFile(path, "", fmt.Sprintf("holds more than %d bytes", most), "")
	}
	return read.String(), nil
}

// openText opens a CSV file whose text is read from plain. admitted is the file that it must be, nil for any.
func openText(path string, admitted os.FileInfo) (*csvFile, error) {
	if err := checkDistinct([]string{path}); err != nil {
		return nil, err
	}
	h := &handle{path: path, info: admitted}
	if err := h.acquire(); err != nil {
		return nil, err
	}
	f := &csvFile{handle: h, closers: []func() error{h.releaseFile}}
	if err := f.checkFormat(files.CSV); err != nil {
		return nil, errors.Join(err, f.close())
	}
	var err error
	if f.plain, err = f.decompress(io.NewSectionReader(f, 0, f.size())); err != nil {
		return nil, errors.Join(f.readError(err), f.close())
	}
	return f, nil
}

// Digest returns the digest of the bytes of a file. Errors are *[Error] or the context's.
func Digest(ctx context.Context, path string) (files.Digest, error) {
	f, err := regular.Open(path)
	if err != nil {
		return files.Digest{}, unreadableFile(path, err)
	}
	defer f.Close()
	d, err := files.DigestOf(ctx, f)
	if err != nil && ctx.Err() == nil {
		err = unreadableFile(path, err)
	}
	return d, err
}

// TextDigest returns the digest of the text of a compressed CSV file, and whether the text has at most `most` bytes.
// A file whose name has no ending of a compression has no such digest. Errors are *[Error] or the context's.
func TextDigest(ctx context.Context, path string, most int64) (d files.Digest, ok bool, err error) {
	if h := (&handle{path: path}); !h.hasEnding(".gz") && !h.hasEnding(".zst") {
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
		return d, false, f.readError(err)
	}
	return d, d.Size <= most, nil
}
