package files

// This file holds the way to the public files that a spec names: which of them may be opened, and what is read of them.
// What they hold is published with the plan, so that a file that is not meant for everybody is refused before a byte of
// it is used.

import (
	"errors"
)

// mostTable bounds the bytes that are read of a public table, of which a plan holds what is used.
const mostTable = 1 << 30

// Kind is a kind of public file that is read as a text: what it is called, what it should be, and the most bytes that
// are read of it.
type Kind struct {
	what, expected string
	most           int64
}

// The kinds of texts. All of a text becomes part of the plan.
var (
	CodeBook = Kind{"code book", "a CSV file", 64 << 20}
	Outlines = Kind{"map", "a GeoJSON file", 4 << 20}
)

// Opener opens the public files that a spec names.
type Opener interface {
	// KeepFrom makes the opener refuse the files of confidential sources. Where not all of them are known, because the
	// spec has mistakes in what says them, it opens no file.
	KeepFrom(sources []Confidential, all bool)
	// Text reads a text of at most `most` bytes.
	Text(name string, most int64) (string, error)
	// Table reads a public table.
	Table(name string, format Format) (*Unpacked, error)
	// Digests are those of a file that was opened.
	Digests(name string) []Digest
}

// Confidential is where a confidential table is read from.
type Confidential struct {
	Table string
	Paths []string
}

// unfit says why a public file is not read although it is there.
type unfit struct{ says, expected string }

func (u *unfit) Error() string { return "it " + u.says }

// errNotOpened is a public file that is not opened because of mistakes that are reported where they are.
var errNotOpened = errors.New("it is not opened before the sources of all tables can be read")
