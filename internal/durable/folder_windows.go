package durable

import (
	"errors"
	"os"
)

// SyncDir does nothing: Windows makes names durable with their files.
func SyncDir(string) error { return nil }

// Hold is not there on Windows, where an open folder could not be renamed: what
// a crash leaves of a staging folder is not cleared.
func Hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// ErrHeld says that another process holds a folder.
var ErrHeld = errors.New("held by another process")

// Private cannot tell on Windows: the folder's access list is the owner's to set.
func Private(string) error { return nil }
