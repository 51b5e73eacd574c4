package bounding

// This file holds the sorter: the rows of one partition after another, brought together by unit, of which so many stay.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// sorter brings the rows of each unit together, partition by partition. Not for
// concurrent use.
type sorter struct {
	*Bounding
	ctx     context.Context
	all     chan *Kept // bits to set, of which each sorter takes what is free
	kept    *Kept      // what it has taken
	draws   *draws
	longIDs bool

	bytes  []byte   // of the partition
	at     []uint64 // place of each row, as they were put aside
	of     []uint32 // and its unit, a place in the table
	groups []uint64 // and its group, where groups matter
	runs   []run
	cut    []run      // room for runs that are cut into rows
	place  uint64     // of the last row that was read
	found  found      // rows that are looked up
	table  []unitRows // of the units, by the bits of their words; empty between partitions
	size   int        // places of it for the partition
	units  []uint32   // places in the table of units of which not all rows stay, or where groups matter of all
	next   []uint32   // where the next row of each goes, by place in the table
	rows   []unitRow
	chosen []uint64
}

// unitRows is a unit in the making: how many rows it has in the partition.
type unitRows struct {
	// word is that of the id, and later which rows stay: the bit of each, the next row's the lowest,
	// or the place of the next row's bit in chosen where rows are more than 64.
	word uint64
	rows uint32
	name uint32 // where in the partition a row of it begins, whose id is its
}

// other says whether the place in the table is taken, by another word. Half of the places
// are not, which a processor guesses wrong: it is told as a number, not by a branch.
func (u *unitRows) other(word uint64) bool {
	differ := u.word ^ word
	if u.rows == 0 {
		differ = 0
	}
	return differ != 0
}

// run is the rows from..to in the order in which they were put aside, whose places grow from the first to the last.
type run struct {
	from, to    int
	first, last uint64
	lot         *lot // that holds them, nil for those that were bytes
	row         int  // of the lot that is the first
}

func newSorter(ctx context.Context, b *Bounding, all chan *Kept, longIDs bool) *sorter {
	return &sorter{Bounding: b, ctx: ctx, all: all, longIDs: longIDs,
		draws: &draws{block: b.block, seats: newSeats(b.macKey)}}
}

// part decides for the rows of a partition, of whose words the first skip bits are
// the same.
func (s *sorter) part(p, skip int) error {
	lots, inLots := s.lotsOf(p), 0
	for _, l := range lots {
		from, to := l.of(p)
		inLots += to - from
	}
	if s.spill.size(p)+int64(inLots)*tupleBytes > s.load {
		err := s.split(p, skip)
		for _, l := range lots { // the bits of those rows are set already
			from, to := l.of(p)
			clear(l.words[from:to])
		}
		return err
	}
	var err error
	if s.bytes, err = s.spill.take(p, s.bytes); err != nil {
		return err
	}
	s.gather(p, skip, inLots)
	s.order()
	if s.caps.Grouped() {
		s.capUnits()
	} else {
		s.capRows()
	}
	clear(s.table[:s.size])
	return nil
}

// rest is what stands in a tuple behind word and step: 8 bytes of the group where groups
// matter, and where ids are long 4 of the length of the id, and the id.
type rest []byte

func (r rest) group() uint64 { return binary.LittleEndian.Uint64(r) }

// id is the id of the row, where ids are long.
func (s *sorter) id(m rest) []byte {
	head := s.head()
	return m[head : head+int(binary.LittleEndian.Uint32(m[head-4:]))]
}

// head is how many bytes stand before the long id.
func (s *sorter) head() (n int) {
	if s.caps.Grouped() {
		n += 8
	}
	if s.longIDs {
		n += 4
	}
	return n
}

// gather reads the rows of the partition, of which so many are in lots, and says of each which unit it is of: a
// table of units is looked through from where the word of the id points.
func (s *sorter) gather(p, skip, inLots int) {
	most := inLots + len(s.bytes)/tupleBytes
	shift := 64 - bits.Len(uint(most+most/2))
	if s.size = 1 << (64 - shift); len(s.table) < s.size {
		s.table = make([]unitRows, s.size)
	}
	s.at, s.of, s.units, s.runs = fit(s.at, most), fit(s.of, most), fit(s.units, most+1), s.runs[:0]
	s.groups = s.groups[:0]
	n, units := 0, 0
	for _, l := range s.lotsOf(p) {
		from, to := l.of(p)
		if from == to {
			continue
		}
		s.runs = append(s.runs, run{from: n, to: n + to - from, first: l.at(from), last: l.at(to - 1), lot: l, row: from})
		units = s.find(l.words[from:to], n, skip, shift, units)
		n += to - from
	}
	runs := len(s.runs)
	for at := 0; at < len(s.bytes); {
		from := n
		n, at = s.decode(n, at)
		units = s.find(s.found.words[:n-from], from, skip, shift, units)
	}
	s.at, s.of, s.units = s.at[:n], s.of[:n], s.units[:units]
	for i := len(s.runs) - 1; i >= runs; i-- {
		r := &s.runs[i]
		if r.to, n = n, r.from; r.from < r.to {
			r.first, r.last = s.at[r.from], s.at[r.to-1]
		}
	}
}

// lotsOf are the lots that hold rows of a partition: none of those that a partition was split into.
func (s *sorter) lotsOf(p int) []*lot {
	if p >= s.parts {
		return nil
	}
	return s.lots
}

// lookedUp is how many rows are looked up at a time: what is read of them stays in a first-level cache.
const lookedUp = 256

// found are rows that are looked up: the words of their ids, and where in the partition their tuples go on.
type found struct {
	words [lookedUp]uint64
	names [lookedUp]uint32
}

// decode reads some rows from the bytes, which begin there: the n-th and those behind it. It returns which row and
// which byte come next.
func (s *sorter) decode(n, at int) (int, int) {
	grouped, plain := s.caps.Grouped(), s.head() == 0
	read, i, to := s.bytes, 0, s.at[n:min(n+lookedUp, len(s.at))]
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
		to[i], s.found.words[i&(lookedUp-1)], s.found.names[i&(lookedUp-1)] = s.place, word, uint32(at)
		i++
		if plain {
			continue
		}
		if grouped {
			s.groups = append(s.groups, rest(read[at:]).group())
		}
		at += s.sizeOf(read[at:])
	}
	return n + i, at
}

// find looks up rows by their words, the n-th and those behind it. Of units whose rows are more than s.most it notes
// the places, behind those that are noted already.
func (s *sorter) find(words []uint64, n, skip, shift, units int) int {
	table, of, most := s.table[:s.size], s.of[n:n+len(words)], s.most()
	for i, word := range words {
		unit := word << (skip & 63) >> (shift & 63)
		u := &table[unit]
		for u.other(word) || s.longIDs && u.rows > 0 && !s.sameID(u.name, int(s.found.names[i&(lookedUp-1)])) {
			unit = (unit + 1) & uint64(len(table)-1)
			u = &table[unit]
		}
		of[i] = uint32(unit)
		s.units[units] = uint32(unit)
		if u.rows == most {
			units++
		}
		*u = unitRows{word, u.rows + 1, s.found.names[i&(lookedUp-1)]}
	}
	return units
}

// most is how many rows a unit has that is not noted: where groups matter none, else as many as stay in any case.
func (s *sorter) most() uint32 {
	if s.caps.Grouped() {
		return 0
	}
	return uint32(min(s.caps.Rows, math.MaxUint32))
}

// sizeOf is how many bytes what begins there takes.
func (s *sorter) sizeOf(m rest) int {
	head := s.head()
	if s.longIDs {
		return head + int(binary.LittleEndian.Uint32(m[head-4:]))
	}
	return head
}

// sameID says whether the rows whose tuples go on there have one id.
func (s *sorter) sameID(a uint32, b int) bool {
	return bytes.Equal(s.id(s.bytes[a:]), s.id(s.bytes[b:]))
}

// order puts the runs into reading order: they are cut into single rows where they
// overlap.
func (s *sorter) order() {
	byPlace := func(a, b run) int { return cmp.Compare(a.first, b.first) }
	s.runs = slices.DeleteFunc(s.runs, func(r run) bool { return r.from == r.to })
	if !slices.IsSortedFunc(s.runs, byPlace) {
		slices.SortFunc(s.runs, byPlace)
	}
	for i := 1; i < len(s.runs); i++ {
		if s.runs[i].first < s.runs[i-1].last {
			s.runs, s.cut = s.single(), s.runs
			slices.SortFunc(s.runs, byPlace)
			return
		}
	}
}

// single are the runs cut into single rows.
func (s *sorter) single() []run {
	n := 0
	for _, r := range s.runs {
		n += int(r.to - r.from)
	}
	rows := slices.Grow(s.cut[:0], n)
	for _, r := range s.runs {
		for i := range r.to - r.from {
			row := run{from: r.from + i, to: r.from + i + 1, lot: r.lot, row: r.row + i}
			if row.first = s.at[row.from]; r.lot != nil {
				row.first = r.lot.at(row.row)
			}
			row.last = row.first
			rows = append(rows, row)
		}
	}
	return rows
}

// capRows decides for the units of the partition, whose groups do not matter.
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
		s.choose(s.draws, s.draws.seats.rows(s.name(u.word, u.name)), uint64(u.rows), s.caps.Rows, s.chosen[first:])
		if u.word = s.chosen[0]; first > 0 {
			u.word = uint64(first) * 64
		}
	}
	s.setRows()
}

// name is that of a unit.
func (s *sorter) name(word uint64, at uint32) name {
	if s.longIDs {
		return name{word: word, long: s.id(s.bytes[at:])}
	}
	return name{word: word}
}

// hold takes bits to set, which the returned function gives back.
func (s *sorter) hold() (release func()) {
	s.kept = <-s.all
	return func() { s.all <- s.kept }
}

// setRows says which rows stay, in reading order: of those in lots there, and of others by setting bits.
func (s *sorter) setRows() {
	defer s.hold()()
	all := s.most()
	for _, r := range s.runs {
		of := s.of[r.from:r.to]
		if r.lot != nil {
			stay := r.lot.words[r.row:][:len(of)]
			for i, unit := range of {
				stay[i] = s.stays(&s.table[unit], all)
			}
			continue
		}
		for i, at := range s.at[r.from:r.to] {
			s.kept.set(at, s.stays(&s.table[of[i]], all))
		}
	}
}

// stays says whether the next row of a unit stays: 1 or 0. Of a unit that has no more rows than all, each does.
func (s *sorter) stays(u *unitRows, all uint32) uint64 {
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

// unitRow is a row of some unit, whose groups matter.
type unitRow struct{ group, at uint64 }

// capUnits decides for the units of the partition, whose groups matter, one by one.
func (s *sorter) capUnits() {
	s.next, s.rows = fit(s.next, len(s.table)), fit(s.rows, len(s.at))
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
	defer s.hold()()
	for _, unit := range s.units {
		u := s.table[unit]
		rows := s.rows[s.next[unit]-u.rows : s.next[unit]]
		slices.SortStableFunc(rows, func(a, b unitRow) int { return cmp.Compare(a.group, b.group) })
		n := s.name(u.word, u.name)
		if rows = s.capGroups(n, rows); uint64(len(rows)) > s.caps.Rows {
			rows = s.sample(s.draws.seats.rows(n), rows, s.caps.Rows)
		}
		for _, r := range rows {
			s.kept.set(r.at, 1)
		}
	}
}

// capGroups returns the rows of a unit that stay for its groups' sake, in their
// order.
func (s *sorter) capGroups(n name, rows []unitRow) []unitRow {
	var groups [][]unitRow
	for from, to := 0, 0; from < len(rows); from = to {
		for to = from + 1; to < len(rows) && rows[to].group == rows[from].group; to++ {
		}
		groups = append(groups, rows[from:to])
	}
	if all := uint64(len(groups)); all > s.caps.Groups {
		chosen := make([]uint64, (all+63)/64)
		s.choose(s.draws, s.draws.seats.of(forGroups, n, 0), all, s.caps.Groups, chosen)
		groups = only(groups, chosen)
	}
	stay := rows[:0]
	for _, g := range groups {
		if uint64(len(g)) > s.caps.PerGroup {
			g = s.sample(s.draws.seats.of(forGroup, n, g[0].group), g, s.caps.PerGroup)
		}
		stay = append(stay, g...) // never past g, so that what is still to come is not overwritten
	}
	return stay
}

// sample returns most of the rows, which are more, in their order.
func (s *sorter) sample(from seat, rows []unitRow, most uint64) []unitRow {
	s.chosen = fit(s.chosen, (len(rows)+63)/64)
	clear(s.chosen)
	s.choose(s.draws, from, uint64(len(rows)), most, s.chosen)
	return only(rows, s.chosen)
}

// only is the entries whose bits are set, in their order and in the same memory.
func only[T any](entries []T, chosen []uint64) []T {
	stay := entries[:0]
	for i, word := range chosen {
		for ; word != 0; word &= word - 1 {
			stay = append(stay, entries[64*i+bits.TrailingZeros64(word)])
		}
	}
	return stay
}

// split decides for a partition that is too large to be sorted, by the bits that
// follow in its words. It sets the bits of all its rows, of those in lots as well.
func (s *sorter) split(p, skip int) error {
	alike, err := s.alike(p)
	if err != nil {
		return err
	}
	if alike {
		return s.heavy(p)
	}
	const ways = 64
	r := newRouter(s.spill, s.spill.grow(ways), skip, ways, leastChunk)
	err = s.each(p, func(word, place uint64, m rest) error {
		to, err := r.add(word, place, len(m))
		copy(to, m)
		return err
	})
	if err != nil {
		return err
	}
	s.spill.drop(p)
	r.flush()
	for i := range ways {
		if err := s.part(r.base+i, skip+bits.Len(ways-1)); err != nil {
			return err
		}
	}
	return nil
}

// each visits the rows of a partition as they were put aside.
func (s *sorter) each(p int, visit func(word, place uint64, m rest) error) error {
	for _, l := range s.lotsOf(p) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		for from, to := l.of(p); from < to; from++ {
			if err := visit(l.words[from], l.at(from), nil); err != nil {
				return err
			}
		}
	}
	place := uint64(0)
	return s.spill.each(p, func(bytes []byte) error {
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

// alike says whether the rows of a partition have one word.
func (s *sorter) alike(p int) (bool, error) {
	var first uint64
	any, alike := false, true
	err := s.each(p, func(word, _ uint64, _ rest) error {
		if !any {
			first, any = word, true
		}
		alike = alike && word == first
		return nil
	})
	return alike, err
}

// heavy decides for a partition of one word that is too large to be sorted: unit by unit, by a bit per row of the table
// in the place of a list of rows. Groups are not chosen like that: ErrMemory. Total releases have no such bounds.
func (s *sorter) heavy(p int) error {
	if s.caps.Grouped() {
		return ErrMemory
	}
	defer s.hold()()
	decided := map[string]bool{}
	for more := true; more; {
		more = false
		its, rows := s.kept.empty(), uint64(0)
		var id []byte
		var word uint64
		err := s.each(p, func(this, place uint64, m rest) error {
			word = this
			if s.longIDs {
				this := s.id(m)
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
			its.set(place, 1)
			rows++
			return nil
		})
		if err != nil {
			return err
		}
		decided[string(id)] = true
		s.keepOf(name{word: word, long: id}, its, rows)
	}
	return nil
}

// keepOf keeps what caps.rows leaves of the rows of a unit.
func (s *sorter) keepOf(n name, its *Kept, rows uint64) {
	var chosen []uint64
	if rows > s.caps.Rows {
		chosen = make([]uint64, (rows+63)/64)
		s.choose(s.draws, s.draws.seats.rows(n), rows, s.caps.Rows, chosen)
	}
	number := uint64(0) // of a row within its unit
	for piece, words := range its.pieces {
		for i, word := range words {
			for ; word != 0; word &= word - 1 {
				if chosen == nil || chosen[number>>6]>>(number&63)&1 == 1 {
					s.kept.set(uint64(piece)<<rowBits|uint64(64*i+bits.TrailingZeros64(word)), 1)
				}
				number++
			}
		}
	}
}
