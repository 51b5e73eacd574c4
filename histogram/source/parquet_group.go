package source

// This file holds the row group, the piece of a Parquet file: its columns are decoded together.

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// chunkScratch is the memory with which a goroutine reads row groups: the chunk of each wanted column.
type chunkScratch struct{ chunks []*columnChunk }

// rowGroup is a row group of a file.
type rowGroup struct {
	file   *parquetFile
	number int
}

func (g *rowGroup) rowCount() int64 { return g.file.footer.RowGroups[g.number].NumRows }

func (g *rowGroup) readBatches(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	if err := g.file.acquire(); err != nil {
		return err
	}
	defer g.file.releaseFile()
	if err := g.startChunks(b); err != nil {
		return err
	}
	chunks := scratchOf[chunkScratch](b).chunks
	err := b.readRows(ctx, g.file.columnLocations, g.rowCount(), int64(most), func(i int, _ int64, n int) error {
		return g.guardColumn(i, func() error { return chunks[i].fillRows(n) })
	}, visit)
	if err != nil {
		return err
	}
	if err := g.eachColumn(func(i int) error { return chunks[i].checkFinished() }); err != nil {
		return err
	}
	return g.file.checkUnchanged()
}

// startChunks goes to the beginning of the wanted chunks.
func (g *rowGroup) startChunks(b *Buffers) error {
	f, s := g.file, scratchOf[chunkScratch](b)
	if b.opened != f {
		b.opened = f
		for len(s.chunks) < len(f.wanted) {
			s.chunks = append(s.chunks, &columnChunk{})
		}
		for i := range f.wanted {
			s.chunks[i].parquetColumn, s.chunks[i].sink = f.wanted[i], newSink(b, i, f.wanted[i].physicalType)
		}
	}
	group := &f.footer.RowGroups[g.number]
	return g.eachColumn(func(i int) error {
		return s.chunks[i].startChunk(f, f.size(), &group.Columns[f.wanted[i].leaf].MetaData, group.NumRows)
	})
}

// newSink returns the sink of wanted column i, nil if the file does not have the column.
func newSink(b *Buffers, i int, p *physicalType) sink {
	switch {
	case p == nil:
		b.ensureType(i, arrow.BinaryTypes.String)
		return nil
	case b.codes[i] != nil:
		return &codeSink{to: b.codes[i], decode: b.textBoundOf(i).boundDecoder(p.newDecoder())}
	}
	b.ensureType(i, p.dataType)
	return &valueSink{to: b.values[i], decode: b.textBoundOf(i).boundDecoder(p.newDecoder()),
		decodeEntries: b.textBoundOf(i).boundDecoder(p.newDecoder())}
}

// eachColumn calls do for each wanted column of the file.
func (g *rowGroup) eachColumn(do func(i int) error) error {
	for i, place := range g.file.indexes {
		if place < 0 {
			continue
		}
		if err := g.guardColumn(i, func() error { return do(i) }); err != nil {
			return err
		}
	}
	return nil
}

// guardColumn turns errors and panics in decoding a column into errors of the file.
func (g *rowGroup) guardColumn(i int, do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder failed: %v", r)
		}
		if err != nil {
			err = g.file.damagedError(g.file.wanted[i].name, fmt.Sprintf("row group %d", g.number), err)
		}
	}()
	return do()
}
