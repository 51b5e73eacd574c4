package source

// This file holds the column chunk: the pages of one column in one row group, passed to a sink in batches of any
// length. Memory for a page is allocated only after the sizes in its header are checked against the chunk.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is the encoding that the first writers gave both to dictionaries and to indexes into them.
const plainDictionary = format.Encoding(2)

const (
	readAhead = 1 << 18 // bytes of a chunk read at once
	bitPad    = 64      // bytes after a page that its decoder may read
)

var (
	errFewValues = errors.New("the column holds fewer values than its row group has rows")
	errRuns      = errors.New("a page holds another number of levels or indexes than its header says")
)

// columnChunk is a position in the pages of a column chunk. Its memory is reused for chunk after chunk.
type columnChunk struct {
	parquetColumn
	sink sink

	file     io.ReaderAt
	codec    format.CompressionCodec
	at, end  int64 // what is left of the chunk in the file
	rowsLeft int64 // after the page
	entries  int   // number of dictionary entries, -1 without a dictionary

	window []byte // read ahead
	ahead  []byte // unread rest of window
	plain  []byte // a page, decompressed
	page   decoded
	dict   decoded
	level  []byte
	index  []int32

	levels []byte // of the page, 1 for a row with a value; nil if all rows have values
	row    int    // next row of the page
	rows   int    // rows of the page
	dense  int    // next value of the page that is not null
}

// decoded is the memory for the values of a page.
type decoded struct {
	bytes   []byte
	offsets []uint32
}

// startChunk goes to the beginning of a chunk in a row group of the given number of rows, in a file of size bytes.
func (c *columnChunk) startChunk(file io.ReaderAt, size int64, chunk *format.ColumnMetaData, rows int64) error {
	c.file, c.codec, c.rowsLeft, c.entries = file, chunk.Codec, rows, -1
	c.ahead, c.levels, c.row, c.rows, c.dense = nil, nil, 0, 0, 0
	c.at = chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		c.at = chunk.DictionaryPageOffset
	}
	c.end = c.at + chunk.TotalCompressedSize
	if c.at < 4 || chunk.TotalCompressedSize < 0 || c.end < c.at || c.end > size {
		return errors.New("a column chunk lies outside the file")
	}
	return nil
}

// fillRows appends exactly n rows to the sink.
func (c *columnChunk) fillRows(n int) error {
	for n > 0 {
		if c.row == c.rows {
			if err := c.nextDataPage(); errors.Is(err, io.EOF) {
				return errFewValues
			} else if err != nil {
				return err
			}
			continue
		}
		m := min(n, c.rows-c.row)
		if err := c.copyRows(m); err != nil {
			return err
		}
		n -= m
	}
	return nil
}

// checkFinished checks that only pages without rows are left.
func (c *columnChunk) checkFinished() error {
	for c.row == c.rows {
		if err := c.nextDataPage(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errors.New("the column holds more values than its row group has rows")
}

// copyRows appends the next m rows of the page to the sink.
func (c *columnChunk) copyRows(m int) error {
	from, values := c.row, m
	c.row += m
	if c.levels != nil {
		values = countPresent(c.levels[from:c.row])
	}
	dense := c.dense
	c.dense += values
	if values == m {
		return c.sink.appendRange(dense, c.dense)
	}
	return c.sink.appendLevels(c.levels[from:c.row], dense, c.dense)
}

// nextDataPage goes to the next page of data. It returns io.EOF at the end of the chunk.
func (c *columnChunk) nextDataPage() error {
	for {
		if c.at == c.end && len(c.ahead) == 0 {
			return io.EOF
		}
		h, body, err := c.nextPage()
		if err != nil {
			return err
		}
		if h.kind != format.DictionaryPage {
			return c.loadDataPage(&h, body)
		}
		if err := c.loadDictionary(&h, body); err != nil {
			return err
		}
	}
}

// nextPage reads the header and the bytes of the next page.
func (c *columnChunk) nextPage() (h pageHeader, body []byte, err error) {
	n := 0
	for want := 1; ; want = 2*len(c.ahead) + 1 {
		if err := c.ensureAhead(want); err != nil {
			return h, nil, err
		}
		if h, n, err = parsePageHeader(c.ahead); err == nil {
			break
		}
		if !errors.Is(err, errHeaderCut) || c.at == c.end {
			return h, nil, err
		}
	}
	c.ahead = c.ahead[n:]
	if err := h.checkSizes(int64(len(c.ahead))+c.end-c.at, c.rowsLeft); err != nil {
		return h, nil, err
	}
	size := int(h.compressed)
	if err := c.ensureAhead(size); err != nil {
		return h, nil, err
	}
	if len(c.ahead) < size {
		return h, nil, errPageHeader
	}
	body, c.ahead = c.ahead[:size], c.ahead[size:]
	if h.crc != 0 && uint32(h.crc) != crc32.ChecksumIEEE(body) {
		return h, nil, errors.New("a page differs from its checksum")
	}
	return h, body, nil
}

// ensureAhead reads ahead until n bytes, or all that are left of the chunk, are in memory.
func (c *columnChunk) ensureAhead(n int) error {
	if len(c.ahead) >= n || c.at == c.end {
		return nil
	}
	held := len(c.ahead)
	size := int(min(int64(max(n-held, readAhead-held)), c.end-c.at))
	if cap(c.window) < held+size+bitPad {
		c.window = append(make([]byte, 0, max(held+size, readAhead)+bitPad), c.ahead...)
	} else {
		c.window = append(c.window[:0], c.ahead...)
	}
	c.window = c.window[:held+size]
	got, err := c.file.ReadAt(c.window[held:], c.at)
	if errors.Is(err, io.EOF) { // io.EOF would stand for the end of the chunk
		err = io.ErrUnexpectedEOF
	}
	if got < size {
		return fmt.Errorf("the pages of a column: %w", err)
	}
	c.at += int64(size)
	c.ahead = c.window
	return nil
}

// loadDictionary decodes the dictionary of the chunk and passes it to the sink.
func (c *columnChunk) loadDictionary(h *pageHeader, body []byte) error {
	if c.entries >= 0 {
		return errors.New("a column chunk has two dictionaries")
	}
	body, err := c.decompress(body, int(h.plain))
	if err != nil {
		return err
	}
	if h.encoding == plainDictionary {
		h.encoding = format.Plain
	}
	values, err := c.decodeValues(&c.dict, h.encoding, body, int(h.values), true)
	if err != nil {
		return err
	}
	c.entries = int(h.values)
	return c.sink.setDictionary(values, c.entries)
}

// loadDataPage decodes a page of data and passes it to the sink.
func (c *columnChunk) loadDataPage(h *pageHeader, body []byte) error {
	c.levels, c.row, c.rows, c.dense = nil, 0, 0, 0
	n := int(h.values)
	var err error
	if h.kind == format.DataPageV2 {
		levels := body[h.repetition : h.repetition+h.definition]
		body = body[h.repetition+h.definition:]
		if c.optional {
			err = c.readLevels(format.RLE, levels, n)
		}
		if plain := int(h.plain - h.repetition - h.definition); err == nil && !h.plainInVersion2 {
			body, err = c.decompress(body, plain)
		}
	} else if body, err = c.decompress(body, int(h.plain)); err == nil && c.optional {
		body, err = c.readPrefixed(h.levels, body, n)
	}
	if err != nil {
		return err
	}
	values := n
	if c.levels != nil {
		values = countPresent(c.levels)
	}
	if err := c.decodeData(h.encoding, body, values); err != nil {
		return err
	}
	c.rows, c.rowsLeft = n, c.rowsLeft-int64(n)
	return nil
}

// decompress returns the decompressed bytes of a page, of which there must be n.
func (c *columnChunk) decompress(body []byte, n int) ([]byte, error) {
	if c.codec == format.Uncompressed {
		if len(body) != n {
			return nil, errPageHeader
		}
		return body, nil
	}
	if c.codec == format.Snappy {
		if length, _ := binary.Uvarint(body); length != uint64(n) {
			return nil, errPageHeader
		}
	}
	if cap(c.plain) < n+bitPad {
		c.plain = make([]byte, 0, n+bitPad)
	}
	plain, err := parquet.LookupCompressionCodec(c.codec).Decode(c.plain[:0:cap(c.plain)], body)
	if err != nil {
		return nil, err
	}
	if len(plain) != n {
		return nil, errPageHeader
	}
	c.plain = plain
	return plain, nil
}

// readPrefixed reads the definition levels of version 1, which follow their length, and returns the bytes after them.
func (c *columnChunk) readPrefixed(encoding format.Encoding, body []byte, n int) ([]byte, error) {
	if encoding == format.BitPacked { // without a length
		size := (n + 7) / 8
		if size > len(body) {
			return nil, errRuns
		}
		return body[size:], c.readLevels(encoding, body[:size], n)
	}
	if len(body) < 4 {
		return nil, errRuns
	}
	size := int64(binary.LittleEndian.Uint32(body))
	if body = body[4:]; size > int64(len(body)) {
		return nil, errRuns
	}
	return body[size:], c.readLevels(encoding, body[:size], n)
}

// readLevels reads n definition levels. It sets c.levels to nil if all of them are 1.
func (c *columnChunk) readLevels(of format.Encoding, body []byte, n int) (err error) {
	if of == format.RLE && allPresent(body, n) {
		return nil
	}
	c.level = slices.Grow(c.level[:0], n+bitPad)[:n+bitPad]
	switch of {
	case format.RLE:
		err = readLevels(c.level, body, n)
	case format.BitPacked: // highest bit first; deprecated
		for i := range n {
			c.level[i] = body[i/8] >> (7 - i%8) & 1
		}
	default:
		err = errors.New("the levels of a page are encoded in a way that is not read")
	}
	if c.levels = c.level[:n]; countPresent(c.levels) == n {
		c.levels = nil
	}
	return err
}

// decodeData decodes the n values of a page of data and passes them to the sink.
func (c *columnChunk) decodeData(of format.Encoding, body []byte, n int) error {
	if of != plainDictionary && of != format.RLEDictionary {
		values, err := c.decodeValues(&c.page, of, body, n, false)
		if err != nil {
			return err
		}
		return c.sink.setValuePage(values, n)
	}
	if c.entries < 0 {
		return errors.New("a page refers to a dictionary that is not there")
	}
	if n == 0 {
		c.sink.setIndexPage(nil)
		return nil
	}
	if len(body) == 0 || body[0] > 32 {
		return errRuns
	}
	if !runsHold(body[1:], int(body[0]), n) {
		return errRuns
	}
	if c.sink.setPackedPage(body[1:], int(body[0]), n) {
		return nil
	}
	// The result lies in the memory of c.index, but may have a smaller capacity.
	c.index = slices.Grow(c.index[:0], n+mostFill+1)
	index, err := (&rle.DictionaryEncoding{}).DecodeInt32(c.index, body)
	if err != nil {
		return err
	}
	if len(index) < n {
		return errRuns
	}
	c.sink.setIndexPage(index[:n])
	return nil
}

// decodeValues decodes n values of the given encoding. It decodes them in place, within the page, if the encoding
// allows that and keep is not set, and into the memory of into if not.
func (c *columnChunk) decodeValues(into *decoded, of format.Encoding, body []byte, n int, keep bool) (encoding.Values,
	error) {
	e := parquet.LookupEncoding(of)
	in := body
	if keep || !e.CanDecodeInPlace() || c.kind.Kind() == parquet.ByteArray {
		size := c.kind.EstimateDecodeSize(n, body, e)
		into.bytes = slices.Grow(into.bytes[:0], size)[:size]
		in = into.bytes
	}
	if c.kind.Kind() == parquet.ByteArray {
		into.offsets = slices.Grow(into.offsets[:0], n+1)[:n+1]
	}
	values, err := c.kind.Decode(c.kind.NewValues(in, into.offsets), body, e)
	if err != nil {
		return values, err
	}
	if c.kind.Kind() == parquet.ByteArray {
		into.bytes, into.offsets = values.ByteArray()
	}
	return values, nil
}
