package source

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// This file holds the Parquet file: its row groups, each of them a piece.

// parquetFile is one Parquet file. Once it is open it does not change but for the
// place of the reader, and goroutines read its row groups side by side.
type parquetFile struct {
	*handle
	footer *format.FileMetaData
	groups []parquet.RowGroup
	all    []*parquet.Column
	located
	wanted []parquetColumn

	at int // next row group
}

// parquetColumn is a wanted column of the file and how its values are read.
type parquetColumn struct {
	name     string
	leaf     int
	optional bool
	kind     parquet.Type
	physical *physical
}

func openParquet(h *handle, columns []Column) (file, error) {
	if err := h.hold(); err != nil {
		return nil, err
	}
	f := &parquetFile{handle: h}
	if err := f.start(columns); err != nil {
		h.drop()
		return nil, err
	}
	return f, nil
}

// start reads the footer and finds the wanted columns.
func (f *parquetFile) start(columns []Column) (err error) {
	defer f.guard(&err, "", "the footer")
	if err := f.mistaken(files.Parquet); err != nil {
		return err
	}
	if err := f.checkFooter(f.size()); err != nil {
		return err
	}
	opened, err := parquet.OpenFile(f.handle, f.size(),
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<20))
	if err != nil {
		return f.damaged("", "the footer", err)
	}
	f.all = opened.Root().Columns()
	header := make([]string, len(f.all))
	for i, field := range f.all {
		header[i] = field.Name()
	}
	if f.located, err = locate(f.handle, header, columns); err != nil {
		return err
	}
	f.wanted = make([]parquetColumn, len(columns))
	for i, place := range f.places {
		if place < 0 {
			continue
		}
		column, err := f.column(columns[i].Name, f.all[place])
		if err != nil {
			return err
		}
		if err := columns[i].checkType(f.path, column.physical.of); err != nil {
			return err
		}
		f.wanted[i] = column
	}
	f.groups, f.footer = opened.RowGroups(), opened.Metadata()
	if err := f.checkCodecs(); err != nil {
		return err
	}
	return f.checkRows(opened)
}

// checkCodecs refuses chunks that lie elsewhere and what the decoder cannot be
// trusted with: on damaged LZ4 it asks for ever more memory.
func (f *parquetFile) checkCodecs() error {
	for i, column := range f.wanted {
		if f.places[i] < 0 {
			continue
		}
		for _, group := range f.footer.RowGroups {
			if group.Columns[column.leaf].FilePath != "" {
				return &Error{Kind: WrongType, File: f.path, Column: column.name,
					Message: "is kept in another file, which is not read; write the table again"}
			}
			switch group.Columns[column.leaf].MetaData.Codec {
			case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
			default:
				return &Error{Kind: WrongType, File: f.path, Column: column.name,
					Message: "is compressed with LZ4 or in a way that is not known, which is not read; write the file with Snappy, Zstandard, gzip or Brotli"}
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
	if _, err := f.ReadAt(tail[:], size-8); err != nil {
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
	physical := physicalOf(field.Type())
	if physical == nil {
		return parquetColumn{}, &Error{Kind: WrongType, File: f.path, Column: name, Message: fmt.Sprintf(
			"has the Parquet type %s, which is not read; write text, an integer, a double, a decimal of at most 38 digits, a date, a timestamp or a boolean",
			typeName(field.Type()))}
	}
	return parquetColumn{name: name, leaf: field.Index(), optional: field.Optional(), kind: field.Type(),
		physical: physical}, nil
}

func (f *parquetFile) next(context.Context) (part, error) {
	if f.at == len(f.groups) {
		return nil, io.EOF
	}
	f.at++
	return &rowGroup{file: f, number: f.at - 1}, nil
}

func (f *parquetFile) rows() int64 { return f.footer.NumRows }

func (f *parquetFile) fields() (fields []Field) {
	for _, c := range f.all {
		fields = append(fields, Field{Name: c.Name(), Type: parquetType(c)})
	}
	return fields
}

func (f *parquetFile) close() error { return f.drop() }
