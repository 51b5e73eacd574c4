package source

import (
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

// This file holds the Arrow IPC file and stream. A file of the file format holds
// a stream between its magic bytes and its footer, so both are read as streams.

// fileHead is the bytes before the stream in a file of the file format.
const fileHead = 8

// arrowFile reads one Arrow IPC file or stream.
type arrowFile struct {
	*handle
	stream *io.SectionReader // from the schema to the end marker
	reader *ipc.Reader
	located
	columns []arrowColumn

	batches int   // expected, -1 where the format does not say
	first   int64 // where the footer says that the message behind the schema begins, 0 without a footer
	read    int
}

// arrowColumn is a wanted column of the file and how its arrays are converted.
type arrowColumn struct {
	name string
	of   arrow.DataType // of the arrays made of it
	copy conversion
}

func openArrow(h *handle, columns []Column) (file, error) {
	if err := h.hold(); err != nil {
		return nil, err
	}
	f := &arrowFile{handle: h, batches: -1}
	if err := f.start(columns); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// start finds the stream, reads the schema and the places of the columns.
func (f *arrowFile) start(columns []Column) (err error) {
	defer f.guard(&err, "", "a message")
	if err := f.mistaken(files.Arrow); err != nil {
		return err
	}
	if err := f.bounds(); err != nil {
		return err
	}
	mem := capFor(memory.DefaultAllocator, f.stream.Size())
	f.reader, err = ipc.NewReaderFromMessageReader(&messages{stream: f.stream, mem: mem, first: f.first - fileHead},
		ipc.WithAllocator(mem))
	if err != nil {
		return f.damaged("", "the schema", err)
	}
	fields := f.reader.Schema().Fields()
	header := make([]string, len(fields))
	for i, field := range fields {
		header[i] = field.Name
	}
	if f.located, err = locate(f.handle, header, columns); err != nil {
		return err
	}
	f.columns = make([]arrowColumn, len(columns))
	for i, place := range f.places {
		if place < 0 {
			continue
		}
		of, copy := conversionOf(fields[place].Type)
		if copy == nil {
			return &Error{Kind: WrongType, File: f.path, Column: columns[i].Name, Message: fmt.Sprintf(
				"has the Arrow type %s, which is not read; write text, an integer, a double, a decimal128, a date, a timestamp or a boolean",
				fields[place].Type)}
		}
		if err := columns[i].checkType(f.path, of); err != nil {
			return err
		}
		f.columns[i] = arrowColumn{name: columns[i].Name, of: of, copy: copy}
	}
	return nil
}

// bounds finds where the stream begins and must end.
func (f *arrowFile) bounds() error {
	begin, end := int64(0), f.size()
	head, err := f.bytes(0, int64(len(arrowMagic)))
	if err != nil {
		return err
	}
	if string(head) == arrowMagic {
		begin = fileHead
		end, err = f.footer(end)
	} else {
		err = f.checkEndMarker(end)
	}
	if err != nil {
		return err
	}
	f.stream = io.NewSectionReader(f.handle, begin, end-begin)
	return nil
}

// bytes reads part of the file.
func (f *arrowFile) bytes(from, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := f.ReadAt(b, from)
	if errors.Is(err, io.EOF) {
		return nil, malformed(f.path, "", "is too short for an Arrow file", "")
	}
	if err != nil {
		return nil, unreadable(f.path, err)
	}
	return b, nil
}

// checkEndMarker refuses a stream without its end marker, which may have been
// cut short after a whole message.
func (f *arrowFile) checkEndMarker(size int64) error {
	mark, err := f.bytes(max(size-8, 0), 8)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(mark) != continuation {
		return malformed(f.path, "",
			"does not end with the end marker of an Arrow stream; it may be cut short, write it again", "")
	}
	return nil
}

// footer returns where the footer of a file begins, and notes how many record
// batches it lists. Not every writer puts an end marker before it.
func (f *arrowFile) footer(size int64) (int64, error) {
	tail, err := f.bytes(max(size-10, 0), 10)
	if err != nil {
		return 0, err
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail)))
	begin := size - 10 - length
	if string(tail[4:]) != arrowMagic || length <= 0 || begin < fileHead {
		return 0, malformed(f.path, "",
			"begins as an Arrow file but does not end as one; it may be cut short, write it again", "")
	}
	footer, err := f.bytes(begin, length)
	if err != nil {
		return 0, err
	}
	if f.batches, f.first, err = listedBatches(footer, begin); err != nil {
		return 0, f.damaged("", "the footer", err)
	}
	return begin, nil
}

func (f *arrowFile) next(context.Context) (p part, err error) {
	defer f.guard(&err, "", "a message")
	batch, err := f.reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, f.atEnd()
	}
	if err != nil {
		return nil, f.damaged("", "a record batch", err)
	}
	for i := range int(batch.NumCols()) {
		if int64(batch.Column(i).Len()) != batch.NumRows() {
			return nil, f.damaged("", "a record batch", errors.New("its columns differ in length"))
		}
	}
	batch.Retain()
	f.read++
	return &recordBatch{file: f, Record: batch, number: f.read - 1}, nil
}

func (f *arrowFile) rows() int64 { return -1 }

func (f *arrowFile) fields() (fields []Field) {
	for _, field := range f.reader.Schema().Fields() {
		fields = append(fields, Field{Name: field.Name, Type: arrowType(field.Type)})
	}
	return fields
}

// atEnd makes sure that the stream was read to its end, so that no batch was
// passed over.
func (f *arrowFile) atEnd() error {
	place, err := f.stream.Seek(0, io.SeekCurrent)
	if err != nil {
		return unreadable(f.path, err)
	}
	if place != f.stream.Size() {
		return f.damaged("", "the stream", errors.New("it ends before its end"))
	}
	if f.batches >= 0 && f.batches != f.read {
		return f.damaged("", "the footer", errors.New("it lists another number of record batches"))
	}
	if err := f.check(); err != nil {
		return err
	}
	return io.EOF
}

func (f *arrowFile) close() error {
	f.release()
	return f.drop()
}

// release frees the reader. After a message that could not be decoded the
// decoder may fail once more here, which adds nothing to the first error.
func (f *arrowFile) release() {
	defer func() { _ = recover() }()
	if f.reader != nil {
		f.reader.Release()
		f.reader = nil
	}
}
