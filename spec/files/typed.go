package files

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/document"
)

// This file reads a file as a table: a CSV file as a text, or the rows of a file whose columns have types.

// Field is a column of a file whose columns have types.
type Field struct {
	Name string
	// Unread reports that values of its type have no canonical texts.
	Unread bool
	// Float reports that its values are binary fractions.
	Float bool
	// NoNumber is the first row, counted from 1, whose value is infinite or not a number; 0 for none.
	NoNumber int
}

// Bounds on the size of a public table.
const (
	// MaxRows bounds its rows. A code book makes one cell of each.
	MaxRows = 1 << 24
	// MaxFields bounds its rows times its columns.
	MaxFields = 1 << 27
)

// takeText takes the content of a CSV file.
func (p *Table) takeText(text string) *document.Problem {
	problem := p.Parse(text)
	if problem == nil {
		return p.checkTexts()
	}
	// Readable content may begin in any way: a column may be called PAR1. No line is shown of content that is not text.
	p.lines = nil
	switch {
	case strings.HasPrefix(text, "\x1f\x8b"):
		return p.Problem(1, 1, "compressed with gzip", "a name that ends in .gz")
	case strings.HasPrefix(text, "\x28\xb5\x2f\xfd"):
		return p.Problem(1, 1, "compressed with Zstandard", "a name that ends in .zst")
	case strings.HasPrefix(text, "PAR1\x15"):
		return p.Problem(1, 1, "a Parquet file", "parquet: in the place of csv:, or the CSV file")
	case strings.HasPrefix(text, "ARROW1\x00"):
		return p.Problem(1, 1, "an Arrow file", "arrow: in the place of csv:, or the CSV file")
	}
	return problem
}

// takeRows takes the content of a file whose columns have types.
func (p *Table) takeRows(u *Unpacked) *document.Problem {
	p.fields, p.Rows, p.Header = u.Fields, u.Rows, make([]string, len(u.Fields))
	for i, f := range u.Fields {
		if !utf8.ValidString(f.Name) {
			return p.Problem(1, 1, fmt.Sprintf("the name of column %d is not UTF-8", i+1), "names in UTF-8")
		}
		p.Header[i] = f.Name
	}
	switch {
	case len(p.Rows) == 0:
		return p.Problem(1, 1, "the "+p.Description+" has no "+p.RowNoun, "a row at least")
	case len(p.Rows) > MaxRows:
		return p.Problem(1, 1, errTooMany.Error(), "fewer "+p.RowNoun)
	}
	if problem := p.checkHeader(); problem != nil {
		return problem
	}
	return p.checkNames()
}

// CheckUse returns what prevents the use of a column, or nil: a type that is not read, a number that is infinite or
// NaN, a text that the extract cannot contain and, in a key, a fraction whose digits depend on the precision of a
// float.
func (p *Table) CheckUse(column int, inKey bool) *document.Problem {
	if p.fields == nil {
		return nil
	}
	f := p.fields[column]
	name := document.Clip(f.Name)
	switch {
	case f.Unread:
		return p.Problem(1, 1, fmt.Sprintf("column %q is of a type that is not read", name),
			"texts, integers, decimals, floats, dates, or true and false")
	case f.NoNumber > 0:
		return p.InRow(f.NoNumber-1, fmt.Sprintf("%s is infinite or not a number", name), "a number, or null")
	}
	for row, fields := range p.Rows {
		switch text := fields[column]; {
		case !utf8.ValidString(text):
			return p.InRow(row, name+" is not UTF-8", "texts in UTF-8")
		case strings.Contains(text, "\r"):
			return p.InRow(row, "a carriage return within "+name, "texts without it, which the plan holds as CSV")
		case inKey && f.Float && strings.Contains(text, "."):
			return p.InRow(row, fmt.Sprintf("%s is a fraction kept as a float, whose digits depend on its precision",
				name),
				"whole numbers, decimals or texts in a key")
		}
	}
	return nil
}

// InRow returns a problem in a row. The problem names the line of a text file, or the number of the row in any other
// file.
func (p *Table) InRow(row int, message, expected string) *document.Problem {
	if p.fields == nil {
		return p.Problem(p.RowLines[row], 1, message, expected)
	}
	return p.Problem(row+1, 1, fmt.Sprintf("row %d: %s", row+1, message), expected)
}

// RowPosition says where a row is.
func (p *Table) RowPosition(row int) string {
	if p.fields == nil {
		return fmt.Sprintf("in line %d", p.RowLines[row])
	}
	return fmt.Sprintf("row %d", row+1)
}

// checkTexts reports texts that reading the extract would change: a carriage return, which is dropped before a line
// feed, and a byte order mark at the beginning of a name.
func (p *Table) checkTexts() *document.Problem {
	if problem := p.checkNames(); problem != nil {
		return problem
	}
	for row, fields := range p.Rows {
		if problem := p.checkReturns(fields, p.RowLines[row]); problem != nil {
			return problem
		}
	}
	return nil
}

// checkNames checks the header as checkTexts checks the rows.
func (p *Table) checkNames() *document.Problem {
	for _, name := range p.Header {
		if strings.HasPrefix(name, "\ufeff") {
			return p.Problem(1, 1, "a column name that begins with a byte order mark",
				"one byte order mark at the most, at the beginning of the file")
		}
	}
	return p.checkReturns(p.Header, 1)
}

// checkReturns reports a carriage return in the fields of a row that begins in the given line.
func (p *Table) checkReturns(fields []string, line int) *document.Problem {
	for _, field := range fields {
		if before, _, found := strings.Cut(field, "\r"); found {
			return p.Problem(line+strings.Count(before, "\n"), 1, "a carriage return within a field",
				`lines that end in \n or \r\n, and no other carriage return`)
		}
		line += strings.Count(field, "\n")
	}
	return nil
}

// extract returns the file reduced to some of its columns. Reading it gives the same rows, and the same extract.
func (p *Table) extractColumns(used map[string]bool) string {
	var keep []int
	for i, name := range p.Header {
		if used[name] {
			keep = append(keep, i)
		}
	}
	b := &strings.Builder{}
	w := csv.NewWriter(b)
	w.Comma = p.Comma
	record := make([]string, len(keep))
	for _, fields := range append([][]string{p.Header}, p.Rows...) {
		for i, column := range keep {
			record[i] = fields[column]
		}
		_ = w.Write(record) // never fails: it writes to memory, with a delimiter that reading accepted
	}
	w.Flush()
	return b.String()
}

// InField returns a problem of a field, at its position in the file.
func (p *Table) InField(row, field int, message, expected string) *document.Problem {
	again := csv.NewReader(strings.NewReader(p.joinedText()))
	again.Comma = p.Comma
	for range row + 2 { // the header and the rows up to this one
		if _, err := again.Read(); err != nil {
			return p.InRow(row, message, expected)
		}
	}
	line, at := again.FieldPos(field)
	column := 1
	if line <= len(p.lines) && at-1 <= len(p.lines[line-1]) {
		column = utf8.RuneCountInString(p.lines[line-1][:at-1]) + 1
	}
	return p.Problem(line, column, message, expected)
}

// Unpack reads the public table at a path: the rows of a Parquet or Arrow file, the text of a compressed CSV file, and
// of either at most `most` bytes. admitted describes the file that was admitted; another file at the path is refused.
type Unpack func(ctx context.Context, path string, admitted os.FileInfo, format Format, most int64) (*Unpacked, error)

// Unpacked is the content of a public table: the Text of a CSV file, or Fields and Rows of a file with typed columns.
type Unpacked struct {
	Text   string
	Fields []Field
	// Rows hold the canonical text of each field's value, "" for null.
	Rows [][]string
}
