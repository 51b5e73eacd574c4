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

// binaryRows writes rows that come in binary format to a spool, as an Arrow stream. It is the writer of a COPY, and
// must be released.
type binaryRows struct {
	columns []binaryColumn
	batches *ipc.Writer
	schema  *arrow.Schema

	rest   []byte // of a row that has not come whole
	header bool   // the header was read
	ended  bool   // the trailer was read
	rows   int64
	batch  int // rows of the batch
	bytes  int // bytes of the texts of the batch
	err    error
}

// batchBytes is about the most bytes of texts in a batch.
const batchBytes = 32 << 20

// binarySignature opens the binary format.
const binarySignature = "PGCOPY\n\xff\r\n\x00"

var (
	errBinary = errors.New("the rows do not have the binary format of COPY, or do not come to their end")
	errValue  = errors.New("a value does not have the binary format of its type")
)

func newBinaryRows(columns []binaryColumn, to *source.Spool) *binaryRows {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	schema := arrow.NewSchema(fields, nil)
	return &binaryRows{columns: columns, schema: schema, batches: ipc.NewWriter(to, ipc.WithSchema(schema))}
}

// Write takes the next bytes. After an error, which is kept, it takes no more.
func (w *binaryRows) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	data := p
	if len(w.rest) > 0 {
		w.rest = append(w.rest, p...)
		data = w.rest
	}
	n, err := w.take(data)
	if err != nil {
		w.err = err
		return 0, err
	}
	w.rest = append(w.rest[:0], data[n:]...)
	return len(p), nil
}

// take takes what is whole of data, and returns how many bytes that is.
func (w *binaryRows) take(data []byte) (taken int, err error) {
	if !w.header {
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
		w.header, taken = true, n
	}
	for {
		n, err := w.takeRow(data[taken:])
		if n == 0 || err != nil {
			return taken, err
		}
		taken += n
	}
}

// takeRow takes a row, and returns its length, 0 if it has not come whole.
func (w *binaryRows) takeRow(data []byte) (int, error) {
	if len(data) < 2 {
		return 0, nil
	}
	switch fields := int16(binary.BigEndian.Uint16(data)); {
	case w.ended:
		return 0, errBinary
	case fields == -1:
		w.ended = true
		return 2, nil
	case int(fields) != len(w.columns):
		return 0, errBinary
	}
	n := 2
	for range w.columns {
		if len(data) < n+4 {
			return 0, nil
		}
		size := int32(binary.BigEndian.Uint32(data[n:]))
		if size < -1 {
			return 0, errBinary
		}
		if n += 4 + int(max(size, 0)); len(data) < n {
			return 0, nil
		}
	}
	at := 2
	for i := range w.columns {
		c := &w.columns[i]
		size := int32(binary.BigEndian.Uint32(data[at:]))
		at += 4
		if size < 0 {
			c.build.AppendNull()
			continue
		}
		if !c.add(data[at : at+int(size)]) {
			return 0, errValue
		}
		at += int(size)
		if c.text {
			w.bytes += int(size)
		}
	}
	w.rows++
	if w.batch++; w.batch == source.MaxRows || w.bytes >= batchBytes {
		return n, w.writeBatch()
	}
	return n, nil
}

// writeBatch writes the rows that were taken since the last batch.
func (w *binaryRows) writeBatch() error {
	arrays := make([]arrow.Array, len(w.columns))
	for i, c := range w.columns {
		arrays[i] = c.build.NewArray()
		defer arrays[i].Release()
	}
	record := array.NewRecord(w.schema, arrays, int64(w.batch))
	defer record.Release()
	w.batch, w.bytes = 0, 0
	return w.batches.Write(record)
}

// finish writes the rows that are left, and ends the stream. It returns the first error of the writing, and an error if
// the rows have not come to their end.
func (w *binaryRows) finish() error {
	switch {
	case w.err != nil:
		return w.err
	case !w.ended || len(w.rest) > 0:
		return errBinary
	}
	if w.batch > 0 {
		if err := w.writeBatch(); err != nil {
			return err
		}
	}
	return w.batches.Close()
}

// release frees the memory of the columns.
func (w *binaryRows) release() {
	for _, c := range w.columns {
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
