package source

// This file holds the CSV file: text with a header line, perhaps compressed.

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/zstd"
)

// csvDialect is how the spec says a CSV file is written: RFC 4180 with a
// delimiter of choice, a header line, UTF-8 with or without a byte order mark.
//
// A field that equals one of nulls is null. Quotes do not matter for that:
// encoding/csv does not tell "" from an empty field, and neither do most of the
// programs that write CSV.
type csvDialect struct {
	delimiter rune
	nulls     []string
}

// csvFile reads one CSV file. Every wanted column becomes a String array.
type csvFile struct {
	*handle
	nulls   []string
	schema  *arrow.Schema
	names   []string // of the header
	places  []int
	single  bool // one column: a blank line could be a row
	lines   *lineCounter
	records *csv.Reader
	closers []func() error // in the order to be called
}

func (d csvDialect) open(h *handle, columns []Column) (file, error) {
	if err := h.hold(); err != nil {
		return nil, err
	}
	f := &csvFile{handle: h, nulls: d.nulls, schema: textSchema(names(columns))}
	f.closers = append(f.closers, h.drop)
	if err := f.start(d.delimiter, names(columns)); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func textSchema(columns []string) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// start opens the file and reads its header.
func (f *csvFile) start(delimiter rune, columns []string) error {
	plain, err := f.decompress(io.NewSectionReader(f, 0, f.size()))
	if err != nil {
		return f.fault(err)
	}
	f.lines = &lineCounter{r: plain}
	head, err := f.lines.peekMark()
	if err != nil {
		return f.fault(err)
	}
	if head == utf16Mark {
		return malformed(f.path, "", "is written in UTF-16; save it as UTF-8", "")
	}
	f.records = csv.NewReader(f.lines)
	f.records.ReuseRecord = true
	if delimiter != 0 {
		f.records.Comma = delimiter
	}
	header, err := f.records.Read()
	if errors.Is(err, io.EOF) {
		return malformed(f.path, "", "is empty; its first line must name the columns", "")
	}
	if err != nil {
		return f.fault(err)
	}
	if err := f.checkText(header); err != nil {
		return err
	}
	if strings.Contains(strings.Join(header, ""), "\r") {
		return malformed(f.path, "", "ends its lines in a carriage return alone; save it with LF or CRLF", "")
	}
	f.single = len(header) == 1
	f.lines.expected = f.lastLine(header)
	f.names = make([]string, len(header))
	for i, name := range header {
		f.names[i] = strings.Clone(name)
	}
	f.places, err = locate(f.path, f.names, columns)
	var missing *Error
	if errors.As(err, &missing) && missing.Kind == Missing {
		// The first line may be data where a header was left out: it is not shown.
		missing.Message, missing.Detail = "the first line, which must name the columns, names no such column", missing.Message
	}
	return err
}

// decompress reads through gzip or zstd where the file name says so.
func (f *csvFile) decompress(r io.Reader) (io.Reader, error) {
	switch name := strings.ToLower(f.path); {
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		f.closers = slices.Insert(f.closers, 0, z.Close)
		return z, nil
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		f.closers = slices.Insert(f.closers, 0, func() error { z.Close(); return nil })
		return z, nil
	}
	return r, nil
}

func (f *csvFile) rows() int64 { return -1 }

func (f *csvFile) next(ctx context.Context) (part, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, f.schema)
	defer builder.Release()
	builder.Reserve(MaxRows)
	rows, text := int64(0), 0
	for ; rows < MaxRows && text < textLimit/2; rows++ {
		if rows%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fields, err := f.records.Read()
		if errors.Is(err, io.EOF) {
			if err := f.checkBlank(f.lines.seen); err != nil {
				return nil, err
			}
			break
		}
		if err != nil {
			return nil, f.fault(err)
		}
		if err := f.checkRow(fields); err != nil {
			return nil, err
		}
		for i, place := range f.places {
			column, field := builder.Field(i).(*array.StringBuilder), fields[place]
			if slices.Contains(f.nulls, field) {
				column.AppendNull()
				continue
			}
			column.Append(field)
			text += len(field)
		}
	}
	if rows == 0 {
		return nil, io.EOF
	}
	// Built by hand: a record of no columns still has rows.
	columns := make([]arrow.Array, len(f.places))
	for i := range columns {
		columns[i] = builder.Field(i).NewArray()
	}
	return &csvBlock{array.NewRecord(f.schema, columns, rows)}, nil
}

// checkRow refuses text that is not UTF-8 and blank lines whose meaning is open.
func (f *csvFile) checkRow(fields []string) error {
	if err := f.checkText(fields); err != nil {
		return err
	}
	if !f.single {
		return nil
	}
	first, _ := f.records.FieldPos(0)
	if err := f.checkBlank(int64(first) - 1); err != nil {
		return err
	}
	f.lines.expected = f.lastLine(fields)
	return nil
}

// lastLine is the line on which the row just read ends.
func (f *csvFile) lastLine(fields []string) int64 {
	last := len(fields) - 1
	line, _ := f.records.FieldPos(last)
	return int64(line + strings.Count(fields[last], "\n"))
}

// checkBlank refuses a blank line in a file of one column: it could be an empty
// value or nothing. reached is the number of lines before the present place.
func (f *csvFile) checkBlank(reached int64) error {
	if !f.single || reached <= f.lines.expected {
		return nil
	}
	return malformed(f.path, "", `has a blank line; in a file of one column write "" for an empty value and remove other blank lines`,
		fmt.Sprintf("line %d", reached))
}

func (f *csvFile) checkText(fields []string) error {
	for i, field := range fields {
		if !utf8.ValidString(field) {
			line, _ := f.records.FieldPos(i)
			return malformed(f.path, "", "is not valid UTF-8; convert it to UTF-8", fmt.Sprintf("line %d", line))
		}
	}
	return nil
}

// fault turns an error of a reader beneath into one that names the file and
// keeps what it says for the diagnostics.
func (f *csvFile) fault(err error) error {
	var broken *csv.ParseError
	var system *fs.PathError
	switch {
	case errors.As(err, &broken) && errors.Is(err, csv.ErrFieldCount):
		return malformed(f.path, "", "a row has more or fewer fields than the header", fmt.Sprintf("line %d", broken.Line))
	case errors.As(err, &broken):
		return malformed(f.path, "", "a quote is misplaced or never closed", fmt.Sprintf("line %d", broken.Line))
	case errors.As(err, &system):
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

// lineCounter passes bytes on and counts the lines that ended in them.
type lineCounter struct {
	r        io.Reader
	ahead    []byte // read by peekMark, still to pass on
	seen     int64  // lines that ended
	expected int64  // last line of the last row
}

// mark is the byte order mark at the start of a file.
type mark int

const (
	noMark mark = iota
	utf8Mark
	utf16Mark
)

// peekMark looks for a byte order mark and skips that of UTF-8.
func (l *lineCounter) peekMark() (mark, error) {
	head := make([]byte, 3)
	n, err := io.ReadFull(l.r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return noMark, err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && n == 0 {
		return noMark, err
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		return utf8Mark, nil
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}), bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return utf16Mark, nil
	}
	l.ahead = head
	return noMark, nil
}

func (l *lineCounter) Read(p []byte) (n int, err error) {
	if len(l.ahead) > 0 {
		n = copy(p, l.ahead)
		l.ahead = l.ahead[n:]
	} else {
		n, err = l.r.Read(p)
	}
	l.seen += int64(bytes.Count(p[:n], []byte{'\n'}))
	return n, err
}

// csvBlock is rows of a file.
type csvBlock struct{ arrow.Record }

func (c *csvBlock) rows() int64 { return c.NumRows() }

func (c *csvBlock) read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	rows := int(c.NumRows())
	for i := range b.codes {
		if b.codes[i] == nil {
			b.values[i] = newValueBuffer(arrow.BinaryTypes.String)
		} else {
			b.codes[i].page(c.Column(i))
		}
	}
	for from := 0; from < rows; from += most {
		n := min(most, rows-from)
		for i := range b.codes {
			if b.codes[i] == nil {
				b.values[i].start(n)
				if err := b.values[i].values(c.Column(i), from, from+n); err != nil {
					return err
				}
				continue
			}
			b.codes[i].start(min(most, rows))
			b.codes[i].take(from, from+n)
		}
		if err := b.pass(int64(from), n, visit); err != nil {
			return err
		}
	}
	return nil
}
