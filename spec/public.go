package spec

// This file holds what a public table is read from: the text of a CSV file, or the rows of a Parquet or Arrow file as texts.

import (
	"context"
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"os"
	"strings"
	"unicode/utf8"
)

// Unpack reads a public table of which the path is given, and what the file there was when it was admitted: of a Parquet or Arrow
// file the rows, of a compressed CSV file the text, and of either no more than `most` bytes. A file that is another one is refused.
type Unpack func(ctx context.Context, path string, admitted os.FileInfo, format Format, most int64) (*Unpacked, error)

// Unpacked is the content of a public table: Text of a CSV file, Fields and Rows of one whose columns have types.
type Unpacked struct {
	Text   string
	Fields []PublicField
	// Rows hold the canonical text of each field's value, "" for null.
	Rows [][]string
}

// PublicField is a column of a file whose columns have types.
type PublicField struct {
	Name string
	// Unread says that values of its type have no canonical texts.
	Unread bool
	// Float says that its values are binary fractions.
	Float bool
	// NoNumber is the first row, counted from 1, whose value is not a number or is infinite, 0 for none.
	NoNumber int
}

// isCompressed tells that a CSV file is packed, by its name.
func isCompressed(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")
}

// publicFormats are those of public tables, and what a file of each is called.
var publicFormats = []struct {
	format Format
	says   string
}{
	{CSV, "a CSV file, which may be compressed (.gz, .zst)"},
	{Parquet, "a Parquet file"},
	{Arrow, "an Arrow IPC file"},
}

// The most that a public table may hold.
const (
	// MaxPublicRows bounds its rows.
	MaxPublicRows = maxCells
	// MaxPublicFields bounds its rows times its columns.
	MaxPublicFields = 1 << 27
)

// takeText takes the content of a CSV file.
func (p *publicTable) takeText(text string) *document.Problem {
	problem := p.parse(text)
	if problem == nil {
		return p.checkTexts()
	}
	// What can be read may begin in any way, as a column may be called PAR1. Of what is no text no line is shown.
	p.lines = nil
	switch {
	case strings.HasPrefix(text, "\x1f\x8b"):
		return p.problem(1, 1, "compressed with gzip", "a name that ends in .gz")
	case strings.HasPrefix(text, "\x28\xb5\x2f\xfd"):
		return p.problem(1, 1, "compressed with Zstandard", "a name that ends in .zst")
	case strings.HasPrefix(text, "PAR1\x15"):
		return p.problem(1, 1, "a Parquet file", "parquet: in the place of csv:, or the CSV file")
	case strings.HasPrefix(text, "ARROW1\x00"):
		return p.problem(1, 1, "an Arrow file", "arrow: in the place of csv:, or the CSV file")
	}
	return problem
}

// takeRows takes the content of a file whose columns have types.
func (p *publicTable) takeRows(u *Unpacked) *document.Problem {
	p.fields, p.rows, p.header = u.Fields, u.Rows, make([]string, len(u.Fields))
	for i, f := range u.Fields {
		if !utf8.ValidString(f.Name) {
			return p.problem(1, 1, fmt.Sprintf("the name of column %d is not UTF-8", i+1), "names in UTF-8")
		}
		p.header[i] = f.Name
	}
	switch {
	case len(p.rows) == 0:
		return p.problem(1, 1, "the "+p.what+" has no "+p.rowsAre, "a row at least")
	case len(p.rows) > MaxPublicRows:
		return p.problem(1, 1, errTooFine.Error(), "fewer "+p.rowsAre)
	}
	if problem := p.checkHeader(); problem != nil {
		return problem
	}
	return p.checkNames()
}

// checkUse reports what keeps a column from being used: values that have no text which the extract could hold, and in a key
// fractions whose texts depend on the precision they are kept in.
func (p *publicTable) checkUse(column int, inKey bool) *document.Problem {
	if p.fields == nil {
		return nil
	}
	f := p.fields[column]
	name := document.Clip(f.Name)
	switch {
	case f.Unread:
		return p.problem(1, 1, fmt.Sprintf("column %q is of a type that is not read", name), "texts, integers, decimals, floats, dates, or true and false")
	case f.NoNumber > 0:
		return p.inRow(f.NoNumber-1, fmt.Sprintf("%s is infinite or not a number", name), "a number, or null")
	}
	for row, fields := range p.rows {
		switch text := fields[column]; {
		case !utf8.ValidString(text):
			return p.inRow(row, name+" is not UTF-8", "texts in UTF-8")
		case strings.Contains(text, "\r"):
			return p.inRow(row, "a carriage return within "+name, "texts without it, which the plan holds as CSV")
		case inKey && f.Float && strings.Contains(text, "."):
			return p.inRow(row, fmt.Sprintf("%s is a fraction kept as a float, whose digits depend on its precision", name), "whole numbers, decimals or texts in a key")
		}
	}
	return nil
}

// inRow is a problem of a row: by its line in a text, else by its number.
func (p *publicTable) inRow(row int, message, expected string) *document.Problem {
	if p.fields == nil {
		return p.problem(p.at[row], 1, message, expected)
	}
	return p.problem(row+1, 1, fmt.Sprintf("row %d: %s", row+1, message), expected)
}

// place says where a row is.
func (p *publicTable) place(row int) string {
	if p.fields == nil {
		return fmt.Sprintf("in line %d", p.at[row])
	}
	return fmt.Sprintf("row %d", row+1)
}
