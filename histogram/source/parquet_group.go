package source

// This file holds the row group: the columns of a Parquet file's piece, decoded
// side by side.

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// rowGroup is a row group of a file.
type rowGroup struct {
	file   *parquetFile
	number int
}

func (g *rowGroup) rows() int64 { return g.file.groups[g.number].NumRows() }

func (g *rowGroup) read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	if err := g.file.hold(); err != nil {
		return err
	}
	defer g.file.drop()
	if err := g.open(ctx, b); err != nil {
		return err
	}
	defer b.closeChunks()
	rows := g.rows()
	for first := int64(0); first < rows; {
		n := int(min(rows-first, int64(most)))
		b.start(int(min(rows, int64(most))))
		for i := range b.chunks {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := g.fill(b, i, n); err != nil {
				return err
			}
		}
		if err := b.pass(first, n, visit); err != nil {
			return err
		}
		first += int64(n)
	}
	for i := range b.chunks {
		if err := g.finish(b, i); err != nil {
			return err
		}
	}
	return nil
}

// open checks the page headers of the wanted chunks and begins to read them.
func (g *rowGroup) open(ctx context.Context, b *Buffers) error {
	f := g.file
	if b.opened != f {
		b.opened, b.sinks, b.chunks = f, make([]sink, len(f.wanted)), make([]columnChunk, len(f.wanted))
		for i, column := range f.wanted {
			if f.places[i] < 0 {
				b.hold(i, arrow.BinaryTypes.String)
			} else {
				b.sinks[i] = b.newSink(i, column.physical)
			}
		}
	}
	chunks := f.groups[g.number].ColumnChunks()
	for i, column := range f.wanted {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.places[i] < 0 {
			continue
		}
		if err := g.check(column); err != nil {
			return err
		}
		b.sinks[i].chunk()
		b.chunks[i] = columnChunk{source: chunks[column.leaf], optional: column.optional, sink: b.sinks[i]}
	}
	return nil
}

// newSink makes the sink of wanted column i.
func (b *Buffers) newSink(i int, p *physical) sink {
	if b.codes[i] != nil {
		return &codeSink{to: b.codes[i], decode: p.newDecoder()}
	}
	b.hold(i, p.of)
	return &valueSink{to: b.values[i], decode: p.newDecoder(), decodeMore: p.newDecoder()}
}

func (b *Buffers) closeChunks() {
	for i := range b.chunks {
		b.chunks[i].close()
	}
}

// check walks the page headers of a chunk.
func (g *rowGroup) check(column parquetColumn) (err error) {
	defer g.file.guard(&err, column.name, g.place())
	group := &g.file.footer.RowGroups[g.number]
	if err := checkPages(g.file, g.file.size(), &group.Columns[column.leaf].MetaData, group.NumRows); err != nil {
		return g.file.damaged(column.name, g.place(), err)
	}
	return nil
}

// fill reads the next n rows of a column.
func (g *rowGroup) fill(b *Buffers, i, n int) (err error) {
	if g.file.places[i] < 0 {
		b.repeat(i, g.file.constants[i], n)
		return nil
	}
	name := g.file.wanted[i].name
	defer g.file.guard(&err, name, g.place())
	if err := b.chunks[i].fill(n); err != nil {
		return g.file.damaged(name, g.place(), err)
	}
	return nil
}

// finish checks that a column is at its end.
func (g *rowGroup) finish(b *Buffers, i int) (err error) {
	if g.file.places[i] < 0 {
		return nil
	}
	name := g.file.wanted[i].name
	defer g.file.guard(&err, name, g.place())
	if err := b.chunks[i].end(); err != nil {
		return g.file.damaged(name, g.place(), err)
	}
	return nil
}

func (g *rowGroup) place() string { return fmt.Sprintf("row group %d", g.number) }
