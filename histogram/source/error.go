package source

// This file holds Error: what is wrong with a file, in names and never in values.

import (
	"fmt"
	"strings"
)

// ErrorKind says which promise a file breaks.
type ErrorKind string

// The kinds of error.
const (
	Missing    ErrorKind = "missing"    // no such file or column
	Unreadable ErrorKind = "unreadable" // the system refuses to read the file
	Malformed  ErrorKind = "malformed"  // the file breaks the rules of its format
	WrongType  ErrorKind = "wrong type" // the file holds a column that cannot be read
	Duplicate  ErrorKind = "duplicate"  // one file or column reached twice
)

// Error is a fault of a file. It names the file, the column and what to do, and
// never holds a value. Detail says where the format is broken (a line, a row
// group, what the decoder said): it may hold bytes of the file and is shown by
// Diagnostics alone.
type Error struct {
	Kind    ErrorKind
	File    string // path as opened; empty where no file is meant
	Column  string // source column; empty where no column is meant
	Message string
	Detail  string `json:"-"`
	Err     error  `json:"-"` // of the system or the context, nil for a damaged file
}

// Error is a sentence without values, rows or counts.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %q: ", e.Column)
	}
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap is the cause in the system, such as [io/fs.ErrNotExist]; nil where the
// content of the file is at fault.
func (e *Error) Unwrap() error { return e.Err }

// Diagnostics is Error with the place of the fault, for the operator's own file
// of mode 0600.
func (e *Error) Diagnostics() string {
	s := string(e.Kind) + ": " + e.Error()
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

// Format keeps every verb of package fmt to what Error says.
func (e *Error) Format(s fmt.State, _ rune) { fmt.Fprint(s, e.Error()) }

// malformed is a damaged file; detail goes to the diagnostics alone.
func malformed(file, column, message, detail string) *Error {
	return &Error{Kind: Malformed, File: file, Column: column, Message: message, Detail: detail}
}
