package source

// This file holds the block, the piece of a CSV file: whole lines.

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
)

// csvBlock is whole lines of a file. It is immutable.
type csvBlock struct {
	file  *csvFile
	text  []byte // followed by padding
	lines int64  // number of lines of the file before the block
}

// scanRows is how many rows are scanned before their fields are coded or copied.
const scanRows = 2048

// textScratch is the memory with which a goroutine reads blocks.
type textScratch struct {
	spans [][]span // by slot
	memos []*memo  // by wanted column, nil where values are wanted
	codes [scanRows]uint32
	field []byte
}

// unescape returns the text of an escaped field. It is valid until the next call.
func (t *textScratch) unescape(field []byte) []byte {
	t.field = appendUnescaped(slices.Grow(t.field[:0], len(field)+padding), field)
	return t.field
}

func (c *csvBlock) rowCount() int64 { return -1 }

func (c *csvBlock) readBatches(ctx context.Context, b *Buffers, most int, visit func(*Batch) error) error {
	if !c.file.total && !utf8.Valid(c.text) {
		return c.notUTF8()
	}
	scratchOf[textScratch](b).fitTo(b, c.file)
	s := c.scanner()
	for first := int64(0); ; {
		n, err := c.readBatch(ctx, b, &s, most)
		if err != nil || n == 0 {
			return err
		}
		if err := b.visitBatch(first, n, visit); err != nil {
			return err
		}
		first += int64(n)
	}
}

// scanner returns a scanner of the block's rows.
func (c *csvBlock) scanner() scanner {
	return scanner{block: c.text, delimiter: c.file.delimiter, singleColumn: len(c.file.header) == 1,
		blankIsEmpty: c.file.total}
}

// fitTo fits the buffers and their scratch to a CSV file.
func (t *textScratch) fitTo(b *Buffers, f *csvFile) {
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
		b.ensureType(i, arrow.BinaryTypes.String)
		if codes != nil && t.memos[i] == nil {
			t.memos[i] = newMemo(b.columns[i].Coder, f.isNull)
		}
	}
}

// readBatch reads at most `most` rows into the buffers and returns how many it read.
func (c *csvBlock) readBatch(ctx context.Context, b *Buffers, s *scanner, most int) (int, error) {
	b.startBatch(most)
	t, n := scratchOf[textScratch](b), 0
	for n < most {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		rows, err := s.nextRows(c.file.slots, t.spans, min(scanRows, most-n))
		if err != nil {
			return 0, c.rowError(s, err)
		}
		if rows == 0 {
			break
		}
		for i, slot := range c.file.indexes {
			switch {
			case slot < 0:
				b.repeatConstant(i, c.file.constants[i], rows)
			case b.codes[i] != nil:
				err = c.encodeFields(b, t, i, t.spans[slot][:rows])
			default:
				err = c.copyFields(b, t, i, t.spans[slot][:rows])
			}
			if err != nil {
				return 0, err
			}
		}
		n += rows
	}
	return n, nil
}

// encodeFields writes the codes of fields to the buffer of column i.
func (c *csvBlock) encodeFields(b *Buffers, t *textScratch, i int, fields []span) error {
	m, codes, bound := t.memos[i], t.codes[:len(fields)], b.textBoundOf(i)
	m.startBatch(len(fields))
	for row, f := range fields {
		text := f.bytes(c.text)
		if f.isEscaped() {
			text = t.unescape(text)
		}
		if len(text) > bound.most {
			if !bound.asNull {
				return c.textTooLong(b, i, f)
			}
			text = []byte(tooLong)
		}
		codes[row] = m.codeOf(text, row)
	}
	m.resolveMisses(codes)
	b.codes[i].appendCodes(codes)
	return nil
}

// copyFields writes the texts of fields to the buffer of column i.
func (c *csvBlock) copyFields(b *Buffers, t *textScratch, i int, fields []span) error {
	to, bound := b.values[i].(*textBuffer[int32]), b.textBoundOf(i)
	for _, f := range fields {
		text := f.bytes(c.text)
		if f.isEscaped() {
			text = t.unescape(text)
		}
		switch long := len(text) > bound.most; {
		case long && !bound.asNull:
			return c.textTooLong(b, i, f)
		case long || c.file.isNull(text):
			to.appendNulls(1)
		default:
			to.appendText(text)
		}
	}
	return nil
}

// textTooLong returns the error of a field of column i that is too long.
func (c *csvBlock) textTooLong(b *Buffers, i int, f span) error {
	return asTextTooLong(c.file.path, b.columns[i].Name, fmt.Sprintf("line %d", c.lineNumber(int(f.begin))),
		textTooLongError{b.textBoundOf(i).most})
}

// notUTF8 returns an error that names the first line that is not valid UTF-8.
func (c *csvBlock) notUTF8() error {
	at := 0
	for at < len(c.text) {
		r, n := utf8.DecodeRune(c.text[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return c.file.malformedLine(errNotText, c.lineNumber(at))
}

// rowError returns the error of the row at the scanner's position.
func (c *csvBlock) rowError(s *scanner, err error) error {
	return c.file.malformedLine(err, c.lineNumber(s.at))
}

// lineOf returns the number, from 1, of the line on which a row begins that was read before.
func (c *csvBlock) lineOf(row int64) int64 {
	s := c.scanner()
	if _, err := s.nextRows(slices.Repeat([]int{-1}, len(c.file.slots)), nil, int(row)); err == nil {
		_, _ = s.skipBlank() // the row is there
	}
	return c.lineNumber(s.at)
}

// lineNumber returns the number, from 1, of the line of a position in the block.
func (c *csvBlock) lineNumber(at int) int64 {
	return c.lines + int64(bytes.Count(c.text[:at], []byte{'\n'})) + 1
}
