package durable

import (
	"errors"
	"os"
)

// SyncDir does nothing: Windows makes names durable with their files.
func SyncDir(string) error { return nil }

// Lock is not supported on Windows, where an open folder could not be renamed: what a crash leaves of a staging folder
// is not removed.
func Lock(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// ErrHeld reports that another process has locked a folder.
var ErrHeld = errors.New("held by another process")

// Private accepts every folder on Windows, where the owner sets the folder's access list.
func Private(string) error { return nil }
