package histogram

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
	*bounding
	ctx     context.Context
	all     chan *kept // bits to set, of which each sorter takes what is free
	kept    *kept      // what it has taken
	draws   *draws
	longIDs bool

	bytes  []byte   // of the partition
	at     []uint64 // place of each row, as they were put aside
	of     []uint32 // and its unit, a place in the table
	groups []uint64 // and its group, where groups matter
	runs   []run
	table  []unitRows // of the units, by the bits of their words; empty between partitions
	units  []uint32   // places in the table that are taken
	next   []uint32   // where the next row of each goes, by place in the table
	rows   []unitRow
	over   []sampled
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

// run is the rows from..to in the order in which they were put aside, whose places grow.
type run struct{ from, to int }

// sampled is a unit of which not all rows stay, and the word of its id.
type sampled struct {
	word uint64
	unit uint32
}

func newSorter(ctx context.Context, b *bounding, all chan *kept, longIDs bool) *sorter {
	return &sorter{bounding: b, ctx: ctx, all: all, longIDs: longIDs, draws: &draws{block: b.block, seats: newSeats(b.macKey)}}
}

// part decides for the rows of a partition, of whose words the first skip bits are
// the same.
func (s *sorter) part(p, skip int) error {
	if s.spill.size(p) > s.load {
		return s.split(p, skip)
	}
	var err error
	if s.bytes, err = s.spill.take(p, s.bytes); err != nil {
		return err
	}
	s.gather(skip)
	s.order()
	if s.caps.grouped() {
		s.capUnits()
	} else {
		s.capRows()
	}
	for _, unit := range s.units {
		s.table[unit] = unitRows{}
	}
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
	if s.caps.grouped() {
		n += 8
	}
	if s.longIDs {
		n += 4
	}
	return n
}

// gather reads the rows of the partition, and says of each which unit it is of: a
// table of units is looked through from where the word of the id points.
func (s *sorter) gather(skip int) {
	most := len(s.bytes) / tupleBytes
	shift := 64 - bits.Len(uint(most+most/2))
	if len(s.table) < 1<<(64-shift) {
		s.table = make([]unitRows, 1<<(64-shift))
	}
	s.at, s.of, s.units, s.runs = fit(s.at, most), fit(s.of, most), fit(s.units, most), s.runs[:0]
	s.groups = s.groups[:0]
	table, grouped, plain := s.table[:1<<(64-shift)], s.caps.grouped(), s.head() == 0
	place, n, units := uint64(0), 0, 0
	for at := 0; at < len(s.bytes); {
		tuple := s.bytes[at:][:tupleBytes]
		word, step := binary.LittleEndian.Uint64(tuple), uint64(binary.LittleEndian.Uint16(tuple[8:]))
		at += tupleBytes
		if step == 0 {
			place = word
			s.runs = append(s.runs, run{from: n})
			continue
		}
		place += step
		size := 0
		if !plain {
			size = s.sizeOf(s.bytes[at:])
		}
		unit := word << skip >> shift
		u := &table[unit]
		for u.other(word) || s.longIDs && u.rows > 0 && !s.sameID(u.name, at) {
			unit = (unit + 1) & uint64(len(table)-1)
			u = &table[unit]
		}
		s.units[units] = uint32(unit)
		if u.rows == 0 {
			units++
		}
		*u = unitRows{word, u.rows + 1, uint32(at)}
		s.at[n], s.of[n] = place, uint32(unit)
		if grouped {
			s.groups = append(s.groups, rest(s.bytes[at:]).group())
		}
		n++
		at += size
	}
	s.at, s.of, s.units = s.at[:n], s.of[:n], s.units[:units]
	for i := len(s.runs) - 1; i >= 0; i-- {
		s.runs[i].to, n = n, s.runs[i].from
	}
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
	byPlace := func(a, b run) int { return cmp.Compare(s.at[a.from], s.at[b.from]) }
	s.runs = slices.DeleteFunc(s.runs, func(r run) bool { return r.from == r.to })
	slices.SortFunc(s.runs, byPlace)
	for i := 1; i < len(s.runs); i++ {
		if s.at[s.runs[i].from] < s.at[s.runs[i-1].to-1] {
			s.runs = s.runs[:0]
			for row := range s.at {
				s.runs = append(s.runs, run{row, row + 1})
			}
			slices.SortFunc(s.runs, byPlace)
			return
		}
	}
}

// capRows decides for the units of the partition, whose groups do not matter.
func (s *sorter) capRows() {
	s.over = fit(s.over, len(s.units)+1)
	over := 0
	for _, unit := range s.units {
		u := &s.table[unit]
		s.over[over] = sampled{u.word, unit}
		if uint64(u.rows) > s.caps.rows {
			over++
		}
		u.word = math.MaxUint64
	}
	s.chosen = append(s.chosen[:0], 0)
	for _, o := range s.over[:over] {
		u := &s.table[o.unit]
		first := 0
		if u.rows > 64 {
			first = len(s.chosen)
			s.chosen = append(s.chosen, make([]uint64, (u.rows+63)/64)...)
		} else {
			s.chosen[0] = 0
		}
		s.choose(s.draws, s.draws.seats.rows(s.name(o.word, u.name)), uint64(u.rows), s.caps.rows, s.chosen[first:])
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

// setRows sets the bits of the rows that stay, in reading order.
func (s *sorter) setRows() {
	defer s.hold()()
	large := max(s.caps.rows, 64)
	for _, r := range s.runs {
		of := s.of[r.from:r.to]
		for i, at := range s.at[r.from:r.to] {
			u := &s.table[of[i]]
			if uint64(u.rows) <= large {
				s.kept.set(at, u.word&1)
				u.word = bits.RotateLeft64(u.word, -1)
			} else {
				s.kept.set(at, s.chosen[u.word>>6]>>(u.word&63)&1)
				u.word++
			}
		}
	}
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
		if rows = s.capGroups(n, rows); uint64(len(rows)) > s.caps.rows {
			rows = s.sample(s.draws.seats.rows(n), rows, s.caps.rows)
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
	if all := uint64(len(groups)); all > s.caps.groups {
		chosen := make([]uint64, (all+63)/64)
		s.choose(s.draws, s.draws.seats.of(forGroups, n, 0), all, s.caps.groups, chosen)
		groups = only(groups, chosen)
	}
	stay := rows[:0]
	for _, g := range groups {
		if uint64(len(g)) > s.caps.perGroup {
			g = s.sample(s.draws.seats.of(forGroup, n, g[0].group), g, s.caps.perGroup)
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
// follow in its words.
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

// heavy decides for a partition of one word that is too large to be sorted: unit
// by unit, by a bit per row of the table in the place of a list of rows.
func (s *sorter) heavy(p int) error {
	if s.caps.grouped() {
		return &MemoryError{Have: s.opt.memory}
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
func (s *sorter) keepOf(n name, its *kept, rows uint64) {
	var chosen []uint64
	if rows > s.caps.rows {
		chosen = make([]uint64, (rows+63)/64)
		s.choose(s.draws, s.draws.seats.rows(n), rows, s.caps.rows, chosen)
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
