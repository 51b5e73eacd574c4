package source

// This file holds the record batch: the piece of an Arrow file.

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

// arrowScratch is what a goroutine reads record batches with.
type arrowScratch struct {
	entries []arrow.Array // of the dictionary of each wanted column, nil where it has none
	index   []int32
	levels  []byte // 1 for each row with an index, 0 for each null
}

func (r *recordBatch) rows() int64 { return r.NumRows() }

func (r *recordBatch) read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	if err := r.prepare(b); err != nil {
		return err
	}
	return b.readRows(ctx, r.file.located, r.NumRows(), int64(most), func(i int, from int64, n int) error {
		return r.fill(b, i, int(from), int(from)+n)
	}, visit)
}

// prepare fits the buffers to the batch and takes up its dictionaries.
func (r *recordBatch) prepare(b *Buffers) error {
	b.opened = r.file
	scratchOf[arrowScratch](b).entries = make([]arrow.Array, len(r.file.columns))
	for i, place := range r.file.places {
		if place < 0 {
			b.hold(i, arrow.BinaryTypes.String)
			continue
		}
		b.hold(i, r.file.columns[i].of)
		if d, ok := r.Column(place).(*array.Dictionary); ok {
			if err := r.takeUp(b, i, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeUp takes up the dictionary of a column.
func (r *recordBatch) takeUp(b *Buffers, i int, d *array.Dictionary) (err error) {
	column := r.file.columns[i]
	defer r.file.guard(&err, column.name, r.place())
	entries, err := column.copy(d.Dictionary(), 0, d.Dictionary().Len())
	if err == nil {
		entries, err = b.bound(i).apply(entries)
	}
	if err != nil {
		return r.file.damaged(column.name, r.place(), err)
	}
	if b.codes[i] != nil {
		b.codes[i].dictionary(entries)
	}
	scratchOf[arrowScratch](b).entries[i] = entries
	return nil
}

// fill reads the rows from..to of a column.
func (r *recordBatch) fill(b *Buffers, i, from, to int) (err error) {
	column := r.file.columns[i]
	defer r.file.guard(&err, column.name, r.place())
	values := r.Column(r.file.places[i])
	if s := scratchOf[arrowScratch](b); s.entries[i] != nil {
		err = s.indexed(b, i, values.(*array.Dictionary), from, to)
	} else {
		var a arrow.Array
		if a, err = column.copy(values, from, to); err == nil {
			a, err = b.bound(i).apply(a)
		}
		if err == nil {
			err = b.take(i, a, 0, to-from)
			a.Release()
		}
	}
	if err != nil {
		return r.file.damaged(column.name, r.place(), err)
	}
	return nil
}

// indexed takes up rows of a dictionary array.
func (s *arrowScratch) indexed(b *Buffers, i int, d *array.Dictionary, from, to int) error {
	if err := s.take(d, from, to); err != nil {
		return err
	}
	if b.codes[i] != nil {
		b.codes[i].indexes(s.index)
		b.codes[i].takeSome(0, s.levels)
		return nil
	}
	return runs(s.levels, b.values[i].nulls, func(from, to int) error {
		return b.values[i].entries(s.entries[i], s.index[from:to])
	})
}

// take notes which of the rows from..to are null, and the indexes of the others.
func (s *arrowScratch) take(d *array.Dictionary, from, to int) error {
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
		s.index = present32(s.index, a.Int8Values()[from:to], s.levels)
	case *array.Int16:
		s.index = present32(s.index, a.Int16Values()[from:to], s.levels)
	case *array.Int32:
		s.index = present32(s.index, a.Int32Values()[from:to], s.levels)
	case *array.Int64:
		s.index = present32(s.index, a.Int64Values()[from:to], s.levels)
	case *array.Uint8:
		s.index = present32(s.index, a.Uint8Values()[from:to], s.levels)
	case *array.Uint16:
		s.index = present32(s.index, a.Uint16Values()[from:to], s.levels)
	case *array.Uint32:
		s.index = present32(s.index, a.Uint32Values()[from:to], s.levels)
	case *array.Uint64:
		s.index = present32(s.index, a.Uint64Values()[from:to], s.levels)
	default:
		return errArrowType
	}
	return nil
}

// present32 appends the indexes of rows whose level is 1; one that has no place in 32
// bits becomes -1, which no dictionary holds.
func present32[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []int32, index []T,
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

// place is the batch in words.
func (r *recordBatch) place() string { return fmt.Sprintf("record batch %d", r.number) }
