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

func (r *recordBatch) rows() int64 { return r.NumRows() }

func (r *recordBatch) read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	rows := int(r.NumRows())
	entries := make([]arrow.Array, len(r.file.columns)) // of dictionaries, as they are read
	for i := range r.file.columns {
		if b.codes[i] == nil {
			b.values[i] = newValueBuffer(r.file.columns[i].of)
		}
		var err error
		if entries[i], err = r.entries(b, i); err != nil {
			return err
		}
	}
	for from := 0; from < rows; {
		to := min(from+most, rows)
		for i := range r.file.columns {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.fill(b, i, from, to, min(rows, most), entries[i]); err != nil {
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

// entries takes up the dictionary of a column, if it has one.
func (r *recordBatch) entries(b *Buffers, i int) (a arrow.Array, err error) {
	column := r.file.columns[i]
	d, ok := r.Column(column.place).(*array.Dictionary)
	if !ok {
		return nil, nil
	}
	defer r.guard(&err, column.name)
	if a, err = column.copy(d.Dictionary(), 0, d.Dictionary().Len()); err != nil {
		return nil, r.damaged(column.name, err)
	}
	if b.codes[i] != nil {
		b.codes[i].dictionary(a)
	}
	return a, nil
}

// fill reads the rows from..to of a column.
func (r *recordBatch) fill(b *Buffers, i, from, to, most int, entries arrow.Array) (err error) {
	column := r.file.columns[i]
	defer r.guard(&err, column.name)
	values := r.Column(column.place)
	if entries != nil {
		err = b.indexed(i, values.(*array.Dictionary), from, to, most, entries)
	} else {
		err = b.plain(i, column.copy, values, from, to, most)
	}
	if err != nil {
		return r.damaged(column.name, err)
	}
	return nil
}

// plain takes up rows of an array that is no dictionary.
func (b *Buffers) plain(i int, copy conversion, values arrow.Array, from, to, most int) error {
	a, err := copy(values, from, to)
	if err != nil {
		return err
	}
	defer a.Release()
	if b.codes[i] == nil {
		b.values[i].start(most)
		return b.values[i].values(a, 0, to-from)
	}
	b.codes[i].start(most)
	b.codes[i].page(a)
	b.codes[i].take(0, to-from)
	return nil
}

// indexed takes up rows of a dictionary array.
func (b *Buffers) indexed(i int, d *array.Dictionary, from, to, most int, entries arrow.Array) error {
	b.index, b.levels = b.index[:0], b.levels[:0]
	for row := from; row < to; row++ {
		if d.IsNull(row) {
			b.levels = append(b.levels, 0)
			continue
		}
		at := d.GetValueIndex(row)
		if at < 0 || at >= entries.Len() {
			return errIndex
		}
		b.levels, b.index = append(b.levels, 1), append(b.index, int32(at))
	}
	if b.codes[i] != nil {
		b.codes[i].start(most)
		b.codes[i].gatherSome(b.index, b.levels)
		return nil
	}
	b.values[i].start(most)
	return runs(b.levels, b.values[i].nulls, func(from, to int) error {
		return b.values[i].entries(entries, b.index[from:to])
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
