package histogram

// This file holds the bounding: of each unit's rows so many stay as its caps
// allow, chosen uniformly at random.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// bounding keeps of each unit at most so many rows as its caps allow: it hears
// the id of every row and says which rows stay.
//
// Guarantee: under a key that is fresh for the release, secret and erased, the
// rows of a unit that stay are a uniform sample without replacement of
// min(rows, caps.rows) of them, and the samples of different units are independent
// (Floyd's algorithm: Bentley and Floyd 1987, with draws from AES-256 as a
// pseudo-random function of id and number of the draw).
//
// Neighbours: which of its rows a unit keeps is a function of the key, its id and
// its own rows in reading order, and of nothing else. So for every key, adding or
// removing a unit changes the multiset of kept rows by that unit's at most
// caps.rows rows alone, and replacing one by at most twice that. Neither the
// workers, nor the order in which pieces arrive, nor memory or disk change what is
// kept. Argument: docs/proofs/bounding.md.
//
// Ids are told apart by their exact values, never by a hash. Rows are put aside as
// (id, place), by a partition of the ids, in memory and beyond it on disk; then one
// partition after the other is sorted by id. Memory: about boundOptions.memory, but
// at least some hundred KiB, and one bit per row for the answer.
type bounding struct {
	caps caps
	opt  boundOptions

	permutation permutation
	hash        func(id string) uint64 // of long ids
	macKey      []byte
	block       cipher.Block // AES under a key of the table's own stream
	choose      func(*draws, seat, uint64, uint64, []uint64)

	parts int // partitions at first, a power of two
	chunk int // bytes that a worker gathers for a partition
	load  int64
	spill *spill

	mu      sync.Mutex
	workers []*boundWorker
}

// caps are the most that a unit contributes: rows in all, groups that its rows are
// of, and rows of one group. Groups are chosen first, then rows of each group that
// stays, then rows of what is left; each time uniformly.
type caps struct{ rows, groups, perGroup uint64 }

const noCap = math.MaxUint64

// grouped says whether the groups of rows matter.
func (c caps) grouped() bool { return c.groups != noCap || c.perGroup != noCap }

// boundOptions are what a machine decides; none of them changes which rows stay.
type boundOptions struct {
	memory  int64  // bytes to hold, about
	dir     string // where the folder goes that takes what is more; "": the system's for temporary files
	workers int    // goroutines that add rows, and that finish
	rows    int64  // of the table, -1 where they are not known
}

// A place is a row of the table in reading order: its piece, and its row there.
const (
	rowBits   = 36
	mostRow   = 1<<rowBits - 1
	mostPiece = 1<<(64-rowBits) - 1
)

// errTooLong refuses tables that places cannot number.
var errTooLong = errors.New("a table is read in more pieces, or in longer ones, than units can be bounded in; write it to fewer or shorter files")

// newBounding returns the bounding of one table, for the rows of a unit in all.
func newBounding(u spec.Unit, stream *noise.Bits, o boundOptions) (*bounding, error) {
	return newCapped(caps{rows: uint64(max(u.MaxRows, 0)), groups: noCap, perGroup: noCap}, stream, o)
}

// newCapped returns the bounding of one table by any caps. Its keys are the next
// words of the table's own stream.
func newCapped(c caps, stream *noise.Bits, o boundOptions) (*bounding, error) {
	o.workers = max(o.workers, 1)
	b := &bounding{caps: c, opt: o, choose: (*draws).choose, hash: longHash(), permutation: newPermutation(stream)}
	key := make([]byte, 64)
	for i := 0; i < len(key); i += 8 {
		binary.LittleEndian.PutUint64(key[i:], stream.Uint64())
	}
	b.macKey = key[32:]
	var err error
	if b.block, err = aes.NewCipher(key[:32]); err != nil {
		return nil, err
	}
	b.layOut()
	b.spill = newSpill(o.dir, o.memory/4, b.parts)
	return b, nil
}

// Sizes of what is held, in bytes: of a row put aside (about, where ids are long),
// of a partition that fits the cache, of what a worker gathers for a partition, and
// of the least partition that is not split.
const (
	tupleBytes  = 16
	partBytes   = 2 << 20
	leastChunk  = 1 << 12
	mostChunk   = 1 << 16
	leastLoad   = 1 << 17
	mostParts   = 1 << 10
	stayingRows = 1 << 17 // places, of 8 bytes
)

// layOut decides on sizes: a quarter of the memory is for what is put aside, an
// eighth for what workers gather, and an eighth for the partitions that they sort.
// The other half is the garbage collector's, which lets what is held grow twofold.
func (b *bounding) layOut() {
	each := b.opt.memory / 8 / int64(b.opt.workers)
	b.load = max(each/2, leastLoad)
	b.parts = mostParts
	if b.opt.rows >= 0 {
		want := min(b.opt.rows*tupleBytes/min(partBytes, b.load), mostParts-1)
		b.parts = 1 << bits.Len64(uint64(want))
	}
	for b.parts > 1 && each/int64(b.parts) < leastChunk {
		b.parts /= 2
	}
	b.chunk = int(min(max(each/int64(b.parts), leastChunk), mostChunk)) &^ (tupleBytes - 1)
}

// boundWorker is what one goroutine adds rows by.
type boundWorker struct {
	*bounding
	router  router
	sizes   map[int]int64      // rows of the pieces that were added, as far as they were
	kinds   map[arrow.Type]int // first piece of the type
	days    []int64            // scratch
	longIDs bool
}

// worker returns a worker for one more goroutine.
func (b *bounding) worker() *boundWorker {
	w := &boundWorker{bounding: b, sizes: map[int]int64{}, kinds: map[arrow.Type]int{},
		router: newRouter(b.spill, 0, 0, b.parts, b.chunk)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers = append(b.workers, w)
	return w
}

// add takes the rows of a batch, which stand in a piece from row first on. Rows
// whose bit is set in out are left out; out may be nil. Batches may arrive in any
// order, at any worker.
//
// Errors: *idError for ids that cannot tell units apart or are missing; those of
// the disk. Behind an error nothing but close may be called.
func (w *boundWorker) add(piece int, first int64, ids arrow.Array, out []uint64) error {
	return w.addGrouped(piece, first, ids, nil, out)
}

// addGrouped is add for caps on groups: groups are those of the rows.
func (w *boundWorker) addGrouped(piece int, first int64, ids arrow.Array, groups []uint64, out []uint64) error {
	switch {
	case ids.Len() == 0:
		return nil
	case piece < 0 || piece > mostPiece || first < 0 || first > mostRow+1-int64(ids.Len()):
		return errTooLong
	case ids.NullN() > 0:
		return &idError{piece, idsMissing}
	}
	kind := idKind(ids)
	if kind == arrow.NULL {
		return &idError{piece, "have the type " + ids.DataType().String() + idsInexact}
	}
	w.sizes[piece] = max(w.sizes[piece], first+int64(ids.Len()))
	if before, known := w.kinds[kind]; !known || piece < before {
		w.kinds[kind] = piece
	}
	if len(w.kinds) > 1 {
		return nil // finish says so of the first piece in reading order
	}
	if !w.caps.grouped() {
		groups = nil
	}
	place := uint64(piece)<<rowBits | uint64(first)
	if words, exact := w.idWords(ids); exact {
		return w.addWords(place, words, groups, out)
	}
	w.longIDs = true
	return w.addLong(place, ids, groups, out)
}

func (w *boundWorker) addWords(place uint64, ids []int64, groups, out []uint64) error {
	r, permutation := &w.router, w.permutation
	size := tupleBytes
	if groups != nil {
		size += 8
	}
	for i, id := range ids {
		if out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		word := permutation.of(uint64(id))
		tuple, err := r.room(word, size)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(tuple, word)
		binary.LittleEndian.PutUint64(tuple[8:], place+uint64(i))
		if groups != nil {
			binary.LittleEndian.PutUint64(tuple[16:], groups[i])
		}
	}
	return nil
}

func (w *boundWorker) addLong(place uint64, ids arrow.Array, groups, out []uint64) error {
	value := longIDs(ids)
	head := tupleBytes + 4
	if groups != nil {
		head += 8
	}
	for i := range ids.Len() {
		if out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		id := value(i)
		word := w.hash(id)
		tuple, err := w.router.room(word, head+len(id))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(tuple, word)
		binary.LittleEndian.PutUint64(tuple[8:], place+uint64(i))
		if groups != nil {
			binary.LittleEndian.PutUint64(tuple[16:], groups[i])
		}
		binary.LittleEndian.PutUint32(tuple[head-4:], uint32(len(id)))
		copy(tuple[head:], id)
	}
	return nil
}

// finish says which rows stay, and removes what is on disk. No worker may be used
// behind it.
//
// Errors: *idError for ids of more than one type; *[MemoryError] where the rows of
// one unit do not fit into memory and their groups matter; those of the disk and
// of the context.
func (b *bounding) finish(ctx context.Context) (*kept, error) {
	k, err := b.sort(ctx)
	if closing := b.close(); err == nil {
		err = closing
	}
	return k, err
}

// close removes what is on disk. It may be called at any time, and twice.
func (b *bounding) close() error { return b.spill.close() }

func (b *bounding) sort(ctx context.Context) (*kept, error) {
	if err := b.mixed(); err != nil {
		return nil, err
	}
	sizes, longIDs := []int64(nil), false
	for _, w := range b.workers {
		w.router.flush()
		longIDs = longIDs || w.longIDs
		for piece, rows := range w.sizes {
			if missing := piece + 1 - len(sizes); missing > 0 {
				sizes = append(sizes, make([]int64, missing)...)
			}
			sizes[piece] = max(sizes[piece], rows)
		}
	}
	k := newKept(sizes)
	sorters := make(chan *sorter, b.opt.workers)
	for range b.opt.workers {
		sorters <- newSorter(ctx, b, k, longIDs)
	}
	err := parallel(ctx, b.opt.workers, b.parts, func(p int) error {
		s := <-sorters
		defer func() { sorters <- s }()
		return s.part(p, bits.Len(uint(b.parts-1)))
	})
	if err != nil {
		return nil, err
	}
	for range b.opt.workers {
		(<-sorters).flush()
	}
	return k, nil
}

// mixed is the error of ids of more than one type, at the first piece in reading
// order whose ids are not of the type of the first.
func (b *bounding) mixed() error {
	first := map[arrow.Type]int{}
	for _, w := range b.workers {
		for kind, piece := range w.kinds {
			if before, known := first[kind]; !known || piece < before {
				first[kind] = piece
			}
		}
	}
	pieces := make([]int, 0, len(first))
	for _, piece := range first {
		pieces = append(pieces, piece)
	}
	if slices.Sort(pieces); len(pieces) > 1 {
		return &idError{pieces[1], idsMixed}
	}
	return nil
}

// kept is a bit per row: whether it stays.
type kept struct {
	mu     sync.Mutex
	pieces [][]uint64
}

func newKept(sizes []int64) *kept {
	k := &kept{pieces: make([][]uint64, len(sizes))}
	for i, rows := range sizes {
		k.pieces[i] = make([]uint64, (rows+63)/64)
	}
	return k
}

// of returns the bits of a piece, that of row i at i mod 64 of word ⌊i/64⌋. Rows
// behind them do not stay; nil: none does.
func (k *kept) of(piece int) []uint64 {
	if piece < 0 || piece >= len(k.pieces) {
		return nil
	}
	return k.pieces[piece]
}

// empty is as many bits, none of them set.
func (k *kept) empty() *kept {
	e := &kept{pieces: make([][]uint64, len(k.pieces))}
	for i, words := range k.pieces {
		e.pieces[i] = make([]uint64, len(words))
	}
	return e
}

// keep sets the bits of places.
func (k *kept) keep(places []uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, place := range places {
		k.set(place)
	}
}

func (k *kept) set(place uint64) {
	row := place & mostRow
	k.pieces[place>>rowBits][row>>6] |= 1 << (row & 63)
}

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
