package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/klauspost/compress/zstd"
)

// This file holds the CSV file: text with a header line, possibly compressed, cut into blocks of whole lines.

const (
	blockBytes = 4 << 20  // size of a block
	headBytes  = 64 << 10 // read for the header
)

var errNotText = errors.New("is not valid UTF-8; convert it to UTF-8")

// csvDialect is how the spec says a CSV file is written: RFC 4180 with a chosen delimiter, a header line, UTF-8 with
// or without a byte order mark.
//
// A field that equals one of nulls is null, with or without quotes: most programs that write CSV do not distinguish
// "" from an empty field.
//
// If total is set, the values of a file that keeps to these rules never stop the reading: bytes that are not UTF-8
// are read as they are, a field or a row that is too long is null, and in a file of one column a blank line is an
// empty value. How one row is read does not depend on any other row.
type csvDialect struct {
	delimiter rune
	nulls     []string
	total     bool
}

// csvFile reads one CSV file. Every wanted column becomes text.
type csvFile struct {
	*handle
	nulls     []string
	total     bool // no value stops the reading
	delimiter []byte
	header    []string
	// otherDelimiter is the hint for an error if the header seems to be written with another delimiter.
	otherDelimiter  string
	slots           []int // by field, the slot of its spans, −1 for a field that is not wanted
	columnLocations       // after findColumns, indexes has the slot of each wanted column

	packed  *io.SectionReader // the file, as far as it was read
	plain   io.Reader         // decompressed
	closers []func() error
	ahead   []byte // read, but not yet part of a block
	ended   bool   // nothing follows ahead
	lines   int64  // before ahead
}

func (d csvDialect) open(h *handle, columns []Column) (file, error) {
	if err := h.acquire(); err != nil {
		return nil, err
	}
	if d.delimiter == 0 {
		d.delimiter = ','
	}
	f := &csvFile{handle: h, nulls: d.nulls, total: d.total, delimiter: utf8.AppendRune(nil, d.delimiter),
		closers: []func() error{h.releaseFile}}
	if err := f.findColumns(columns); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// findColumns reads the header and finds the wanted columns.
func (f *csvFile) findColumns(columns []Column) error {
	err := f.checkFormat(files.CSV)
	if err != nil {
		return err
	}
	f.packed = io.NewSectionReader(f, 0, f.size())
	if f.plain, err = f.decompress(f.packed); err != nil {
		return f.readError(err)
	}
	if err := f.readHeader(); err != nil {
		return err
	}
	f.columnLocations, err = locateColumns(f.handle, f.header, columns)
	var missing *Error
	if errors.As(err, &missing) && missing.Kind == Missing {
		// The first line may be data where a header was left out: it is not shown.
		missing.Message, missing.Detail = "the file has no column of that name"+
			f.spellingHint(missing.Column)+f.otherDelimiter+"; its first line has the names ("+f.firstLineCommand()+")",
			missing.Message+"; its first line has "+f.firstNames()
	}
	if err != nil {
		return err
	}
	f.slots = slices.Repeat([]int{-1}, len(f.header))
	slots := 0
	for i, place := range f.indexes {
		if place < 0 {
			continue
		}
		if f.slots[place] < 0 {
			f.slots[place] = slots
			slots++
		}
		f.indexes[i] = f.slots[place]
	}
	return nil
}

// spellingHint returns a hint if the first line has the name of a column in another spelling, and "" if not. It does
// not show that spelling, because the line may be data. If it is data, the hint reveals only that a value is spelled
// like a column of the spec.
func (f *csvFile) spellingHint(column string) string {
	plain := strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")
	for _, name := range f.header {
		if strings.EqualFold(plain.Replace(name), plain.Replace(column)) {
			return "; one differs from it only in capitals, blanks or signs: write it as the file has it, in `from:` " +
				"or the unit's `id:`"
		}
	}
	if columnHint(column, f.header) != "" {
		return "; one is spelled nearly so: correct the name in `from:` or in the unit's `id:`"
	}
	return ""
}

// firstLineCommand returns the command with which people who may see the data print the first line.
func (f *csvFile) firstLineCommand() string {
	switch {
	case f.hasEnding(".gz"):
		return "gzip -dc FILE | head -1"
	case f.hasEnding(".zst"):
		return "zstd -dc FILE | head -1"
	}
	return "head -1 FILE"
}

// firstNames lists the names in the first line, at most 50, for whoever may see the data.
func (f *csvFile) firstNames() string {
	const most = 50
	var names []string
	for _, name := range f.header[:min(len(f.header), most)] {
		names = append(names, strconv.Quote(document.Clip(name)))
	}
	if len(f.header) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// decompress returns a reader through gzip or zstd if the file name has their ending, and r if not.
func (f *csvFile) decompress(r io.Reader) (io.Reader, error) {
	switch {
	case f.hasEnding(".gz"):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		f.closers = slices.Insert(f.closers, 0, z.Close)
		return z, nil
	case f.hasEnding(".zst"):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		f.closers = slices.Insert(f.closers, 0, func() error { z.Close(); return nil })
		return z, nil
	}
	return r, nil
}

// readHeader reads the first row and checks its encoding and line ends.
func (f *csvFile) readHeader() error {
	text, err := f.nextBlock(headBytes)
	if err != nil {
		return err
	}
	text, err = f.skipByteOrderMark(text)
	if err != nil {
		return err
	}
	s := scanner{block: text, delimiter: f.delimiter}
	if some, _ := s.skipBlank(); !some {
		return malformedFile(f.path, "", "is empty; its first line must name the columns", "")
	}
	f.otherDelimiter = f.delimiterHint(text[s.at:])
	fields, err := s.headerFields()
	first := csvBlock{file: f, text: text}
	switch {
	case err != nil && f.otherDelimiter != "":
		return malformedFile(f.path, "", "the first line is no row of CSV"+f.otherDelimiter, "")
	case err != nil:
		return first.rowError(&s, err)
	}
	if !utf8.Valid(text[:s.at]) {
		first.text = text[:s.at]
		return first.notUTF8()
	}
	var name []byte
	for _, field := range fields {
		name = appendUnescaped(name[:0], field.bytes(text))
		if bytes.IndexByte(name, '\r') >= 0 {
			return malformedFile(f.path, "", "ends its lines in a carriage return alone; save it with LF or CRLF", "")
		}
		f.header = append(f.header, string(name))
	}
	f.lines = first.lineNumber(s.at) - 1
	f.ahead = append(slices.Clone(text[s.at:]), f.ahead...)
	return nil
}

// delimiterHint returns a hint with the delimiter that the header, the first line of text, seems to be written with,
// and "" if the line holds the delimiter of the dialect. It shows no value of the line.
func (f *csvFile) delimiterHint(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	if bytes.Contains(line, f.delimiter) {
		return ""
	}
	most, likely := 0, rune(0)
	for _, d := range delimiters {
		if n := bytes.Count(line, []byte(string(d))); n > most {
			most, likely = n, d
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("; it is one field with %q in it: if that parts the columns, write delimiter: %[1]q next to csv",
		string(likely))
}

// skipByteOrderMark skips the byte order mark of UTF-8 and refuses those of UTF-16.
func (f *csvFile) skipByteOrderMark(text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte{0xFE, 0xFF}) || bytes.HasPrefix(text, []byte{0xFF, 0xFE}) {
		return nil, malformedFile(f.path, "", "is written in UTF-16; save it as UTF-8", "")
	}
	return bytes.TrimPrefix(text, []byte{0xEF, 0xBB, 0xBF}), nil
}

func (f *csvFile) rowCount() int64 { return -1 }

func (f *csvFile) position() int64 {
	at, _ := f.packed.Seek(0, io.SeekCurrent) // never fails
	return at
}

func (f *csvFile) fields() (fields []Field) {
	for _, name := range f.header {
		fields = append(fields, Field{Name: name})
	}
	return fields
}

func (f *csvFile) nextPart(context.Context) (part, error) {
	text, err := f.nextBlock(blockBytes)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		if err := f.checkUnchanged(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	b := &csvBlock{file: f, text: text, lines: f.lines}
	f.lines += int64(bytes.Count(text, []byte{'\n'}))
	return b, nil
}

// nextBlock returns the next rows, about size bytes of them with padding after them, or nothing at the end of the
// file. In a well-formed file a line ends its row if the number of quotes before the line end is even. In a malformed
// file the first block that breaks the rules still begins with a row, and is refused when it is read.
func (f *csvFile) nextBlock(size int) ([]byte, error) {
	if f.ended {
		size = len(f.ahead)
	}
	text := append(make([]byte, 0, max(size, len(f.ahead))+1+padding), f.ahead...)
	f.ahead = nil
	for quotes, counted := 0, 0; ; {
		var err error
		if text, err = f.readMore(text); err != nil {
			return nil, err
		}
		quotes, counted = quotes+bytes.Count(text[counted:], []byte{'"'}), len(text)
		if f.ended {
			return f.endWithNewline(text), nil
		}
		if end := lastRow(text, quotes); end > 0 {
			f.ahead = slices.Clone(text[end:])
			return text[:end], nil
		}
		if len(text) >= MostRow {
			return f.overlongRowBlock(text)
		}
		room := min(2*len(text), MostRow)
		text = append(make([]byte, 0, room+1+padding), text...)
	}
}

// tooLong replaces a field that is too long to be read. It is not valid UTF-8, so no text of a file equals it.
const tooLong = "\xfftoo long\xff"

// overlongRowBlock returns the block for a row that begins with text and is longer than MostRow: one row of nulls in
// a total reading, and an error in any other.
func (f *csvFile) overlongRowBlock(text []byte) ([]byte, error) {
	if !f.total || f.header == nil {
		return nil, f.malformedLine(f.overlongRowError(text), f.lines+1)
	}
	if err := f.skipRow(text); err != nil {
		return nil, err
	}
	row := strings.Repeat(tooLong+string(f.delimiter), len(f.header)-1) + tooLong + "\n"
	return append(make([]byte, 0, len(row)+padding), row...), nil
}

// overlongRowError returns what is wrong with an overlong row that begins with text.
func (f *csvFile) overlongRowError(text []byte) error {
	s := scanner{block: append(text, '\n'), delimiter: f.delimiter}
	for at := 0; at < len(text); {
		_, next, _, err := s.nextField(at)
		switch {
		case errors.Is(err, errOpen):
			return errLongRow
		case err != nil:
			return err
		}
		at = next
	}
	return errLongRow
}

// skipRow reads to the end of the row that begins with text. It returns an error if a quote is open at the end of the
// file.
func (f *csvFile) skipRow(text []byte) error {
	f.lines-- // the row that stands for this one is counted when it is read
	for open := false; ; {
		for i, c := range text {
			switch {
			case c == '"':
				open = !open
			case c == '\n':
				if f.lines++; !open {
					f.ahead = slices.Clone(text[i+1:])
					return nil
				}
			}
		}
		switch {
		case f.ended && open:
			return f.malformedLine(errOpen, f.lines+1)
		case f.ended:
			return nil
		}
		var err error
		if text, err = f.readMore(text[:0]); err != nil {
			return err
		}
	}
}

// readMore fills the capacity of text, except for room for a last line end and padding.
func (f *csvFile) readMore(text []byte) ([]byte, error) {
	room := text[len(text) : cap(text)-1-padding]
	if f.ended || len(room) == 0 {
		return text, nil
	}
	for n := 0; n < len(room); {
		m, err := f.plain.Read(room[n:])
		n += m
		text = text[:len(text)+m]
		if errors.Is(err, io.EOF) { // not io.ErrUnexpectedEOF, which a truncated compressed file gives
			f.ended = true
			return text, nil
		}
		if err != nil {
			return nil, f.readError(err)
		}
	}
	return text, nil
}

// endWithNewline adds a line end to the last text of a file if it lacks one.
func (f *csvFile) endWithNewline(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}

// lastRow returns where the last complete row in text ends, 0 if there is none. quotes is the number of quotes in
// text.
func lastRow(text []byte, quotes int) int {
	for end := len(text); ; {
		n := bytes.LastIndexByte(text[:end], '\n')
		if n < 0 {
			return 0
		}
		if quotes -= bytes.Count(text[n:end], []byte{'"'}); quotes%2 == 0 {
			return n + 1
		}
		end = n
	}
}

// isNull reports whether a text stands for null.
func (f *csvFile) isNull(text []byte) bool {
	if f.total && string(text) == tooLong {
		return true
	}
	for _, null := range f.nulls {
		if string(text) == null {
			return true
		}
	}
	return false
}

// malformedLine returns the error of a line that breaks the rules. The line number is for the diagnostics only.
func (f *csvFile) malformedLine(err error, line int64) error {
	return malformedFile(f.path, "", err.Error(), fmt.Sprintf("line %d", line))
}

// readError returns the error of the system or of decompression.
func (f *csvFile) readError(err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		return unreadableFile(f.path, err)
	}
	return malformedFile(f.path, "", "cannot be decompressed; it may be cut short", err.Error())
}

func (f *csvFile) close() error {
	var all []error
	for _, c := range f.closers {
		all = append(all, c())
	}
	f.closers = nil
	return errors.Join(all...)
}

// delimiters are tried on a CSV header in this order, the usual one first.
var delimiters = []rune{',', ';', '\t', '|'}
