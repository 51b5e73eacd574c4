package source

// This file holds Piece: consecutive rows of one file.

import (
	"context"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Piece is consecutive rows of one file: a row group of Parquet, a block of CSV or a record batch of Arrow. Several
// goroutines may read pieces at once, each one piece at a time and each with its own Buffers. A piece may be read
// again, also after Reader.Close.
type Piece struct {
	reader *Reader
	file   string
	info   os.FileInfo
	number int
	bytes  int64
	part   part
}

// File returns the path of the file that holds the piece.
func (p *Piece) File() string { return p.file }

// Info returns what the system said of the piece's file when it was opened. Every piece of the file is read through a
// handle on which that still holds, or is refused.
func (p *Piece) Info() os.FileInfo { return p.info }

// Number returns the index of the piece among all pieces of the table in reading order.
func (p *Piece) Number() int { return p.number }

// Rows returns how many rows the piece holds, −1 if only reading it tells.
func (p *Piece) Rows() int64 { return p.part.rowCount() }

// Bytes returns about how many bytes of the file were read for the piece or, with Parquet, how many its rows take on
// average. The pieces of a file together have at most its size.
func (p *Piece) Bytes() int64 { return p.bytes }

// Read passes the rows of the piece to visit in batches of 1 to `most` rows, in reading order. It stops at the first
// error of visit and returns it. Its own errors are *[Error] or the context's. If Read returns an error, the batches
// that were already visited must not be counted.
func (p *Piece) Read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	b.fitTo(p.reader, p.reader.columns, p.reader.total)
	return p.part.readBatches(ctx, b, max(most, 1), visit)
}

// Line returns the number, from 1, of the line of the file on which a row of the piece begins, rows numbered from 0. It
// returns 0 if the file is not CSV.
func (p *Piece) Line(row int64) int64 {
	if c, ok := p.part.(*csvBlock); ok {
		return c.lineOf(row)
	}
	return 0
}

// Raw passes all wanted columns as values, in records of at most [MaxRows] rows that are valid until visit returns.
// It is slow; it serves to say what is wrong with values.
func (p *Piece) Raw(ctx context.Context, visit func(arrow.Record) error) error {
	columns := valuesOf(p.reader.columns)
	b := &Buffers{}
	b.fitTo(p.reader, columns, p.reader.total)
	return p.part.readBatches(ctx, b, MaxRows, func(batch *Batch) error {
		fields := make([]arrow.Field, len(columns))
		for i, c := range columns {
			fields[i] = arrow.Field{Name: c.Name, Type: batch.Columns[i].DataType(), Nullable: true}
		}
		record := array.NewRecord(arrow.NewSchema(fields, nil), batch.Columns, int64(batch.Rows))
		defer record.Release()
		return visit(record)
	})
}
