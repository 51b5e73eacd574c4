package source

// This file holds the column chunk: the pages of one column in one row group,
// handed to a sink in batches of any length.

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// columnChunk is a place in the pages of a column chunk.
type columnChunk struct {
	source   parquet.ColumnChunk
	optional bool
	sink     sink

	pages  parquet.Pages
	page   parquet.Page
	levels []byte // definition levels of the page, nil where no value is null
	row    int    // next row of the page
	rows   int    // rows of the page
	dense  int    // next value of the page that is not null
}

// fill puts exactly n rows into the sink.
func (c *columnChunk) fill(n int) error {
	for n > 0 {
		if c.row == c.rows {
			if err := c.turn(); err != nil {
				if errors.Is(err, io.EOF) {
					return errors.New("the column holds fewer values than its row group has rows")
				}
				return err
			}
			continue
		}
		m := min(n, c.rows-c.row)
		if err := c.copy(m); err != nil {
			return err
		}
		n -= m
	}
	return nil
}

// end checks that no rows are left.
func (c *columnChunk) end() error {
	for c.row == c.rows {
		if err := c.turn(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errors.New("the column holds more values than its row group has rows")
}

// turn goes to the next page and checks that its parts agree in length.
func (c *columnChunk) turn() error {
	parquet.Release(c.page)
	c.page, c.levels, c.row, c.rows, c.dense = nil, nil, 0, 0, 0
	if c.pages == nil {
		c.pages = c.source.Pages()
	}
	page, err := c.pages.ReadPage()
	if err != nil {
		return err
	}
	c.page = page
	rows, values := int(page.NumRows()), int(page.NumRows())
	if c.optional {
		levels := page.DefinitionLevels()
		if len(levels) != rows {
			return fmt.Errorf("a page has %d definition levels for %d rows", len(levels), rows)
		}
		values = present(levels)
		if values < rows {
			c.levels = levels
		}
	}
	if err := c.sink.page(page, values); err != nil {
		return err
	}
	c.rows = rows
	return nil
}

// present is how many rows of an optional column hold a value.
func present(levels []byte) int { return bytes.Count(levels, []byte{1}) }

// copy puts the next m rows of the page into the sink.
func (c *columnChunk) copy(m int) error {
	from, values := c.row, m
	c.row += m
	if c.levels != nil {
		values = present(c.levels[from:c.row])
	}
	dense := c.dense
	c.dense += values
	if values == m {
		return c.sink.take(dense, c.dense)
	}
	return c.sink.takeSome(c.levels[from:c.row], dense, c.dense)
}

// close frees the pages. After a page that could not be decoded the decoder may
// fail once more here, which adds nothing to the first error.
func (c *columnChunk) close() {
	defer func() { _ = recover() }()
	parquet.Release(c.page)
	c.page = nil
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
}
