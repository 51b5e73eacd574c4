package source

// This file holds the handle: a file that is open as long as somebody reads it.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/dprelease/dprelease/internal/regular"
)

// handle is the file at one path, or a spool. The first holder opens it and the last closes it. It may be opened
// again, and must be unchanged then.
type handle struct {
	path     string
	relative string      // the path as seen from the data folder
	spool    *Spool      // nil for a file at the path
	info     os.FileInfo // when it was first opened

	mu      sync.Mutex
	holders int
	file    opened
}

// opened is a file that is open, or a spool.
type opened interface {
	io.ReaderAt
	io.Closer
	Stat() (os.FileInfo, error)
}

// open opens the file.
func (h *handle) open() (opened, error) {
	if h.spool != nil {
		return spooled{h.spool}, nil
	}
	return regular.Open(h.path)
}

// acquire opens the file for a holder.
func (h *handle) acquire() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders == 0 {
		file, err := h.open()
		if err != nil {
			return unreadableFile(h.path, err)
		}
		h.file = file
		if err := h.checkUnchanged(); err != nil {
			file.Close()
			return err
		}
	}
	h.holders++
	return nil
}

// checkUnchanged refuses an open file that differs from what it was when it was first opened.
func (h *handle) checkUnchanged() error {
	info, err := h.file.Stat()
	if err != nil {
		return unreadableFile(h.path, err)
	}
	if h.info == nil {
		h.info = info
	}
	if !Unchanged(h.info, info) {
		return Changed(h.path)
	}
	return nil
}

// damagedError returns the error of a file that could not be read to its end: an error of the system, or an error of
// the content at a place and, if column is not empty, in a column.
func (h *handle) damagedError(column, place string, err error) error {
	var system *os.PathError
	if errors.As(err, &system) {
		return unreadableFile(h.path, err)
	}
	if long := asTextTooLong(h.path, column, place, err); long != nil {
		return long
	}
	return malformedFile(h.path, column, "is damaged in "+place+"; write the file again", err.Error())
}

// recoverDecoder turns a panic of a decoder, which a damaged file can cause, into an error.
func (h *handle) recoverDecoder(err *error, column, place string) {
	if r := recover(); r != nil {
		*err = h.damagedError(column, place, fmt.Errorf("the decoder failed: %v", r))
	}
}

// Changed makes the error to be returned for a file that was changed after reading began. It checks nothing: that is
// the task of [Unchanged].
func Changed(path string) error {
	return &Error{Kind: Unreadable, File: path,
		Message: "was changed while it was being read; begin again once it is written"}
}

// Unchanged reports whether a file is what it was, as far as the system tells: the same file, of the same size, not
// written since and, if the system records change times, not touched in any other way.
func Unchanged(was, is os.FileInfo) bool {
	return was.Size() == is.Size() && was.ModTime().Equal(is.ModTime()) && changeTime(was).Equal(changeTime(is)) &&
		os.SameFile(was, is)
}

// releaseFile closes the file if no other holder is left.
func (h *handle) releaseFile() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders--; h.holders > 0 {
		return nil
	}
	file := h.file
	h.file = nil
	return file.Close()
}

// ReadAt reads the file, which a holder must have acquired.
func (h *handle) ReadAt(p []byte, off int64) (int, error) { return h.file.ReadAt(p, off) }

// size returns the number of bytes of a file that is or was open.
func (h *handle) size() int64 { return h.info.Size() }
