package histogram

// This file holds the store: the codes of one column for the rows that stay.

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// store holds one column's codes in their least width.
type store interface {
	// taker returns what copies the code of a row of a to a place: one that is
	// held, or the one behind them.
	taker(a *array.Dictionary) func(row, place int)
	// array returns the codes from..to.
	array(mem memory.Allocator, from, to int) *array.Dictionary
}

func newStore(e *encoder) store {
	switch e.of.IndexType.ID() {
	case arrow.UINT8:
		return &storeOf[uint8]{encoder: e}
	case arrow.UINT16:
		return &storeOf[uint16]{encoder: e}
	}
	return &storeOf[uint32]{encoder: e}
}

type storeOf[T code] struct {
	encoder *encoder
	codes   []T
}

func (s *storeOf[T]) taker(a *array.Dictionary) func(row, place int) {
	codes := codesOf[T](a)
	return func(row, place int) {
		if place == len(s.codes) {
			s.codes = append(s.codes, codes[row])
		} else {
			s.codes[place] = codes[row]
		}
	}
}

func (s *storeOf[T]) array(mem memory.Allocator, from, to int) *array.Dictionary {
	wide := make([]uint32, to-from)
	for i, c := range s.codes[from:to] {
		wide[i] = uint32(c)
	}
	return s.encoder.pack(mem, wide, nil)
}

// codesOf is the indexes of a dictionary array of that index type.
func codesOf[T code](a *array.Dictionary) []T {
	var codes any
	switch index := a.Indices().(type) {
	case *array.Uint8:
		codes = index.Uint8Values()
	case *array.Uint16:
		codes = index.Uint16Values()
	case *array.Uint32:
		codes = index.Uint32Values()
	}
	return codes.([]T)
}
