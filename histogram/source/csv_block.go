package source

// This file holds the block: whole lines of a CSV file, which are its piece.

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
)

// csvBlock is whole lines of a file. It is not changed once it is made.
type csvBlock struct {
	file  *csvFile
	text  []byte // with padding behind it
	lines int64  // of the file before it
}

// scanRows is how many rows are scanned before their fields are looked at.
const scanRows = 2048

// textScratch is what a goroutine reads blocks with.
type textScratch struct {
	spans [][]span // of each slot
	memos []*memo  // of each wanted column, nil where values are
	codes [scanRows]uint32
	field []byte
}

// unescape returns the text of an escaped field, valid until the next.
func (t *textScratch) unescape(field []byte) []byte {
	t.field = unescape(slices.Grow(t.field[:0], len(field)+padding), field)
	return t.field
}

func (c *csvBlock) rows() int64 { return -1 }

func (c *csvBlock) read(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	if !c.file.total && !utf8.Valid(c.text) {
		return c.notText()
	}
	scratchOf[textScratch](b).prepare(b, c.file)
	s := scanner{block: c.text, delimiter: c.file.delimiter, single: len(c.file.header) == 1, empties: c.file.total}
	for first := int64(0); ; {
		n, err := c.batch(ctx, b, &s, most)
		if err != nil || n == 0 {
			return err
		}
		if err := b.pass(first, n, visit); err != nil {
			return err
		}
		first += int64(n)
	}
}

// prepare fits the buffers and their scratch to a CSV file.
func (t *textScratch) prepare(b *Buffers, f *csvFile) {
	if b.opened == f {
		return
	}
	b.opened = f
	for len(t.spans) < len(b.codes) {
		t.spans = append(t.spans, make([]span, scanRows))
	}
	if t.memos == nil {
		t.memos = make([]*memo, len(b.codes))
	}
	for i, codes := range b.codes {
		b.hold(i, arrow.BinaryTypes.String)
		if codes != nil && t.memos[i] == nil {
			t.memos[i] = newMemo(b.columns[i].Coder, f.isNull)
		}
	}
}

// batch reads at most `most` rows into the buffers and returns how many.
func (c *csvBlock) batch(ctx context.Context, b *Buffers, s *scanner, most int) (int, error) {
	b.start(most)
	t, n := scratchOf[textScratch](b), 0
	for n < most {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		rows, err := s.rows(c.file.slots, t.spans, min(scanRows, most-n))
		if err != nil {
			return 0, c.fault(s, err)
		}
		if rows == 0 {
			break
		}
		for i, slot := range c.file.places {
			switch {
			case slot < 0:
				b.repeat(i, c.file.constants[i], rows)
			case b.codes[i] != nil:
				err = c.encode(b, t, i, t.spans[slot][:rows])
			default:
				err = c.copy(b, t, i, t.spans[slot][:rows])
			}
			if err != nil {
				return 0, err
			}
		}
		n += rows
	}
	return n, nil
}

// encode puts the codes of fields into the buffer of column i.
func (c *csvBlock) encode(b *Buffers, t *textScratch, i int, fields []span) error {
	m, codes, bound := t.memos[i], t.codes[:len(fields)], b.bound(i)
	m.start(len(fields))
	for row, f := range fields {
		text := f.bytes(c.text)
		if f.escaped() {
			text = t.unescape(text)
		}
		if len(text) > bound.most {
			if !bound.asNull {
				return c.long(b, i, f)
			}
			text = []byte(tooLong)
		}
		codes[row] = m.find(text, row)
	}
	m.ask(codes)
	b.codes[i].each(codes)
	return nil
}

// copy puts the texts of fields into the buffer of column i.
func (c *csvBlock) copy(b *Buffers, t *textScratch, i int, fields []span) error {
	to, bound := b.values[i].(*textBuffer[int32]), b.bound(i)
	for _, f := range fields {
		text := f.bytes(c.text)
		if f.escaped() {
			text = t.unescape(text)
		}
		switch long := len(text) > bound.most; {
		case long && !bound.asNull:
			return c.long(b, i, f)
		case long || c.file.isNull(text):
			to.nulls(1)
		default:
			to.add(text)
		}
	}
	return nil
}

// long is the error of a field of column i that is too long.
func (c *csvBlock) long(b *Buffers, i int, f span) error {
	return asLong(c.file.path, b.columns[i].Name, fmt.Sprintf("line %d", c.line(int(f.begin))), longText{b.bound(i).most})
}

// notText says where the block is not valid UTF-8.
func (c *csvBlock) notText() error {
	at := 0
	for at < len(c.text) {
		r, n := utf8.DecodeRune(c.text[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return c.file.malformed(errNotText, c.line(at))
}

// fault says where the row that the scanner stands at breaks the rules.
func (c *csvBlock) fault(s *scanner, err error) error {
	return c.file.malformed(err, c.line(s.at))
}

// line is the number of the line of a place, from 1.
func (c *csvBlock) line(at int) int64 {
	return c.lines + int64(bytes.Count(c.text[:at], []byte{'\n'})) + 1
}
