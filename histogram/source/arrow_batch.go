package source

// This file holds the record batch, the piece of an Arrow file.

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// recordBatch is a record batch of a file.
type recordBatch struct {
	file *arrowFile
	arrow.Record
	number int
}

// arrowScratch is the memory with which a goroutine reads record batches.
type arrowScratch struct {
	entries []arrow.Array // dictionary entries by wanted column, nil for a column without a dictionary
	index   []int32
	levels  []byte // 1 for each row with an index, 0 for each null
}

func (r *recordBatch) rowCount() int64 { return r.NumRows() }

func (r *recordBatch) readBatches(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	if err := r.prepareBuffers(b); err != nil {
		return err
	}
	return b.readRows(ctx, r.file.columnLocations, r.NumRows(), int64(most), func(i int, from int64, n int) error {
		return r.fillColumn(b, i, int(from), int(from)+n)
	}, visit)
}

// prepareBuffers fits the buffers to the batch and loads its dictionaries.
func (r *recordBatch) prepareBuffers(b *Buffers) error {
	b.opened = r.file
	scratchOf[arrowScratch](b).entries = make([]arrow.Array, len(r.file.columns))
	for i, place := range r.file.indexes {
		if place < 0 {
			b.ensureType(i, arrow.BinaryTypes.String)
			continue
		}
		b.ensureType(i, r.file.columns[i].dataType)
		if d, ok := r.Column(place).(*array.Dictionary); ok {
			if err := r.loadDictionary(b, i, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadDictionary converts the dictionary of a column and hands it to the column's code buffer.
func (r *recordBatch) loadDictionary(b *Buffers, i int, d *array.Dictionary) (err error) {
	column := r.file.columns[i]
	defer r.file.recoverDecoder(&err, column.name, r.placeName())
	entries, err := column.convert(d.Dictionary(), 0, d.Dictionary().Len())
	if err == nil {
		entries, err = b.textBoundOf(i).apply(entries)
	}
	if err != nil {
		return r.file.damagedError(column.name, r.placeName(), err)
	}
	if b.codes[i] != nil {
		b.codes[i].setDictionary(entries)
	}
	scratchOf[arrowScratch](b).entries[i] = entries
	return nil
}

// fillColumn reads the rows from..to of a column.
func (r *recordBatch) fillColumn(b *Buffers, i, from, to int) (err error) {
	column := r.file.columns[i]
	defer r.file.recoverDecoder(&err, column.name, r.placeName())
	values := r.Column(r.file.indexes[i])
	if s := scratchOf[arrowScratch](b); s.entries[i] != nil {
		err = s.appendIndexed(b, i, values.(*array.Dictionary), from, to)
	} else {
		var a arrow.Array
		if a, err = column.convert(values, from, to); err == nil {
			a, err = b.textBoundOf(i).apply(a)
		}
		if err == nil {
			err = b.appendRows(i, a, 0, to-from)
			a.Release()
		}
	}
	if err != nil {
		return r.file.damagedError(column.name, r.placeName(), err)
	}
	return nil
}

// appendIndexed appends rows of a dictionary array to column i.
func (s *arrowScratch) appendIndexed(b *Buffers, i int, d *array.Dictionary, from, to int) error {
	if err := s.readIndexes(d, from, to); err != nil {
		return err
	}
	if b.codes[i] != nil {
		b.codes[i].setIndexPage(s.index)
		b.codes[i].appendLevels(0, s.levels)
		return nil
	}
	return visitRuns(s.levels, b.values[i].appendNulls, func(from, to int) error {
		return b.values[i].appendEntries(s.entries[i], s.index[from:to])
	})
}

// readIndexes records which of the rows from..to are null, and the indexes of the other rows.
func (s *arrowScratch) readIndexes(d *array.Dictionary, from, to int) error {
	s.levels = slices.Grow(s.levels[:0], to-from)[:to-from]
	some := d.NullN() > 0
	for i := range s.levels {
		s.levels[i] = 1
		if some && d.IsNull(from+i) {
			s.levels[i] = 0
		}
	}
	indices := d.Indices()
	defer indices.Release()
	s.index = s.index[:0]
	switch a := indices.(type) {
	case *array.Int8:
		s.index = appendPresent(s.index, a.Int8Values()[from:to], s.levels)
	case *array.Int16:
		s.index = appendPresent(s.index, a.Int16Values()[from:to], s.levels)
	case *array.Int32:
		s.index = appendPresent(s.index, a.Int32Values()[from:to], s.levels)
	case *array.Int64:
		s.index = appendPresent(s.index, a.Int64Values()[from:to], s.levels)
	case *array.Uint8:
		s.index = appendPresent(s.index, a.Uint8Values()[from:to], s.levels)
	case *array.Uint16:
		s.index = appendPresent(s.index, a.Uint16Values()[from:to], s.levels)
	case *array.Uint32:
		s.index = appendPresent(s.index, a.Uint32Values()[from:to], s.levels)
	case *array.Uint64:
		s.index = appendPresent(s.index, a.Uint64Values()[from:to], s.levels)
	default:
		return errArrowType
	}
	return nil
}

// appendPresent appends the indexes of the rows whose level is 1. An index that does not fit into 32 bits becomes −1,
// which no dictionary holds.
func appendPresent[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []int32, index []T,
	levels []byte) []int32 {
	for i, at := range index {
		if levels[i] == 0 {
			continue
		}
		narrow := int32(at)
		if T(narrow) != at || narrow < 0 {
			narrow = -1
		}
		dst = append(dst, narrow)
	}
	return dst
}

// placeName names the batch in an error.
func (r *recordBatch) placeName() string { return fmt.Sprintf("record batch %d", r.number) }
