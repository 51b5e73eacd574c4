package source

// This file holds Records: the rows of a table's files as records of values, one
// after another.

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
)

// Records goes through the records of all pieces.
type Records struct {
	pieces *Reader
	queue  []arrow.Record
	piece  *Piece
	first  int64 // rows of the file before the next record
	at     int64 // of the record returned last
}

// OpenRecords is Open for columns as their values are.
func OpenRecords(ctx context.Context, dir string, t spec.TableSource, columns []string) (*Records, error) {
	r, err := Open(ctx, dir, t, Values(columns...))
	if err != nil {
		return nil, err
	}
	return &Records{pieces: r}, nil
}

// Next returns the next record, which the caller releases, or io.EOF.
func (r *Records) Next(ctx context.Context) (arrow.Record, error) {
	for len(r.queue) == 0 {
		p, err := r.pieces.Next(ctx)
		if err != nil {
			return nil, err
		}
		if r.piece == nil || r.piece.File() != p.File() {
			r.first = 0
		}
		r.piece = p
		err = p.Raw(ctx, func(record arrow.Record) error {
			columns := make([]arrow.Array, record.NumCols())
			for i := range columns {
				var err error
				if columns[i], err = array.Concatenate([]arrow.Array{record.Column(i)}, memory.DefaultAllocator); err != nil {
					return err
				}
			}
			r.queue = append(r.queue, array.NewRecord(record.Schema(), columns, record.NumRows()))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	record := r.queue[0]
	r.queue = r.queue[1:]
	r.at = r.first
	r.first += record.NumRows()
	return record, nil
}

// Position is where the last record of Next began.
func (r *Records) Position() (file string, firstRow int64) { return r.piece.File(), r.at }

// Close closes the file being read.
func (r *Records) Close() error { return r.pieces.Close() }
