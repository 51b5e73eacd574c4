package scan

// This file holds the link: the one row that each unit has in a parent table, as its rows in child tables find it, and
// how many of these the unit has.

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// link holds of every unit that has a counted row in the parent table the codes of that row, and how many of its rows
// in each child table are counted. It is filled before any row of them is counted: by the ids and columns of the
// parent's rows that bounding keeps, and then by the ids of each child's rows.
//
// Guarantee: what is held of a unit, and so the linked columns of each of its rows and whether such a row is left out
// for want of a parent row, is a function of the key, of its id and of its own rows in all of these tables, and of
// nothing else. A number of rows is at most the max_rows of their table. Neighbours: both relations. Argument:
// docs/proofs/linked.md.
//
// Ids are told apart by their exact values, never by a hash. Memory: unitBytes for each unit, its id where that is
// text, and its codes; beyond the limit it is a *[memory.Error].
type link struct {
	parent   *tally
	children []*tally
	columns  []linkedColumn // of the parent's rows, as children have them
	stride   int            // bytes of the codes of a unit

	kinds  atomic.Int32 // type of the ids, NULL where there is no row
	filled bool         // with the parent's rows
	shards [linkShards]linkShard
	seed   maphash.Seed
	limit  int64
	held   atomic.Int64 // bytes

	kept map[*tally]linkedRows // nil before anything is read

	made, madeSizes [][]uint32 // of rows that are made up, by column and by child; nil where rows are read
}

// linkedColumn is a column of the parent's tally, and where its codes are among those of a unit.
type linkedColumn struct{ column, at, width int }

// linkedRows are what was found out of the rows of a tally before they are counted.
type linkedRows struct {
	last *pass
	stay []*bounding.Kept
}

// linkShard holds some of the units, by a hash of their ids.
type linkShard struct {
	mu    sync.Mutex
	words map[int64]uint32  // place of a unit, by its id
	texts map[string]uint32 // the same, by longer ids
	codes []byte            // by unit, stride bytes each
	sizes []uint32          // by unit, one for each child
}

const (
	linkShards = 64
	// unitBytes is about what a unit takes beside its codes: its entry in a map that grows.
	unitBytes = 56
)

// family are the tables whose rows are linked to those of a table, in the release's order: the table alone where none
// are.
func family(r *spec.Release, table *spec.Table) []*spec.Table {
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

// linkedTallies makes the tallies of a family, and links them.
func linkedTallies(r *spec.Release, tables []*spec.Table, tallyOf func(*spec.Table) (*tally, error)) ([]*tally, error) {
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
		at := l.parent.column(l.parent.table.Column(name))
		width := l.parent.encoders[at].Width()
		l.columns = append(l.columns, linkedColumn{column: at, at: l.stride, width: width})
		l.stride += width
	}
	for i := range l.shards {
		l.shards[i].words, l.shards[i].texts = map[int64]uint32{}, map[string]uint32{}
	}
	return all, nil
}

// parentColumns are the columns of a parent's rows that its children's rows have.
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

// Read fills the link, once, and keeps what is found out of the rows of all its tables on the way.
func (l *link) read(ctx context.Context, dir string, s *noise.RowStreams, limit int64) error {
	if l.kept != nil {
		return nil
	}
	l.limit, l.kept = limit, map[*tally]linkedRows{}
	for _, t := range append([]*tally{l.parent}, l.children...) {
		p, stay, err := t.settled(ctx, dir, s, limit-l.held.Load())
		if err != nil {
			return err
		}
		l.kept[t] = linkedRows{p, stay}
	}
	return nil
}

// fill takes the parent's rows that stay. p is the reading before, and the last reading is returned.
func (l *link) fill(ctx context.Context, dir string, before *pass, own *bounding.Kept) (*pass, error) {
	t := l.parent
	p := &pass{tally: t, ids: true, before: before}
	if t.where >= 0 { // a row that is outside needs no id
		p.readers = append(p.readers, t.where)
	}
	for _, c := range l.columns {
		place(&p.readers, c.column)
	}
	p.take = func(_, piece int, first int64, c *chunk, _ []uint64) error {
		return l.add(c, c.stay(own, piece, first, nil))
	}
	if err := p.run(ctx, dir); err != nil {
		return p, err
	}
	l.filled = true
	return p, nil
}

// Add takes up rows of the parent, each the only one of its unit.
func (l *link) add(c *chunk, keep []uint64) error {
	if c.rows > 0 {
		l.kinds.Store(int32(bounding.KindOf(c.ids))) // of all, whichever rows count: bounding refuses several
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
			at.words[words[i]] = uint32(len(at.sizes) / len(l.children))
		} else {
			at.texts[strings.Clone(text(i))] = uint32(len(at.sizes) / len(l.children))
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

// kind is the type of the ids.
func (l *link) kind() arrow.Type { return arrow.Type(l.kinds.Load()) }

// find says where the units of a chunk's rows are held.
func (l *link) find(c *chunk) {
	c.slots = slices.Grow(c.slots[:0], c.rows)[:c.rows]
	clear(c.slots)
	if kind := bounding.KindOf(c.ids); kind == arrow.NULL || kind != l.kind() {
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
			at, ok = l.shards[shard].words[words[i]]
		} else {
			shard = int(maphash.String(l.seed, text(i)) % linkShards)
			at, ok = l.shards[shard].texts[text(i)]
		}
		if ok {
			c.slots[i] = 1 + slot(shard) + linkShards*slot(at)
		}
	}
}

// of is the shard of a unit that is held, and its place there.
func (l *link) of(s slot) (*linkShard, int) {
	return &l.shards[(s-1)%linkShards], int((s - 1) / linkShards)
}

// count adds the rows of a child that are not left out to those of their units, of which each has at most most: as many
// as bounding keeps.
func (l *link) count(child int, slots []slot, out []uint64, most uint32) {
	for i, s := range slots {
		if s == 0 || out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		shard, at := l.of(s)
		size := &shard.sizes[at*len(l.children)+child]
		for n := atomic.LoadUint32(size); n < most && !atomic.CompareAndSwapUint32(size, n, n+1); {
			n = atomic.LoadUint32(size)
		}
	}
}

// sizes are how many rows of a child the units of rows have, 0 where a unit is not held.
func (l *link) sizes(child int, slots []slot, to []uint32) {
	for i, s := range slots {
		to[i] = 0
		if s != 0 {
			shard, at := l.of(s)
			to[i] = shard.sizes[at*len(l.children)+child]
		}
	}
}

// codes are those of a column of the units' parent rows, 0 where a unit is not held.
func (l *link) codes(c linkedColumn, slots []slot, to []uint32) {
	for i, s := range slots {
		to[i] = 0
		if s != 0 {
			shard, at := l.of(s)
			to[i] = getCode(shard.codes[at*l.stride+c.at:], c.width)
		}
	}
}

// putCode writes a code in so many bytes.
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

// getCode reads what putCode has written.
func getCode(from []byte, width int) uint32 {
	switch width {
	case 1:
		return uint32(from[0])
	case 2:
		return uint32(binary.LittleEndian.Uint16(from))
	}
	return binary.LittleEndian.Uint32(from)
}
