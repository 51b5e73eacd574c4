package source

// This file holds the row group: the columns of a Parquet file's piece, decoded
// side by side.

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// chunkScratch is what a goroutine reads row groups with: the chunk of each wanted column.
type chunkScratch struct{ chunks []*columnChunk }

// rowGroup is a row group of a file.
type rowGroup struct {
	file   *parquetFile
	number int
}

func (g *rowGroup) rows() int64 { return g.file.footer.RowGroups[g.number].NumRows }

func (g *rowGroup) read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	if err := g.file.hold(); err != nil {
		return err
	}
	defer g.file.drop()
	if err := g.start(b); err != nil {
		return err
	}
	chunks := scratchOf[chunkScratch](b).chunks
	err := b.readRows(ctx, g.file.located, g.rows(), int64(most), func(i int, _ int64, n int) error {
		return g.guarded(i, func() error { return chunks[i].fill(n) })
	}, visit)
	if err != nil {
		return err
	}
	if err := g.each(func(i int) error { return chunks[i].finish() }); err != nil {
		return err
	}
	return g.file.check()
}

// start goes to the beginning of the wanted chunks.
func (g *rowGroup) start(b *Buffers) error {
	f, s := g.file, scratchOf[chunkScratch](b)
	if b.opened != f {
		b.opened = f
		for len(s.chunks) < len(f.wanted) {
			s.chunks = append(s.chunks, &columnChunk{})
		}
		for i := range f.wanted {
			s.chunks[i].parquetColumn, s.chunks[i].sink = f.wanted[i], newSink(b, i, f.wanted[i].physical)
		}
	}
	group := &f.footer.RowGroups[g.number]
	return g.each(func(i int) error {
		return s.chunks[i].start(f, f.size(), &group.Columns[f.wanted[i].leaf].MetaData, group.NumRows)
	})
}

// newSink makes the sink of wanted column i, nil where the file has none.
func newSink(b *Buffers, i int, p *physical) sink {
	switch {
	case p == nil:
		b.hold(i, arrow.BinaryTypes.String)
		return nil
	case b.codes[i] != nil:
		return &codeSink{to: b.codes[i], decode: b.bound(i).around(p.newDecoder())}
	}
	b.hold(i, p.of)
	return &valueSink{to: b.values[i], decode: b.bound(i).around(p.newDecoder()),
		decodeEntries: b.bound(i).around(p.newDecoder())}
}

// each does something with each wanted column of the file.
func (g *rowGroup) each(do func(i int) error) error {
	for i, place := range g.file.places {
		if place < 0 {
			continue
		}
		if err := g.guarded(i, func() error { return do(i) }); err != nil {
			return err
		}
	}
	return nil
}

// guarded turns errors and panics of decoding a column into errors of the file.
func (g *rowGroup) guarded(i int, do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder failed: %v", r)
		}
		if err != nil {
			err = g.file.damaged(g.file.wanted[i].name, fmt.Sprintf("row group %d", g.number), err)
		}
	}()
	return do()
}
