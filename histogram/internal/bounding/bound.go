// Package bounding decides which rows of a table are counted for each unit: as many of its rows as its caps allow,
// chosen uniformly at random, and only rows of the units that a sample draws.
//
// Of the rows it sees only their ids, their groups and hashes of what is counted of them. What it decides is a function
// of a key of the table's own, of these and of nothing else: never of the order of the rows, the workers, the memory or
// the disk. It counts nothing, knows no plan, and writes ids only to the enciphered files of a spill, which it removes.
package bounding

// This file holds the bounding: as many rows of each unit stay as its caps allow, chosen uniformly at random.

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
)

// Bounding keeps at most as many rows of each unit as its caps allow. It gets the id of every row and decides which
// rows stay, in one of two ways. A screening ([Screen]) keeps all rows of the units that have no more than they may,
// and none of the others. A choice ([Choose], [ChooseAgain]) also chooses among the rows of the others, for which it
// needs the content of every row.
//
// Guarantee: under a key that is fresh for the release, secret and erased, the rows of a unit that stay are a uniform
// sample without replacement of min(rows, caps.rows) of them, and the samples of different units are independent: each
// row has a priority, a SHA-256 as a pseudo-random function of its content and of how many of its unit's rows with this
// content come before it, and those with the least priorities stay.
//
// Neighbours: which contents a unit keeps, and how often, is a function of the key and of the contents of its own rows,
// and of nothing else. So for every key, adding or removing a unit changes the multiset of kept rows by that unit's at
// most caps.rows rows alone, and replacing one by at most twice that. Neither the workers, nor the order of rows, nor
// memory or disk change what is kept. Argument: docs/proofs/bounding.md.
//
// Ids are distinguished by their exact values, never by a hash. Rows are stored as (id, place), by a partition of the
// ids, in memory (rowbatch.go) and, when that is full, on disk (spill.go). Then the rows of each partition are grouped
// by id, one partition after the other. Memory: about Options.Memory at most, but at least some hundred KiB, and one
// bit per row for the answer.
type Bounding struct {
	caps      Caps
	chooses   bool               // among the rows of a unit; a screening does not
	key       *Key               // nil for a screening
	groupText AppendText[uint64] // the text of a group that is hashed
	byContent bool               // the content of a row is its priority
	opt       Options

	permutation permutation
	hash        func(id string) uint64 // hash of long ids
	priority    func(h *Hasher, purpose byte, content Hash, number uint64) Hash

	parts        int   // number of partitions at first, a power of two
	chunk        int   // bytes that a worker gathers for a partition before it stores them
	sortLimit    int64 // bytes of a partition beyond which it is split
	answerCopies int   // copies of the answer to hold, each a bit per row
	spill        *spill
	batches      []*rowBatch // in reading order, once all rows were added
	idType       arrow.Type  // of all ids, once all rows were added
	left         atomic.Bool // a screening has met a unit with more rows than it may have

	mu      sync.Mutex
	workers []*Worker
}

// Caps are the most that a unit contributes: rows in total, groups of its rows, and rows of one group. Groups are
// chosen first, then rows of each group that stays, then rows of what is left; each choice is uniform.
type Caps struct{ Rows, Groups, PerGroup uint64 }

// NoCap is a cap that no unit reaches.
const NoCap = math.MaxUint64

// Uncapped returns caps that let a unit keep all its rows.
func Uncapped() Caps { return Caps{NoCap, NoCap, NoCap} }

// OfRows returns caps on the total rows of a unit, without caps on groups.
func OfRows(most int64) Caps { return Caps{uint64(max(most, 0)), NoCap, NoCap} }

// Grouped reports whether the caps depend on the groups of rows.
func (c Caps) Grouped() bool { return c.Groups != NoCap || c.PerGroup != NoCap }

// Options depend on the machine; none of them changes which rows stay.
type Options struct {
	Memory  int64  // approximate bytes to hold
	Dir     string // parent of the folder for what exceeds Memory; "": the system's folder for temporary files
	Workers int    // goroutines that add rows, and that decide in Finish
	Rows    int64  // rows of the table, -1 if not known
}

// memoryToUse returns how much of o.Memory is used: MostMemory at most, and more only if the number of rows is known
// and all of them fit into o.Memory; then no less than they need. If they do not fit, some go to disk anyway.
func (o Options) memoryToUse(tuple int64) int64 {
	if enough := o.bytesOfAllRows(tuple); o.Rows >= 0 && enough <= o.Memory {
		return max(enough, min(o.Memory, MostMemory))
	}
	return min(o.Memory, MostMemory)
}

// bytesOfAllRows returns the memory for all rows: twice the bytes of their tuples, as the tuples may take half of the
// memory, and the answer, a bit per row and worker.
func (o Options) bytesOfAllRows(tuple int64) int64 {
	return 2*tuple*o.Rows + int64(o.Workers)*(o.Rows/8)
}

const (
	// A place is the position of a row in reading order: its piece, and its row within the piece.
	rowBits   = 36
	mostRow   = 1<<rowBits - 1
	mostPiece = 1<<(64-rowBits) - 1
)

// errTooLong refuses tables with more rows than places can number.
var errTooLong = errors.New(
	"a table is read in more pieces, or in longer ones, than units can be bounded in; write it to fewer or shorter files")

// ErrMemory reports that the rows of one unit do not fit into memory, if their groups have to be chosen.
var ErrMemory = errors.New("the rows of one unit do not fit into memory")

// Screen returns a bounding that keeps the rows of the units with at most so many rows, and none of other units. The
// stream is the table's own.
func Screen(most int64, stream *noise.Bits, o Options) *Bounding {
	return newBounding(OfRows(most), false, stream, o)
}

// Choose returns a bounding that keeps of every unit at most so many rows, for the table itself. The content of a row
// is its priority, unless its unit has more rows like it. Its key is the next words of the stream, which is the table's
// own.
func Choose(most int64, stream *noise.Bits, o Options) *Bounding {
	b := ChooseAgain(OfRows(most), nil, stream, o)
	b.byContent = true
	return b
}

// ChooseAgain returns a bounding that keeps of every unit as many rows as the caps allow, for an allowance: among rows
// that [Choose] has chosen by their contents already. If the caps are on groups, text gives the text of each, which
// must be a function of the rows in it, and of which none may be the beginning of another. Its key is the next words of
// the stream, which is the allowance's own.
func ChooseAgain(c Caps, text AppendText[uint64], stream *noise.Bits, o Options) *Bounding {
	b := newBounding(c, true, stream, o)
	b.key, b.groupText = DrawKey(stream), text
	return b
}

func newBounding(c Caps, chooses bool, stream *noise.Bits, o Options) *Bounding {
	o.Workers, o.Rows = max(o.Workers, 1), min(o.Rows, mostRows)
	b := &Bounding{caps: c, chooses: chooses, opt: o, hash: longHash(), priority: (*Hasher).priority,
		permutation: newPermutation(stream)}
	b.opt.Memory = o.memoryToUse(b.tupleSize())
	b.layOut()
	return b
}

// tupleSize returns the bytes of a row's tuple, without its id if that is long.
func (b *Bounding) tupleSize() int64 { return int64(tupleBytes + b.headSize(false)) }

// headSize returns how many bytes of the rest of a tuple stand before the long id.
func (b *Bounding) headSize(longIDs bool) (n int) {
	if b.chooses {
		n += contentBytes
	}
	if b.caps.Grouped() {
		n += groupBytes
	}
	if longIDs {
		n += lengthBytes
	}
	return n
}

// Sizes in bytes: of everything held if rows go to disk; of a partition whose units fit the cache; of what a worker
// gathers for a partition; and of the smallest partition that is split.
const (
	MostMemory = 86 << 20
	mostRows   = 1 << 40 // most rows for which sizes are chosen, as files may claim any number
	partBytes  = 1 << 18
	leastChunk = 1 << 12
	mostChunk  = 1 << 13
	leastLoad  = 1 << 17
	mostParts  = 1 << 10
)

// layOut decides on sizes. A bit per row is held for the answer, and one for each worker if a quarter of the memory
// is enough for that. Of the rest, up to a quarter is for what workers gather and a sixth for the partitions that
// they group, which take up to eight times the bytes of their rows (or less, if partitions of twice the intended size
// take less). What remains is for stored rows.
func (b *Bounding) layOut() {
	answer, workers := max(b.opt.Rows, 0)/8+1, int64(b.opt.Workers)
	b.answerCopies = int(min(max(b.opt.Memory/4/answer, 1), workers))
	memory := max(b.opt.Memory-int64(b.answerCopies)*answer, b.opt.Memory/2)
	b.sortLimit = max(memory/6/8/workers, leastLoad*b.tupleSize()/tupleBytes)
	b.parts = mostParts
	if b.opt.Rows >= 0 {
		want := min(b.opt.Rows*b.tupleSize()/min(partBytes, b.sortLimit), mostParts-1)
		b.parts = 1 << bits.Len64(uint64(want))
	}
	gather := memory / 4 / workers
	for b.parts > 1 && gather/int64(b.parts) < leastChunk {
		b.parts /= 2
	}
	b.chunk = int(min(max(gather/int64(b.parts), leastChunk), mostChunk)) &^ (pageBytes - 1)
	group := memory / 6
	if b.opt.Rows >= 0 {
		group = min(group, 2*8*workers*max(b.opt.Rows*b.tupleSize()/int64(b.parts), leastLoad))
	}
	b.spill = newSpill(b.opt.Dir, memory-group-min(memory/4, int64(b.chunk*b.parts)*workers), b.parts)
}

// Worker adds the rows of one goroutine.
type Worker struct {
	*Bounding
	router  router
	batcher batcher
	sizes   map[int]int64      // by piece, how many of its rows are known from what was added
	kinds   map[arrow.Type]int // by type of ids, the first piece with it
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

// Add adds the rows of a batch, which begin at row first of a piece. Rows whose bit is set in out are left out; out
// may be nil. A choice needs the content of every row that is not left out, and its group if the caps are on groups.
// Batches may arrive in any order, at any worker.
//
// Errors: *[IDError] for ids that cannot distinguish units or are missing; those of the disk. After an error only
// Close may be called.
func (w *Worker) Add(piece int, first int64, ids arrow.Array, of Rows, out []uint64) error {
	switch {
	case ids.Len() == 0:
		return nil
	case piece < 0 || piece > mostPiece || first < 0 || first > mostRow+1-int64(ids.Len()):
		return errTooLong
	case hasMissingID(ids, out):
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
		return nil // Finish reports it for the first piece in reading order
	}
	place := uint64(piece)<<rowBits | uint64(first)
	if words, exact := Words(ids, &w.days); exact {
		return w.addWords(place, words, of, out)
	}
	w.longIDs = true
	return w.addLong(place, ids, of, out)
}

// Rows is what a choice knows of the rows of a batch in addition to their ids. A screening knows nothing else.
type Rows struct {
	Contents []Hash
	Groups   []uint64 // nil if the caps are not on groups
}

// hasMissingID reports whether a row that is not left out has no id.
func hasMissingID(ids arrow.Array, out []uint64) bool {
	for i := 0; ids.NullN() > 0 && i < ids.Len(); i++ {
		if ids.IsNull(i) && (out == nil || out[i>>6]>>(i&63)&1 == 0) {
			return true
		}
	}
	return false
}

func (w *Worker) addWords(place uint64, ids []int64, of Rows, out []uint64) error {
	if !w.chooses {
		if w.batcher.addBatch(w.Bounding, place, ids, out) {
			w.router.least = w.chunk // with so many rows, gathered rows will be stored anyway
			return nil
		}
		if out == nil {
			return w.router.addAll(w.permutation, place, ids)
		}
	}
	head := w.headSize(false)
	for i, id := range ids {
		if out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		rest, err := w.router.addRow(w.permutation.apply(uint64(id)), place+uint64(i), head)
		if err != nil {
			return err
		}
		w.putHead(rest, of, i)
	}
	return nil
}

// putHead writes what stands before the id in the rest of a tuple.
func (w *Worker) putHead(rest []byte, of Rows, row int) {
	if w.chooses {
		binary.LittleEndian.PutUint64(rest, of.Contents[row][0])
		binary.LittleEndian.PutUint64(rest[8:], of.Contents[row][1])
	}
	if w.caps.Grouped() {
		binary.LittleEndian.PutUint64(rest[contentBytes:], of.Groups[row])
	}
}

func (w *Worker) addLong(place uint64, ids arrow.Array, of Rows, out []uint64) error {
	value, head := Texts(ids), w.headSize(true)
	for i := range ids.Len() {
		if out != nil && out[i>>6]>>(i&63)&1 == 1 {
			continue
		}
		id := value(i)
		rest, err := w.router.addRow(w.hash(id), place+uint64(i), head+len(id))
		if err != nil {
			return err
		}
		w.putHead(rest, of, i)
		binary.LittleEndian.PutUint32(rest[head-lengthBytes:], uint32(len(id)))
		copy(rest[head:], id)
	}
	return nil
}

// largeReading is the number of rows from which collecting garbage between two readings pays.
const largeReading = 1 << 20

// Finish decides which rows stay, and removes what is on disk. No worker may be used after it.
//
// Errors: *[IDError] for ids of more than one type; [ErrMemory] if the rows of one unit do not fit into memory and
// their groups matter; those of the disk and of the context.
func (b *Bounding) Finish(ctx context.Context) (*KeptRows, error) {
	k, err := b.decideAll(ctx)
	closing := parallel.Do(context.WithoutCancel(ctx), 2, 2, func(i int) error {
		if i == 0 {
			return b.Close()
		}
		if k != nil && k.capacity() >= largeReading {
			runtime.GC() // so that the next reading can use the memory of this one
		}
		return nil
	})
	if err == nil {
		err = closing
	}
	return k, err
}

// Close removes what is on disk. It may be called at any time, and more than once.
func (b *Bounding) Close() error { return b.spill.close() }

func (b *Bounding) decideAll(ctx context.Context) (*KeptRows, error) {
	if err := b.checkOneType(); err != nil {
		return nil, err
	}
	sizes, longIDs := []int64(nil), false
	for _, w := range b.workers {
		for kind := range w.kinds {
			b.idType = kind
		}
		w.router.flushAll()
		b.batches = append(b.batches, w.batcher.batches...)
		w.batcher = batcher{}
		longIDs = longIDs || w.longIDs
		for piece, rows := range w.sizes {
			if missing := piece + 1 - len(sizes); missing > 0 {
				sizes = append(sizes, make([]int64, missing)...)
			}
			sizes[piece] = max(sizes[piece], rows)
		}
	}
	slices.SortFunc(b.batches, func(x, y *rowBatch) int { return cmp.Compare(x.firstPlace, y.firstPlace) })
	// Each sorter sets bits of its own where there is memory for so many: of the same
	// bits, processors would wrest the memory from each other.
	all := make(chan *KeptRows, b.answerCopies)
	k := newKept(sizes)
	all <- k
	for len(all) < b.answerCopies {
		all <- k.emptyCopy()
	}
	sorters := make(chan *sorter, b.opt.Workers)
	for range b.opt.Workers {
		sorters <- newSorter(ctx, b, all, longIDs)
	}
	err := parallel.Do(ctx, b.opt.Workers, b.parts, func(p int) error {
		s := <-sorters
		defer func() { sorters <- s }()
		return s.decidePartition(p, bits.Len(uint(b.parts-1)))
	})
	if err == nil {
		err = parallel.Do(ctx, b.opt.Workers, len(b.batches), func(i int) error {
			k := <-all
			b.batches[i].setKept(k)
			all <- k
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	for range len(all) {
		k.merge(<-all)
	}
	b.batches, k.left = nil, b.left.Load()
	return k, nil
}

// checkOneType returns the error of ids of more than one type, for the first piece in reading order whose ids differ
// in type from those of the first piece.
func (b *Bounding) checkOneType() error {
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

// KeptRows has a bit per row: whether the row stays.
type KeptRows struct {
	pieces [][]uint64
	left   bool
}

// SomeLeft reports whether a screening has met units with more rows than they may have, of which it keeps no row.
func (k *KeptRows) SomeLeft() bool { return k.left }

// Merge keeps the rows that other keeps as well.
func (k *KeptRows) Merge(other *KeptRows) {
	for i := len(k.pieces); i < len(other.pieces); i++ {
		k.pieces = append(k.pieces, nil)
	}
	for i, words := range other.pieces {
		if missing := len(words) - len(k.pieces[i]); missing > 0 {
			k.pieces[i] = append(k.pieces[i], make([]uint64, missing)...)
		}
	}
	k.merge(other)
}

func newKept(sizes []int64) *KeptRows {
	k := &KeptRows{pieces: make([][]uint64, len(sizes))}
	for i, rows := range sizes {
		k.pieces[i] = make([]uint64, (rows+63)/64)
	}
	return k
}

// PieceBits returns the bits of a piece; the bit of row i is bit i mod 64 of word ⌊i/64⌋. Rows beyond the bits do not
// stay. A nil result means that none stays.
func (k *KeptRows) PieceBits(piece int) []uint64 {
	if piece < 0 || piece >= len(k.pieces) {
		return nil
	}
	return k.pieces[piece]
}

// emptyCopy returns a KeptRows of the same size without any bit set.
func (k *KeptRows) emptyCopy() *KeptRows {
	e := &KeptRows{pieces: make([][]uint64, len(k.pieces))}
	for i, words := range k.pieces {
		e.pieces[i] = make([]uint64, len(words))
	}
	return e
}

// merge sets the bits that are set in other.
func (k *KeptRows) merge(other *KeptRows) {
	for i, words := range other.pieces {
		for j, word := range words {
			k.pieces[i][j] |= word
		}
	}
}

// setBit sets the bit of a place if bit is 1, and leaves it unchanged if bit is 0.
func (k *KeptRows) setBit(place, bit uint64) {
	k.pieces[place>>rowBits][place&mostRow>>6] |= bit << (place & 63)
}

// Bytes returns the memory that the bits take.
func (k *KeptRows) Bytes() int64 { return k.capacity() / 8 }

// capacity returns about how many rows there are bits for.
func (k *KeptRows) capacity() (n int64) {
	for _, words := range k.pieces {
		n += int64(64 * len(words))
	}
	return n
}

// Rows returns how many rows stay.
func (k *KeptRows) Rows() (n int64) {
	for _, words := range k.pieces {
		for _, word := range words {
			n += int64(bits.OnesCount64(word))
		}
	}
	return n
}
