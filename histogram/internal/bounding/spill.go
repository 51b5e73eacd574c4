package bounding

// This file holds the spill: bytes stored by partition, in memory as long as a limit lasts and then on disk.

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/dprelease/dprelease/histogram/internal/temporary"
)

// spill stores stretches of bytes for partitions. What goes to disk is enciphered, in one temporary file. Several
// goroutines may use a spill.
type spill struct {
	dir   string // parent of the folder
	limit int64  // bytes to keep in memory

	mu    sync.Mutex
	parts []*part // nil before anything is stored
	held  int64   // bytes kept in memory
	file  *temporary.File
	end   int64         // end of what is written, a multiple of pageBytes
	keys  atomic.Uint64 // key streams begun
}

// part is what is stored for one partition.
type part struct {
	stored
	enciphering sync.Mutex    // held while enciphering, which follows the order of the stretches on disk
	stream      cipher.Stream // key stream after what is used; nil before the first use
}

// stored is stretches of bytes, in order.
type stored struct {
	stretches []stretch
	held      [][]byte // those of the stretches that are in memory
	size      int64
	key       uint64 // number of the key stream of those on disk
}

// pageBytes is the page size of a file in memory.
const pageBytes = 1 << 12

// stretch is a run of bytes on disk, or in memory if its page is inMemory. It is small because there may be one for
// every four kilobytes of a large table.
type stretch struct{ page, size uint32 }

// inMemory stands in place of a page on disk.
const inMemory = math.MaxUint32

func newSpill(dir string, limit int64, parts int) *spill {
	s := &spill{dir: dir, limit: limit}
	s.addParts(parts)
	return s
}

// addParts adds partitions and returns the number of the first.
func (s *spill) addParts(parts int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := len(s.parts)
	s.parts = append(s.parts, make([]*part, parts)...)
	return first
}

// partAt returns a partition in which something is stored. s must be locked.
func (s *spill) partAt(p int) *part {
	if s.parts[p] == nil {
		s.parts[p] = &part{}
	}
	return s.parts[p]
}

// put stores bytes for a partition. It reports whether the spill keeps the slice, which must not change then. If not,
// the bytes are on disk; the slice has been overwritten and is free for the caller.
func (s *spill) put(p int, bytes []byte) (keeps bool, err error) {
	s.mu.Lock()
	if s.held+int64(len(bytes)) <= s.limit {
		s.appendHeld(p, bytes)
		s.mu.Unlock()
		return true, nil
	}
	if s.file == nil {
		if err := s.openFile(); err != nil {
			s.mu.Unlock()
			return false, err
		}
	}
	to := s.partAt(p)
	s.mu.Unlock()
	to.enciphering.Lock()
	if to.stream == nil {
		to.key = s.keys.Add(1)
		to.stream = s.streamOf(to.key)
	}
	to.stream.XORKeyStream(bytes, bytes)
	s.mu.Lock()
	at := s.end
	if at/pageBytes >= inMemory {
		s.mu.Unlock()
		to.enciphering.Unlock()
		return false, spillError(errFull)
	}
	s.end += (int64(len(bytes)) + pageBytes - 1) &^ (pageBytes - 1)
	to.append(stretch{uint32(at / pageBytes), uint32(len(bytes))})
	s.mu.Unlock()
	to.enciphering.Unlock()
	if _, err := s.file.WriteAt(bytes, at); err != nil {
		return false, spillError(err)
	}
	return false, nil
}

// reserve reports whether memory has room for so many more bytes, and reserves them until the spill is closed.
func (s *spill) reserve(bytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held+int64(bytes) > s.limit {
		return false
	}
	s.held += int64(bytes)
	return true
}

// putInMemory stores bytes in memory, regardless of the limit.
func (s *spill) putInMemory(p int, bytes []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appendHeld(p, bytes)
}

// appendHeld stores bytes in memory. s must be locked.
func (s *spill) appendHeld(p int, bytes []byte) {
	to := s.partAt(p)
	s.held += int64(len(bytes))
	to.held = append(to.held, bytes)
	to.append(stretch{inMemory, uint32(len(bytes))})
}

func (s *stored) append(run stretch) {
	s.stretches = append(s.stretches, run)
	s.size += int64(run.size)
}

// errFull reports a file that is as long as stretches can tell.
var errFull = errors.New("the file would be longer than 17 terabytes")

// size returns how many bytes are stored for a partition.
func (s *spill) size(p int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts[p] == nil {
		return 0
	}
	return s.parts[p].size
}

// eachStretch visits the stretches of a partition, which are valid during the visit.
func (s *spill) eachStretch(p int, visit func(bytes []byte) error) error {
	s.mu.Lock()
	var of stored
	if s.parts[p] != nil {
		of = s.parts[p].stored
	}
	s.mu.Unlock()
	var scratch []byte
	room := func(size int) []byte { scratch = resize(scratch, size); return scratch }
	return s.readAll(of, room, visit)
}

// readAll visits what is stored for a partition. Stretches on disk are read into the room for so many bytes.
func (s *spill) readAll(of stored, room func(size int) []byte, visit func(bytes []byte) error) error {
	var stream cipher.Stream // continues from stretch to stretch
	for _, run := range of.stretches {
		var bytes []byte
		if run.page == inMemory {
			bytes, of.held = of.held[0], of.held[1:]
		} else {
			bytes = room(int(run.size))
			if _, err := s.file.ReadAt(bytes, int64(run.page)*pageBytes); err != nil {
				return spillError(err)
			}
			if stream == nil {
				stream = s.streamOf(of.key)
			}
			stream.XORKeyStream(bytes, bytes)
		}
		if err := visit(bytes); err != nil {
			return err
		}
	}
	return nil
}

// takeAll returns all bytes of a partition, in scratch if they fit, and forgets them.
func (s *spill) takeAll(p int, scratch []byte) ([]byte, error) {
	of := s.forget(p)
	all := resize(scratch, int(of.size))
	n := 0
	room := func(size int) []byte { return all[n : n+size] }
	err := s.readAll(of, room, func(bytes []byte) error { n += copy(all[n:], bytes); return nil })
	return all, err
}

// forget removes what is stored for a partition, and returns it.
func (s *spill) forget(p int) stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts[p] == nil {
		return stored{}
	}
	of := s.parts[p].stored
	for _, bytes := range of.held {
		s.held -= int64(len(bytes))
	}
	s.parts[p] = nil
	return of
}

// streamOf returns a key stream from its beginning, AES-256 in counter mode: its number is the first half of the
// counter. The stretches of a partition use one key stream, one after another. A partition that was forgotten begins
// another; so no part of a key stream is used twice.
func (s *spill) streamOf(number uint64) cipher.Stream {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[:], number)
	return cipher.NewCTR(s.file.Block, counter[:])
}

// openFile makes the file. s must be locked.
func (s *spill) openFile() (err error) {
	if s.file, err = temporary.Create(s.dir); err != nil {
		s.file = nil
		return spillError(err)
	}
	return nil
}

// close forgets everything and removes what is on disk. It may be called twice.
func (s *spill) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	s.parts, s.held, s.file = nil, 0, nil
	if err != nil {
		return spillError(err)
	}
	return nil
}

func spillError(err error) error {
	return fmt.Errorf("units that do not fit into memory are put aside on disk for a while; "+
		"give more memory, or a folder for temporary files with more room: %w", err)
}

// A row is stored as a tuple: the word of its id, the distance of its place from the place of the row before it (both
// little-endian, of 8 and 2 bytes), and the rest (tupleRest). A tuple whose step is 0 is not a row and has no rest:
// its word is the place from which the next row is counted. Each stretch begins with such a tuple.
const (
	tupleBytes = 10
	mostStep   = 1<<16 - 1
)

// router gathers rows by bits of their words and stores them in the partitions of a spill. It must not be used
// concurrently.
type router struct {
	spill *spill
	base  int // the first partition
	skip  int // bits of the words that are the same in all rows
	shift int // shift that leaves the number of the partition, after skip
	chunk int // bytes to gather
	least int // bytes to begin with
	parts []gathered
}

// gathered is the rows of a partition that are not yet stored.
type gathered struct {
	held []byte
	used int
	last uint64 // place of the last row
}

func newRouter(s *spill, base, skip, parts, chunk int) router {
	return router{spill: s, base: base, skip: skip, shift: 64 - bits.Len(uint(parts-1)), chunk: chunk,
		least: 16 * tupleBytes, parts: make([]gathered, parts)}
}

// addRow gathers a row, and returns the `more` bytes of its tuple that the caller must fill.
func (r *router) addRow(word, place uint64, more int) ([]byte, error) {
	g := &r.parts[word<<r.skip>>r.shift]
	size := tupleBytes + more
	step := place - g.last
	if step-1 >= mostStep || g.used+size > len(g.held) {
		if err := r.makeRoom(word, place, size); err != nil {
			return nil, err
		}
		step = 1
	}
	tuple := g.held[g.used:][:size]
	binary.LittleEndian.PutUint64(tuple, word)
	binary.LittleEndian.PutUint16(tuple[8:], uint16(step))
	g.used, g.last = g.used+size, place
	return tuple[tupleBytes:], nil
}

// addAll is addRow for each id, without rests. The first row has the given place, and the others follow it.
func (r *router) addAll(by permutation, place uint64, ids []int64) error {
	for i, id := range ids {
		word, place := by.apply(uint64(id)), place+uint64(i)
		g := &r.parts[word<<r.skip>>r.shift]
		step := place - g.last
		if step-1 >= mostStep || g.used+tupleBytes > len(g.held) {
			if err := r.makeRoom(word, place, tupleBytes); err != nil {
				return err
			}
			step = 1
		}
		tuple := g.held[g.used:][:tupleBytes]
		binary.LittleEndian.PutUint64(tuple, word)
		binary.LittleEndian.PutUint16(tuple[8:], uint16(step))
		g.used, g.last = g.used+tupleBytes, place
	}
	return nil
}

// makeRoom makes room for a row, and writes the place before it, so that its step is 1. The memory for gathered rows
// grows up to a chunk; then they are stored.
func (r *router) makeRoom(word, place uint64, size int) error {
	p := int(word << r.skip >> r.shift)
	g := &r.parts[p]
	size += tupleBytes
	if held := g.held; g.used+size > len(held) {
		if len(held) < r.chunk {
			g.held = make([]byte, max(min(4*len(held), r.chunk), r.least, g.used+size))
			copy(g.held, held[:g.used])
		} else {
			keeps, err := r.spill.put(r.base+p, held[:g.used])
			if err != nil {
				return err
			}
			if keeps || len(held) > r.chunk || size > len(held) {
				g.held = make([]byte, max(r.chunk, size))
			}
			g.used = 0
		}
	}
	g.last = place - 1
	binary.LittleEndian.PutUint64(g.held[g.used:], g.last)
	binary.LittleEndian.PutUint16(g.held[g.used+8:], 0)
	g.used += tupleBytes
	return nil
}

// flushAll stores what is gathered. The router must not be used after it.
func (r *router) flushAll() {
	for p, g := range r.parts {
		if g.used > 0 {
			r.spill.putInMemory(r.base+p, g.held[:g.used])
		}
	}
	r.parts = nil
}

// resize returns a slice of n entries, in the memory of scratch if it is large enough.
func resize[T any](scratch []T, n int) []T {
	if cap(scratch) < n {
		return make([]T, n, n+n/8)
	}
	return scratch[:n]
}
