package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/dprelease/dprelease/internal/regular"
)

// This file reads files within bounds on their size and until a context ends.

// Read reads a regular file of at most `most` bytes. It stops with an error when the context ends.
func Read(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := readAtMost(ctx, f, most)
	return []byte(text), err
}

// readAtMost reads a file of at most `most` bytes.
func readAtMost(ctx context.Context, f *os.File, most int64) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > most {
		return "", tooLarge(most)
	}
	var read strings.Builder // so that memory holds the text only once
	read.Grow(int(info.Size()))
	n, err := io.Copy(&read, io.LimitReader(interruptible{ctx, f}, most+1))
	if err == nil && n > most { // the file has grown
		err = tooLarge(most)
	}
	return read.String(), err
}

// tooLarge is the error for a file with more bytes than are read of its kind.
func tooLarge(most int64) error {
	return &unfitError{"holds more than " + regular.Size(most),
		"a smaller file: what is used of it is part of the plan"}
}

// Interruptible returns a reader that fails once the context has ended.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return interruptible{ctx, r} }

type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Explain says why a file could not be read, without paths of this machine.
func Explain(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}
