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
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/files"
	"github.com/klauspost/compress/zstd"
)

// This file holds the CSV file: text with a header line, perhaps compressed, cut
// into blocks of whole lines.

const (
	blockBytes = 4 << 20  // of a block
	headBytes  = 64 << 10 // read for the header
)

var errNotText = errors.New("is not valid UTF-8; convert it to UTF-8")

// csvDialect is how the spec says a CSV file is written: RFC 4180 with a
// delimiter of choice, a header line, UTF-8 with or without a byte order mark.
//
// A field that equals one of nulls is null. Quotes do not matter for that: most
// of the programs that write CSV do not tell "" from an empty field.
//
// With total, whatever a value is, a file that keeps to these rules is read: bytes that are not UTF-8 are read as they
// are, a field or a row that is too long is null, and in a file of one column a blank line is an empty value. What one
// row is read as does not depend on any other.
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
	// otherDelimiter is what to say where the header looks to be written with another.
	otherDelimiter string
	slots          []int // of each field: where its spans go, −1 where it is not wanted
	located              // the slot of each wanted column

	plain   io.Reader // decompressed
	closers []func() error
	ahead   []byte // read, but not yet part of a block
	ended   bool   // there is nothing behind ahead
	lines   int64  // before ahead
}

func (d csvDialect) open(h *handle, columns []Column) (file, error) {
	if err := h.hold(); err != nil {
		return nil, err
	}
	if d.delimiter == 0 {
		d.delimiter = ','
	}
	f := &csvFile{handle: h, nulls: d.nulls, total: d.total, delimiter: utf8.AppendRune(nil, d.delimiter),
		closers: []func() error{h.drop}}
	if err := f.start(columns); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// start reads the header and finds the wanted columns.
func (f *csvFile) start(columns []Column) error {
	err := f.mistaken(files.CSV)
	if err != nil {
		return err
	}
	if f.plain, err = f.decompress(io.NewSectionReader(f, 0, f.size())); err != nil {
		return f.fault(err)
	}
	if err := f.readHeader(); err != nil {
		return err
	}
	f.located, err = locate(f.handle, f.header, columns)
	var missing *Error
	if errors.As(err, &missing) && missing.Kind == Missing {
		// The first line may be data where a header was left out: it is not shown.
		missing.Message, missing.Detail = "the first line, which must name the columns, names no such column"+
			f.nearly(missing.Column)+f.otherDelimiter, missing.Message
	}
	if err != nil {
		return err
	}
	f.slots = slices.Repeat([]int{-1}, len(f.header))
	slots := 0
	for i, place := range f.places {
		if place < 0 {
			continue
		}
		if f.slots[place] < 0 {
			f.slots[place] = slots
			slots++
		}
		f.places[i] = f.slots[place]
	}
	return nil
}

// nearly reports whether the first line has the name of a column in another spelling. It does not show that spelling,
// as the line may be data: where it is, that a value is spelled like a column of the spec is all that it tells.
func (f *csvFile) nearly(column string) string {
	plain := strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")
	for _, name := range f.header {
		if strings.EqualFold(plain.Replace(name), plain.Replace(column)) {
			return "; one differs from it in capitals, blanks or signs alone: write the name as the file has it, in from: or in the unit's id:"
		}
	}
	return ""
}

// decompress reads through gzip or zstd where the file name says so.
func (f *csvFile) decompress(r io.Reader) (io.Reader, error) {
	switch {
	case f.endsIn(".gz"):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		f.closers = slices.Insert(f.closers, 0, z.Close)
		return z, nil
	case f.endsIn(".zst"):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		f.closers = slices.Insert(f.closers, 0, func() error { z.Close(); return nil })
		return z, nil
	}
	return r, nil
}

// readHeader reads the first row and checks that the file is text as it should be.
func (f *csvFile) readHeader() error {
	text, err := f.block(headBytes)
	if err != nil {
		return err
	}
	text, err = f.skipMark(text)
	if err != nil {
		return err
	}
	s := scanner{block: text, delimiter: f.delimiter}
	if some, _ := s.skipBlank(); !some {
		return malformed(f.path, "", "is empty; its first line must name the columns", "")
	}
	f.otherDelimiter = f.suspect(text[s.at:])
	fields, err := s.header()
	first := csvBlock{file: f, text: text}
	switch {
	case err != nil && f.otherDelimiter != "":
		return malformed(f.path, "", "the first line is no row of CSV"+f.otherDelimiter, "")
	case err != nil:
		return first.fault(&s, err)
	}
	if !utf8.Valid(text[:s.at]) {
		first.text = text[:s.at]
		return first.notText()
	}
	var name []byte
	for _, field := range fields {
		name = unescape(name[:0], field.bytes(text))
		if bytes.IndexByte(name, '\r') >= 0 {
			return malformed(f.path, "", "ends its lines in a carriage return alone; save it with LF or CRLF", "")
		}
		f.header = append(f.header, string(name))
	}
	f.lines = first.line(s.at) - 1
	f.ahead = append(slices.Clone(text[s.at:]), f.ahead...)
	return nil
}

// suspect says which delimiter the text that begins with the header looks to be written
// with, where it has none of its own: it names no value of it.
func (f *csvFile) suspect(text []byte) string {
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
	return fmt.Sprintf("; it is one field with %q in it: if that parts the columns, write delimiter: %[1]q beside csv",
		string(likely))
}

// skipMark skips the byte order mark of UTF-8 and refuses those of UTF-16.
func (f *csvFile) skipMark(text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte{0xFE, 0xFF}) || bytes.HasPrefix(text, []byte{0xFF, 0xFE}) {
		return nil, malformed(f.path, "", "is written in UTF-16; save it as UTF-8", "")
	}
	return bytes.TrimPrefix(text, []byte{0xEF, 0xBB, 0xBF}), nil
}

func (f *csvFile) rows() int64 { return -1 }

func (f *csvFile) fields() (fields []Field) {
	for _, name := range f.header {
		fields = append(fields, Field{Name: name})
	}
	return fields
}

func (f *csvFile) next(context.Context) (part, error) {
	text, err := f.block(blockBytes)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		if err := f.check(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	b := &csvBlock{file: f, text: text, lines: f.lines}
	f.lines += int64(bytes.Count(text, []byte{'\n'}))
	return b, nil
}

// block returns the next rows, of about so many bytes and with padding behind
// them, or nothing at the end. In a file that keeps to the rules a line ends its
// row where the number of quotes before it is even. In one that does not, the
// first block that breaks them still begins with a row, and is refused when it is
// read.
func (f *csvFile) block(size int) ([]byte, error) {
	if f.ended {
		size = len(f.ahead)
	}
	text := append(make([]byte, 0, max(size, len(f.ahead))+1+padding), f.ahead...)
	f.ahead = nil
	for quotes, counted := 0, 0; ; {
		var err error
		if text, err = f.read(text); err != nil {
			return nil, err
		}
		quotes, counted = quotes+bytes.Count(text[counted:], []byte{'"'}), len(text)
		if f.ended {
			return f.last(text), nil
		}
		if end := lastRow(text, quotes); end > 0 {
			f.ahead = slices.Clone(text[end:])
			return text[:end], nil
		}
		if len(text) >= MostRow {
			return f.long(text)
		}
		room := min(2*len(text), MostRow)
		text = append(make([]byte, 0, room+1+padding), text...)
	}
}

// tooLong stands for a field that is too long to be read. It is not UTF-8, so no text is like it.
const tooLong = "\xfftoo long\xff"

// long is the block of a row that begins with text and is longer than a row may be: in a total reading one row of
// nulls, else an error.
func (f *csvFile) long(text []byte) ([]byte, error) {
	if !f.total || f.header == nil {
		return nil, f.malformed(f.fails(text), f.lines+1)
	}
	if err := f.skipRow(text); err != nil {
		return nil, err
	}
	row := strings.Repeat(tooLong+string(f.delimiter), len(f.header)-1) + tooLong + "\n"
	return append(make([]byte, 0, len(row)+padding), row...), nil
}

// fails is what is wrong with a long row that begins with text.
func (f *csvFile) fails(text []byte) error {
	s := scanner{block: append(text, '\n'), delimiter: f.delimiter}
	for at := 0; at < len(text); {
		_, next, _, err := s.field(at)
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

// skipRow reads to the end of the row that begins with text. It is an error where a quote is open at the end of the
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
			return f.malformed(errOpen, f.lines+1)
		case f.ended:
			return nil
		}
		var err error
		if text, err = f.read(text[:0]); err != nil {
			return err
		}
	}
}

// read fills the memory behind text but for room for a last line end and padding.
func (f *csvFile) read(text []byte) ([]byte, error) {
	room := text[len(text) : cap(text)-1-padding]
	if f.ended || len(room) == 0 {
		return text, nil
	}
	for n := 0; n < len(room); {
		m, err := f.plain.Read(room[n:])
		n += m
		text = text[:len(text)+m]
		if errors.Is(err, io.EOF) { // and not that of a compressed file that is cut short
			f.ended = true
			return text, nil
		}
		if err != nil {
			return nil, f.fault(err)
		}
	}
	return text, nil
}

// last is the text that ends a file, with a line end.
func (f *csvFile) last(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}

// lastRow returns where the last row that ends in text ends, 0 for nowhere. text
// holds so many quotes.
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

// malformed is a breach of the rules in a line, whose number is for the
// diagnostics.
func (f *csvFile) malformed(err error, line int64) error {
	return malformed(f.path, "", err.Error(), fmt.Sprintf("line %d", line))
}

// fault tells an error of the system from one of decompression.
func (f *csvFile) fault(err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		return unreadable(f.path, err)
	}
	return malformed(f.path, "", "cannot be decompressed; it may be cut short", err.Error())
}

func (f *csvFile) close() error {
	var all []error
	for _, c := range f.closers {
		all = append(all, c())
	}
	f.closers = nil
	return errors.Join(all...)
}

// delimiters that a CSV header is tried with, the usual one first.
var delimiters = []rune{',', ';', '\t', '|'}
