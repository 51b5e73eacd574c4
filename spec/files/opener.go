package files

// This file holds the interface to the public files that a spec names: which of them may be opened, and what is read
// from them. Their content is published with the plan, so a file that is not public is refused before a byte of it is
// used.

import (
	"errors"
)

// mostTable bounds the bytes that are read of a public table. A plan contains only the part that is used.
const mostTable = 1 << 30

// Kind is a kind of public file that is read as a text: its name and its expected form in messages, and the most bytes
// that are read.
type Kind struct {
	what, expected string
	most           int64
}

// The kinds of texts. A text becomes part of the plan as a whole.
var (
	CodeBook = Kind{"code book", "a CSV file", 64 << 20}
	Outlines = Kind{"map", "a GeoJSON file", 4 << 20}
	// HolderKey is the public key of one of several holders.
	HolderKey = Kind{"public key", "the file of a holder's public key", 1 << 10}
)

// Opener opens the public files that a spec names.
type Opener interface {
	// RefuseConfidential makes the opener refuse the files of confidential sources. If all is false, mistakes in the
	// spec leave some of these files unknown, and the opener opens no file.
	RefuseConfidential(sources []Confidential, all bool)
	// Text reads a text of at most `most` bytes.
	Text(name string, most int64) (string, error)
	// Table reads a public table.
	Table(name string, format Format) (*Unpacked, error)
	// Digests returns the digests of a file that was opened.
	Digests(name string) []Digest
}

// Confidential names the paths that a confidential table is read from.
type Confidential struct {
	Table string
	Paths []string
}

// unfitError says why a public file is not read although it exists.
type unfitError struct{ says, expected string }

func (u *unfitError) Error() string { return "it " + u.says }

// errNotOpened is the error of a public file that is not opened because of mistakes reported elsewhere.
var errNotOpened = errors.New("it is not opened before the sources of all tables can be read")
