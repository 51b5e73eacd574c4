package scan

// This file holds the expectation: whether a table has the rows that it should have, as it is found out while they are
// read.

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// expectation is what is expected of the rows of a table that count, and what was met of them so far. A row counts for
// it if the table's predicate is true of it and nothing leaves it out; whether its unit has too many rows, or is drawn
// for a sample, makes no difference. It is shared by goroutines.
type expectation struct {
	table   *spec.Table
	total   bool           // no value may stop a run: nothing is expected
	rows    *spec.RowRange // nil: any number
	watches []*watch

	inside atomic.Int64   // rows of which the predicate is true
	met    atomic.Int64   // rows that count
	leftBy []atomic.Int64 // rows that each encoder of the tally leaves out
}

// watch notes which categories of an attribute occur.
type watch struct {
	attribute spec.Attribute
	reader    int // the place of its column among the tally's readers
	level     *domain.Level
	codes     int             // base codes of the column
	seen      []atomic.Uint32 // a bit per category; set from the start where it need not occur
	left      atomic.Int64    // bits that are not set
}

// newExpectation makes the expectation of a table whose rows so many encoders may leave out. reader gives the place of
// a column among those that are encoded.
func newExpectation(table *spec.Table, total bool, encoders int, reader func(*spec.Column) (int, error)) (*expectation,
	error) {
	x := &expectation{table: table, total: total, leftBy: make([]atomic.Int64, encoders)}
	if table.Expect == nil {
		return x, nil
	}
	x.rows = table.Expect.Rows
	for _, a := range table.Expect.Every {
		counted := attributes.Counted(table, a)
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
func newWatch(a spec.Attribute, reader int, d *domain.Domain, level *domain.Level) *watch {
	w := &watch{attribute: a, reader: reader, level: level, codes: d.Size(),
		seen: make([]atomic.Uint32, (level.Size()+31)/32)}
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

// begin forgets what an earlier reading has met, which was cut short.
func (x *expectation) begin() {
	x.inside.Store(0)
	x.met.Store(0)
	for i := range x.leftBy {
		x.leftBy[i].Store(0)
	}
}

// note takes the rows of a chunk that was judged, with the codes of every encoder, and which of them are left out.
func (x *expectation) note(c *chunk, encoders []*encoding.Encoder, where int, out []uint64) {
	x.inside.Add(int64(c.rows) - ones(c.outside))
	x.met.Add(int64(c.rows) - ones(out))
	for i, e := range encoders {
		if i == where || c.codes[i].Len() == 0 || c.largest[i] < e.Marks {
			continue
		}
		left := cleared(&c.hits, c.rows)
		marks(c.codes[i], e.Marks, c.rows, left)
		x.leftBy[i].Add(ones(c.inside(left)))
	}
	for _, w := range x.watches {
		w.note(c.codes[w.reader], c.rows, out)
	}
}

// note takes the codes of rows but for those that are left out. Once all bits are set, which in complete files is soon,
// it costs nothing.
func (w *watch) note(codes tabulate.Codes, rows int, out []uint64) {
	switch {
	case w.left.Load() == 0:
	case codes.Narrow != nil:
		notice(w, codes.Narrow[:rows], out)
	case codes.Middle != nil:
		notice(w, codes.Middle[:rows], out)
	default:
		notice(w, codes.Wide[:rows], out)
	}
}

// notice sets the bits of base codes, of which marks have none.
func notice[T uint8 | uint16 | uint32](w *watch, codes []T, out []uint64) {
	for i, c := range codes {
		if uint64(c) >= uint64(w.codes) || out != nil && out[i/64]>>(i%64)&1 == 1 {
			continue
		}
		if word, bit := w.at(uint32(c)); word.Load()&bit == 0 && word.Or(bit)&bit == 0 {
			w.left.Add(-1)
		}
	}
}

// breaches are the rules that fail once all rows are read by some readers, of which the first are the encoders and the
// one at where, if it is not negative, that of the predicate: one for each column of which no value could be read, one
// for the number of rows, and one for each of the first codes that are missing of each attribute.
func (x *expectation) breaches(readers []*encoding.Encoder, where int) []breach {
	if x.total {
		return nil
	}
	found, met := x.unread(readers, where), x.met.Load()
	if x.rows != nil && (met < x.rows.Least || met > x.rows.Most) {
		found = append(found, breach{Table: x.table.Name, Kind: kindRows,
			Value: fmt.Sprintf("%s; expected %d to %d", x.account(readers), x.rows.Least, x.rows.Most)})
	}
	for _, w := range x.watches {
		missing := 0
		for i := 0; i < w.level.Size() && missing < columnLimit; i++ {
			if w.seen[i/32].Load()&(1<<(i%32)) == 0 {
				found = append(found, breach{Table: x.table.Name, Column: w.attribute.String(), Kind: kindEvery,
					Value: w.level.Categories[i].Code})
				missing++
			}
		}
	}
	return found
}

// empty is the error, once all rows are read, where there are rows of which the predicate is true and none of them
// counts: the release would be paid for, and say nothing. It is a [ContractError].
func (x *expectation) empty(readers []*encoding.Encoder) error {
	if x.total || x.met.Load() > 0 || x.inside.Load() == 0 {
		return nil
	}
	return newContractError([]breach{{Table: x.table.Name, Kind: kindNone, Value: x.account(readers)}})
}

// unread are the columns with a policy for unknown values that have values, of which not one could be read as the
// column's type: it is the column that is mistaken, and not its values. Where the predicate is true of no row it is
// asked of the predicate alone: what the rows hold breaks nothing.
func (x *expectation) unread(readers []*encoding.Encoder, where int) (found []breach) {
	for i, e := range readers {
		if x.inside.Load() == 0 && i != where || e.Column.Unknown.Action == spec.Refuse || !e.Unread() ||
			slices.ContainsFunc(found, func(b breach) bool { return b.Column == e.Column.Name }) {
			continue
		}
		found = append(found, breach{Table: x.table.Name, Column: e.Column.Name, Kind: e.KindOf(domain.NotANumber),
			everywhere: true})
	}
	return found
}

// account says of how many rows so many count, and how many each column leaves out. It is confidential.
func (x *expectation) account(readers []*encoding.Encoder) string {
	text := fmt.Sprintf("%d rows", x.met.Load())
	if inside := x.inside.Load(); inside > x.met.Load() {
		text += fmt.Sprintf(" of %d", inside)
	}
	for i := range x.leftBy {
		if left := x.leftBy[i].Load(); left > 0 {
			text += fmt.Sprintf(", %d left out by %s", left, readers[i].Column.Name)
		}
	}
	return text
}
