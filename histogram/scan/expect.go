package scan

// This file holds the expectation: whether a table has the rows that it should have, determined while they are read.

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

// expectation is what a table's `expect` asks of its counted rows, and what was found of it so far. For it a row
// counts if the table's predicate is true of the row and nothing leaves it out. Whether its unit has too many rows,
// or is drawn for a sample, makes no difference. Goroutines share it.
type expectation struct {
	table   *spec.Table
	total   bool           // no value may stop a run: expectations are not checked
	leaves  bool           // a rule of the spec can leave rows out
	ofPart  bool           // not all rows are here: expectations are checked when all parts are together
	rows    *spec.RowRange // nil: any number
	watches []*watch

	inside  atomic.Int64   // rows for which the predicate is true
	counted atomic.Int64   // rows that count
	leftBy  []atomic.Int64 // rows that each encoder of the tally leaves out
}

// watch records which categories of an attribute occur.
type watch struct {
	attribute spec.Attribute
	reader    int // index of its column among the tally's readers
	level     *domain.Level
	codes     int             // number of base codes of the column
	seen      []atomic.Uint32 // a bit per category; set from the start for a category that need not occur
	left      atomic.Int64    // bits that are not set
}

// newExpectation returns the expectation of a table of which `encoders` encoders may leave rows out. reader returns
// the index of a column among the readers.
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

// newWatch watches for every category that has a declared base cell. A category of a range that holds only unknown
// and null values need not occur.
func newWatch(a spec.Attribute, reader int, d *domain.Domain, level *domain.Level) *watch {
	w := &watch{attribute: a, reader: reader, level: level, codes: d.Size(),
		seen: make([]atomic.Uint32, (level.Size()+31)/32)}
	for i := range w.seen {
		w.seen[i].Store(math.MaxUint32)
	}
	for base := range uint32(d.Declared()) {
		if word, bit := w.bitOf(base); word.Load()&bit != 0 {
			word.And(^bit)
			w.left.Add(1)
		}
	}
	return w
}

// bitOf returns the bit of the category of a base code.
func (w *watch) bitOf(code uint32) (word *atomic.Uint32, bit uint32) {
	if w.level.CategoryOf != nil {
		code = w.level.CategoryOf[code]
	}
	return &w.seen[code/32], 1 << (code % 32)
}

// reset forgets what an earlier reading, which was cut short, has found.
func (x *expectation) reset() {
	x.inside.Store(0)
	x.counted.Store(0)
	for i := range x.leftBy {
		x.leftBy[i].Store(0)
	}
}

// noteChunk records the rows of a judged chunk, with the codes of every encoder. out marks the rows that are left
// out.
func (x *expectation) noteChunk(c *chunk, encoders []*encoding.Encoder, where int, out []uint64) {
	x.inside.Add(int64(c.rows) - countBits(c.outside))
	x.counted.Add(int64(c.rows) - countBits(out))
	for i, e := range encoders {
		if i == where || c.codes[i].Len() == 0 || c.largest[i] < e.Marks {
			continue
		}
		left := clearedBits(&c.hits, c.rows)
		markLeftOut(c.codes[i], e.Marks, c.rows, left)
		x.leftBy[i].Add(countBits(c.withoutOutside(left)))
	}
	for _, w := range x.watches {
		w.noteCodes(c.codes[w.reader], c.rows, out)
	}
}

// noteCodes records the codes of the rows that are not left out. Once all bits are set, which is soon in complete
// files, it costs nothing.
func (w *watch) noteCodes(codes tabulate.Codes, rows int, out []uint64) {
	switch {
	case w.left.Load() == 0:
	case codes.U8 != nil:
		noteBaseCodes(w, codes.U8[:rows], out)
	case codes.U16 != nil:
		noteBaseCodes(w, codes.U16[:rows], out)
	default:
		noteBaseCodes(w, codes.U32[:rows], out)
	}
}

// noteBaseCodes sets the bits of base codes. Marks have none.
func noteBaseCodes[T uint8 | uint16 | uint32](w *watch, codes []T, out []uint64) {
	for i, c := range codes {
		if uint64(c) >= uint64(w.codes) || out != nil && out[i/64]>>(i%64)&1 == 1 {
			continue
		}
		if word, bit := w.bitOf(uint32(c)); word.Load()&bit == 0 && word.Or(bit)&bit == 0 {
			w.left.Add(-1)
		}
	}
}

// breaches returns the rules that fail, once all rows were read: one breach for each column of which no value could
// be read, one for the number of rows, and one for each of the first missing codes of each attribute. The encoders
// are the first of readers, and the reader at index where, if that is not negative, is the one of the predicate.
func (x *expectation) breaches(readers []*encoding.Encoder, where int) []breach {
	if x.total || x.ofPart {
		return nil
	}
	found, met := x.unreadColumns(readers, where), x.counted.Load()
	if x.rows != nil && (met < x.rows.Least || met > x.rows.Most) {
		found = append(found, breach{Table: x.table.Name, Kind: kindRows, leavesOut: x.leaves,
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

// checkNotEmpty returns a [ContractError], once all rows were read, if the predicate is true for some rows and none
// of them counts: such a release would be paid for and publish nothing.
func (x *expectation) checkNotEmpty(readers []*encoding.Encoder) error {
	if x.total || x.ofPart || x.counted.Load() > 0 || x.inside.Load() == 0 {
		return nil
	}
	return newContractError([]breach{{Table: x.table.Name, Kind: kindNone, Value: x.account(readers)}})
}

// unreadColumns returns a breach for each column with a policy for unknown values that has values none of which could
// be read as the column's type: then the column is wrong rather than its values. If the predicate is true for no row,
// only the predicate's own column is checked: what the rows hold breaks nothing.
func (x *expectation) unreadColumns(readers []*encoding.Encoder, where int) (found []breach) {
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

// account returns how many rows there are, how many count, and how many each column leaves out. It is confidential.
func (x *expectation) account(readers []*encoding.Encoder) string {
	text := fmt.Sprintf("%d rows", x.counted.Load())
	if inside := x.inside.Load(); inside > x.counted.Load() {
		text += fmt.Sprintf(" of %d", inside)
	}
	for i := range x.leftBy {
		if left := x.leftBy[i].Load(); left > 0 {
			text += fmt.Sprintf(", %d left out by %s", left, readers[i].Column.Name)
		}
	}
	return text
}
