package source

// This file holds the tokenizer of CSV, by RFC 4180: it splits text into rows and finds the spans of wanted fields.
// Lines end in LF or CRLF, also within quotes. A quote may stand only around a field, and doubled within a quoted
// field.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

var (
	errQuote  = errors.New("a quote is misplaced")
	errOpen   = errors.New("a quote is never closed, or one before it is misplaced")
	errRagged = errors.New("a row has more or fewer fields than the header")
	errBlank  = errors.New(`has a blank line; in a file of one column write "" for an empty value and remove other blank lines`)
)

// padding is how many bytes after a block of text may be read.
const padding = 8

// span is the position of a field in its block: its first byte, its length, and whether it has doubled quotes or line
// ends of two bytes.
type span struct {
	begin  uint32
	length uint32 // twice the length, plus one if the field is escaped
}

func (s span) bytes(block []byte) []byte {
	return block[s.begin : s.begin+s.length>>1]
}

func (s span) isEscaped() bool { return s.length&1 == 1 }

// appendUnescaped appends the text of an escaped field.
func appendUnescaped(dst, field []byte) []byte {
	for i := 0; i < len(field); i++ {
		if c := field[i]; c == '"' || c == '\r' && i+1 < len(field) && field[i+1] == '\n' {
			i++
		}
		dst = append(dst, field[i])
	}
	return dst
}

// scanner goes through the rows of a block, which ends with a line end and is followed by padding.
type scanner struct {
	block        []byte
	at           int // start of the next line
	delimiter    []byte
	singleColumn bool // a blank line could be a row, and is an error
	blankIsEmpty bool // in a single column a blank line is an empty value
}

// skipBlank goes to the next line that is not blank. It reports false at the end of the block.
func (s *scanner) skipBlank() (bool, error) {
	for s.at < len(s.block) {
		n := lineEnd(s.block[s.at:])
		if n == 0 {
			return true, nil
		}
		if s.singleColumn {
			if s.blankIsEmpty {
				return true, nil
			}
			return false, errBlank
		}
		s.at += n
	}
	return false, nil
}

// lineEnd returns the length of the line end with which b begins, 0 for none.
func lineEnd(b []byte) int {
	switch {
	case len(b) > 0 && b[0] == '\n':
		return 1
	case len(b) > 1 && b[0] == '\r' && b[1] == '\n':
		return 2
	}
	return 0
}

// headerFields returns the spans of all fields of the row at s.at.
func (s *scanner) headerFields() ([]span, error) {
	var fields []span
	for {
		field, next, last, err := s.nextField(s.at)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		if s.at = next; last {
			return fields, nil
		}
	}
}

// nextRows scans at most `most` rows of len(slots) fields each, and puts field i into spans[slots[i]] if slots[i] ≥
// 0. It returns how many rows it scanned; most must not exceed len(spans[0]).
func (s *scanner) nextRows(slots []int, spans [][]span, most int) (int, error) {
	for row := range most {
		if s.at == len(s.block) || s.block[s.at] == '\n' || s.block[s.at] == '\r' {
			if more, err := s.skipBlank(); err != nil || !more {
				return row, err
			}
		}
		at := s.at
		for i, slot := range slots {
			field, next, last, err := s.nextField(at)
			if err != nil {
				return row, err
			}
			if last != (i == len(slots)-1) {
				return row, errRagged
			}
			if slot >= 0 {
				spans[slot][row] = field
			}
			at = next
		}
		s.at = at
	}
	return most, nil
}

// Words of eight equal bytes, and their high bits.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080

	lineFeeds = ones * '\n'
	returns   = ones * '\r'
	quotes    = ones * '"'
)

// lowestZeroByte sets the high bit of the lowest zero byte of a word, and of no lower byte: subtracting one from a
// zero byte borrows. Bits of higher bytes mean nothing.
func lowestZeroByte(word uint64) uint64 { return (word - ones) &^ word & highs }

// nextField returns the field that begins at a position, the position of the next field, and whether the field was
// the last of its row.
func (s *scanner) nextField(at int) (f span, next int, last bool, err error) {
	block := s.block[: len(s.block)+padding : len(s.block)+padding]
	if block[at] == '"' {
		return s.nextQuotedField(at)
	}
	begin := at
	delimiter := ones * uint64(s.delimiter[0])
	for {
		w := binary.LittleEndian.Uint64(block[at:])
		found := lowestZeroByte(w^delimiter) | lowestZeroByte(w^lineFeeds) | lowestZeroByte(w^quotes)
		if found == 0 {
			at += 8
			continue
		}
		at += bits.TrailingZeros64(found) >> 3
		switch c := block[at]; {
		case c == '\n':
			end := at
			if end > begin && block[end-1] == '\r' {
				end--
			}
			return span{uint32(begin), uint32(end-begin) << 1}, at + 1, true, nil
		case c == '"':
			return span{}, 0, false, errQuote
		case len(s.delimiter) == 1 || bytes.HasPrefix(block[at:], s.delimiter):
			return span{uint32(begin), uint32(at-begin) << 1}, at + len(s.delimiter), false, nil
		}
		at++
	}
}

// nextQuotedField is nextField for a field in quotes.
func (s *scanner) nextQuotedField(at int) (f span, next int, last bool, err error) {
	block := s.block[: len(s.block)+padding : len(s.block)+padding]
	at++
	begin, escaped := at, uint32(0)
	for {
		w := binary.LittleEndian.Uint64(block[at:])
		found := lowestZeroByte(w^quotes) | lowestZeroByte(w^returns)
		at += min(bits.TrailingZeros64(found)>>3, 8)
		if at >= len(s.block) {
			return span{}, 0, false, errOpen
		}
		if found == 0 {
			continue
		}
		if block[at] == '"' {
			if at++; block[at] != '"' {
				break
			}
		}
		at, escaped = at+1, 1
	}
	f = span{uint32(begin), uint32(at-1-begin)<<1 | escaped}
	switch {
	case block[at] == s.delimiter[0] && bytes.HasPrefix(block[at:], s.delimiter):
		return f, at + len(s.delimiter), false, nil
	case lineEnd(block[at:]) > 0:
		return f, at + lineEnd(block[at:]), true, nil
	}
	return span{}, 0, false, errQuote
}
