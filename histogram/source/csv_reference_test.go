package source

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// referenceCSV returns the columns of a text as encoding/csv reads them.
func referenceCSV(text []byte, delimiter rune) (header []string, rows [][]string, err error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))))
	r.Comma = delimiter
	rows, err = r.ReadAll()
	for _, row := range rows {
		for _, field := range row {
			if !utf8.ValidString(field) {
				err = errors.New("not UTF-8")
			}
		}
	}
	if err == nil && len(rows) == 0 {
		err = errors.New("empty")
	}
	if err != nil {
		return nil, nil, err
	}
	return rows[0], rows[1:], nil
}

// A text is refused if encoding/csv refuses it or it is not UTF-8. Any other text has the same fields as in
// encoding/csv, wherever its blocks are cut, except that blank lines in a file of one column are refused.
func TestCSVIsEncodingCSV(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		delimiter := rapid.SampledFrom([]rune{',', ';', '\t', '§', '€'}).Draw(t, "delimiter")
		d := string(delimiter)
		token := rapid.SampledFrom([]string{"a", "b,", "0123456789", "ü", "\"", "\"\"", "\"q\"", d, d, d, "\n", "\n",
			"\r\n",
			"\r", "\xFF", " ", "\x00", "\xC2", "\xE2\x82",
			"\"x\"" + d, d + "\"y" + d + "\n\"\"z\"\n", d + "\"\"\n", "\"\r\n\"" + d, "1" + d + "2\n", "1" + d + "2\n",
			"1" + d + "2\n"})
		columns := rapid.SampledFrom([]string{"x", "x" + d + "y", "\"x\"" + d + "y" + d + "z"}).Draw(t, "header")
		text := []byte(rapid.SampledFrom([]string{"", "\xEF\xBB\xBF", "\n"}).Draw(t, "mark") + columns +
			rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t,
				"end") + strings.Join(rapid.SliceOfN(token, 0, 30).Draw(t, "text"),
			""))
		header, want, err := referenceCSV(text, delimiter)
		got, ours := parseCSV(t, text, delimiter)
		if err != nil || len(header) == 0 {
			if ours == nil {
				t.Fatalf("%q is accepted, but %v", text, err)
			}
			refused++
			return
		}
		if ours != nil {
			if len(header) == 1 && errors.Is(ours, errBlank) {
				return
			}
			t.Fatalf("%q: %v", text, ours)
		}
		accepted++
		if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	})
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted == 0 || refused == 0 {
		t.Error("nothing was compared")
	}
}

// parseCSV reads all columns of a text in blocks of a few bytes.
func parseCSV(t *rapid.T, text []byte, delimiter rune) ([][]string, error) {
	size := rapid.IntRange(1, 40).Draw(t, "block")
	f := &csvFile{handle: &handle{path: "x"}, delimiter: []byte(string(delimiter)), plain: bytes.NewReader(text)}
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	for i := range f.header {
		f.slots = append(f.slots, i)
	}
	var rows [][]string
	for {
		block, err := f.nextBlock(size)
		if err != nil {
			return nil, err
		}
		if len(block) == 0 {
			return rows, nil
		}
		if !utf8.Valid(block) {
			return nil, errNotText
		}
		s := scanner{block: block, delimiter: f.delimiter, singleColumn: len(f.header) == 1}
		for {
			spans := make([][]span, len(f.header))
			for i := range spans {
				spans[i] = make([]span, 3)
			}
			n, err := s.nextRows(f.slots, spans, 3)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				break
			}
			for row := range n {
				fields := make([]string, len(f.header))
				for i := range fields {
					fields[i] = string(appendUnescaped(nil, spans[i][row].bytes(block)))
				}
				rows = append(rows, fields)
			}
		}
	}
}
