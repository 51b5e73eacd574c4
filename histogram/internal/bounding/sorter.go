package bounding

// This file holds the sorter, which groups the rows of one partition after another by unit and decides which stay.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// sorter groups the rows of each unit, partition by partition. It must not be used concurrently.
type sorter struct {
	*Bounding
	ctx     context.Context
	all     chan *KeptRows // free copies of the answer, from which sorters take one
	kept    *KeptRows      // the copy that it has taken
	hasher  *Hasher        // nil for a screening
	longIDs bool

	bytes    []byte   // tuples of the partition
	at       []uint64 // place of each row, in the order of storage
	of       []uint32 // unit of each row, an index in the table
	contents []Hash   // content of each row, for a choice
	groups   []uint64 // group of each row, if groups matter
	runs     []rowRun
	place    uint64      // place of the last row that was read
	lookups  lookupBatch // rows being looked up
	table    []unitRows  // units by the bits of their words; empty between partitions
	size     int         // entries of the table used for the partition
	units    []uint32    // indexes in the table of all units, for a choice
	next     []uint32    // where the next row of each unit goes, by index in the table
	rows     []unitRow
	ranks    []rank
	id       []byte // scratch: the id of a unit as text
}

// unitRows is a unit while it is collected, and how many rows it has in the partition.
type unitRows struct {
	word   uint64 // word of the id
	rows   uint32
	nameAt uint32 // offset in the partition's bytes of a row of the unit, to read its id
}

// isOther reports whether the table entry is taken by another word. Half of the entries are free, which is
// unpredictable, so the test is written without a branch.
func (u *unitRows) isOther(word uint64) bool {
	differ := u.word ^ word
	if u.rows == 0 {
		differ = 0
	}
	return differ != 0
}

// rowRun is the rows from..to in the order of storage, which are in a batch.
type rowRun struct {
	from, to int
	batch    *rowBatch
	row      int // first row within the batch
}

func newSorter(ctx context.Context, b *Bounding, all chan *KeptRows, longIDs bool) *sorter {
	s := &sorter{Bounding: b, ctx: ctx, all: all, longIDs: longIDs}
	if b.chooses {
		s.hasher = b.key.Hasher()
	}
	return s
}

// decidePartition decides which rows of a partition stay. The first skip bits of their words are equal.
func (s *sorter) decidePartition(p, skip int) error {
	lots, inLots := s.batchesOf(p), 0
	for _, l := range lots {
		from, to := l.rowsOf(p)
		inLots += to - from
	}
	if s.spill.size(p)+int64(inLots)*tupleBytes > s.sortLimit {
		err := s.splitPartition(p, skip)
		for _, l := range lots { // the bits of those rows are already set
			from, to := l.rowsOf(p)
			clear(l.words[from:to])
		}
		return err
	}
	var err error
	if s.bytes, err = s.spill.takeAll(p, s.bytes); err != nil {
		return err
	}
	s.gatherRows(p, skip, inLots)
	if s.chooses {
		s.chooseRows()
	} else {
		s.screenRows()
	}
	clear(s.table[:s.size])
	return nil
}

// tupleRest is what follows word and step in a tuple: for a choice 16 bytes of the content, if groups matter 8 bytes of
// the group and, if ids are long, 4 bytes of the length of the id, and the id.
type tupleRest []byte

const (
	contentBytes = 16
	groupBytes   = 8
	lengthBytes  = 4
)

func (r tupleRest) contentOf() Hash {
	return Hash{binary.LittleEndian.Uint64(r), binary.LittleEndian.Uint64(r[8:])}
}

func (r tupleRest) groupOf() uint64 { return binary.LittleEndian.Uint64(r[contentBytes:]) }

// idOf returns the id of the row, if ids are long.
func (s *sorter) idOf(m tupleRest) []byte {
	head := s.headSize(true)
	return m[head : head+int(binary.LittleEndian.Uint32(m[head-lengthBytes:]))]
}

// gatherRows reads the rows of the partition and finds the unit of each in a hash table with linear probing,
// beginning at the entry for the word of its id. inLots is how many of the rows are in batches.
func (s *sorter) gatherRows(p, skip, inLots int) {
	most := inLots + len(s.bytes)/int(s.tupleSize())
	shift := 64 - bits.Len(uint(most+most/2))
	if s.size = 1 << (64 - shift); len(s.table) < s.size {
		s.table = make([]unitRows, s.size)
	}
	s.at, s.of, s.units, s.runs = resize(s.at, most), resize(s.of, most), resize(s.units, most+1), s.runs[:0]
	s.contents, s.groups = s.contents[:0], s.groups[:0]
	n, units := 0, 0
	for _, l := range s.batchesOf(p) {
		from, to := l.rowsOf(p)
		if from == to {
			continue
		}
		s.runs = append(s.runs, rowRun{from: n, to: n + to - from, batch: l, row: from})
		units = s.lookUpRows(l.words[from:to], n, skip, shift, units)
		n += to - from
	}
	for at := 0; at < len(s.bytes); {
		from := n
		n, at = s.decodeRows(n, at)
		units = s.lookUpRows(s.lookups.words[:n-from], from, skip, shift, units)
	}
	s.at, s.of, s.units = s.at[:n], s.of[:n], s.units[:units]
}

// batchesOf returns the batches that hold rows of a partition. Partitions made by a split have none.
func (s *sorter) batchesOf(p int) []*rowBatch {
	if p >= s.parts {
		return nil
	}
	return s.batches
}

// lookupRows is how many rows are looked up at a time, so that what is read of them stays in a first-level cache.
const lookupRows = 256

// lookupBatch is rows being looked up: the words of their ids, and where in the partition's bytes the rests of their
// tuples begin.
type lookupBatch struct {
	words [lookupRows]uint64
	names [lookupRows]uint32
}

// decodeRows reads rows from the bytes at an offset, and numbers them from n. It returns the number of the next row
// and the offset of the next byte.
func (s *sorter) decodeRows(n, at int) (int, int) {
	chooses, grouped, plain := s.chooses, s.caps.Grouped(), s.headSize(s.longIDs) == 0
	read, i, to := s.bytes, 0, s.at[n:min(n+lookupRows, len(s.at))]
	for i < len(to) && at < len(read) {
		tuple := read[at:][:tupleBytes]
		word, step := binary.LittleEndian.Uint64(tuple), uint64(binary.LittleEndian.Uint16(tuple[8:]))
		at += tupleBytes
		if step == 0 {
			s.place = word
			continue
		}
		s.place += step
		to[i], s.lookups.words[i&(lookupRows-1)], s.lookups.names[i&(lookupRows-1)] = s.place, word, uint32(at)
		i++
		if plain {
			continue
		}
		if chooses {
			s.contents = append(s.contents, tupleRest(read[at:]).contentOf())
		}
		if grouped {
			s.groups = append(s.groups, tupleRest(read[at:]).groupOf())
		}
		at += s.sizeOf(read[at:])
	}
	return n + i, at
}

// lookUpRows finds the units of rows by their words; the first row has the number n. It appends the units that it meets
// first to s.units, which has `units` entries, and returns how many it has then.
func (s *sorter) lookUpRows(words []uint64, n, skip, shift, units int) int {
	table, of := s.table[:s.size], s.of[n:n+len(words)]
	for i, word := range words {
		unit := word << (skip & 63) >> (shift & 63)
		u := &table[unit]
		for u.isOther(word) || s.longIDs && u.rows > 0 && !s.sameID(u.nameAt, int(s.lookups.names[i&(lookupRows-1)])) {
			unit = (unit + 1) & uint64(len(table)-1)
			u = &table[unit]
		}
		of[i] = uint32(unit)
		s.units[units] = uint32(unit)
		if u.rows == 0 {
			units++
		}
		*u = unitRows{word, u.rows + 1, s.lookups.names[i&(lookupRows-1)]}
	}
	return units
}

// sizeOf returns how many bytes the rest of a tuple takes.
func (s *sorter) sizeOf(m tupleRest) int {
	head := s.headSize(s.longIDs)
	if s.longIDs {
		return head + int(binary.LittleEndian.Uint32(m[head-lengthBytes:]))
	}
	return head
}

// sameID reports whether the rows whose rests begin at a and b have the same id.
func (s *sorter) sameID(a uint32, b int) bool {
	return bytes.Equal(s.idOf(s.bytes[a:]), s.idOf(s.bytes[b:]))
}

// takeBits takes a copy of the answer. The returned function gives it back.
func (s *sorter) takeBits() (release func()) {
	s.kept = <-s.all
	return func() { s.all <- s.kept }
}

// screenRows keeps the rows of the units with no more rows than they may have: for rows in batches within the batch,
// and for others in the bits.
func (s *sorter) screenRows() {
	defer s.takeBits()()
	most, left, n := s.mostRows(), uint64(0), 0
	for _, r := range s.runs {
		of := s.of[r.from:r.to]
		stay := r.batch.words[r.row:][:len(of)]
		for i, unit := range of {
			stay[i] = bitOf(uint64(s.table[unit].rows) <= most)
			left |= stay[i] ^ 1
		}
		n = r.to
	}
	for i, at := range s.at[n:] {
		stays := bitOf(uint64(s.table[s.of[n+i]].rows) <= most)
		left |= stays ^ 1
		s.kept.setBit(at, stays)
	}
	s.noteLeft(left)
}

// mostRows returns how many rows a unit may have.
func (s *sorter) mostRows() uint64 { return min(s.caps.Rows, math.MaxUint32) }

// noteLeft notes that rows do not stay if left is not 0.
func (s *sorter) noteLeft(left uint64) {
	if left != 0 {
		s.left.Store(true)
	}
}

func bitOf(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// unitRow is a row of a unit, for a choice.
type unitRow struct {
	group   uint64
	content Hash
	number  uint64 // among the rows of the unit with this content, from 1
	at      uint64
}

// rank is the priority of a row or a group, and its index.
type rank struct {
	priority Hash
	index    int
}

// chooseRows decides for the units of the partition one by one.
func (s *sorter) chooseRows() {
	s.next, s.rows = resize(s.next, len(s.table)), resize(s.rows, len(s.at))
	from := uint32(0)
	for _, unit := range s.units {
		s.next[unit] = from
		from += s.table[unit].rows
	}
	for i, at := range s.at {
		to := &s.next[s.of[i]]
		row := unitRow{content: s.contents[i], at: at}
		if s.caps.Grouped() {
			row.group = s.groups[i]
		}
		s.rows[*to] = row
		*to++
	}
	defer s.takeBits()()
	for _, unit := range s.units {
		u := s.table[unit]
		for _, r := range s.chooseOf(u, s.rows[s.next[unit]-u.rows:s.next[unit]]) {
			s.kept.setBit(r.at, 1)
		}
	}
}

// chooseOf returns the rows of a unit that stay.
func (s *sorter) chooseOf(u unitRows, rows []unitRow) []unitRow {
	if uint64(len(rows)) <= min(s.caps.Rows, s.caps.Groups, s.caps.PerGroup) {
		return rows
	}
	slices.SortFunc(rows, func(a, b unitRow) int {
		if by := a.content.compare(b.content); by != 0 {
			return by
		}
		return cmp.Compare(a.at, b.at)
	})
	repeated := false
	for i := range rows {
		rows[i].number = 1
		if i > 0 && rows[i-1].content == rows[i].content {
			rows[i].number, repeated = rows[i-1].number+1, true
		}
	}
	if s.byContent && !repeated {
		return rows[:s.caps.Rows]
	}
	if s.caps.Grouped() {
		slices.SortStableFunc(rows, func(a, b unitRow) int { return cmp.Compare(a.group, b.group) })
		rows = s.capGroups(u, rows)
	}
	return s.leastRows(inUnit, rows, s.caps.Rows)
}

// capGroups returns the rows of a unit that stay under the caps on groups.
func (s *sorter) capGroups(u unitRows, rows []unitRow) []unitRow {
	var groups [][]unitRow
	for from, to := 0, 0; from < len(rows); from = to {
		for to = from + 1; to < len(rows) && rows[to].group == rows[from].group; to++ {
		}
		groups = append(groups, rows[from:to])
	}
	if uint64(len(groups)) > s.caps.Groups {
		id := s.textOf(u)
		s.ranks = s.ranks[:0]
		for i, g := range groups {
			s.ranks = append(s.ranks, rank{s.hasher.groupPriority(s.groupText, g[0].group, s.idType, id), i})
		}
		groups = leastOf(s.ranks, groups, s.caps.Groups)
	}
	stay := rows[:0]
	for _, g := range groups {
		// never past g: later groups are not overwritten
		stay = append(stay, s.leastRows(inGroup, g, s.caps.PerGroup)...)
	}
	return stay
}

// leastRows returns the rows with the least priorities, most of them at most, in their order and in the same memory.
func (s *sorter) leastRows(purpose byte, rows []unitRow, most uint64) []unitRow {
	if uint64(len(rows)) <= most {
		return rows
	}
	s.ranks = s.ranks[:0]
	for i, r := range rows {
		s.ranks = append(s.ranks, rank{s.priorityOf(purpose, r.content, r.number), i})
	}
	return leastOf(s.ranks, rows, most)
}

// priorityOf returns the priority of a row.
func (s *sorter) priorityOf(purpose byte, content Hash, number uint64) Hash {
	if s.byContent && number == 1 {
		return content
	}
	return s.priority(s.hasher, purpose, content, number)
}

// leastOf returns the entries with the least priorities, most of them, in their order and in the same memory. Of equal
// priorities the earlier entry's counts as less.
func leastOf[T any](ranks []rank, entries []T, most uint64) []T {
	slices.SortFunc(ranks, func(a, b rank) int {
		return cmp.Or(a.priority.compare(b.priority), cmp.Compare(a.index, b.index))
	})
	ranks = ranks[:most]
	slices.SortFunc(ranks, func(a, b rank) int { return cmp.Compare(a.index, b.index) })
	stay := entries[:0]
	for _, r := range ranks {
		stay = append(stay, entries[r.index])
	}
	return stay
}

// textOf returns the id of a unit as it is hashed. It is valid until the next call.
func (s *sorter) textOf(u unitRows) []byte {
	if s.longIDs {
		s.id = appendID(s.id[:0], s.idType, 0, s.idOf(s.bytes[u.nameAt:]))
	} else {
		s.id = appendID(s.id[:0], s.idType, s.permutation.invert(u.word), nil)
	}
	return s.id
}

// splitPartition decides for a partition that is too large to be sorted, by the next bits of its words. It sets the
// bits of all its rows, also of rows in batches.
func (s *sorter) splitPartition(p, skip int) error {
	isOneWord, err := s.haveOneWord(p)
	if err != nil {
		return err
	}
	if isOneWord {
		return s.decideLarge(p)
	}
	const ways = 64
	r := newRouter(s.spill, s.spill.addParts(ways), skip, ways, leastChunk)
	err = s.eachRow(p, func(word, place uint64, m tupleRest) error {
		to, err := r.addRow(word, place, len(m))
		copy(to, m)
		return err
	})
	if err != nil {
		return err
	}
	s.spill.forget(p)
	r.flushAll()
	for i := range ways {
		if err := s.decidePartition(r.base+i, skip+bits.Len(ways-1)); err != nil {
			return err
		}
	}
	return nil
}

// eachRow visits the rows of a partition in the order of storage.
func (s *sorter) eachRow(p int, visit func(word, place uint64, m tupleRest) error) error {
	for _, l := range s.batchesOf(p) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		for from, to := l.rowsOf(p); from < to; from++ {
			if err := visit(l.words[from], l.placeOf(from), nil); err != nil {
				return err
			}
		}
	}
	place := uint64(0)
	return s.spill.eachStretch(p, func(bytes []byte) error {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		for len(bytes) > 0 {
			word, step := binary.LittleEndian.Uint64(bytes), uint64(binary.LittleEndian.Uint16(bytes[8:]))
			bytes = bytes[tupleBytes:]
			if step == 0 {
				place = word
				continue
			}
			place += step
			n := s.sizeOf(bytes)
			if err := visit(word, place, bytes[:n]); err != nil {
				return err
			}
			bytes = bytes[n:]
		}
		return nil
	})
}

// haveOneWord reports whether all rows of a partition have the same word.
func (s *sorter) haveOneWord(p int) (bool, error) {
	var first uint64
	any, alike := false, true
	err := s.eachRow(p, func(word, _ uint64, _ tupleRest) error {
		if !any {
			first, any = word, true
		}
		alike = alike && word == first
		return nil
	})
	return alike, err
}
