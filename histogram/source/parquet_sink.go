package source

// This file holds the sinks: where the values of Parquet pages become Arrow arrays.

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// sink collects values of one column chunk. A page comes first, then ranges of
// its values that are not null, with nulls between.
type sink interface {
	page(p parquet.Page, values int) error
	values(from, to int) error
	nulls(n int)
	array() arrow.Array // everything since the last call
	release()
}

var (
	errShortPage = errors.New("a page holds another number of values than its header says")
	errIndex     = errors.New("a page refers to a value that its dictionary does not hold")
	errLongText  = errors.New("the text of one column is too long to be read")
)

// indexes returns the dictionary indexes of a page, checked to lie in the
// dictionary.
func indexes(p parquet.Page, values int) ([]int32, error) {
	data := p.Data()
	index := data.Int32()
	if len(index) != values {
		return nil, errShortPage
	}
	size := uint32(p.Dictionary().Len())
	for _, i := range index {
		if uint32(i) >= size {
			return nil, errIndex
		}
	}
	return index, nil
}

// appender is the part of an Arrow builder that takes values of type T.
type appender[T any] interface {
	array.Builder
	Append(T)
}

// plainSink collects values of a type T of fixed size.
type plainSink[T any] struct {
	builder appender[T]
	// convert returns the n values of a page, appended to dst or, for a type that
	// needs no conversion, as they lie in the page. It fails where there are not n.
	convert func(dst []T, data encoding.Values, n int) ([]T, error)

	present    []T // of the page: its values, or those of the dictionary
	index      []int32
	dictionary parquet.Dictionary
	lookup     []T // values of dictionary
	scratch    []T
}

func (s *plainSink[T]) page(p parquet.Page, values int) (err error) {
	s.index = nil
	dictionary := p.Dictionary()
	if dictionary == nil {
		data := p.Data()
		s.present, err = s.convert(s.scratch[:0], data, values)
		s.scratch = s.present
		return err
	}
	if dictionary != s.dictionary {
		data := dictionary.Page().Data()
		lookup, err := s.convert(nil, data, dictionary.Len())
		if err != nil {
			return err
		}
		s.dictionary, s.lookup = dictionary, lookup
	}
	s.present = s.lookup
	s.index, err = indexes(p, values)
	return err
}

func (s *plainSink[T]) values(from, to int) error {
	s.builder.Reserve(to - from)
	if s.index == nil {
		for _, v := range s.present[from:to] {
			s.builder.Append(v)
		}
		return nil
	}
	for _, i := range s.index[from:to] {
		s.builder.Append(s.present[i])
	}
	return nil
}

func (s *plainSink[T]) nulls(n int)        { s.builder.AppendNulls(n) }
func (s *plainSink[T]) array() arrow.Array { return s.builder.NewArray() }
func (s *plainSink[T]) release()           { s.builder.Release() }

// textSink collects text: as Dictionary<Int32, String> while every page of a
// record is dictionary-encoded, else as String. Writers fall back from the
// dictionary to plain pages in the middle of a chunk.
type textSink struct {
	mem     memory.Allocator
	index   *array.Int32Builder  // of a record that is all dictionary so far
	plain   *array.StringBuilder // of a record that is not
	inPlain bool

	dictionary parquet.Dictionary
	lookup     *array.String // values of dictionary
	pageIndex  []int32       // of a dictionary page
	bytes      []byte        // of a plain page
	offsets    []uint32
	text       int // bytes in plain
}

var textDictionary = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

func newTextSink(mem memory.Allocator) sink {
	return &textSink{mem: mem, index: array.NewInt32Builder(mem), plain: array.NewStringBuilder(mem)}
}

func (s *textSink) page(p parquet.Page, values int) (err error) {
	s.pageIndex = nil
	dictionary := p.Dictionary()
	if dictionary == nil {
		data := p.Data()
		s.bytes, s.offsets = data.ByteArray()
		if err := checkOffsets(s.bytes, s.offsets, values); err != nil {
			return err
		}
		return s.fallBack()
	}
	if dictionary != s.dictionary {
		if err := s.fallBackFrom(dictionary); err != nil {
			return err
		}
	}
	s.pageIndex, err = indexes(p, values)
	return err
}

// checkOffsets makes sure that the n texts lie within the bytes, in order.
func checkOffsets(bytes []byte, offsets []uint32, n int) error {
	if n == 0 {
		return nil
	}
	if len(offsets) != n+1 {
		return errShortPage
	}
	for i := range n {
		if offsets[i] > offsets[i+1] {
			return errShortPage
		}
	}
	if int64(offsets[n]) > int64(len(bytes)) {
		return errShortPage
	}
	return nil
}

// fallBackFrom takes up a new dictionary. What the record holds of an older one
// becomes plain text first.
func (s *textSink) fallBackFrom(dictionary parquet.Dictionary) error {
	if s.index.Len() > 0 {
		if err := s.fallBack(); err != nil {
			return err
		}
	}
	data := dictionary.Page().Data()
	bytes, offsets := data.ByteArray()
	if err := checkOffsets(bytes, offsets, dictionary.Len()); err != nil {
		return err
	}
	if len(bytes) > textLimit {
		return errLongText
	}
	b := array.NewStringBuilder(s.mem)
	defer b.Release()
	b.Reserve(dictionary.Len())
	for i := range dictionary.Len() {
		b.BinaryBuilder.Append(bytes[offsets[i]:offsets[i+1]])
	}
	if s.lookup != nil {
		s.lookup.Release()
	}
	s.dictionary, s.lookup = dictionary, b.NewStringArray()
	return nil
}

// fallBack goes on in plain text, with what the record holds so far.
func (s *textSink) fallBack() error {
	if s.inPlain {
		return nil
	}
	s.inPlain = true
	held := s.index.NewInt32Array()
	defer held.Release()
	for i := range held.Len() {
		if held.IsNull(i) {
			s.plain.AppendNull()
		} else if err := s.appendIndexed(held.Value(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *textSink) appendIndexed(i int32) error {
	v := s.lookup.Value(int(i))
	if s.text += len(v); s.text > textLimit {
		return errLongText
	}
	s.plain.Append(v)
	return nil
}

func (s *textSink) values(from, to int) error {
	switch {
	case s.pageIndex == nil:
		// A plain page that outlasts its record meets the next one in dictionary mode.
		if err := s.fallBack(); err != nil {
			return err
		}
		if s.text += int(s.offsets[to] - s.offsets[from]); s.text > textLimit {
			return errLongText
		}
		for i := from; i < to; i++ {
			s.plain.BinaryBuilder.Append(s.bytes[s.offsets[i]:s.offsets[i+1]])
		}
	case s.inPlain:
		for _, i := range s.pageIndex[from:to] {
			if err := s.appendIndexed(i); err != nil {
				return err
			}
		}
	default:
		s.index.AppendValues(s.pageIndex[from:to], nil)
	}
	return nil
}

func (s *textSink) nulls(n int) {
	if s.inPlain {
		s.plain.AppendNulls(n)
	} else {
		s.index.AppendNulls(n)
	}
}

func (s *textSink) array() arrow.Array {
	if s.inPlain || s.lookup == nil {
		if !s.inPlain {
			s.plain.AppendNulls(s.index.Len()) // nothing but nulls so far
			s.index.NewArray().Release()
		}
		s.inPlain, s.text = false, 0
		return s.plain.NewArray()
	}
	index := s.index.NewArray()
	defer index.Release()
	return array.NewDictionaryArray(textDictionary, index, s.lookup)
}

func (s *textSink) release() {
	s.index.Release()
	s.plain.Release()
	if s.lookup != nil {
		s.lookup.Release()
		s.lookup = nil
	}
}

// typeName is a Parquet type in the words of its documentation.
func typeName(t parquet.Type) string {
	if logical := t.LogicalType(); logical != nil && logical.Value != nil {
		return fmt.Sprintf("%s %s", t.Kind(), logical)
	}
	return t.String()
}
