package source

// This file holds the sinks: where the values of Parquet pages become codes or
// Arrow arrays.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
)

// sink collects the values of one column, chunk after chunk. A page comes first,
// then rows of it.
type sink interface {
	// chunk begins a column chunk, and with it another dictionary.
	chunk()
	// page takes up a page of that many values that are not null.
	page(p parquet.Page, values int) error
	// take appends the values from..to of the page.
	take(from, to int) error
	// takeSome appends a row for each level: null, or where the level is 1 the next
	// of the values from..to.
	takeSome(levels []byte, from, to int) error
}

// indexes returns the dictionary indexes of a page.
func indexes(p parquet.Page, values int) ([]int32, error) {
	data := p.Data()
	index := data.Int32()
	if len(index) != values {
		return nil, errShortPage
	}
	return index, nil
}

// codeSink collects codes. An index outside its dictionary panics in the buffer,
// which the guard of the file turns into an error.
type codeSink struct {
	to         codeBuffer
	decode     decoder
	dictionary parquet.Dictionary
	index      []int32 // of a dictionary page, else nil
}

func (s *codeSink) chunk() { s.dictionary, s.index = nil, nil }

func (s *codeSink) page(p parquet.Page, values int) (err error) {
	s.index = nil
	dictionary := p.Dictionary()
	if dictionary == nil {
		a, err := s.decode(p.Data(), values)
		if err != nil {
			return err
		}
		s.to.page(a)
		return nil
	}
	if dictionary != s.dictionary {
		a, err := s.decode(dictionary.Page().Data(), dictionary.Len())
		if err != nil {
			return err
		}
		s.to.dictionary(a)
		s.dictionary = dictionary
	}
	s.index, err = indexes(p, values)
	return err
}

func (s *codeSink) take(from, to int) error {
	if s.index != nil {
		s.to.gather(s.index[from:to])
	} else {
		s.to.take(from, to)
	}
	return nil
}

func (s *codeSink) takeSome(levels []byte, from, to int) error {
	if s.index != nil {
		s.to.gatherSome(s.index[from:to], levels)
	} else {
		s.to.takeSome(from, levels)
	}
	return nil
}

// valueSink collects values.
type valueSink struct {
	to         valueBuffer
	decode     decoder // of pages
	decodeMore decoder // of dictionaries, which outlast the next plain page
	dictionary parquet.Dictionary
	entries    arrow.Array // of the dictionary
	values     arrow.Array // of a plain page
	index      []int32     // of a dictionary page, else nil
}

func (s *valueSink) chunk() { s.dictionary, s.entries, s.values, s.index = nil, nil, nil, nil }

func (s *valueSink) page(p parquet.Page, values int) (err error) {
	s.index = nil
	dictionary := p.Dictionary()
	if dictionary == nil {
		s.values, err = s.decode(p.Data(), values)
		return err
	}
	if dictionary != s.dictionary {
		if s.entries, err = s.decodeMore(dictionary.Page().Data(), dictionary.Len()); err != nil {
			return err
		}
		s.dictionary = dictionary
	}
	s.index, err = indexes(p, values)
	return err
}

func (s *valueSink) take(from, to int) error {
	if s.index == nil {
		return s.to.values(s.values, from, to)
	}
	return s.to.entries(s.entries, s.index[from:to])
}

func (s *valueSink) takeSome(levels []byte, from, _ int) error {
	return runs(levels, s.to.nulls, func(begin, end int) error { return s.take(from+begin, from+end) })
}

// runs takes rows in runs that are null or not: those whose level is 1 have the
// values 0, 1, 2 and so on.
func runs(levels []byte, nulls func(n int), values func(from, to int) error) error {
	value := 0
	for at := 0; at < len(levels); {
		begin, valid := at, levels[at] == 1
		for at < len(levels) && (levels[at] == 1) == valid {
			at++
		}
		if !valid {
			nulls(at - begin)
			continue
		}
		if err := values(value, value+at-begin); err != nil {
			return err
		}
		value += at - begin
	}
	return nil
}
