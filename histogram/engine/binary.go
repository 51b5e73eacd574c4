package engine

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/dprelease/dprelease/histogram/source"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// This file holds the reading of rows in the binary format of PostgreSQL's COPY (PostgreSQL documentation, "COPY",
// Binary Format): a header; of each row the number of its fields, and each field with its length in bytes, −1 for
// null; and a trailer, all numbers big-endian.

// binaryColumn appends the values of a column.
type binaryColumn struct {
	field arrow.Field
	build array.Builder
	// add appends a value from its bytes, which it must not retain. It reports false if they are no value of the type.
	add  func(value []byte) bool
	text bool // the bytes are kept, so that they count towards the size of a batch
}

// binaryStream reads rows in binary format as their bytes come. It is the writer of a COPY.
type binaryStream struct {
	fields int
	row    func(values [][]byte) error // gets the fields of a row, nil for null; it must not retain them

	values [][]byte
	rest   []byte // of a row that has not come whole
	header bool   // the header was read
	ended  bool   // the trailer was read
	rows   int64
	err    error
}

// binarySignature opens the binary format.
const binarySignature = "PGCOPY\n\xff\r\n\x00"

var (
	errBinary = errors.New("the rows do not have the binary format of COPY, or do not come to their end")
	errValue  = errors.New("a value does not have the binary format of its type")
)

// Write takes the next bytes. After an error, which is kept, it takes no more.
func (s *binaryStream) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	data := p
	if len(s.rest) > 0 {
		s.rest = append(s.rest, p...)
		data = s.rest
	}
	n, err := s.take(data)
	if err != nil {
		s.err = err
		return 0, err
	}
	s.rest = append(s.rest[:0], data[n:]...)
	return len(p), nil
}

// take takes what is whole of data, and returns how many bytes that is.
func (s *binaryStream) take(data []byte) (taken int, err error) {
	if !s.header {
		n := len(binarySignature) + 8
		if len(data) < n {
			return 0, nil
		}
		extension := binary.BigEndian.Uint32(data[n-4:])
		if string(data[:len(binarySignature)]) != binarySignature || extension > math.MaxInt16 {
			return 0, errBinary
		}
		if n += int(extension); len(data) < n {
			return 0, nil
		}
		s.header, taken = true, n
	}
	for {
		n, err := s.takeRow(data[taken:])
		if n == 0 || err != nil {
			return taken, err
		}
		taken += n
	}
}

// takeRow takes a row, and returns its length, 0 if it has not come whole.
func (s *binaryStream) takeRow(data []byte) (int, error) {
	if len(data) < 2 {
		return 0, nil
	}
	switch fields := int16(binary.BigEndian.Uint16(data)); {
	case s.ended:
		return 0, errBinary
	case fields == -1:
		s.ended = true
		return 2, nil
	case int(fields) != s.fields:
		return 0, errBinary
	}
	s.values = s.values[:0]
	n := 2
	for range s.fields {
		if len(data) < n+4 {
			return 0, nil
		}
		size := int32(binary.BigEndian.Uint32(data[n:]))
		if size < -1 {
			return 0, errBinary
		}
		from := n + 4
		if n = from + int(max(size, 0)); len(data) < n {
			return 0, nil
		}
		if size < 0 {
			s.values = append(s.values, nil)
		} else {
			s.values = append(s.values, data[from:n:n])
		}
	}
	s.rows++
	return n, s.row(s.values)
}

// finish returns the first error of the reading, and an error if the rows have not come to their end.
func (s *binaryStream) finish() error {
	if s.err == nil && (!s.ended || len(s.rest) > 0) {
		s.err = errBinary
	}
	return s.err
}

// binaryRows writes the rows of a stream to a spool, as an Arrow stream. It must be released.
type binaryRows struct {
	binaryStream
	columns []binaryColumn
	batches *ipc.Writer
	schema  *arrow.Schema
	batch   int // rows of the batch
	bytes   int // bytes of the texts of the batch
}

// batchBytes is about the most bytes of texts in a batch.
const batchBytes = 32 << 20

func newBinaryRows(columns []binaryColumn, to *source.Spool) *binaryRows {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	schema := arrow.NewSchema(fields, nil)
	w := &binaryRows{columns: columns, schema: schema, batches: ipc.NewWriter(to, ipc.WithSchema(schema))}
	w.binaryStream = binaryStream{fields: len(columns), row: w.addRow}
	return w
}

// addRow adds a row to the batch.
func (w *binaryRows) addRow(values [][]byte) error {
	for i, value := range values {
		c := &w.columns[i]
		if value == nil {
			c.build.AppendNull()
			continue
		}
		if !c.add(value) {
			return errValue
		}
		if c.text {
			w.bytes += len(value)
		}
	}
	if w.batch++; w.batch == source.MaxRows || w.bytes >= batchBytes {
		return w.writeBatch()
	}
	return nil
}

// writeBatch writes the rows that were added since the last batch.
func (w *binaryRows) writeBatch() error {
	arrays := newArrays(w.columns)
	for _, a := range arrays {
		defer a.Release()
	}
	record := array.NewRecord(w.schema, arrays, int64(w.batch))
	defer record.Release()
	w.batch, w.bytes = 0, 0
	return w.batches.Write(record)
}

// newArrays returns the values that were added to columns, and empties these.
func newArrays(columns []binaryColumn) []arrow.Array {
	arrays := make([]arrow.Array, len(columns))
	for i, c := range columns {
		arrays[i] = c.build.NewArray()
	}
	return arrays
}

// finish writes the rows that are left, and ends the stream. It returns the first error of the writing, and an error if
// the rows have not come to their end.
func (w *binaryRows) finish() error {
	if err := w.binaryStream.finish(); err != nil {
		return err
	}
	if w.batch > 0 {
		if err := w.writeBatch(); err != nil {
			return err
		}
	}
	return w.batches.Close()
}

// release frees the memory of the columns.
func (w *binaryRows) release() { releaseColumns(w.columns) }

// releaseColumns frees the memory of columns.
func releaseColumns(columns []binaryColumn) {
	for _, c := range columns {
		c.build.Release()
	}
}

// column returns a column with a builder.
func column[B array.Builder](name string, of arrow.DataType, add func(b B, value []byte) bool) binaryColumn {
	b := array.NewBuilder(memory.DefaultAllocator, of).(B)
	return binaryColumn{field: arrow.Field{Name: name, Type: of, Nullable: true}, build: b,
		add: func(value []byte) bool { return add(b, value) }}
}

// textColumn returns a column of texts. Of a text that is too long to be read only as much is kept as shows that.
func textColumn(name string) binaryColumn {
	c := column(name, arrow.BinaryTypes.String, func(b *array.StringBuilder, value []byte) bool {
		if len(value) > source.MostText+utf8.UTFMax {
			value = value[:source.MostText+utf8.UTFMax]
		}
		b.BinaryBuilder.Append(value)
		return true
	})
	c.text = true
	return c
}
