package document

// This file holds the problem: one mistake in a document, its position and how to correct it.

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Problem is one mistake in a document, or in a file that the document names. Line and Column count from 1, Column in
// characters. Texts that do not apply are "".
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Path is the path of the key, such as tables.persons.columns.age.range.
	Path string `json:"path,omitempty"`
	// Message says what is wrong, Expected what would be right.
	Message  string `json:"message"`
	Expected string `json:"expected,omitempty"`
	// Nearest is the valid name closest to the one written.
	Nearest string `json:"nearest,omitempty"`
	// Fix is text to paste.
	Fix string `json:"fix,omitempty"`
	// Snippet is the offending line.
	Snippet string `json:"snippet,omitempty"`
	// Unbuilt marks a part of the language that this version does not build.
	Unbuilt bool `json:"unbuilt,omitempty"`

	said *message // of a warning
}

// message is a message with its arguments, from which it can be written in other languages.
type message struct {
	text string
	args []any
}

// WrittenBy returns the message of a warning in another language, by a function that writes a message with its
// arguments. Problems other than warnings are in English.
func (p Problem) WrittenBy(write func(message string, args ...any) string) string {
	if p.said == nil {
		return p.Message
	}
	return write(p.said.text, p.said.args...)
}

// snippetWidth is the number of characters shown of a long line around the caret.
const snippetWidth = 110

// String renders the problem: position, path and message, the line with a caret, what was
// expected, the nearest valid name and a fix to paste.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Snippet != "" {
		line, caret := cutLine(p.Snippet, p.Column)
		fmt.Fprintf(&b, "\n%5d | %s\n      | %s^", p.Line, line, caret)
	}
	if p.Expected != "" {
		b.WriteString("\n  expected: " + p.Expected)
	}
	if p.Nearest != "" {
		fmt.Fprintf(&b, "\n  did you mean %q?", p.Nearest)
	}
	if p.Fix != "" {
		b.WriteString("\n  fix: " + strings.ReplaceAll(p.Fix, "\n", "\n       "))
	}
	return b.String()
}

// cutLine cuts a long line around the column and returns it with the blanks that precede the caret.
func cutLine(line string, column int) (shown, before string) {
	runes := []rune(line)
	at := min(max(column-1, 0), len(runes))
	start := 0
	if len(runes) > snippetWidth && at > snippetWidth*2/3 {
		start = min(at-snippetWidth/2, len(runes)-snippetWidth)
	}
	end := min(start+snippetWidth, len(runes))
	cut := append([]rune(nil), runes[start:end]...)
	if start > 0 {
		cut[0] = '…'
	}
	if end < len(runes) {
		cut[len(cut)-1] = '…'
	}
	printed := strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, string(cut))
	blanks := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(cut[:at-start]))
	return printed, blanks
}

// Errors are all problems of a document, in document order.
type Errors struct{ Problems []Problem }

// Error renders every problem. Problems of one kind are rendered as one, with all its places.
func (e *Errors) Error() string { return groupProblems(e.Problems) }

// Unbuilt reports whether the document is well formed and its only problems are parts of the language that this version
// does not build.
func (e *Errors) Unbuilt() bool {
	return len(e.Problems) > 0 && !slices.ContainsFunc(e.Problems, func(p Problem) bool { return !p.Unbuilt })
}
