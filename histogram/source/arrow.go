package source

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the Arrow IPC file and stream. A file of the file format holds a stream between its magic bytes and
// its footer, so both are read as streams.

// fileHead is the number of bytes before the stream in a file of the file format.
const fileHead = 8

// arrowFile reads one Arrow IPC file or stream.
type arrowFile struct {
	*handle
	stream *io.SectionReader // from the schema to the end marker
	reader *ipc.Reader
	columnLocations
	columns []arrowColumn

	batches int   // number that the footer lists, -1 without a footer
	first   int64 // offset of the message after the schema by the footer, 0 without a footer
	read    int
}

// arrowColumn is a wanted column of the file and the conversion of its arrays.
type arrowColumn struct {
	name     string
	dataType arrow.DataType // of the converted arrays
	convert  conversion
}

func openArrow(h *handle, columns []Column) (file, error) {
	if err := h.acquire(); err != nil {
		return nil, err
	}
	f := &arrowFile{handle: h, batches: -1}
	if err := f.readSchema(columns); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// readSchema finds the stream, reads the schema and locates the wanted columns.
func (f *arrowFile) readSchema(columns []Column) (err error) {
	defer f.recoverDecoder(&err, "", "a message")
	if err := f.checkFormat(files.Arrow); err != nil {
		return err
	}
	if err := f.findStream(); err != nil {
		return err
	}
	mem := capFor(memory.DefaultAllocator, f.stream.Size())
	f.reader, err = ipc.NewReaderFromMessageReader(&messages{stream: f.stream, mem: mem, first: f.first - fileHead},
		ipc.WithAllocator(mem))
	if err != nil {
		return f.damagedError("", "the schema", err)
	}
	fields := f.reader.Schema().Fields()
	header := make([]string, len(fields))
	for i, field := range fields {
		header[i] = field.Name
	}
	if f.columnLocations, err = locateColumns(f.handle, header, columns); err != nil {
		return err
	}
	f.columns = make([]arrowColumn, len(columns))
	for i, place := range f.indexes {
		if place < 0 {
			continue
		}
		of, copy := conversionOfField(fields[place])
		if copy == nil {
			return &Error{Kind: WrongType, File: f.path, Column: columns[i].Name, Message: fmt.Sprintf(
				"has the Arrow type %s, which is not read; write text, an integer, a double, a decimal128, a date, a "+
					"timestamp or a boolean",
				fields[place].Type)}
		}
		if !f.holdsNumbers(fields[place]) {
			if err := columns[i].checkType(f.path, of); err != nil {
				return err
			}
		}
		f.columns[i] = arrowColumn{name: columns[i].Name, dataType: of, convert: copy}
	}
	return nil
}

// holdsNumbers reports whether a column of texts was fetched from a column of numbers.
func (f *arrowFile) holdsNumbers(field arrow.Field) bool {
	at := field.Metadata.FindKey(numberKey)
	return f.spool != nil && at >= 0
}

// findStream finds where the stream begins and where it must end.
func (f *arrowFile) findStream() error {
	begin, end := int64(0), f.size()
	head, err := f.readBytes(0, int64(len(arrowMagic)))
	if err != nil {
		return err
	}
	if string(head) == arrowMagic {
		begin = fileHead
		end, err = f.readFooter(end)
	} else {
		err = f.checkEndMarker(end)
	}
	if err != nil {
		return err
	}
	f.stream = io.NewSectionReader(f.handle, begin, end-begin)
	return nil
}

// readBytes reads n bytes of the file from an offset.
func (f *arrowFile) readBytes(from, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := f.ReadAt(b, from)
	if errors.Is(err, io.EOF) {
		return nil, malformedFile(f.path, "", "is too short for an Arrow file", "")
	}
	if err != nil {
		return nil, unreadableFile(f.path, err)
	}
	return b, nil
}

// checkEndMarker refuses a stream without its end marker: it may have been cut short after a whole message.
func (f *arrowFile) checkEndMarker(size int64) error {
	mark, err := f.readBytes(max(size-8, 0), 8)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(mark) != continuation {
		return malformedFile(f.path, "",
			"does not end with the end marker of an Arrow stream; it may be cut short, write it again", "")
	}
	return nil
}

// readFooter returns where the footer of a file begins, and records how many record batches it lists. Not every
// writer puts an end marker before the footer.
func (f *arrowFile) readFooter(size int64) (int64, error) {
	tail, err := f.readBytes(max(size-10, 0), 10)
	if err != nil {
		return 0, err
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail)))
	begin := size - 10 - length
	if string(tail[4:]) != arrowMagic || length <= 0 || begin < fileHead {
		return 0, malformedFile(f.path, "",
			"begins as an Arrow file but does not end as one; it may be cut short, write it again", "")
	}
	footer, err := f.readBytes(begin, length)
	if err != nil {
		return 0, err
	}
	if f.batches, f.first, err = listedBatches(footer, begin); err != nil {
		return 0, f.damagedError("", "the footer", err)
	}
	return begin, nil
}

func (f *arrowFile) nextPart(context.Context) (p part, err error) {
	defer f.recoverDecoder(&err, "", "a message")
	batch, err := f.reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, f.atEnd()
	}
	if err != nil {
		return nil, f.damagedError("", "a record batch", err)
	}
	for i := range int(batch.NumCols()) {
		if int64(batch.Column(i).Len()) != batch.NumRows() {
			return nil, f.damagedError("", "a record batch", errors.New("its columns differ in length"))
		}
	}
	batch.Retain()
	f.read++
	return &recordBatch{file: f, Record: batch, number: f.read - 1}, nil
}

func (f *arrowFile) rowCount() int64 { return -1 }

func (f *arrowFile) position() int64 {
	at, _ := f.stream.Seek(0, io.SeekCurrent) // never fails
	return at
}

func (f *arrowFile) fields() (fields []Field) {
	for _, field := range f.reader.Schema().Fields() {
		of, _ := conversionOfField(field)
		fields = append(fields, Field{Name: field.Name, Type: arrowType(cmp.Or(of, field.Type))})
	}
	return fields
}

// atEnd returns io.EOF if the stream was read to its end and no batch was skipped, and an error otherwise.
func (f *arrowFile) atEnd() error {
	place, err := f.stream.Seek(0, io.SeekCurrent)
	if err != nil {
		return unreadableFile(f.path, err)
	}
	if place != f.stream.Size() {
		return f.damagedError("", "the stream", errors.New("it ends before its end"))
	}
	if f.batches >= 0 && f.batches != f.read {
		return f.damagedError("", "the footer", errors.New("it lists another number of record batches"))
	}
	if err := f.checkUnchanged(); err != nil {
		return err
	}
	return io.EOF
}

func (f *arrowFile) close() error {
	f.release()
	return f.releaseFile()
}

// release frees the reader. After a message that could not be decoded the decoder may panic once more here; that
// panic adds nothing to the first error and is dropped.
func (f *arrowFile) release() {
	defer func() { _ = recover() }()
	if f.reader != nil {
		f.reader.Release()
		f.reader = nil
	}
}
