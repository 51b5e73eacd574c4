package release

import (
	"errors"
	"os"
)

// syncDir does nothing: Windows makes names durable with their files.
func syncDir(string) error { return nil }

// hold is not there on Windows, where an open folder could not be renamed: what
// a crash leaves of a staging folder is not cleared.
func hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// errHeld says that another process holds a folder.
var errHeld = errors.New("held by another process")

// private cannot tell on Windows: the folder's access list is the owner's to set.
func private(string) error { return nil }
