package histogram

// This file holds the expectation: whether a table's files are complete, as it is
// found out while they are read.

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// expectation is what the files of a table must hold and what was met in them so
// far. Rules speak of the files: of every row that is read, before any is left
// out. It is shared by goroutines.
type expectation struct {
	table   string
	rows    *spec.RowRange // nil: any number
	met     atomic.Int64   // rows read
	watches []*watch
}

// watch notes which categories of an attribute occur.
type watch struct {
	attribute spec.Attribute
	reader    int // the place of its column among the tally's readers
	level     *spec.Level
	codes     int             // base codes of the column
	seen      []atomic.Uint32 // a bit per category; set from the start where it need not occur
	left      atomic.Int64    // bits that are not set
}

// newExpectation makes the expectation of a table. reader gives the place of a
// column among those that are encoded.
func newExpectation(table *spec.Table, reader func(*spec.Column) (int, error)) (*expectation, error) {
	x := &expectation{table: table.Name}
	if table.Expect == nil {
		return x, nil
	}
	x.rows = table.Expect.Rows
	for _, a := range table.Expect.Every {
		counted := plan.Counted(table, a)
		column := table.Column(counted.Column)
		place, err := reader(column)
		if err != nil {
			return nil, err
		}
		level, ok := column.Domain.Level(counted.Level)
		if !ok {
			return nil, fmt.Errorf("table %s: expect: %s is no attribute of it", table.Name, a)
		}
		x.watches = append(x.watches, newWatch(a, place, column.Domain, level))
	}
	return x, nil
}

// newWatch waits for every category that a declared base cell belongs to. Those
// of a range that hold unknown and null values alone need not occur.
func newWatch(a spec.Attribute, reader int, d *spec.Domain, level *spec.Level) *watch {
	w := &watch{attribute: a, reader: reader, level: level, codes: d.Size(), seen: make([]atomic.Uint32, (level.Size()+31)/32)}
	for i := range w.seen {
		w.seen[i].Store(math.MaxUint32)
	}
	for base := range uint32(d.Declared()) {
		if word, bit := w.at(base); word.Load()&bit != 0 {
			word.And(^bit)
			w.left.Add(1)
		}
	}
	return w
}

// at is where the category of a base code is noted.
func (w *watch) at(code uint32) (word *atomic.Uint32, bit uint32) {
	if w.level.Of != nil {
		code = w.level.Of[code]
	}
	return &w.seen[code/32], 1 << (code % 32)
}

// note takes the rows of a chunk with the codes of every reader.
func (x *expectation) note(c *chunk) {
	x.met.Add(int64(c.rows))
	for _, w := range x.watches {
		w.note(c.codes[w.reader], c.rows)
	}
}

// note takes the codes of rows. Once all bits are set, which in complete files is soon,
// it costs nothing.
func (w *watch) note(codes tabulate.Codes, rows int) {
	switch {
	case w.left.Load() == 0:
	case codes.Narrow != nil:
		notice(w, codes.Narrow[:rows])
	case codes.Middle != nil:
		notice(w, codes.Middle[:rows])
	default:
		notice(w, codes.Wide[:rows])
	}
}

// notice sets the bits of base codes, of which marks have none.
func notice[T uint8 | uint16 | uint32](w *watch, codes []T) {
	for _, c := range codes {
		if uint64(c) >= uint64(w.codes) {
			continue
		}
		if word, bit := w.at(uint32(c)); word.Load()&bit == 0 && word.Or(bit)&bit == 0 {
			w.left.Add(-1)
		}
	}
}

// breaches are the rules that fail once all rows are read: one for the number of
// rows, one for each of the first codes that are missing of each attribute.
func (x *expectation) breaches() []breach {
	var found []breach
	if met := x.met.Load(); x.rows != nil && (met < x.rows.Least || met > x.rows.Most) {
		found = append(found, breach{Table: x.table, Kind: kindRows, Value: fmt.Sprintf("%d rows; expected %d to %d", met, x.rows.Least, x.rows.Most)})
	}
	for _, w := range x.watches {
		missing := 0
		for i := 0; i < w.level.Size() && missing < columnLimit; i++ {
			if w.seen[i/32].Load()&(1<<(i%32)) == 0 {
				found = append(found, breach{Table: x.table, Column: w.attribute.String(), Kind: kindEvery, Value: w.level.Categories[i].Code})
				missing++
			}
		}
	}
	return found
}
