package files

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the table of a public file: a header and rows of texts.

// Table is the content of a public file as rows of texts, under a header. The caller sets File, What, RowNoun, Headed
// and Comma; reading fills in the rest.
type Table struct {
	File        string
	Description string // what the file is called in messages
	RowNoun     string // what its rows are called
	Headed      string // an example of its first line
	Comma       rune
	Header      []string
	Rows        [][]string
	lines       []string // nil unless the file is a text
	RowLines    []int    // the line of each row of a text
	fields      []Field  // nil if the file is a text
}

// Read reads the content of a file whose extract becomes part of a plan.
func (b *Table) Read(content *Unpacked) *document.Problem {
	if content.Fields == nil {
		return b.takeText(content.Text)
	}
	return b.takeRows(content)
}

// isText reports whether the file is a text, rather than a file with typed columns.
func (b *Table) isText() bool { return b.fields == nil }

// joinedText returns the text of the file.
func (b *Table) joinedText() string { return strings.Join(b.lines, "\n") }

// Problem returns a problem in a line of the file.
func (b *Table) Problem(line, column int, message, expected string) *document.Problem {
	p := &document.Problem{File: b.File, Line: max(line, 1), Column: max(column, 1), Message: message,
		Expected: expected}
	if p.Line <= len(b.lines) {
		p.Snippet = strings.TrimSuffix(b.lines[p.Line-1], "\r")
	}
	return p
}

// Parse reads the header and the rows of a text, and checks the header.
func (b *Table) Parse(text string) *document.Problem {
	text = strings.TrimPrefix(text, "\ufeff")
	// counted before memory is allocated for the lines
	if lines := strings.Count(text, "\n"); lines > MaxRows+1 {
		return b.Problem(1, 1, fmt.Sprintf("%d lines", lines), fmt.Sprintf("at most %d below the header", MaxRows))
	}
	if line := firstLongLine(text); line > 0 {
		return b.Problem(line, 1, "a line of more than "+regular.Size(mostLine), "shorter lines")
	}
	b.lines = strings.Split(text, "\n")
	for i, line := range b.lines {
		if !utf8.ValidString(line) {
			p := b.Problem(i+1, 1, "not UTF-8", "a CSV file in UTF-8")
			p.Snippet = strings.ToValidUTF8(p.Snippet, "\ufffd")
			return p
		}
	}
	if p := b.readRows(text, MaxFields); p != nil {
		return p
	}
	return b.checkHeader()
}

// maxDelimiters bounds the delimiters of a row, including those within quotes.
const maxDelimiters = 1 << 20

var errTooMany = fmt.Errorf("more than %d cells", MaxRows)

var errTooWide = fmt.Errorf("a row with more than %d delimiters", maxDelimiters)

// narrowReader reads the text of a table. It fails with [errTooWide] in a row that is too wide, because the CSV reader
// would first hold all fields of that row.
type narrowReader struct {
	text       *strings.Reader
	delimiter  []byte
	delimiters int // read of the current row
}

func (n *narrowReader) Read(into []byte) (int, error) {
	if n.delimiters > maxDelimiters {
		return 0, errTooWide
	}
	read, err := n.text.Read(into)
	n.delimiters += bytes.Count(into[:read], n.delimiter)
	return read, err
}

// readRows reads the header and the rows, with at most `most` fields in total.
func (b *Table) readRows(text string, most int) *document.Problem {
	within := &narrowReader{text: strings.NewReader(text), delimiter: []byte(string(b.Comma))}
	r := csv.NewReader(within)
	r.Comma = b.Comma
	all, err := r.Read()
	for ; err == nil; all, err = r.Read() {
		line, _ := r.FieldPos(0)
		within.delimiters = 0
		if most -= len(all); most < 0 {
			return b.Problem(line, 1, "more fields than are read of a "+b.Description, "fewer "+b.RowNoun+" or columns")
		}
		if b.Header == nil {
			b.Header = all
			continue
		}
		b.Rows, b.RowLines = append(b.Rows, all), append(b.RowLines, line)
		if len(b.Rows) > MaxRows {
			return b.Problem(line, 1, errTooMany.Error(), "fewer "+b.RowNoun)
		}
	}
	var broken *csv.ParseError
	switch {
	case errors.Is(err, errTooWide):
		b.lines = nil // so that no line is shown
		return b.Problem(1, 1, err.Error(), "fewer columns")
	case errors.As(err, &broken) && errors.Is(err, csv.ErrFieldCount):
		return b.Problem(broken.Line, 1, fmt.Sprintf("%d fields", len(all)),
			fmt.Sprintf("%d fields, as in the header", len(b.Header)))
	case errors.As(err, &broken):
		return b.Problem(broken.Line, broken.Column, "not CSV: "+broken.Err.Error(), b.separatorHint())
	case b.Header == nil:
		return b.Problem(1, 1, "the "+b.Description+" is empty", "a header line, as "+b.Headed)
	case len(b.Rows) == 0:
		return b.Problem(1, 1, "the "+b.Description+" has no "+b.RowNoun,
			"a line for each "+strings.TrimSuffix(b.RowNoun, "s")+" below the header")
	}
	return nil
}

// separatorHint says how the fields of a line are separated.
func (b *Table) separatorHint() string {
	if b.Comma == ',' {
		return "fields parted by commas, in double quotes where they hold commas or quotes"
	}
	return fmt.Sprintf("fields parted by %q, in double quotes where they hold it or quotes", b.Comma)
}

func (b *Table) checkHeader() *document.Problem {
	if i := strings.IndexAny(b.Header[0], ";\t|"); len(b.Header) == 1 && b.Comma == ',' && i >= 0 {
		return b.Problem(1, 1, fmt.Sprintf("the header is one field, with %q in it", b.Header[0][i:i+1]),
			"fields separated by commas")
	}
	for i, name := range b.Header {
		switch {
		case name == "":
			return b.Problem(1, 1, fmt.Sprintf("column %d has no name", i+1), "a name for each column")
		case slices.Contains(b.Header[:i], name):
			return b.Problem(1, 1, fmt.Sprintf("column %q appears twice", document.Clip(name)), "each column once")
		}
	}
	return nil
}

// mostLine bounds the bytes of a line of a code book or a public table.
const mostLine = 1 << 20

// firstLongLine returns the number of the first line with more than mostLine bytes, 0 if there is none.
func firstLongLine(text string) int {
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		if number++; len(line) > mostLine {
			return number
		}
	}
	return 0
}
