package histogram

// This file holds the bounder: at most max_rows rows of each unit stay, chosen
// uniformly at random.

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// bounder keeps of each unit at most `most` rows.
//
// Contract. Under a key that is fresh for the release, secret and erased, the
// rows of a unit that stay are a uniform sample without replacement of
// min(rows, most) of them, and the samples of different units are independent
// (reservoir sampling, Vitter 1985, Algorithm R, with draws from a
// pseudo-random function of key, id and the row's number within its unit).
//
// Stability 1: which of its rows a unit keeps is a function of the key, its id
// and its rows in their reading order, and of nothing else. So for every key,
// adding or removing a unit changes the multiset of kept rows by that unit's at
// most `most` rows alone, and replacing one by at most 2·most. Draws tied to a
// row's position in the file would shift for every later row; they would be
// sound in distribution only. See docs/proofs/bounding.md.
//
// Ids are told apart by their exact values, never by a hash. Memory is that of
// the kept rows and of an entry per unit.
type bounder struct {
	most  uint64
	below func(unit []byte, n uint64) uint64 // uniform in [0, n), a function of key, unit and n
	names unitNames
	units []unit
	kept  []store // one per column
	rows  int     // kept so far
	limit int64   // bytes that may be held
	held  int64   // bytes that are, about
}

// unit is one unit: how many of its rows were met, and which kept rows are its.
type unit struct {
	met  uint64
	kept []int
}

// unitBytes is about what a unit takes beside its rows: its entry, a slot of a
// map and a small slice.
const unitBytes = 32 + 48 + 16

func newBounder(u spec.Unit, stream *noise.Bits, encoders []*encoder, limit int64) *bounder {
	draws := newDraws(stream)
	b := &bounder{most: uint64(max(u.MaxRows, 0)), below: draws.below, limit: limit,
		names: unitNames{column: u.ID, numbers: map[int64]int{}, texts: map[string]int{}}}
	for _, e := range encoders {
		b.kept = append(b.kept, newStore(e))
	}
	return b
}

// add takes the rows of the next record in reading order.
func (b *bounder) add(r *record) error {
	if r.rows == 0 {
		return nil
	}
	name, err := b.names.of(r)
	if err != nil {
		return err
	}
	readers := make([]func(row, place int), len(b.kept))
	for i, s := range b.kept {
		readers[i] = s.taker(r.columns[i])
	}
	for row := range r.rows {
		n, fresh, size := name(r.idPlace(row), len(b.units))
		if fresh {
			b.units = append(b.units, unit{})
			b.held += unitBytes + int64(size)
		}
		place, keep := b.place(&b.units[n], r.ids, r.idPlace(row))
		if !keep {
			continue
		}
		for _, take := range readers {
			take(row, place)
		}
	}
	if b.held > b.limit {
		return &MemoryError{Have: b.limit}
	}
	return nil
}

// place decides whether the next row of a unit stays, and where among the kept
// rows it goes: behind them, or over a row of its own unit.
func (b *bounder) place(u *unit, ids arrow.Array, row int) (int, bool) {
	u.met++
	if u.met <= b.most {
		place := b.rows
		u.kept = append(u.kept, place)
		b.rows++
		b.held += 8 + 4*int64(len(b.kept))
		return place, true
	}
	slot := b.below(b.names.key(ids, row), u.met)
	if slot >= b.most {
		return 0, false
	}
	return u.kept[slot], true
}

// chunk returns the i-th chunk of the kept rows.
func (b *bounder) chunk(mem memory.Allocator, i int) chunk {
	from := i * source.MaxRows
	to := min(from+source.MaxRows, b.rows)
	c := chunk{rows: to - from}
	for _, s := range b.kept {
		c.columns = append(c.columns, s.array(mem, from, to))
	}
	return c
}

// chunks is how many chunks of source.MaxRows the kept rows fill.
func (b *bounder) chunks() int { return (b.rows + source.MaxRows - 1) / source.MaxRows }

// draws is a pseudo-random function from (unit, number of its row) to integers:
// HMAC-SHA256 under a key of the table's own stream.
type draws struct {
	mac    hash.Hash
	buffer []byte
	digest []byte
}

func newDraws(stream *noise.Bits) draws {
	var key [sha256.Size]byte
	for i := 0; i < len(key); i += 8 {
		binary.LittleEndian.PutUint64(key[i:], stream.Uint64())
	}
	return draws{mac: hmac.New(sha256.New, key[:])}
}

// below is uniform in [0, n), exactly (rejection after Lemire 2019), and a
// function of the key, the unit and n.
func (d *draws) below(unit []byte, n uint64) uint64 {
	for try := uint64(0); ; try++ {
		d.buffer = binary.LittleEndian.AppendUint64(d.buffer[:0], n)
		d.buffer = binary.LittleEndian.AppendUint64(d.buffer, try)
		d.buffer = append(d.buffer, unit...)
		d.mac.Reset()
		d.mac.Write(d.buffer)
		d.digest = d.mac.Sum(d.digest[:0])
		high, low := bits.Mul64(binary.LittleEndian.Uint64(d.digest), n)
		if low >= -n%n {
			return high
		}
	}
}

// unitNames numbers units by their exact ids. All ids of a table are of one type:
// a 7 and a "7" would else be two units, or one, by accident.
type unitNames struct {
	column  string     // source column, for errors
	kind    arrow.Type // of the first ids met; NULL before
	numbers map[int64]int
	texts   map[string]int // text, or the 16 bytes of a wide integer
	scratch []byte
}

// of returns the naming of the rows of a record's ids: their unit's number,
// whether it is new (then it is next), and the bytes its name takes.
func (u *unitNames) of(r *record) (func(row, next int) (n int, fresh bool, size int), error) {
	kind := idKind(r.ids)
	if kind == arrow.NULL {
		return nil, &source.Error{Kind: source.WrongType, File: r.file, Column: u.column, Message: "the ids of units have the type " + r.ids.DataType().String() +
			", which cannot tell units apart exactly; use text or integers"}
	}
	if u.kind != arrow.NULL && u.kind != kind {
		return nil, &source.Error{Kind: source.WrongType, File: r.file, Column: u.column,
			Message: "the ids of units have another type here than in the files before; write them alike in all files"}
	}
	u.kind = kind
	if ids, ok := r.ids.(*array.Int64); ok {
		return func(row, next int) (int, bool, int) {
			id := ids.Value(row)
			n, known := u.numbers[id]
			if !known {
				n, u.numbers[id] = next, next
			}
			return n, !known, 0
		}, nil
	}
	return func(row, next int) (int, bool, int) {
		id := u.key(r.ids, row)
		n, known := u.texts[string(id)]
		if known {
			return n, false, 0
		}
		u.texts[strings.Clone(string(id))] = next
		return next, true, len(id)
	}, nil
}

// idKind is the type that ids are compared as, NULL where they cannot be.
func idKind(ids arrow.Array) arrow.Type {
	switch t := ids.DataType().(type) {
	case *arrow.StringType, *arrow.DictionaryType:
		return arrow.STRING
	case *arrow.LargeStringType: // UUIDs
		return arrow.LARGE_STRING
	case *arrow.Int64Type:
		return arrow.INT64
	case *arrow.Decimal128Type:
		if t.Scale == 0 {
			return arrow.DECIMAL128
		}
	}
	return arrow.NULL
}

// key is the exact id of a row as bytes, distinct for distinct ids of one type.
// It is valid until the next call.
func (u *unitNames) key(ids arrow.Array, row int) []byte {
	u.scratch = u.scratch[:0]
	switch a := ids.(type) {
	case *array.Int64:
		u.scratch = binary.LittleEndian.AppendUint64(u.scratch, uint64(a.Value(row)))
	case *array.String:
		u.scratch = append(u.scratch, a.Value(row)...)
	case *array.LargeString:
		u.scratch = append(u.scratch, a.Value(row)...)
	case *array.Dictionary:
		u.scratch = append(u.scratch, a.Dictionary().(*array.String).Value(a.GetValueIndex(row))...)
	case *array.Decimal128:
		v := a.Value(row)
		u.scratch = binary.LittleEndian.AppendUint64(u.scratch, uint64(v.HighBits()))
		u.scratch = binary.LittleEndian.AppendUint64(u.scratch, v.LowBits())
	}
	return u.scratch
}
