package source

// This file holds the tokenizer of CSV: rows of text into the places of their
// wanted fields, by RFC 4180. Lines end in LF or CRLF, and so do those within
// quotes; a quote may stand only around a field and doubled within one.

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

// padding is how many bytes may be read behind a block of text.
const padding = 8

// span is where a field lies in its block: first byte, length and whether it has
// doubled quotes or line ends of two bytes.
type span struct {
	begin  uint32
	length uint32 // doubled, and one more where it is escaped
}

func (s span) bytes(block []byte) []byte {
	return block[s.begin : s.begin+s.length>>1]
}

func (s span) escaped() bool { return s.length&1 == 1 }

// unescape appends the text of an escaped field.
func unescape(dst, field []byte) []byte {
	for i := 0; i < len(field); i++ {
		if c := field[i]; c == '"' || c == '\r' && i+1 < len(field) && field[i+1] == '\n' {
			i++
		}
		dst = append(dst, field[i])
	}
	return dst
}

// scanner goes through the rows of a block, which ends with a line and has
// padding behind it.
type scanner struct {
	block     []byte
	at        int // start of the next line
	delimiter []byte
	single    bool // one column: a blank line could be a row, and is an error
	empties   bool // a blank line is one there
}

// skipBlank goes to the next line that is not blank, and is false at the end.
func (s *scanner) skipBlank() (bool, error) {
	for s.at < len(s.block) {
		n := lineEnd(s.block[s.at:])
		if n == 0 {
			return true, nil
		}
		if s.single {
			if s.empties {
				return true, nil
			}
			return false, errBlank
		}
		s.at += n
	}
	return false, nil
}

// lineEnd is the length of the line end that b begins with, 0 for none.
func lineEnd(b []byte) int {
	switch {
	case len(b) > 0 && b[0] == '\n':
		return 1
	case len(b) > 1 && b[0] == '\r' && b[1] == '\n':
		return 2
	}
	return 0
}

// header returns the spans of the row at s.at, however many there are.
func (s *scanner) header() ([]span, error) {
	var fields []span
	for {
		field, next, last, err := s.field(s.at)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		if s.at = next; last {
			return fields, nil
		}
	}
}

// rows scans at most len(spans[0]) rows (of as many fields as slots) and puts the
// field of slot i ≥ 0 into spans[i]. It returns how many rows there were.
func (s *scanner) rows(slots []int, spans [][]span, most int) (int, error) {
	for row := range most {
		if s.at == len(s.block) || s.block[s.at] == '\n' || s.block[s.at] == '\r' {
			if more, err := s.skipBlank(); err != nil || !more {
				return row, err
			}
		}
		at := s.at
		for i, slot := range slots {
			field, next, last, err := s.field(at)
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

// zeros has the high bit of the lowest zero byte of a word, and of no lower one: a
// zero byte minus one borrows.
func zeros(word uint64) uint64 { return (word - ones) &^ word & highs }

// field returns the field that begins at a place, where the next begins, and
// whether it was the last of its row.
func (s *scanner) field(at int) (f span, next int, last bool, err error) {
	block := s.block[: len(s.block)+padding : len(s.block)+padding]
	if block[at] == '"' {
		return s.quoted(at)
	}
	begin := at
	delimiter := ones * uint64(s.delimiter[0])
	for {
		w := binary.LittleEndian.Uint64(block[at:])
		found := zeros(w^delimiter) | zeros(w^lineFeeds) | zeros(w^quotes)
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

// quoted is field for a field in quotes.
func (s *scanner) quoted(at int) (f span, next int, last bool, err error) {
	block := s.block[: len(s.block)+padding : len(s.block)+padding]
	at++
	begin, escaped := at, uint32(0)
	for {
		w := binary.LittleEndian.Uint64(block[at:])
		found := zeros(w^quotes) | zeros(w^returns)
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
