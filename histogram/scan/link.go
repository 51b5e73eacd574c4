package scan

// This file holds the link between tables: the single row that each unit has in a parent table, as the unit's rows in
// child tables find it, and how many of those the unit has.

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// link holds, for every unit that has a counted row in the parent table, the codes of that row and how many of the
// unit's rows in each child table are counted. It is filled before any row of these tables is counted: from the ids
// and columns of the parent's rows that bounding keeps, and then from the ids of each child's rows.
//
// Guarantee: what is held of a unit, and so the linked columns of each of its rows and whether such a row is left out
// for want of a parent row, is a function of the key, of its id and of its own rows in all of these tables, and of
// nothing else. A number of rows is at most the max_rows of their table. Neighbours: both relations. Argument:
// docs/proofs/linked.md.
//
// Ids are distinguished by their exact values, never by a hash. Memory: unitBytes for each unit, its id if that is
// text, and its codes; more than the limit is a *[memory.Error].
type link struct {
	parent   *tally
	children []*tally
	columns  []linkedColumn // columns of the parent's rows that children have
	stride   int            // number of bytes of the codes of a unit

	idTypes    atomic.Int32 // type of the ids, NULL if there are no rows
	parentRead bool         // the parent's rows were read
	shards     [linkShards]linkShard
	seed       maphash.Seed
	limit      int64
	held       atomic.Int64 // bytes

	readings map[*tally]linkedReading // by tally, nil before anything is read

	drawnCodes, drawnSizes [][]uint32 // codes and sizes of made-up rows, by column and by child; nil if rows are read
}

// linkedColumn is a column of the parent's tally, and the position of its code among the codes of a unit.
type linkedColumn struct{ column, at, width int }

// linkedReading is what was found of the rows of a tally before they are counted.
type linkedReading struct {
	last     *pass
	retained []*bounding.KeptRows
}

// linkShard holds the units whose ids hash to it.
type linkShard struct {
	mu     sync.Mutex
	byWord map[int64]uint32  // index of a unit, by its id
	byText map[string]uint32 // index of a unit, by an id that does not fit into a word
	codes  []byte            // by unit, stride bytes each
	sizes  []uint32          // by unit, one for each child
}

const (
	linkShards = 64
	// unitBytes is about what a unit takes in addition to its codes: its entry in a growing map.
	unitBytes = 56
)

// linkedTables returns the tables whose rows are linked to those of a table, in the release's order. It returns the
// table alone if there are none.
func linkedTables(r *spec.Release, table *spec.Table) []*spec.Table {
	parent := ""
	for _, s := range r.Synthetic {
		if s.Parent != "" && (s.Table == table.Name || s.Parent == table.Name) {
			parent = s.Parent
		}
	}
	if parent == "" {
		return []*spec.Table{table}
	}
	var all []*spec.Table
	for _, t := range r.Tables {
		if t.Name == parent || slices.ContainsFunc(r.Synthetic, func(s spec.Synthetic) bool {
			return s.Parent == parent &&
				s.Table == t.Name
		}) {
			all = append(all, t)
		}
	}
	return all
}

// newLinkedTallies makes the tallies of linked tables, and links them.
func newLinkedTallies(r *spec.Release, tables []*spec.Table,
	tallyOf func(*spec.Table) (*tally, error)) ([]*tally, error) {
	var all []*tally
	for _, table := range tables {
		t, err := tallyOf(table)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(all) == 1 {
		return all, nil
	}
	l := &link{seed: maphash.MakeSeed()}
	for _, t := range all {
		t.link = l
		if slices.ContainsFunc(r.Synthetic, func(s spec.Synthetic) bool { return s.Parent == t.table.Name }) {
			l.parent = t
		} else {
			l.children = append(l.children, t)
		}
	}
	for _, name := range parentColumns(r, l.parent.table.Name) {
		at := l.parent.categoryColumn(l.parent.table.Column(name))
		if at >= l.parent.shared && l.parent.shared > 0 {
			return nil, errUnmeasuredParent
		}
		width := l.parent.encoders[at].Width()
		l.columns = append(l.columns, linkedColumn{column: at, at: l.stride, width: width})
		l.stride += width
	}
	for i := range l.shards {
		l.shards[i].byWord, l.shards[i].byText = map[int64]uint32{}, map[string]uint32{}
	}
	return all, nil
}

// errUnmeasuredParent refuses a parent column that no question of the plan reads: two rows of a unit that differ in it
// alone would be interchangeable, and which of them the children have would depend on the order of rows.
var errUnmeasuredParent = errors.New("the rows of a child have a column of their parent that the plan does not measure")

// parentColumns returns the columns of a parent's rows that the rows of its children have.
func parentColumns(r *spec.Release, parent string) (names []string) {
	for _, s := range r.Synthetic {
		if s.Parent != parent {
			continue
		}
		for _, a := range s.Given {
			of := r.Table(s.Table).Column(a.Column).Link.Column
			if of != s.Size && !slices.Contains(names, of) {
				names = append(names, of)
			}
		}
	}
	return names
}

// readAll fills the link, once, and keeps what it finds of the rows of all linked tables on the way.
func (l *link) readAll(ctx context.Context, from source.Data, s *noise.RowStreams, limit int64) error {
	if l.readings != nil {
		return nil
	}
	l.limit, l.readings = limit, map[*tally]linkedReading{}
	for _, t := range append([]*tally{l.parent}, l.children...) {
		p, stay, err := t.chooseOrExamine(ctx, from, s, limit-l.held.Load())
		if err != nil {
			return err
		}
		l.readings[t] = linkedReading{p, stay}
	}
	return nil
}

// readParent adds the parent's rows that stay to the link. before is the previous reading, and readParent returns its
// own.
func (l *link) readParent(ctx context.Context, from source.Data, before *pass, own *bounding.KeptRows) (*pass, error) {
	t := l.parent
	p := &pass{tally: t, ids: true, before: before}
	if t.where >= 0 { // rows that are outside need no id
		p.readers = append(p.readers, t.where)
	}
	for _, c := range l.columns {
		indexOrAppend(&p.readers, c.column)
	}
	p.handle = func(_, piece int, first int64, c *chunk, _ []uint64) error {
		return l.addParentRows(c, c.retainedRows(own, piece, first, nil))
	}
	if err := p.run(ctx, from); err != nil {
		return p, err
	}
	l.parentRead = true
	return p, nil
}

// addParentRows adds rows of the parent, each the only row of its unit.
func (l *link) addParentRows(c *chunk, keep []uint64) error {
	if c.rows > 0 {
		// The type of all ids, whichever rows count: bounding refuses mixed types.
		l.idTypes.Store(int32(bounding.KindOf(c.ids)))
	}
	words, exact := bounding.Words(c.ids, &c.days)
	var text func(int) string
	if !exact {
		text = bounding.Texts(c.ids)
	}
	codes := make([]byte, l.stride)
	for i := range c.rows {
		if keep[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		for _, column := range l.columns {
			putCode(codes[column.at:], column.width, codeAt(c.codes[column.column], i))
		}
		bytes := int64(unitBytes + l.stride + 4*len(l.children))
		var at *linkShard
		if exact {
			at = l.shardOfWord(words[i])
		} else {
			at, bytes = l.shardOfText(text(i)), bytes+int64(len(text(i)))
		}
		if l.held.Add(bytes) > l.limit/2 {
			return &memory.Error{Have: l.limit}
		}
		at.mu.Lock()
		if exact {
			at.byWord[words[i]] = uint32(len(at.sizes) / len(l.children))
		} else {
			at.byText[strings.Clone(text(i))] = uint32(len(at.sizes) / len(l.children))
		}
		at.codes = append(at.codes, codes...)
		at.sizes = append(at.sizes, make([]uint32, len(l.children))...)
		at.mu.Unlock()
	}
	return nil
}

func (l *link) shardOfWord(id int64) *linkShard {
	return &l.shards[uint64(id)*0x9e3779b97f4a7c15>>58]
}

func (l *link) shardOfText(id string) *linkShard {
	return &l.shards[maphash.String(l.seed, id)%linkShards]
}

// idType returns the type of the ids.
func (l *link) idType() arrow.Type { return arrow.Type(l.idTypes.Load()) }

// findUnits sets the slots of a chunk's rows to the slots of their units.
func (l *link) findUnits(c *chunk) {
	c.slots = slices.Grow(c.slots[:0], c.rows)[:c.rows]
	clear(c.slots)
	if kind := bounding.KindOf(c.ids); kind == arrow.NULL || kind != l.idType() {
		return
	}
	words, exact := bounding.Words(c.ids, &c.days)
	var text func(int) string
	if !exact {
		text = bounding.Texts(c.ids)
	}
	nulls := c.ids.NullN() > 0
	for i := range c.rows {
		if nulls && c.ids.IsNull(i) {
			continue
		}
		var shard int
		var at uint32
		var ok bool
		if exact {
			shard = int(uint64(words[i]) * 0x9e3779b97f4a7c15 >> 58)
			at, ok = l.shards[shard].byWord[words[i]]
		} else {
			shard = int(maphash.String(l.seed, text(i)) % linkShards)
			at, ok = l.shards[shard].byText[text(i)]
		}
		if ok {
			c.slots[i] = 1 + unitSlot(shard) + linkShards*unitSlot(at)
		}
	}
}

// unitAt returns the shard of a unit that the link holds, and the unit's index in the shard.
func (l *link) unitAt(s unitSlot) (*linkShard, int) {
	return &l.shards[(s-1)%linkShards], int((s - 1) / linkShards)
}

// countChildRows adds the rows of a child that are not left out to the row counts of their units. A unit's count is
// at most `most`, the number of rows that bounding keeps.
func (l *link) countChildRows(child int, slots []unitSlot, out []uint64, most uint32) {
	for i, s := range slots {
		if s == 0 || out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		shard, at := l.unitAt(s)
		size := &shard.sizes[at*len(l.children)+child]
		for n := atomic.LoadUint32(size); n < most && !atomic.CompareAndSwapUint32(size, n, n+1); {
			n = atomic.LoadUint32(size)
		}
	}
}

// childCounts writes how many rows of a child the units of rows have, 0 for a unit that the link does not hold.
func (l *link) childCounts(child int, slots []unitSlot, to []uint32) {
	for i, s := range slots {
		to[i] = 0
		if s != 0 {
			shard, at := l.unitAt(s)
			to[i] = shard.sizes[at*len(l.children)+child]
		}
	}
}

// parentCodes writes the codes of a column of the units' parent rows, 0 for a unit that the link does not hold.
func (l *link) parentCodes(c linkedColumn, slots []unitSlot, to []uint32) {
	for i, s := range slots {
		to[i] = 0
		if s != 0 {
			shard, at := l.unitAt(s)
			to[i] = getCode(shard.codes[at*l.stride+c.at:], c.width)
		}
	}
}

// putCode writes a code in width bytes.
func putCode(to []byte, width int, code uint32) {
	switch width {
	case 1:
		to[0] = byte(code)
	case 2:
		binary.LittleEndian.PutUint16(to, uint16(code))
	default:
		binary.LittleEndian.PutUint32(to, code)
	}
}

// getCode reads a code that putCode has written.
func getCode(from []byte, width int) uint32 {
	switch width {
	case 1:
		return uint32(from[0])
	case 2:
		return uint32(binary.LittleEndian.Uint16(from))
	}
	return binary.LittleEndian.Uint32(from)
}
