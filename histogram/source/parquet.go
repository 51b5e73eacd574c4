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

// This file holds the Parquet file. Each of its row groups is a piece.

// parquetFile is one Parquet file. Once open, only the index of the next row group changes, so goroutines may read
// its row groups in parallel.
type parquetFile struct {
	*handle
	footer *format.FileMetaData
	groups []parquet.RowGroup
	all    []*parquet.Column
	columnLocations
	wanted []parquetColumn

	at     int   // next row group
	passed int64 // rows of those before it
}

// parquetColumn is a wanted column of the file and how its values are read.
type parquetColumn struct {
	name         string
	leaf         int
	optional     bool
	kind         parquet.Type
	physicalType *physicalType
}

func openParquet(h *handle, columns []Column) (file, error) {
	if err := h.acquire(); err != nil {
		return nil, err
	}
	f := &parquetFile{handle: h}
	if err := f.readSchema(columns); err != nil {
		h.releaseFile()
		return nil, err
	}
	return f, nil
}

// readSchema reads the footer and finds the wanted columns.
func (f *parquetFile) readSchema(columns []Column) (err error) {
	defer f.recoverDecoder(&err, "", "the footer")
	if err := f.checkFormat(files.Parquet); err != nil {
		return err
	}
	if err := f.checkFooter(f.size()); err != nil {
		return err
	}
	opened, err := parquet.OpenFile(f.handle, f.size(),
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<20))
	if err != nil {
		return f.damagedError("", "the footer", err)
	}
	f.all = opened.Root().Columns()
	header := make([]string, len(f.all))
	for i, field := range f.all {
		header[i] = field.Name()
	}
	if f.columnLocations, err = locateColumns(f.handle, header, columns); err != nil {
		return err
	}
	f.wanted = make([]parquetColumn, len(columns))
	for i, place := range f.indexes {
		if place < 0 {
			continue
		}
		column, err := f.columnFor(columns[i].Name, f.all[place])
		if err != nil {
			return err
		}
		if err := columns[i].checkType(f.path, column.physicalType.dataType); err != nil {
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

// checkCodecs refuses chunks that lie in another file, and codecs with which the decoder cannot be trusted: on
// damaged LZ4 it asks for ever more memory.
func (f *parquetFile) checkCodecs() error {
	for i, column := range f.wanted {
		if f.indexes[i] < 0 {
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
					Message: "is compressed with LZ4 or in a way that is not known, which is not read; write the " +
						"file with Snappy, Zstandard, gzip or Brotli"}
			}
		}
	}
	return nil
}

// checkFooter refuses a footer that is longer than the file, before memory is allocated for it.
func (f *parquetFile) checkFooter(size int64) error {
	var tail [8]byte
	if size < 12 {
		return malformedFile(f.path, "", "is too short for a Parquet file", "")
	}
	if _, err := f.ReadAt(tail[:], size-8); err != nil {
		return unreadableFile(f.path, err)
	}
	if string(tail[4:]) != "PAR1" {
		return malformedFile(f.path, "", "is not a Parquet file, is encrypted, or is cut short", "")
	}
	if int64(binary.LittleEndian.Uint32(tail[:])) > size-12 {
		return malformedFile(f.path, "", "is not a Parquet file or is cut short", "footer length")
	}
	return nil
}

// checkRows refuses a file whose footer gives contradictory numbers of rows. A flat column has one value per row.
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
				return malformedFile(f.path, "", "its footer contradicts itself on the number of rows",
					fmt.Sprintf("row group %d", g))
			}
		}
		total += rows
	}
	if total != opened.NumRows() {
		return malformedFile(f.path, "", "its footer contradicts itself on the number of rows", "")
	}
	return nil
}

// columnFor returns how a column is read, and an error if it is not read.
func (f *parquetFile) columnFor(name string, field *parquet.Column) (parquetColumn, error) {
	if !field.Leaf() || field.Repeated() {
		return parquetColumn{}, &Error{Kind: WrongType, File: f.path, Column: name,
			Message: "is nested or repeated; write one plain value per row"}
	}
	physical := physicalTypeOf(field.Type())
	if physical == nil {
		return parquetColumn{}, &Error{Kind: WrongType, File: f.path, Column: name, Message: fmt.Sprintf(
			"has the Parquet type %s, which is not read; write text, an integer, a double, a decimal of at most 38 "+
				"digits, a date, a timestamp or a boolean",
			typeName(field.Type()))}
	}
	return parquetColumn{name: name, leaf: field.Index(), optional: field.Optional(), kind: field.Type(),
		physicalType: physical}, nil
}

func (f *parquetFile) nextPart(context.Context) (part, error) {
	if f.at == len(f.groups) {
		return nil, io.EOF
	}
	f.passed += f.groups[f.at].NumRows()
	f.at++
	return &rowGroup{file: f, number: f.at - 1}, nil
}

// position returns the share of the file that its rows so far are: only some of its columns are read.
func (f *parquetFile) position() int64 {
	return int64(float64(f.size()) * (float64(f.passed) / float64(max(f.rowCount(), 1))))
}

func (f *parquetFile) rowCount() int64 { return f.footer.NumRows }

func (f *parquetFile) fields() (fields []Field) {
	for _, c := range f.all {
		fields = append(fields, Field{Name: c.Name(), Type: parquetType(c)})
	}
	return fields
}

func (f *parquetFile) close() error { return f.releaseFile() }
