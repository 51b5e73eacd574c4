package histogram

// This file holds the chunk: up to 64 Ki encoded rows, column by column.

import (
	"cmp"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// chunk is rows × columns of codes without nulls, in reading order.
type chunk struct {
	rows    int
	columns []*array.Dictionary
}

func (c chunk) release() {
	for _, column := range c.columns {
		column.Release()
	}
}

// record is what encoding makes of one record: the rows that stay and, where
// units have ids, the unit of each.
type record struct {
	chunk
	file     string
	first    int64       // place of the record's first row in its file, from 0
	ids      arrow.Array // nil where each row is a unit
	places   []int32     // where among ids the rows stand; nil: all, in order
	breaches []breach
}

func (r *record) release() {
	r.chunk.release()
	if r.ids != nil {
		r.ids.Release()
	}
}

// idPlace is where among the ids row i stands.
func (r *record) idPlace(i int) int {
	if r.places == nil {
		return i
	}
	return int(r.places[i])
}

// encodeRecord encodes the columns of a raw record whose last column is the id
// where the table's units have one. It keeps no reference to raw but its ids.
func (t *tally) encodeRecord(raw arrow.Record, file string, first int64) *record {
	r := &record{file: file, first: first}
	codes := make([][]uint32, len(t.readers))
	var all bool
	for i, e := range t.readers {
		column := raw.Column(t.from[i])
		var found []misfit
		codes[i], found = e.encode(column)
		for _, f := range found {
			r.breaches = append(r.breaches, breach{Table: e.table, Column: e.column.Name, Kind: f.kind,
				File: file, Row: first + int64(f.row) + 1, Value: column.ValueStr(f.row)})
		}
	}
	t.expect.note(raw, codes)
	codes = codes[:len(t.encoders)]
	if !t.table.Unit.Row {
		r.ids = raw.Column(t.id)
		r.ids.Retain()
		r.breaches = append(r.breaches, t.nullIDs(r)...)
	}
	t.ruleOut(r, codes, int(raw.NumRows()))
	if len(r.breaches) > 0 {
		slices.SortStableFunc(r.breaches, func(a, b breach) int { return cmp.Compare(a.Row, b.Row) })
		return r
	}
	r.places, all = stay(codes, int(raw.NumRows()))
	r.rows = len(r.places)
	if all {
		r.places, r.rows = nil, int(raw.NumRows())
	}
	r.columns = make([]*array.Dictionary, len(codes))
	for i, e := range t.encoders {
		r.columns[i] = e.pack(t.mem, codes[i], r.places)
	}
	return r
}

// stay returns the rows that no column drops, and whether that is all of them.
func stay(codes [][]uint32, rows int) (places []int32, all bool) {
	drop := make([]bool, rows)
	all = true
	for _, column := range codes {
		for i, c := range column {
			if c == dropped {
				drop[i], all = true, false
			}
		}
	}
	if all {
		return nil, true
	}
	places = make([]int32, 0, rows)
	for i, d := range drop {
		if !d {
			places = append(places, int32(i))
		}
	}
	return places, false
}

// nullIDs are the breaches of rows without a unit. A row that a column drops
// needs a unit as well: the contract does not depend on other columns.
func (t *tally) nullIDs(r *record) []breach {
	var found []breach
	if r.ids.NullN() == 0 {
		return nil
	}
	for i := range r.ids.Len() {
		if r.ids.IsNull(i) && len(found) < breachLimit {
			found = append(found, breach{Table: t.table.Name, Column: t.table.Unit.ID, Kind: kindNullID,
				File: r.file, Row: r.first + int64(i) + 1})
		}
	}
	return found
}
