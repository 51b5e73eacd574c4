package source

// This file holds Error, which says what is wrong with a file in names and never in values.

import (
	"fmt"
	"strings"
)

// ErrorKind is the promise that a file breaks.
type ErrorKind string

// The kinds of error.
const (
	Missing    ErrorKind = "missing"    // no such file or column
	Unreadable ErrorKind = "unreadable" // the system refuses to read the file
	Malformed  ErrorKind = "malformed"  // the file breaks the rules of its format
	WrongType  ErrorKind = "wrong type" // the file holds a column that cannot be read
	Duplicate  ErrorKind = "duplicate"  // a file or column is reached twice
)

// Error is a fault of a file. It names the file, the column and what to do, and never holds a value. Detail says
// where the format is broken (a line, a row group, a message of the decoder). It may hold bytes of the file, and only
// Diagnostics shows it.
type Error struct {
	Kind    ErrorKind
	File    string // path as opened; empty if the error is about no file
	Column  string // source column; empty if the error is about no column
	Message string
	Detail  string `json:"-"`
	Err     error  `json:"-"` // error of the system or the context, nil for a damaged file
}

// Error returns a sentence without values, rows or counts.
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

// Unwrap returns the cause in the system, such as [io/fs.ErrNotExist], and nil if the content of the file is at
// fault.
func (e *Error) Unwrap() error { return e.Err }

// Diagnostics returns the kind, the sentence of Error and the place of the fault, for the operator's own file of mode
// 0600.
func (e *Error) Diagnostics() string {
	s := string(e.Kind) + ": " + e.Error()
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

// Format makes every verb of package fmt print the sentence of Error and nothing else.
func (e *Error) Format(s fmt.State, _ rune) { fmt.Fprint(s, e.Error()) }

// malformedFile returns the error of a damaged file. Only the diagnostics show detail.
func malformedFile(file, column, message, detail string) *Error {
	return &Error{Kind: Malformed, File: file, Column: column, Message: message, Detail: detail}
}
