package source

// This file holds the record batch: the piece of an Arrow file.

import (
	"context"
	"fmt"

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
	rows := int(r.NumRows())
	for from := 0; from < rows; {
		to := min(from+most, rows)
		b.start(min(rows, most))
		for i := range r.file.columns {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.fill(b, i, from, to); err != nil {
				return err
			}
		}
		if err := b.pass(int64(from), to-from, visit); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// prepare fits the buffers to the batch and takes up its dictionaries.
func (r *recordBatch) prepare(b *Buffers) error {
	b.opened = r.file
	b.arrow.entries = make([]arrow.Array, len(r.file.columns))
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
	defer r.guard(&err, column.name)
	entries, err := column.copy(d.Dictionary(), 0, d.Dictionary().Len())
	if err != nil {
		return r.damaged(column.name, err)
	}
	if b.codes[i] != nil {
		b.codes[i].dictionary(entries)
	}
	b.arrow.entries[i] = entries
	return nil
}

// fill reads the rows from..to of a column.
func (r *recordBatch) fill(b *Buffers, i, from, to int) (err error) {
	if r.file.places[i] < 0 {
		b.repeat(i, r.file.constants[i], to-from)
		return nil
	}
	column := r.file.columns[i]
	defer r.guard(&err, column.name)
	values := r.Column(r.file.places[i])
	if b.arrow.entries[i] != nil {
		err = b.indexed(i, values.(*array.Dictionary), from, to)
	} else {
		var a arrow.Array
		if a, err = column.copy(values, from, to); err == nil {
			err = b.take(i, a, 0, to-from)
			a.Release()
		}
	}
	if err != nil {
		return r.damaged(column.name, err)
	}
	return nil
}

// indexed takes up rows of a dictionary array.
func (b *Buffers) indexed(i int, d *array.Dictionary, from, to int) error {
	s := &b.arrow
	s.index, s.levels = s.index[:0], s.levels[:0]
	for row := from; row < to; row++ {
		if d.IsNull(row) {
			s.levels = append(s.levels, 0)
			continue
		}
		at := d.GetValueIndex(row)
		if at < 0 || at >= s.entries[i].Len() {
			return errIndex
		}
		s.levels, s.index = append(s.levels, 1), append(s.index, int32(at))
	}
	if b.codes[i] != nil {
		b.codes[i].gatherSome(s.index, s.levels)
		return nil
	}
	return runs(s.levels, b.values[i].nulls, func(from, to int) error {
		return b.values[i].entries(s.entries[i], s.index[from:to])
	})
}

func (r *recordBatch) guard(err *error, column string) {
	if p := recover(); p != nil {
		*err = r.damaged(column, fmt.Errorf("the decoder failed: %v", p))
	}
}

func (r *recordBatch) damaged(column string, err error) error {
	return r.file.damagedColumn(column, fmt.Sprintf("record batch %d", r.number), err)
}
