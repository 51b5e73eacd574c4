package source

// This file holds the page header. It reads as much of Thrift's compact protocol as a page needs.

import (
	"encoding/binary"
	"errors"

	"github.com/parquet-go/parquet-go/format"
)

var (
	errPageHeader = errors.New("a page header gives sizes that cannot be")
	errHeaderCut  = errors.New("a page header is cut short")
)

// pageHeader is the header of a page. Fields that it lacks are 0.
type pageHeader struct {
	kind            format.PageType
	plain           int32 // bytes when decompressed
	compressed      int32 // bytes in the file
	crc             int32
	values          int32 // number of rows, or of entries of a dictionary
	encoding        format.Encoding
	levels          format.Encoding // encoding of the definition levels, version 1
	rows            int32           // version 2
	definition      int32           // bytes of definition levels, version 2
	repetition      int32           // bytes of repetition levels, version 2
	plainInVersion2 bool            // the values are not compressed, whatever the codec of the chunk
}

// Field numbers of the structures in parquet.thrift.
const (
	headerKind, headerPlain, headerCompressed, headerCRC = 1, 2, 3, 4
	headerVersion1, headerDictionary, headerVersion2     = 5, 7, 8
	pageValues, dictionaryEncoding                       = 1, 2
	version1Encoding, version1Levels                     = 2, 3
	version2Rows, version2Encoding, version2Definition   = 3, 4, 5
	version2Repetition, version2Compressed               = 6, 7
)

// parsePageHeader reads a header from the beginning of b and returns its length. The error is errHeaderCut if b ends
// before the header does.
func parsePageHeader(b []byte) (h pageHeader, n int, err error) {
	t := thriftReader{b: b}
	body := 0 // the structure that goes with the kind
	t.eachField(func(field, kind int) {
		switch {
		case kind == compactStruct && (field == headerVersion1 || field == headerDictionary || field == headerVersion2):
			body = field
			t.eachField(func(inner, kind int) { h.setField(&t, field, inner, kind) })
		case kind != compactI32:
			t.skip(kind, deepest)
		case field == headerKind:
			h.kind = format.PageType(t.readInt32())
		case field == headerPlain:
			h.plain = t.readInt32()
		case field == headerCompressed:
			h.compressed = t.readInt32()
		case field == headerCRC:
			h.crc = t.readInt32()
		default:
			t.readInt32()
		}
	})
	if t.err != nil {
		return h, 0, t.err
	}
	want := map[format.PageType]int{format.DataPage: headerVersion1, format.DictionaryPage: headerDictionary,
		format.DataPageV2: headerVersion2}[h.kind]
	if want == 0 || body != want {
		return h, 0, errors.New("a page is of a kind that is not read")
	}
	return h, t.at, nil
}

// setField reads a field of the structure that describes a kind of page.
func (h *pageHeader) setField(t *thriftReader, of, field, kind int) {
	switch {
	case of == headerVersion2 && field == version2Compressed && kind <= compactFalse:
		h.plainInVersion2 = kind == compactFalse
	case kind != compactI32:
		t.skip(kind, deepest)
	case field == pageValues:
		h.values = t.readInt32()
	case of == headerVersion1 && field == version1Encoding, of == headerDictionary && field == dictionaryEncoding,
		of == headerVersion2 && field == version2Encoding:
		h.encoding = format.Encoding(t.readInt32())
	case of == headerVersion1 && field == version1Levels:
		h.levels = format.Encoding(t.readInt32())
	case of == headerVersion2 && field == version2Rows:
		h.rows = t.readInt32()
	case of == headerVersion2 && field == version2Definition:
		h.definition = t.readInt32()
	case of == headerVersion2 && field == version2Repetition:
		h.repetition = t.readInt32()
	default:
		t.readInt32()
	}
}

// checkSizes refuses sizes that are impossible for a page, if its chunk has leftBytes bytes left and its row group
// has leftRows rows left. Flat columns have a value or a null for each row, and every dictionary entry takes at least
// a byte.
func (h *pageHeader) checkSizes(leftBytes, leftRows int64) error {
	if h.compressed < 0 || int64(h.compressed) > leftBytes || h.plain < 0 ||
		int64(h.plain) > (int64(h.compressed)+64)*expansion || h.values < 0 {
		return errPageHeader
	}
	switch h.kind {
	case format.DictionaryPage:
		if h.values > h.plain {
			return errPageHeader
		}
		return nil
	case format.DataPageV2:
		if h.rows != h.values || h.definition < 0 || h.repetition < 0 || int64(h.definition)+
			int64(h.repetition) > int64(min(h.compressed, h.plain)) {
			return errPageHeader
		}
	}
	if int64(h.values) > leftRows {
		return errors.New("the column holds more values than its row group has rows")
	}
	return nil
}

// Types of the compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactI16    = 4
	compactI32    = 5
	compactI64    = 6
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12

	deepest = 16 // nesting of structures
)

// thriftReader reads Thrift's compact protocol. After an error it reads zeros.
type thriftReader struct {
	b   []byte
	at  int
	err error
}

func (t *thriftReader) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.at = len(t.b)
}

func (t *thriftReader) readByte() byte {
	if t.at >= len(t.b) {
		t.fail(errHeaderCut)
		return 0
	}
	t.at++
	return t.b[t.at-1]
}

func (t *thriftReader) readUvarint() uint64 {
	if t.err != nil {
		return 0
	}
	v, n := binary.Uvarint(t.b[t.at:])
	switch {
	case n == 0:
		t.fail(errHeaderCut)
	case n < 0:
		t.fail(errPageHeader)
	default:
		t.at += n
	}
	return v
}

// readVarint reads a zigzag-encoded integer.
func (t *thriftReader) readVarint() int64 {
	u := t.readUvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (t *thriftReader) readInt32() int32 {
	v := t.readVarint()
	if v != int64(int32(v)) {
		t.fail(errPageHeader)
		return 0
	}
	return int32(v)
}

// eachField calls visit for each field of a structure. visit must read the field.
func (t *thriftReader) eachField(visit func(field, kind int)) {
	field := 0
	for t.err == nil {
		head := int(t.readByte())
		if head == 0 {
			return
		}
		if delta := head >> 4; delta != 0 {
			field += delta
		} else {
			field = int(t.readVarint())
		}
		visit(field, head&0xF)
	}
}

// skip skips a value.
func (t *thriftReader) skip(kind, depth int) {
	if depth == 0 {
		t.fail(errPageHeader)
		return
	}
	switch kind {
	case compactTrue, compactFalse:
	case compactByte:
		t.readByte()
	case compactI16, compactI32, compactI64:
		t.readUvarint()
	case compactDouble:
		t.skipBytes(8)
	case compactBinary:
		t.skipBytes(t.readUvarint())
	case compactList, compactSet:
		head := t.readByte()
		n := uint64(head >> 4)
		if n == 15 {
			n = t.readUvarint()
		}
		t.skipElements(n, depth, int(head&0xF))
	case compactMap:
		if n := t.readUvarint(); n > 0 {
			head := t.readByte()
			t.skipElements(n, depth, int(head>>4), int(head&0xF))
		}
	case compactStruct:
		t.eachField(func(_, kind int) { t.skip(kind, depth-1) })
	default:
		t.fail(errPageHeader)
	}
}

// skipElements skips n elements, each made of values of the given kinds. A boolean element takes a byte.
func (t *thriftReader) skipElements(n uint64, depth int, kinds ...int) {
	for ; n > 0 && t.err == nil; n-- {
		for _, kind := range kinds {
			if kind <= compactFalse {
				kind = compactByte
			}
			t.skip(kind, depth-1)
		}
	}
}

func (t *thriftReader) skipBytes(n uint64) {
	if n > uint64(len(t.b)-t.at) {
		t.fail(errHeaderCut)
		return
	}
	t.at += int(n)
}
