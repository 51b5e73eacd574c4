package source

// This file holds the Parquet file: its row groups, cut into records.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFile reads one Parquet file, a row group after another.
type parquetFile struct {
	path   string
	mem    memory.Allocator
	handle *os.File
	size   int64
	footer *format.FileMetaData
	groups []parquet.RowGroup
	all    []*parquet.Column
	wanted []parquetColumn

	group  int            // next row group to start
	chunks []*columnChunk // of the row group being read
	left   int64          // its rows still to read
}

// parquetColumn is a wanted column and how its values become an Arrow array.
type parquetColumn struct {
	name     string
	leaf     int
	optional bool
	newSink  func(memory.Allocator) sink
}

func openParquet(path string, columns []string, mem memory.Allocator) (file, error) {
	handle, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	f := &parquetFile{path: path, mem: mem, handle: handle}
	if err := f.start(columns); err != nil {
		handle.Close()
		return nil, err
	}
	return f, nil
}

// start reads the footer and finds the wanted columns.
func (f *parquetFile) start(columns []string) (err error) {
	defer f.guard(&err, "", "the footer")
	info, err := f.handle.Stat()
	if err != nil {
		return unreadable(f.path, err)
	}
	f.size = info.Size()
	if err := f.checkFooter(f.size); err != nil {
		return err
	}
	opened, err := parquet.OpenFile(f.handle, f.size,
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<20))
	if err != nil {
		return f.damaged("", "the footer", err)
	}
	fields := opened.Root().Columns()
	f.all = fields
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name()
	}
	places, err := locate(f.path, names, columns)
	if err != nil {
		return err
	}
	for i, place := range places {
		column, err := f.column(columns[i], fields[place])
		if err != nil {
			return err
		}
		f.wanted = append(f.wanted, column)
	}
	f.groups, f.footer = opened.RowGroups(), opened.Metadata()
	if err := f.checkCodecs(); err != nil {
		return err
	}
	return f.checkRows(opened)
}

// checkCodecs refuses what the decoder cannot be trusted with: it takes the codec
// of a column's first chunk for all of them, and on damaged LZ4 it asks for ever
// more memory.
func (f *parquetFile) checkCodecs() error {
	for _, column := range f.wanted {
		for _, group := range f.footer.RowGroups {
			switch codec := group.Columns[column.leaf].MetaData.Codec; codec {
			case format.Lz4Raw:
				return &Error{Kind: Unreadable, File: f.path, Column: column.name,
					Message: "is compressed with LZ4, which is not read; write the file with Snappy, Zstandard, gzip or Brotli"}
			case f.footer.RowGroups[0].Columns[column.leaf].MetaData.Codec:
			default:
				return &Error{Kind: Unreadable, File: f.path, Column: column.name,
					Message: "is compressed in two ways within one file; write the file again"}
			}
		}
	}
	return nil
}

// checkFooter refuses a footer longer than the file before memory is set aside
// for it.
func (f *parquetFile) checkFooter(size int64) error {
	var tail [8]byte
	if size < 12 {
		return malformed(f.path, "", "is too short for a Parquet file", "")
	}
	if _, err := f.handle.ReadAt(tail[:], size-8); err != nil {
		return unreadable(f.path, err)
	}
	if string(tail[4:]) != "PAR1" {
		return malformed(f.path, "", "is not a Parquet file, is encrypted, or is cut short", "")
	}
	if int64(binary.LittleEndian.Uint32(tail[:])) > size-12 {
		return malformed(f.path, "", "is not a Parquet file or is cut short", "footer length")
	}
	return nil
}

// checkRows refuses a file whose footer gives two different numbers of rows. In
// a flat column every row is a value.
func (f *parquetFile) checkRows(opened *parquet.File) error {
	flat := map[int]bool{}
	for _, field := range opened.Root().Columns() {
		if field.Leaf() && !field.Repeated() {
			flat[field.Index()] = true
		}
	}
	total := int64(0)
	for g, group := range f.groups {
		rows := group.NumRows()
		for _, chunk := range group.ColumnChunks() {
			if rows < 0 || flat[chunk.Column()] && chunk.NumValues() != rows {
				return malformed(f.path, "", "its footer contradicts itself on the number of rows", fmt.Sprintf("row group %d", g))
			}
		}
		total += rows
	}
	if total != opened.NumRows() {
		return malformed(f.path, "", "its footer contradicts itself on the number of rows", "")
	}
	return nil
}

func (f *parquetFile) column(name string, field *parquet.Column) (parquetColumn, error) {
	if !field.Leaf() || field.Repeated() {
		return parquetColumn{}, &Error{Kind: WrongType, File: f.path, Column: name,
			Message: "is nested or repeated; write one plain value per row"}
	}
	newSink := sinkOf(field.Type())
	if newSink == nil {
		return parquetColumn{}, &Error{Kind: WrongType, File: f.path, Column: name, Message: fmt.Sprintf(
			"has the Parquet type %s, which is not read; write text, an integer, a double, a decimal of at most 38 digits, a date, a timestamp or a boolean",
			typeName(field.Type()))}
	}
	return parquetColumn{name: name, leaf: field.Index(), optional: field.Optional(), newSink: newSink}, nil
}

func (f *parquetFile) next(ctx context.Context) (arrow.Record, error) {
	for f.left == 0 {
		if err := f.endGroup(); err != nil {
			return nil, err
		}
		if f.group == len(f.groups) {
			return nil, io.EOF
		}
		f.startGroup()
	}
	n := min(f.left, MaxRows)
	arrays := make([]arrow.Array, 0, len(f.chunks))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	fields := make([]arrow.Field, len(f.chunks))
	for i, chunk := range f.chunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, err := f.read(chunk, int(n))
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, a)
		fields[i] = arrow.Field{Name: chunk.name, Type: a.DataType(), Nullable: true}
	}
	f.left -= n
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, n), nil
}

// startGroup opens the wanted chunks of the next row group.
func (f *parquetFile) startGroup() {
	group := f.groups[f.group]
	for _, column := range f.wanted {
		f.chunks = append(f.chunks, &columnChunk{
			parquetColumn: column,
			group:         f.group,
			source:        group.ColumnChunks()[column.leaf],
			check:         f.pageCheck(f.group, column.leaf),
			sink:          column.newSink(f.mem),
		})
	}
	f.group++
	f.left = group.NumRows()
}

// pageCheck makes the check of a chunk's page headers.
func (f *parquetFile) pageCheck(group, leaf int) func() error {
	g := &f.footer.RowGroups[group]
	return func() error { return checkPages(f.handle, f.size, &g.Columns[leaf].MetaData, g.NumRows) }
}

// endGroup checks that the chunks hold no more rows than their row group, and
// frees them.
func (f *parquetFile) endGroup() error {
	var first error
	for _, chunk := range f.chunks {
		if err := f.finish(chunk); err != nil && first == nil {
			first = err
		}
	}
	f.dropGroup()
	return first
}

func (f *parquetFile) dropGroup() {
	for _, chunk := range f.chunks {
		chunk.close()
	}
	f.chunks = nil
}

// read returns the next n rows of a chunk.
func (f *parquetFile) read(chunk *columnChunk, n int) (a arrow.Array, err error) {
	place := fmt.Sprintf("row group %d", chunk.group)
	defer f.guard(&err, chunk.name, place)
	if err := chunk.fill(n); err != nil {
		return nil, f.damaged(chunk.name, place, err)
	}
	return chunk.sink.array(), nil
}

// finish checks that a chunk is at its end.
func (f *parquetFile) finish(chunk *columnChunk) (err error) {
	place := fmt.Sprintf("row group %d", chunk.group)
	defer f.guard(&err, chunk.name, place)
	if err := chunk.end(); err != nil {
		return f.damaged(chunk.name, place, err)
	}
	return nil
}

// guard turns a panic of the decoder, which a damaged file can cause, into an
// error.
func (f *parquetFile) guard(err *error, column, place string) {
	if r := recover(); r != nil {
		*err = f.damaged(column, place, fmt.Errorf("the decoder failed: %v", r))
	}
}

// damaged tells a failure of the system from a file that breaks its format.
func (f *parquetFile) damaged(column, place string, err error) error {
	var system *os.PathError
	if errors.As(err, &system) {
		return unreadable(f.path, err)
	}
	return malformed(f.path, column, "is damaged in "+place+"; write the file again", err.Error())
}

func (f *parquetFile) close() error {
	f.dropGroup()
	return f.handle.Close()
}
