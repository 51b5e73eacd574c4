package source

// This file holds Piece: rows that stand together in one file.

import (
	"context"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Piece is rows that stand together in one file: a row group of Parquet, a block
// of CSV, a record batch of Arrow. Several goroutines may read pieces at once,
// each one piece at a time and each with its own Buffers. A piece may be read
// again, also after Reader.Close.
type Piece struct {
	of     *Reader
	file   string
	info   os.FileInfo
	number int
	part   part
}

// File is the path of the file that holds the piece.
func (p *Piece) File() string { return p.file }

// Info is the file that holds the piece as the system had it when it was opened: that of the handle through which every
// piece of it is read, or they are refused.
func (p *Piece) Info() os.FileInfo { return p.info }

// Number is the place of the piece among all of the table in reading order, from 0.
func (p *Piece) Number() int { return p.number }

// Rows is how many rows the piece holds, −1 where only reading it tells.
func (p *Piece) Rows() int64 { return p.part.rows() }

// Read passes the rows of the piece to visit in batches of 1 to `most` rows, in
// reading order, and stops at the first error of visit, which it returns. Its own
// errors are *[Error] or the context's. A batch that was passed on before an
// error was found is not to be counted.
func (p *Piece) Read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	b.prepare(p.of, p.of.columns, p.of.total)
	return p.part.read(ctx, b, max(most, 1), visit)
}

// Raw passes all wanted columns as their values, in records of at most [MaxRows]
// rows that are valid until visit returns. It is slow and there to say what is
// wrong with values.
func (p *Piece) Raw(ctx context.Context, visit func(arrow.Record) error) error {
	columns := valuesOf(p.of.columns)
	b := &Buffers{}
	b.prepare(p.of, columns, p.of.total)
	return p.part.read(ctx, b, MaxRows, func(batch *Batch) error {
		fields := make([]arrow.Field, len(columns))
		for i, c := range columns {
			fields[i] = arrow.Field{Name: c.Name, Type: batch.Columns[i].DataType(), Nullable: true}
		}
		record := array.NewRecord(arrow.NewSchema(fields, nil), batch.Columns, int64(batch.Rows))
		defer record.Release()
		return visit(record)
	})
}
