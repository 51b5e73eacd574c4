package source

// This file holds the handle: a file that is open while somebody reads it.

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/dprelease/dprelease/internal/regular"
)

// handle is a file of one path. It is opened by the first of its holders, closed
// by the last and may be opened again, when it must be what it was.
type handle struct {
	path   string
	within string      // the path as seen from the data folder
	info   os.FileInfo // when it was first opened

	mu      sync.Mutex
	holders int
	file    *os.File
}

// hold opens the file for a holder.
func (h *handle) hold() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders == 0 {
		file, err := regular.Open(h.path)
		if err != nil {
			return unreadable(h.path, err)
		}
		h.file = file
		if err := h.check(); err != nil {
			file.Close()
			return err
		}
	}
	h.holders++
	return nil
}

// check refuses a held file that is no longer what it was.
func (h *handle) check() error {
	info, err := h.file.Stat()
	if err != nil {
		return unreadable(h.path, err)
	}
	if h.info == nil {
		h.info = info
	}
	if !Unchanged(h.info, info) {
		return Changed(h.path)
	}
	return nil
}

// damaged returns the error of a file that could not be read to its end: one of the system, or one of the content at a
// place, in a column where it is of one.
func (h *handle) damaged(column, place string, err error) error {
	var system *os.PathError
	if errors.As(err, &system) {
		return unreadable(h.path, err)
	}
	if long := asLong(h.path, column, place, err); long != nil {
		return long
	}
	return malformed(h.path, column, "is damaged in "+place+"; write the file again", err.Error())
}

// guard turns a panic of a decoder, which a damaged file can cause, into an error.
func (h *handle) guard(err *error, column, place string) {
	if r := recover(); r != nil {
		*err = h.damaged(column, place, fmt.Errorf("the decoder failed: %v", r))
	}
}

// Changed is the error of a file that is no longer what it was when reading began.
func Changed(path string) error {
	return &Error{Kind: Unreadable, File: path,
		Message: "was changed while it was being read; begin again once it is written"}
}

// Unchanged reports whether a file is what it was, as far as the system says: the same file, of the same size, not
// written since and, where the system notes that, not touched in any other way.
func Unchanged(was, is os.FileInfo) bool {
	return was.Size() == is.Size() && was.ModTime().Equal(is.ModTime()) && touched(was).Equal(touched(is)) &&
		os.SameFile(was, is)
}

// drop closes the file where nobody else holds it.
func (h *handle) drop() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders--; h.holders > 0 {
		return nil
	}
	file := h.file
	h.file = nil
	return file.Close()
}

// ReadAt reads a file that is held.
func (h *handle) ReadAt(p []byte, off int64) (int, error) { return h.file.ReadAt(p, off) }

// size is the bytes of a file that is or was held.
func (h *handle) size() int64 { return h.info.Size() }
