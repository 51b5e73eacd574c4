package show

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/parquet-go/parquet-go"
)

// This file reads a published table and writes it as CSV and JSON.

// Sheet is a published table that is open for reading. Its rows stay in the file.
type Sheet struct {
	Folder   string   `json:"folder"`
	Release  string   `json:"release"`
	Status   string   `json:"status"` // RELEASE, or what is printed on everything instead
	Table    string   `json:"table"`
	Title    string   `json:"title,omitempty"`
	Interval string   `json:"interval"` // what the intervals include
	Columns  []Column `json:"columns"`
	Cells    int64    `json:"cells"`
	file     *parquet.File
	trace    string // how to follow a number to its noise, if it can be
}

// Column is one column of a published table, as its file describes it.
type Column struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Unit  string `json:"unit,omitempty"`
	// key, label, count, estimate, standard error, interval or flag, or the kind of the figure
	Statistic string `json:"statistic"`
	text      bool
}

// Open opens a table of a published folder, which must agree with its manifest.
//
// Errors: *[verdict.Unusable] for what is not a published folder, and for a table that does not exist;
// *[published.Altered] for a folder that was changed.
func Open(place, table string) (*Sheet, error) {
	e, err := published.Open(place)
	if err != nil {
		return nil, err
	}
	at, err := e.TableAt(table)
	if err != nil {
		return nil, &verdict.Unusable{File: place, Err: err}
	}
	planned := e.Plan.Tables[at]
	s := &Sheet{Folder: place, Release: e.Plan.Name, Status: e.Manifest.Status, Table: planned.Path}
	if e.Plan.Release().Collection == nil {
		s.trace = " --cell follows one number to its noise."
	}
	if s.file, err = e.Parquet(planned.File()); err != nil {
		return nil, err
	}
	if err := s.readColumns(); err != nil {
		return nil, &verdict.Unusable{File: filepath.Join(place, planned.File()), Err: err}
	}
	return s, nil
}

// readColumns reads the file's description of its columns, which must match the columns that it has.
func (s *Sheet) readColumns() error {
	described, _ := s.file.Lookup("dprelease.columns")
	if err := json.Unmarshal([]byte(described), &s.Columns); err != nil {
		return fmt.Errorf("the file does not say what its columns are: %w", err)
	}
	there := s.file.Schema().Columns()
	if len(there) != len(s.Columns) {
		return fmt.Errorf("%d columns, of which it describes %d", len(there), len(s.Columns))
	}
	for i, path := range there {
		leaf, ok := s.file.Schema().Lookup(path...)
		if c := &s.Columns[i]; !ok || len(path) != 1 || path[0] != c.Name {
			return fmt.Errorf("column %d is not %q", i+1, c.Name)
		}
		s.Columns[i].text = leaf.Node.Type().Kind() == parquet.ByteArray
	}
	s.Interval, _ = s.file.Lookup("dprelease.interval")
	s.Title, _ = s.file.Lookup("dprelease.title")
	s.Cells = s.file.NumRows()
	return nil
}

// CSV writes the whole table for a spreadsheet: RFC 4180 with a header, a decimal point, and an empty cell for what is
// not published. A text that a spreadsheet would take for a formula gets an apostrophe before it. The mark is written
// first: a UTF-8 byte order mark, or nothing.
func (s *Sheet) CSV(w io.Writer, mark string) error {
	buffered := bufio.NewWriter(w)
	buffered.WriteString(mark)
	c := csv.NewWriter(buffered)
	c.UseCRLF = true
	line := make([]string, len(s.Columns))
	for i, column := range s.Columns {
		line[i] = screen.NoFormula(column.Name)
	}
	if err := c.Write(line); err != nil {
		return err
	}
	err := published.EachRow(s.file, func(r parquet.Row) error {
		for i, v := range r {
			line[i] = s.csvValue(i, v)
		}
		return c.Write(line)
	})
	c.Flush()
	if err == nil {
		err = c.Error()
	}
	if err == nil {
		err = buffered.Flush()
	}
	return err
}

// csvValue returns a value as written in a CSV file.
func (s *Sheet) csvValue(column int, v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case s.Columns[column].text:
		return screen.NoFormula(v.String())
	}
	return plainNumber(v)
}

// plainNumber formats a number in decimal digits, exactly as it was published.
func plainNumber(v parquet.Value) string {
	if v.Kind() == parquet.Int64 {
		return strconv.FormatInt(v.Int64(), 10)
	}
	return strconv.FormatFloat(v.Double(), 'f', -1, 64)
}

// JSON writes the whole table as one document: its description, and a list of rows with their values in the order of
// the columns, null for what is not published.
func (s *Sheet) JSON(w io.Writer) error {
	type plain Sheet
	head, err := canonical.Escaped((*plain)(s))
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.WriteString(escapeHidden(bytes.TrimSuffix(head, []byte("\n}\n"))))
	b.WriteString(",\n  \"rows\": [")
	between := "\n    "
	err = published.EachRow(s.file, func(r parquet.Row) error {
		values := make([]json.RawMessage, len(r))
		for i, v := range r {
			if values[i], err = s.jsonValue(i, v); err != nil {
				return err
			}
		}
		line, err := json.Marshal(values)
		if err != nil {
			return err
		}
		b.WriteString(between)
		between = ",\n    "
		_, err = b.WriteString(escapeHidden(line))
		return err
	})
	if err != nil {
		return err
	}
	b.WriteString("\n  ]\n}\n")
	return b.Flush()
}

// MarshalJSON returns the document that JSON writes.
func (s *Sheet) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := s.JSON(&b)
	return b.Bytes(), err
}

// escapeHidden escapes the characters of a JSON document that a terminal obeys or hides.
func escapeHidden(document []byte) string {
	var b strings.Builder
	for _, c := range string(document) {
		switch {
		case unicode.IsGraphic(c) || c == '\n':
			b.WriteRune(c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

// jsonValue returns a value as written in a JSON document.
func (s *Sheet) jsonValue(column int, v parquet.Value) (json.RawMessage, error) {
	switch {
	case v.IsNull():
		return json.RawMessage("null"), nil
	case s.Columns[column].text:
		return json.Marshal(v.String())
	}
	return json.RawMessage(plainNumber(v)), nil
}
