package histogram

// This file holds the sorter: the rows of one partition after another, brought together by unit, of which so many stay.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
)

// unitRow is a row of some unit.
type unitRow struct {
	word uint64 // of its id
	at   uint64 // its place or, until names are compared, where in the partition it is put aside
}

// sorter brings the rows of each unit together, partition by partition. Not for
// concurrent use.
type sorter struct {
	*bounding
	ctx     context.Context
	kept    *kept
	draws   *draws
	longIDs bool
	bytes   []byte
	rows    []unitRow
	counts  []uint32
	chosen  []uint64
	staying []uint64 // places that are not in kept yet
}

func newSorter(ctx context.Context, b *bounding, k *kept, longIDs bool) *sorter {
	return &sorter{bounding: b, ctx: ctx, kept: k, longIDs: longIDs, draws: &draws{block: b.block, seats: newSeats(b.macKey)}}
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
	s.order(skip)
	for from := 0; from < len(s.rows); {
		to := from + 1
		for to < len(s.rows) && s.rows[to].word == s.rows[from].word {
			to++
		}
		s.sameWord(s.rows[from:to])
		from = to
	}
	return nil
}

// direct says whether a row put aside is its word and its place, and no more.
func (s *sorter) direct() bool { return !s.longIDs && !s.caps.grouped() }

// tuple is a row as it was put aside: word, place, group where groups matter, and
// length and bytes of the id where ids are long.
type tuple []byte

func (t tuple) word() uint64  { return binary.LittleEndian.Uint64(t) }
func (t tuple) place() uint64 { return binary.LittleEndian.Uint64(t[8:]) }
func (t tuple) group() uint64 { return binary.LittleEndian.Uint64(t[tupleBytes:]) }

// id is the id of the row, where ids are long.
func (s *sorter) id(t tuple) []byte {
	head := s.head()
	return t[head : head+int(binary.LittleEndian.Uint32(t[head-4:]))]
}

// head is how many bytes of a tuple stand before its long id.
func (s *sorter) head() int {
	n := tupleBytes
	if s.caps.grouped() {
		n += 8
	}
	if s.longIDs {
		n += 4
	}
	return n
}

// sizeOf is how many bytes a tuple takes that begins there.
func (s *sorter) sizeOf(t tuple, head int) int {
	if s.longIDs {
		return head + int(binary.LittleEndian.Uint32(t[head-4:]))
	}
	return head
}

// order sets rows to those of the bytes, sorted by word and, where they are
// direct, by place.
func (s *sorter) order(skip int) {
	head, direct, n := s.head(), s.direct(), 0
	for at := 0; at < len(s.bytes); at += s.sizeOf(s.bytes[at:], head) {
		n++
	}
	width := min(max(bits.Len(uint(n))-2, 0), 16)
	s.counts = fit(s.counts, 1<<width)
	clear(s.counts)
	for at := 0; at < len(s.bytes); at += s.sizeOf(s.bytes[at:], head) {
		s.counts[tuple(s.bytes[at:]).word()<<skip>>(64-width)]++
	}
	from := uint32(0)
	for i, c := range s.counts {
		s.counts[i] = from
		from += c
	}
	s.rows = fit(s.rows, n)
	for at := 0; at < len(s.bytes); at += s.sizeOf(s.bytes[at:], head) {
		t := tuple(s.bytes[at:])
		r := unitRow{t.word(), uint64(at)}
		if direct {
			r.at = t.place()
		}
		to := &s.counts[r.word<<skip>>(64-width)]
		s.rows[*to] = r
		*to++
	}
	start := uint32(0)
	for _, end := range s.counts {
		sortRows(s.rows[start:end])
		start = end
	}
}

// sortRows sorts by word, and by place within.
func sortRows(rows []unitRow) {
	if len(rows) > 24 {
		slices.SortFunc(rows, func(a, b unitRow) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.at, b.at)) })
		return
	}
	for i := 1; i < len(rows); i++ {
		r, j := rows[i], i
		for j > 0 && (r.word < rows[j-1].word || r.word == rows[j-1].word && r.at < rows[j-1].at) {
			rows[j] = rows[j-1]
			j--
		}
		rows[j] = r
	}
}

// sameWord decides for the rows whose ids have one word: those of one unit or,
// where ids are long, perhaps of several.
func (s *sorter) sameWord(rows []unitRow) {
	word := rows[0].word
	switch {
	case s.direct():
		s.unit(name{word: word}, rows)
	case !s.longIDs:
		s.unit(name{word: word}, s.placed(rows))
	case uint64(len(rows)) <= s.caps.rows && !s.caps.grouped(): // whosever they are
		s.keep(s.placed(rows))
	default:
		id := func(r unitRow) []byte { return s.id(s.bytes[r.at:]) }
		byID := func(a, b unitRow) int { return bytes.Compare(id(a), id(b)) }
		if !slices.IsSortedFunc(rows, byID) { // nearly always they are one unit's
			slices.SortFunc(rows, byID)
		}
		for len(rows) > 0 {
			n, long := 1, id(rows[0])
			for n < len(rows) && bytes.Equal(id(rows[n]), long) {
				n++
			}
			s.unit(name{word: word, long: long}, s.placed(rows[:n]))
			rows = rows[n:]
		}
	}
}

// placed puts the places of rows for where they stand, and their groups for their
// words, and sorts them by that.
func (s *sorter) placed(rows []unitRow) []unitRow {
	for i, r := range rows {
		t := tuple(s.bytes[r.at:])
		rows[i] = unitRow{at: t.place()}
		if s.caps.grouped() {
			rows[i].word = t.group()
		}
	}
	sortRows(rows)
	return rows
}

// unit decides for all rows of a unit, which stand in reading order, group by
// group.
func (s *sorter) unit(n name, rows []unitRow) {
	if s.caps.grouped() {
		rows = s.capGroups(n, rows)
	}
	if uint64(len(rows)) > s.caps.rows {
		rows = s.sample(s.draws.seats.rows(n), rows, s.caps.rows)
	}
	s.keep(rows)
}

// capGroups returns the rows of a unit that stay for its groups' sake, in their
// order.
func (s *sorter) capGroups(n name, rows []unitRow) []unitRow {
	var groups [][]unitRow
	for from, to := 0, 0; from < len(rows); from = to {
		for to = from + 1; to < len(rows) && rows[to].word == rows[from].word; to++ {
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
			g = s.sample(s.draws.seats.of(forGroup, n, g[0].word), g, s.caps.perGroup)
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

// keep notes rows that stay. A bit at a time, workers would wrest the memory of the
// bits from each other; so they are set many at a time, by one worker.
func (s *sorter) keep(rows []unitRow) {
	for _, r := range rows {
		s.staying = append(s.staying, r.at)
	}
	if len(s.staying) >= stayingRows {
		s.flush()
	}
}

func (s *sorter) flush() {
	s.kept.keep(s.staying)
	s.staying = s.staying[:0]
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
	err = s.each(p, func(t tuple) error {
		to, err := r.room(t.word(), len(t))
		copy(to, t)
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
func (s *sorter) each(p int, visit func(tuple) error) error {
	head := s.head()
	return s.spill.each(p, func(bytes []byte) error {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		for len(bytes) > 0 {
			n := s.sizeOf(bytes, head)
			if err := visit(bytes[:n]); err != nil {
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
	err := s.each(p, func(t tuple) error {
		if !any {
			first, any = t.word(), true
		}
		alike = alike && t.word() == first
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
	decided := map[string]bool{}
	for more := true; more; {
		more = false
		its, rows := s.kept.empty(), uint64(0)
		var id []byte
		var word uint64
		err := s.each(p, func(t tuple) error {
			word = t.word()
			if s.longIDs {
				this := s.id(t)
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
			its.set(t.place())
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
					s.keep([]unitRow{{at: uint64(piece)<<rowBits | uint64(64*i+bits.TrailingZeros64(word))}})
				}
				number++
			}
		}
	}
}
