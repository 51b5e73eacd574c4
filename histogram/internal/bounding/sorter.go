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
	draws   *draws
	longIDs bool

	bytes     []byte   // tuples of the partition
	at        []uint64 // place of each row, in the order of storage
	of        []uint32 // unit of each row, an index in the table
	groups    []uint64 // group of each row, if groups matter
	runs      []run
	spareRuns []run       // memory for runs that are split into rows
	place     uint64      // place of the last row that was read
	lookups   lookupBatch // rows being looked up
	table     []unitRows  // units by the bits of their words; empty between partitions
	size      int         // entries of the table used for the partition
	units     []uint32    // indexes in the table of units of which not all rows stay; of all units if groups matter
	next      []uint32    // where the next row of each unit goes, by index in the table
	rows      []unitRow
	chosen    []uint64
}

// unitRows is a unit while it is collected, and how many rows it has in the partition.
type unitRows struct {
	// word is the word of the id. Later it says which rows stay: the bit of each, lowest bit first, or for more than 64
	// rows the index of the next row's bit in chosen.
	word   uint64
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

// run is the rows from..to in the order of storage. Their places increase from first to last.
type run struct {
	from, to    int
	first, last uint64
	batch       *rowBatch // batch that holds the rows, nil for rows stored as tuples
	row         int       // first row within the batch
}

func newSorter(ctx context.Context, b *Bounding, all chan *KeptRows, longIDs bool) *sorter {
	return &sorter{Bounding: b, ctx: ctx, all: all, longIDs: longIDs,
		draws: &draws{block: b.block, seeds: newDrawSeeds(b.macKey)}}
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
	s.orderRuns()
	if s.caps.Grouped() {
		s.capUnits()
	} else {
		s.capRows()
	}
	clear(s.table[:s.size])
	return nil
}

// tupleRest is what follows word and step in a tuple: 8 bytes of the group if groups matter and, if ids are long, 4
// bytes of the length of the id, and the id.
type tupleRest []byte

func (r tupleRest) groupOf() uint64 { return binary.LittleEndian.Uint64(r) }

// idOf returns the id of the row, if ids are long.
func (s *sorter) idOf(m tupleRest) []byte {
	head := s.headSize()
	return m[head : head+int(binary.LittleEndian.Uint32(m[head-4:]))]
}

// headSize returns how many bytes stand before the long id.
func (s *sorter) headSize() (n int) {
	if s.caps.Grouped() {
		n += 8
	}
	if s.longIDs {
		n += 4
	}
	return n
}

// gatherRows reads the rows of the partition and finds the unit of each in a hash table with linear probing,
// beginning at the entry for the word of its id. inLots is how many of the rows are in batches.
func (s *sorter) gatherRows(p, skip, inLots int) {
	most := inLots + len(s.bytes)/tupleBytes
	shift := 64 - bits.Len(uint(most+most/2))
	if s.size = 1 << (64 - shift); len(s.table) < s.size {
		s.table = make([]unitRows, s.size)
	}
	s.at, s.of, s.units, s.runs = resize(s.at, most), resize(s.of, most), resize(s.units, most+1), s.runs[:0]
	s.groups = s.groups[:0]
	n, units := 0, 0
	for _, l := range s.batchesOf(p) {
		from, to := l.rowsOf(p)
		if from == to {
			continue
		}
		s.runs = append(s.runs, run{from: n, to: n + to - from, first: l.placeOf(from), last: l.placeOf(to - 1), batch: l,
			row: from})
		units = s.lookUpRows(l.words[from:to], n, skip, shift, units)
		n += to - from
	}
	runs := len(s.runs)
	for at := 0; at < len(s.bytes); {
		from := n
		n, at = s.decodeRows(n, at)
		units = s.lookUpRows(s.lookups.words[:n-from], from, skip, shift, units)
	}
	s.at, s.of, s.units = s.at[:n], s.of[:n], s.units[:units]
	for i := len(s.runs) - 1; i >= runs; i-- {
		r := &s.runs[i]
		if r.to, n = n, r.from; r.from < r.to {
			r.first, r.last = s.at[r.from], s.at[r.to-1]
		}
	}
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
	grouped, plain := s.caps.Grouped(), s.headSize() == 0
	read, i, to := s.bytes, 0, s.at[n:min(n+lookupRows, len(s.at))]
	for i < len(to) && at < len(read) {
		tuple := read[at:][:tupleBytes]
		word, step := binary.LittleEndian.Uint64(tuple), uint64(binary.LittleEndian.Uint16(tuple[8:]))
		at += tupleBytes
		if step == 0 {
			s.place = word
			s.runs = append(s.runs, run{from: n + i})
			continue
		}
		s.place += step
		to[i], s.lookups.words[i&(lookupRows-1)], s.lookups.names[i&(lookupRows-1)] = s.place, word, uint32(at)
		i++
		if plain {
			continue
		}
		if grouped {
			s.groups = append(s.groups, tupleRest(read[at:]).groupOf())
		}
		at += s.sizeOf(read[at:])
	}
	return n + i, at
}

// lookUpRows finds the units of rows by their words; the first row has the number n. It appends the units with more
// than mostWithoutChoice rows to s.units, which has `units` entries, and returns how many it has then.
func (s *sorter) lookUpRows(words []uint64, n, skip, shift, units int) int {
	table, of, most := s.table[:s.size], s.of[n:n+len(words)], s.mostWithoutChoice()
	for i, word := range words {
		unit := word << (skip & 63) >> (shift & 63)
		u := &table[unit]
		for u.isOther(word) || s.longIDs && u.rows > 0 && !s.sameID(u.nameAt, int(s.lookups.names[i&(lookupRows-1)])) {
			unit = (unit + 1) & uint64(len(table)-1)
			u = &table[unit]
		}
		of[i] = uint32(unit)
		s.units[units] = uint32(unit)
		if u.rows == most {
			units++
		}
		*u = unitRows{word, u.rows + 1, s.lookups.names[i&(lookupRows-1)]}
	}
	return units
}

// mostWithoutChoice returns how many rows a unit may have without a choice among them: none if groups matter, and
// else as many as may stay.
func (s *sorter) mostWithoutChoice() uint32 {
	if s.caps.Grouped() {
		return 0
	}
	return uint32(min(s.caps.Rows, math.MaxUint32))
}

// sizeOf returns how many bytes the rest of a tuple takes.
func (s *sorter) sizeOf(m tupleRest) int {
	head := s.headSize()
	if s.longIDs {
		return head + int(binary.LittleEndian.Uint32(m[head-4:]))
	}
	return head
}

// sameID reports whether the rows whose rests begin at a and b have the same id.
func (s *sorter) sameID(a uint32, b int) bool {
	return bytes.Equal(s.idOf(s.bytes[a:]), s.idOf(s.bytes[b:]))
}

// orderRuns puts the runs into reading order. Runs that overlap are split into single rows.
func (s *sorter) orderRuns() {
	byPlace := func(a, b run) int { return cmp.Compare(a.first, b.first) }
	s.runs = slices.DeleteFunc(s.runs, func(r run) bool { return r.from == r.to })
	if !slices.IsSortedFunc(s.runs, byPlace) {
		slices.SortFunc(s.runs, byPlace)
	}
	for i := 1; i < len(s.runs); i++ {
		if s.runs[i].first < s.runs[i-1].last {
			s.runs, s.spareRuns = s.singleRows(), s.runs
			slices.SortFunc(s.runs, byPlace)
			return
		}
	}
}

// singleRows returns the runs split into single rows.
func (s *sorter) singleRows() []run {
	n := 0
	for _, r := range s.runs {
		n += int(r.to - r.from)
	}
	rows := slices.Grow(s.spareRuns[:0], n)
	for _, r := range s.runs {
		for i := range r.to - r.from {
			row := run{from: r.from + i, to: r.from + i + 1, batch: r.batch, row: r.row + i}
			if row.first = s.at[row.from]; r.batch != nil {
				row.first = r.batch.placeOf(row.row)
			}
			row.last = row.first
			rows = append(rows, row)
		}
	}
	return rows
}

// capRows decides for the units of the partition, without groups.
func (s *sorter) capRows() {
	s.chosen = append(s.chosen[:0], 0)
	for _, unit := range s.units {
		u := &s.table[unit]
		first := 0
		if u.rows > 64 {
			first = len(s.chosen)
			s.chosen = append(s.chosen, make([]uint64, (u.rows+63)/64)...)
		} else {
			s.chosen[0] = 0
		}
		s.chooseBits(s.draws, s.draws.seeds.seedOfRows(s.nameOf(u.word, u.nameAt)), uint64(u.rows), s.caps.Rows,
			s.chosen[first:])
		if u.word = s.chosen[0]; first > 0 {
			u.word = uint64(first) * 64
		}
	}
	s.setRows()
}

// nameOf returns the name of a unit.
func (s *sorter) nameOf(word uint64, at uint32) unitName {
	if s.longIDs {
		return unitName{word: word, long: s.idOf(s.bytes[at:])}
	}
	return unitName{word: word}
}

// takeBits takes a copy of the answer. The returned function gives it back.
func (s *sorter) takeBits() (release func()) {
	s.kept = <-s.all
	return func() { s.all <- s.kept }
}

// setRows records which rows stay, in reading order: for rows in batches within the batch, and for others in the
// bits.
func (s *sorter) setRows() {
	defer s.takeBits()()
	all := s.mostWithoutChoice()
	for _, r := range s.runs {
		of := s.of[r.from:r.to]
		if r.batch != nil {
			stay := r.batch.words[r.row:][:len(of)]
			for i, unit := range of {
				stay[i] = s.nextStays(&s.table[unit], all)
			}
			continue
		}
		for i, at := range s.at[r.from:r.to] {
			s.kept.setBit(at, s.nextStays(&s.table[of[i]], all))
		}
	}
}

// nextStays returns 1 if the next row of a unit stays, and 0 if not. All rows of a unit stay if it has at most all
// rows.
func (s *sorter) nextStays(u *unitRows, all uint32) uint64 {
	bit := u.word
	if u.rows > 64 && u.rows > all {
		u.word++
		return s.chosen[bit>>6] >> (bit & 63) & 1
	}
	u.word = bits.RotateLeft64(bit, -1)
	if u.rows <= all {
		bit = 1
	}
	return bit & 1
}

// unitRow is a row of a unit, if groups matter.
type unitRow struct{ group, at uint64 }

// capUnits decides for the units of the partition one by one, if groups matter.
func (s *sorter) capUnits() {
	s.next, s.rows = resize(s.next, len(s.table)), resize(s.rows, len(s.at))
	from := uint32(0)
	for _, unit := range s.units {
		s.next[unit] = from
		from += s.table[unit].rows
	}
	for _, r := range s.runs {
		for i := r.from; i < r.to; i++ {
			to := &s.next[s.of[i]]
			s.rows[*to] = unitRow{s.groups[i], s.at[i]}
			*to++
		}
	}
	defer s.takeBits()()
	for _, unit := range s.units {
		u := s.table[unit]
		rows := s.rows[s.next[unit]-u.rows : s.next[unit]]
		slices.SortStableFunc(rows, func(a, b unitRow) int { return cmp.Compare(a.group, b.group) })
		n := s.nameOf(u.word, u.nameAt)
		if rows = s.capGroups(n, rows); uint64(len(rows)) > s.caps.Rows {
			rows = s.sampleRows(s.draws.seeds.seedOfRows(n), rows, s.caps.Rows)
		}
		for _, r := range rows {
			s.kept.setBit(r.at, 1)
		}
	}
}

// capGroups returns the rows of a unit that stay under the caps on groups, in their order.
func (s *sorter) capGroups(n unitName, rows []unitRow) []unitRow {
	var groups [][]unitRow
	for from, to := 0, 0; from < len(rows); from = to {
		for to = from + 1; to < len(rows) && rows[to].group == rows[from].group; to++ {
		}
		groups = append(groups, rows[from:to])
	}
	if all := uint64(len(groups)); all > s.caps.Groups {
		chosen := make([]uint64, (all+63)/64)
		s.chooseBits(s.draws, s.draws.seeds.seedOf(forGroups, n, 0), all, s.caps.Groups, chosen)
		groups = selectMarked(groups, chosen)
	}
	stay := rows[:0]
	for _, g := range groups {
		if uint64(len(g)) > s.caps.PerGroup {
			g = s.sampleRows(s.draws.seeds.seedOf(forGroup, n, g[0].group), g, s.caps.PerGroup)
		}
		stay = append(stay, g...) // never past g, so that later groups are not overwritten
	}
	return stay
}

// sampleRows returns a sample of most of the rows, of which there must be more, in their order.
func (s *sorter) sampleRows(from drawSeed, rows []unitRow, most uint64) []unitRow {
	s.chosen = resize(s.chosen, (len(rows)+63)/64)
	clear(s.chosen)
	s.chooseBits(s.draws, from, uint64(len(rows)), most, s.chosen)
	return selectMarked(rows, s.chosen)
}

// selectMarked returns the entries whose bits are set, in their order and in the same memory.
func selectMarked[T any](entries []T, chosen []uint64) []T {
	stay := entries[:0]
	for i, word := range chosen {
		for ; word != 0; word &= word - 1 {
			stay = append(stay, entries[64*i+bits.TrailingZeros64(word)])
		}
	}
	return stay
}

// splitPartition decides for a partition that is too large to be sorted, by the next bits of its words. It sets the
// bits of all its rows, also of rows in batches.
func (s *sorter) splitPartition(p, skip int) error {
	isOneWord, err := s.haveOneWord(p)
	if err != nil {
		return err
	}
	if isOneWord {
		return s.decideByBits(p)
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

// decideByBits decides for a partition with a single word that is too large to be sorted: unit by unit, with a bit
// per row of the table in place of a list of rows. Groups cannot be chosen in this way: that is ErrMemory. Total
// releases have no bounds on groups.
func (s *sorter) decideByBits(p int) error {
	if s.caps.Grouped() {
		return ErrMemory
	}
	defer s.takeBits()()
	decided := map[string]bool{}
	for more := true; more; {
		more = false
		its, rows := s.kept.emptyCopy(), uint64(0)
		var id []byte
		var word uint64
		err := s.eachRow(p, func(this, place uint64, m tupleRest) error {
			word = this
			if s.longIDs {
				this := s.idOf(m)
				switch {
				case decided[string(this)]:
					return nil
				case id == nil:
					id = append([]byte{}, this...)
				case !bytes.Equal(this, id):
					more = true
					return nil
				}
			}
			its.setBit(place, 1)
			rows++
			return nil
		})
		if err != nil {
			return err
		}
		decided[string(id)] = true
		s.keepSome(unitName{word: word, long: id}, its, rows)
	}
	return nil
}

// keepSome keeps as many of the rows of a unit as caps.rows allows.
func (s *sorter) keepSome(n unitName, its *KeptRows, rows uint64) {
	var chosen []uint64
	if rows > s.caps.Rows {
		chosen = make([]uint64, (rows+63)/64)
		s.chooseBits(s.draws, s.draws.seeds.seedOfRows(n), rows, s.caps.Rows, chosen)
	}
	number := uint64(0) // number of a row within its unit
	for piece, words := range its.pieces {
		for i, word := range words {
			for ; word != 0; word &= word - 1 {
				if chosen == nil || chosen[number>>6]>>(number&63)&1 == 1 {
					s.kept.setBit(uint64(piece)<<rowBits|uint64(64*i+bits.TrailingZeros64(word)), 1)
				}
				number++
			}
		}
	}
}
