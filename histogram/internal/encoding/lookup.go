package encoding

// This file holds the lookup of values in public tables, by the key of the row.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
)

// lookupValues returns how the values of a column are looked up in a public table: each row has the value of the one
// row there with the same key, and null if none has it. Keys are compared as canonical texts, as values are with the
// codes of code books: 7 and 7.0 are the key 7, and the text 07 is another.
//
// Guarantee: every row has one value or none, a function of its own key and of the public table; rows are neither
// multiplied nor moved. Neighbours: both relations. Argument: docs/proofs/joins.md.
func lookupValues(table *spec.Table, c *spec.Column) (Compute, error) {
	j := table.Join(c.Lookup.Join)
	if j == nil || j.Column(c.Lookup.Column) == nil {
		return nil, fmt.Errorf("table %s has no public column %s.%s", table.Name, c.Lookup.Join, c.Lookup.Column)
	}
	public := j.Column(c.Lookup.Column)
	texts := textsOf(public.Texts)
	return func(inputs []arrow.Array) (arrow.Array, []domain.Fit) {
		places, fit := joinedRows(j, inputs)
		if fit != domain.Fits {
			return array.NewNull(len(places)), slices.Repeat([]domain.Fit{fit}, len(places))
		}
		for i, row := range places {
			if row >= 0 {
				places[i] = public.Codes[row]
			}
		}
		return lookedUpTexts(texts, places), nil
	}, nil
}

// joinedRows returns the row of the public table to which each row of the inputs, the parts of its key, is joined: −1
// for none. A part that is null or not a number is not part of a key.
func joinedRows(j *spec.Join, inputs []arrow.Array) (rows []int32, fit domain.Fit) {
	rows = make([]int32, inputs[0].Len())
	parts := make([]func(text []byte, row int) ([]byte, bool), len(inputs))
	for i, input := range inputs {
		if parts[i] = source.CanonicalTexts(input); parts[i] == nil {
			return rows, domain.WrongType
		}
	}
	var key, text []byte
	for row := range rows {
		key = key[:0]
		whole := true
		for i, part := range parts {
			if whole = !inputs[i].IsNull(row); whole {
				text, whole = part(text[:0], row)
			}
			if !whole {
				break
			}
			key = j.AppendPart(key, text)
		}
		rows[row] = -1
		if whole {
			rows[row] = int32(j.Find(key))
		}
	}
	return rows, domain.Fits
}

// textsOf returns an array of texts.
func textsOf(texts []string) *array.String {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(texts, nil)
	return b.NewStringArray()
}

var lookedType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// lookedUpTexts returns texts by their indexes, −1 for null: as a dictionary, whose entries are encoded once, or as
// plain texts if the dictionary is longer than the rows.
func lookedUpTexts(texts *array.String, places []int32) arrow.Array {
	const short = 1024
	if texts.Len() > max(len(places), short) {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for _, place := range places {
			if place < 0 {
				b.AppendNull()
			} else {
				b.Append(texts.Value(int(place)))
			}
		}
		return b.NewStringArray()
	}
	valid, null := make([]byte, bitutil.BytesForBits(int64(len(places)))), 0
	for i, place := range places {
		if place < 0 {
			places[i] = 0
			null++
		} else {
			bitutil.SetBit(valid, i)
		}
	}
	index := array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, len(places),
		[]*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(places))},
		nil,
		null, 0))
	return array.NewDictionaryArray(lookedType, index, texts)
}
