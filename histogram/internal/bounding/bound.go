// Package bounding decides which rows of a table are counted of each unit: of its rows as many as its caps allow,
// chosen uniformly at random, and of the units those that a sample draws.
//
// It hears the ids of rows and where the rows stand, and nothing else of them. What it decides is a function of a key
// that is the table's own, of the ids and of that order: never of the workers, the memory or the disk. It counts
// nothing, knows no plan, and writes ids nowhere but to the enciphered files of a spill, which it removes.
package bounding

// This file holds the bounding: of each unit's rows so many stay as its caps
// allow, chosen uniformly at random.

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
)

// Bounding keeps of each unit at most so many rows as its caps allow: it hears
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
// (id, place), by a partition of the ids, in memory (lot.go) and beyond it on disk (spill.go); then the rows
// of one partition after the other are brought together by id. Memory: at most about
// Options.memory, but at least some hundred KiB, and one bit per row for the answer.
type Bounding struct {
	caps Caps
	opt  Options

	permutation permutation
	hash        func(id string) uint64 // of long ids
	macKey      []byte
	block       cipher.Block // AES under a key of the table's own stream
	choose      func(*draws, seat, uint64, uint64, []uint64)

	parts   int // partitions at first, a power of two
	chunk   int // bytes that a worker gathers for a partition
	load    int64
	answers int // bits per row to hold
	spill   *spill
	lots    []*lot // in reading order, once all rows are read

	mu      sync.Mutex
	workers []*Worker
}

// Caps are the most that a unit contributes: rows in all, groups that its rows are
// of, and rows of one group. Groups are chosen first, then rows of each group that
// stays, then rows of what is left; each time uniformly.
type Caps struct{ Rows, Groups, PerGroup uint64 }

// NoCap is a cap that no unit reaches.
const NoCap = math.MaxUint64

// Uncapped returns caps that let a unit keep all its rows.
func Uncapped() Caps { return Caps{NoCap, NoCap, NoCap} }

// OfRows returns caps on the rows of a unit in all, and on nothing of its groups.
func OfRows(most int64) Caps { return Caps{uint64(max(most, 0)), NoCap, NoCap} }

// Grouped reports whether the groups of rows matter.
func (c Caps) Grouped() bool { return c.Groups != NoCap || c.PerGroup != NoCap }

// Options are what a machine decides; none of them changes which rows stay.
type Options struct {
	Memory  int64  // bytes to hold, about
	Dir     string // where the folder goes that takes what is more; "": the system's for temporary files
	Workers int    // goroutines that add rows, and that finish
	Rows    int64  // of the table, -1 where they are not known
}

// toHold is how much of the memory is made use of: where all rows are known to find room, as much as they need; else
// mostMemory or less, as some rows go by way of the disk whatever is held.
func (o Options) toHold() int64 {
	if enough := o.enough(); o.Rows >= 0 && enough <= o.Memory {
		return max(enough, min(o.Memory, MostMemory))
	}
	return min(o.Memory, MostMemory)
}

// enough is what all rows take, with half of it for what is put aside of them but for the answer, a bit per row and
// worker.
func (o Options) enough() int64 { return 2*tupleBytes*o.Rows + int64(o.Workers)*(o.Rows/8) }

// A place is a row of the table in reading order: its piece, and its row there.
const (
	rowBits   = 36
	mostRow   = 1<<rowBits - 1
	mostPiece = 1<<(64-rowBits) - 1
)

// errTooLong refuses tables that places cannot number.
var errTooLong = errors.New(
	"a table is read in more pieces, or in longer ones, than units can be bounded in; write it to fewer or shorter files")

// ErrMemory says that the rows of one unit, of which groups are chosen, do not fit into the memory given.
var ErrMemory = errors.New("the rows of one unit do not fit into memory")

// New returns the bounding of one table by any caps. Its keys are the next
// words of the table's own stream.
func New(c Caps, stream *noise.Bits, o Options) (*Bounding, error) {
	o.Workers, o.Rows = max(o.Workers, 1), min(o.Rows, mostRows)
	o.Memory = o.toHold()
	b := &Bounding{caps: c, opt: o, choose: (*draws).choose, hash: longHash(), permutation: newPermutation(stream)}
	var key []byte
	key, b.macKey = drawKeys(stream)
	var err error
	if b.block, err = aes.NewCipher(key); err != nil {
		return nil, err
	}
	b.layOut()
	return b, nil
}

// Sizes of what is held, in bytes: of all where rows go by way of the disk; of a partition whose
// units fit the cache; of what a worker gathers for a partition; and of the least
// partition that is not split.
const (
	MostMemory = 86 << 20
	mostRows   = 1 << 40 // that sizes are decided by, as files may claim any number
	partBytes  = 1 << 18
	leastChunk = 1 << 12
	mostChunk  = 1 << 13
	leastLoad  = 1 << 17
	mostParts  = 1 << 10
)

// layOut decides on sizes. A bit per row is held for the answer, and for each worker where a quarter of the memory is
// enough. Of what is left up to a quarter is for what workers gather, a sixth for the partitions that they group, which
// take up to eight times the bytes of their rows (or less, where partitions twice as large as they should be take
// less), and the rest for what is put aside.
func (b *Bounding) layOut() {
	answer, workers := max(b.opt.Rows, 0)/8+1, int64(b.opt.Workers)
	b.answers = int(min(max(b.opt.Memory/4/answer, 1), workers))
	memory := max(b.opt.Memory-int64(b.answers)*answer, b.opt.Memory/2)
	b.load = max(memory/6/8/workers, leastLoad)
	b.parts = mostParts
	if b.opt.Rows >= 0 {
		want := min(b.opt.Rows*tupleBytes/min(partBytes, b.load), mostParts-1)
		b.parts = 1 << bits.Len64(uint64(want))
	}
	gather := memory / 4 / workers
	for b.parts > 1 && gather/int64(b.parts) < leastChunk {
		b.parts /= 2
	}
	b.chunk = int(min(max(gather/int64(b.parts), leastChunk), mostChunk)) &^ (pageBytes - 1)
	group := memory / 6
	if b.opt.Rows >= 0 {
		group = min(group, 2*8*workers*max(b.opt.Rows*tupleBytes/int64(b.parts), leastLoad))
	}
	b.spill = newSpill(b.opt.Dir, memory-group-min(memory/4, int64(b.chunk*b.parts)*workers), b.parts)
}

// Worker is what one goroutine adds rows by.
type Worker struct {
	*Bounding
	router  router
	lotter  lotter
	sizes   map[int]int64      // rows of the pieces that were added, as far as they were
	kinds   map[arrow.Type]int // first piece of the type
	days    []int64            // scratch
	longIDs bool
}

// Worker returns a worker for one more goroutine.
func (b *Bounding) Worker() *Worker {
	w := &Worker{Bounding: b, sizes: map[int]int64{}, kinds: map[arrow.Type]int{},
		router: newRouter(b.spill, 0, 0, b.parts, b.chunk)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers = append(b.workers, w)
	return w
}

// Add takes the rows of a batch, which stand in a piece from row first on. Rows
// whose bit is set in out are left out; out may be nil. groups are those of the
// rows, where caps are on groups. Batches may arrive in any order, at any worker.
//
// Errors: *[IDError] for ids that cannot tell units apart or are missing; those of
// the disk. Behind an error nothing but Close may be called.
func (w *Worker) Add(piece int, first int64, ids arrow.Array, groups []uint64, out []uint64) error {
	switch {
	case ids.Len() == 0:
		return nil
	case piece < 0 || piece > mostPiece || first < 0 || first > mostRow+1-int64(ids.Len()):
		return errTooLong
	case missing(ids, out):
		return &IDError{piece, idsMissing}
	}
	kind := KindOf(ids)
	if kind == arrow.NULL {
		return &IDError{piece, "have the type " + ids.DataType().String() + idsInexact}
	}
	w.sizes[piece] = max(w.sizes[piece], first+int64(ids.Len()))
	if before, known := w.kinds[kind]; !known || piece < before {
		w.kinds[kind] = piece
	}
	if len(w.kinds) > 1 {
		return nil // finish says so of the first piece in reading order
	}
	if !w.caps.Grouped() {
		groups = nil
	}
	place := uint64(piece)<<rowBits | uint64(first)
	if words, exact := Words(ids, &w.days); exact {
		return w.addWords(place, words, groups, out)
	}
	w.longIDs = true
	return w.addLong(place, ids, groups, out)
}

// missing tells that a row that is not left out has no id.
func missing(ids arrow.Array, out []uint64) bool {
	for i := 0; ids.NullN() > 0 && i < ids.Len(); i++ {
		if ids.IsNull(i) && (out == nil || out[i>>6]>>(i&63)&1 == 0) {
			return true
		}
	}
	return false
}

func (w *Worker) addWords(place uint64, ids []int64, groups, out []uint64) error {
	if groups == nil {
		if w.lotter.add(w.Bounding, place, ids, out) {
			w.router.least = w.chunk // where rows are this many, what is gathered will be put aside
			return nil
		}
		if out == nil {
			return w.router.addAll(w.permutation, place, ids)
		}
	}
	more := 0
	if groups != nil {
		more = 8
	}
	for i, id := range ids {
		if out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		rest, err := w.router.add(w.permutation.of(uint64(id)), place+uint64(i), more)
		if err != nil {
			return err
		}
		if groups != nil {
			binary.LittleEndian.PutUint64(rest, groups[i])
		}
	}
	return nil
}

func (w *Worker) addLong(place uint64, ids arrow.Array, groups, out []uint64) error {
	value := Texts(ids)
	head := 4
	if groups != nil {
		head += 8
	}
	for i := range ids.Len() {
		if out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		id := value(i)
		rest, err := w.router.add(w.hash(id), place+uint64(i), head+len(id))
		if err != nil {
			return err
		}
		if groups != nil {
			binary.LittleEndian.PutUint64(rest, groups[i])
		}
		binary.LittleEndian.PutUint32(rest[head-4:], uint32(len(id)))
		copy(rest[head:], id)
	}
	return nil
}

// largeReading is from how many rows on memory is worth collecting between two readings.
const largeReading = 1 << 20

// Finish says which rows stay, and removes what is on disk. No worker may be used
// behind it.
//
// Errors: *[IDError] for ids of more than one type; [ErrMemory] where the rows of
// one unit do not fit into memory and their groups matter; those of the disk and
// of the context.
func (b *Bounding) Finish(ctx context.Context) (*Kept, error) {
	k, err := b.sort(ctx)
	closing := parallel.Do(context.WithoutCancel(ctx), 2, 2, func(i int) error {
		if i == 0 {
			return b.Close()
		}
		if k != nil && k.room() >= largeReading {
			runtime.GC() // the next reading is to use the memory that this one took
		}
		return nil
	})
	if err == nil {
		err = closing
	}
	return k, err
}

// Close removes what is on disk. It may be called at any time, and twice.
func (b *Bounding) Close() error { return b.spill.close() }

func (b *Bounding) sort(ctx context.Context) (*Kept, error) {
	if err := b.mixed(); err != nil {
		return nil, err
	}
	sizes, longIDs := []int64(nil), false
	for _, w := range b.workers {
		w.router.flush()
		b.lots = append(b.lots, w.lotter.lots...)
		w.lotter = lotter{}
		longIDs = longIDs || w.longIDs
		for piece, rows := range w.sizes {
			if missing := piece + 1 - len(sizes); missing > 0 {
				sizes = append(sizes, make([]int64, missing)...)
			}
			sizes[piece] = max(sizes[piece], rows)
		}
	}
	slices.SortFunc(b.lots, func(x, y *lot) int { return cmp.Compare(x.place, y.place) })
	// Each sorter sets bits of its own where there is memory for so many: of the same
	// bits, processors would wrest the memory from each other.
	all := make(chan *Kept, b.answers)
	k := newKept(sizes)
	all <- k
	for len(all) < b.answers {
		all <- k.empty()
	}
	sorters := make(chan *sorter, b.opt.Workers)
	for range b.opt.Workers {
		sorters <- newSorter(ctx, b, all, longIDs)
	}
	err := parallel.Do(ctx, b.opt.Workers, b.parts, func(p int) error {
		s := <-sorters
		defer func() { sorters <- s }()
		return s.part(p, bits.Len(uint(b.parts-1)))
	})
	if err == nil {
		err = parallel.Do(ctx, b.opt.Workers, len(b.lots), func(i int) error {
			k := <-all
			b.lots[i].keep(k)
			all <- k
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	for range len(all) {
		k.unite(<-all)
	}
	b.lots = nil
	return k, nil
}

// mixed is the error of ids of more than one type, at the first piece in reading
// order whose ids are not of the type of the first.
func (b *Bounding) mixed() error {
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
		return &IDError{pieces[1], idsMixed}
	}
	return nil
}

// Kept is a bit per row: whether it stays.
type Kept struct{ pieces [][]uint64 }

func newKept(sizes []int64) *Kept {
	k := &Kept{pieces: make([][]uint64, len(sizes))}
	for i, rows := range sizes {
		k.pieces[i] = make([]uint64, (rows+63)/64)
	}
	return k
}

// Of returns the bits of a piece, that of row i at i mod 64 of word ⌊i/64⌋. Rows
// behind them do not stay; nil: none does.
func (k *Kept) Of(piece int) []uint64 {
	if piece < 0 || piece >= len(k.pieces) {
		return nil
	}
	return k.pieces[piece]
}

// empty is as many bits, none of them set.
func (k *Kept) empty() *Kept {
	e := &Kept{pieces: make([][]uint64, len(k.pieces))}
	for i, words := range k.pieces {
		e.pieces[i] = make([]uint64, len(words))
	}
	return e
}

// unite sets the bits of another.
func (k *Kept) unite(other *Kept) {
	for i, words := range other.pieces {
		for j, word := range words {
			k.pieces[i][j] |= word
		}
	}
}

// set sets the bit of a place to 1, or leaves it for 0.
func (k *Kept) set(place, bit uint64) {
	k.pieces[place>>rowBits][place&mostRow>>6] |= bit << (place & 63)
}

// room is for how many rows there are bits, about.
func (k *Kept) room() (n int64) {
	for _, words := range k.pieces {
		n += int64(64 * len(words))
	}
	return n
}

// Rows is how many rows stay.
func (k *Kept) Rows() (n int64) {
	for _, words := range k.pieces {
		for _, word := range words {
			n += int64(bits.OnesCount64(word))
		}
	}
	return n
}
