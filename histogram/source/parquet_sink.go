package source

// This file holds the sinks: where the values of Parquet pages become codes or
// Arrow arrays.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go/encoding"
)

// sink collects the values of one column, chunk after chunk. A page comes first,
// then rows of it.
type sink interface {
	// dictionary takes up the n entries of a dictionary.
	dictionary(entries encoding.Values, n int) error
	// packed takes up a page of n indexes into the dictionary, in runs of some bit width that hold as many, or says that
	// it does not.
	packed(runs []byte, width, n int) bool
	// indexes takes up a page of indexes into the dictionary. An index outside makes
	// take panic, which the guard of the file turns into an error.
	indexes(index []int32)
	// plain takes up a page of n values.
	plain(values encoding.Values, n int) error
	// take appends the values from..to of the page.
	take(from, to int) error
	// takeSome appends a row for each level: null, or where the level is 1 the next
	// of the values from..to.
	takeSome(levels []byte, from, to int) error
}

// codeSink collects codes.
type codeSink struct {
	to     codeBuffer
	decode decoder
}

func (s *codeSink) dictionary(entries encoding.Values, n int) error {
	a, err := s.decode(entries, n)
	if err == nil {
		s.to.dictionary(a)
	}
	return err
}

func (s *codeSink) packed(runs []byte, width, n int) bool { return s.to.packed(runs, width, n) }

func (s *codeSink) indexes(index []int32) { s.to.indexes(index) }

func (s *codeSink) plain(values encoding.Values, n int) error {
	a, err := s.decode(values, n)
	if err == nil {
		s.to.page(a)
	}
	return err
}

func (s *codeSink) take(from, to int) error {
	s.to.take(from, to)
	return nil
}

func (s *codeSink) takeSome(levels []byte, from, _ int) error {
	s.to.takeSome(from, levels)
	return nil
}

// valueSink collects values.
type valueSink struct {
	to            valueBuffer
	decode        decoder // of pages
	decodeEntries decoder // of dictionaries, which outlast the next page of values
	entries       arrow.Array
	index         []int32     // of a page of indexes
	values        arrow.Array // of a page of values, else nil
}

func (s *valueSink) dictionary(entries encoding.Values, n int) (err error) {
	s.entries, err = s.decodeEntries(entries, n)
	return err
}

func (s *valueSink) packed([]byte, int, int) bool { return false }

func (s *valueSink) indexes(index []int32) { s.index, s.values = index, nil }

func (s *valueSink) plain(values encoding.Values, n int) (err error) {
	s.values, err = s.decode(values, n)
	return err
}

func (s *valueSink) take(from, to int) error {
	if s.values != nil {
		return s.to.values(s.values, from, to)
	}
	return s.to.entries(s.entries, s.index[from:to])
}

func (s *valueSink) takeSome(levels []byte, from, _ int) error {
	return runs(levels, s.to.nulls, func(begin, end int) error { return s.take(from+begin, from+end) })
}

// around is a decoder whose texts are within the bound.
func (t textBound) around(d decoder) decoder {
	return func(data encoding.Values, n int) (arrow.Array, error) {
		a, err := d(data, n)
		if err != nil {
			return nil, err
		}
		return t.apply(a)
	}
}
