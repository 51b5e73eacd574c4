package source

// This file holds the sinks, which turn the values of Parquet pages into codes or Arrow arrays.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/encoding"
)

// sink collects the values of one column, chunk after chunk. A page is set first, then rows of it are appended.
type sink interface {
	// setDictionary sets the n entries of the dictionary.
	setDictionary(entries encoding.Values, n int) error
	// setPackedPage sets the page to n indexes into the dictionary, encoded in runs of the given bit width that hold at
	// least n, and reports whether it can.
	setPackedPage(runs []byte, width, n int) bool
	// setIndexPage sets the page to indexes into the dictionary. An index outside the dictionary makes appendRange
	// panic, and the guard of the file turns the panic into an error.
	setIndexPage(index []int32)
	// setValuePage sets the page to n values.
	setValuePage(values encoding.Values, n int) error
	// appendRange appends the values from..to of the page.
	appendRange(from, to int) error
	// appendLevels appends a row for each level: the next of the values from..to if the level is 1, and null if it is
	// 0.
	appendLevels(levels []byte, from, to int) error
}

// codeSink collects codes.
type codeSink struct {
	to     codeBuffer
	decode decoder
}

func (s *codeSink) setDictionary(entries encoding.Values, n int) error {
	a, err := s.decode(entries, n)
	if err == nil {
		s.to.setDictionary(a)
	}
	return err
}

func (s *codeSink) setPackedPage(runs []byte, width, n int) bool {
	return s.to.setPackedPage(runs, width, n)
}

func (s *codeSink) setIndexPage(index []int32) { s.to.setIndexPage(index) }

func (s *codeSink) setValuePage(values encoding.Values, n int) error {
	a, err := s.decode(values, n)
	if err == nil {
		s.to.setPage(a)
	}
	return err
}

func (s *codeSink) appendRange(from, to int) error {
	s.to.appendRange(from, to)
	return nil
}

func (s *codeSink) appendLevels(levels []byte, from, _ int) error {
	s.to.appendLevels(from, levels)
	return nil
}

// valueSink collects values.
type valueSink struct {
	to            valueBuffer
	decode        decoder // of pages
	decodeEntries decoder // of dictionaries, which must outlast the next page of values
	entries       arrow.Array
	index         []int32     // the page, if it holds indexes
	values        arrow.Array // the page, if it holds values; else nil
}

func (s *valueSink) setDictionary(entries encoding.Values, n int) (err error) {
	s.entries, err = s.decodeEntries(entries, n)
	return err
}

func (s *valueSink) setPackedPage([]byte, int, int) bool { return false }

func (s *valueSink) setIndexPage(index []int32) { s.index, s.values = index, nil }

func (s *valueSink) setValuePage(values encoding.Values, n int) (err error) {
	s.values, err = s.decode(values, n)
	return err
}

func (s *valueSink) appendRange(from, to int) error {
	if s.values != nil {
		return s.to.appendValues(s.values, from, to)
	}
	return s.to.appendEntries(s.entries, s.index[from:to])
}

func (s *valueSink) appendLevels(levels []byte, from, _ int) error {
	return visitRuns(levels, s.to.appendNulls,
		func(begin, end int) error { return s.appendRange(from+begin, from+end) })
}

// boundDecoder returns a decoder whose texts are within the bound.
func (t textBound) boundDecoder(d decoder) decoder {
	return func(data encoding.Values, n int) (arrow.Array, error) {
		a, err := d(data, n)
		if err != nil {
			return nil, err
		}
		return t.apply(a)
	}
}
