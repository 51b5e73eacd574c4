package source

// This file holds the check of page headers that comes before the Parquet decoder
// sets memory aside for what they say.

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

var errPageHeader = errors.New("a page header gives sizes that cannot be")

// checkPages walks the page headers of a column chunk, whose file holds size
// bytes and whose row group holds rows rows.
func checkPages(file io.ReaderAt, size int64, chunk *format.ColumnMetaData, rows int64) error {
	begin := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		begin = chunk.DictionaryPageOffset
	}
	end := begin + chunk.TotalCompressedSize
	if begin < 4 || chunk.TotalCompressedSize < 0 || end < begin || end > size {
		return errors.New("a column chunk lies outside the file")
	}
	var protocol thrift.CompactProtocol
	buffer := bufio.NewReaderSize(nil, 1<<10)
	for at := begin; at < end; {
		buffer.Reset(io.NewSectionReader(file, at, end-at))
		reader := &countingReader{Reader: buffer}
		var header format.PageHeader
		if err := thrift.NewDecoder(protocol.NewReader(reader)).Decode(&header); err != nil {
			return fmt.Errorf("a page header: %w", err)
		}
		at += reader.n + int64(header.CompressedPageSize)
		if reader.n == 0 || !plausible(&header, rows) || at > end {
			return errPageHeader
		}
	}
	return nil
}

// plausible tells whether a page can hold what its header says: flat columns
// have a value or a null for each row, and every entry of a dictionary is at
// least a byte.
func plausible(h *format.PageHeader, rows int64) bool {
	compressed, plain := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if compressed < 0 || plain < 0 || plain > (compressed+64)*expansion {
		return false
	}
	if h.DataPageHeader.Valid && int64(h.DataPageHeader.V.NumValues) > rows {
		return false
	}
	if h.DataPageHeaderV2.Valid && int64(h.DataPageHeaderV2.V.NumValues) > rows {
		return false
	}
	return !h.DictionaryPageHeader.Valid || int64(h.DictionaryPageHeader.V.NumValues) <= plain
}

// countingReader counts the bytes taken from a buffer.
type countingReader struct {
	*bufio.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func (c *countingReader) Discard(n int) (int, error) {
	n, err := c.Reader.Discard(n)
	c.n += int64(n)
	return n, err
}
