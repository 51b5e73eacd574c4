package bounding

// This file holds the spill: bytes put aside by partition, in memory as long as a
// budget lasts and on disk beyond it.

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"sync"
)

// spill keeps stretches of bytes for partitions. What goes to disk is enciphered
// under a key that no memory but this process's ever holds, in one file of a
// folder that only its owner may enter. Where the system lets an open file lose
// its name, folder and file lose theirs at once, and not even a killed process
// leaves them behind; elsewhere close removes them. Several goroutines may use a
// spill.
type spill struct {
	dir   string // parent of the folder
	limit int64  // bytes to keep in memory

	mu     sync.Mutex
	parts  []*part
	held   int64 // bytes kept in memory
	folder string
	file   *os.File
	block  cipher.Block
	end    int64 // of what is written, a multiple of pageBytes
}

// part is what was put aside for one partition.
type part struct {
	stretches []stretch
	size      int64

	enciphering sync.Mutex    // which happens in the order of the stretches on disk
	key         cipher.Stream // of the partition, as far as it is used; nil until then
}

// pageBytes is what the system holds of a file at a time.
const pageBytes = 1 << 12

// stretch is a run of bytes in memory or, where held is nil, on disk.
type stretch struct {
	held []byte
	at   int64
	size int
}

func newSpill(dir string, limit int64, parts int) *spill {
	s := &spill{dir: dir, limit: limit}
	s.grow(parts)
	return s
}

// grow adds partitions and returns the number of the first.
func (s *spill) grow(parts int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := len(s.parts)
	for range parts {
		s.parts = append(s.parts, &part{})
	}
	return first
}

// put puts bytes aside for a partition. It returns whether it keeps them, and must
// not see them changed; else they are on disk, and the memory that held them, which
// has been overwritten, is free for the caller.
func (s *spill) put(p int, bytes []byte) (keeps bool, err error) {
	s.mu.Lock()
	if s.held+int64(len(bytes)) <= s.limit {
		s.held += int64(len(bytes))
		s.add(p, stretch{held: bytes, size: len(bytes)})
		s.mu.Unlock()
		return true, nil
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			s.mu.Unlock()
			return false, err
		}
	}
	to := s.parts[p]
	s.mu.Unlock()
	to.enciphering.Lock()
	if to.key == nil {
		to.key = s.keyOf(p)
	}
	to.key.XORKeyStream(bytes, bytes)
	s.mu.Lock()
	at := s.end
	s.end += (int64(len(bytes)) + pageBytes - 1) &^ (pageBytes - 1)
	s.add(p, stretch{at: at, size: len(bytes)})
	s.mu.Unlock()
	to.enciphering.Unlock()
	if _, err := s.file.WriteAt(bytes, at); err != nil {
		return false, spillError(err)
	}
	return false, nil
}

// reserve says whether there is room in memory for so many bytes more, which are then held until the spill is closed.
func (s *spill) reserve(bytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held+int64(bytes) > s.limit {
		return false
	}
	s.held += int64(bytes)
	return true
}

// leave puts bytes aside in memory, whatever the budget.
func (s *spill) leave(p int, bytes []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += int64(len(bytes))
	s.add(p, stretch{held: bytes, size: len(bytes)})
}

func (s *spill) add(p int, run stretch) {
	s.parts[p].stretches = append(s.parts[p].stretches, run)
	s.parts[p].size += int64(run.size)
}

// size is how many bytes are put aside for a partition.
func (s *spill) size(p int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts[p].size
}

// each visits the stretches of a partition, which are valid during the visit.
func (s *spill) each(p int, visit func(bytes []byte) error) error {
	s.mu.Lock()
	stretches := s.parts[p].stretches
	s.mu.Unlock()
	var scratch []byte
	var key cipher.Stream
	for _, run := range stretches {
		bytes := run.held
		if bytes == nil {
			scratch = fit(scratch, run.size)
			if err := s.read(p, &key, scratch, run.at); err != nil {
				return err
			}
			bytes = scratch
		}
		if err := visit(bytes); err != nil {
			return err
		}
	}
	return nil
}

// take returns all bytes of a partition, in scratch where they fit, and forgets
// them.
func (s *spill) take(p int, scratch []byte) ([]byte, error) {
	taken := fit(scratch, int(s.size(p)))
	var key cipher.Stream
	n := 0
	for _, run := range s.drop(p) {
		to := taken[n : n+run.size]
		n += run.size
		if run.held != nil {
			copy(to, run.held)
		} else if err := s.read(p, &key, to, run.at); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// drop forgets a partition and returns what was put aside for it.
func (s *spill) drop(p int) []stretch {
	s.mu.Lock()
	defer s.mu.Unlock()
	stretches := s.parts[p].stretches
	for _, run := range stretches {
		s.held -= int64(len(run.held))
	}
	s.parts[p].stretches, s.parts[p].size = nil, 0
	return stretches
}

// Read reads the next stretch of a partition, whose key goes on from that before it.
func (s *spill) read(p int, key *cipher.Stream, to []byte, at int64) error {
	if *key == nil {
		*key = s.keyOf(p)
	}
	if _, err := s.file.ReadAt(to, at); err != nil {
		return spillError(err)
	}
	(*key).XORKeyStream(to, to)
	return nil
}

// keyOf is the key stream of a partition from its beginning, AES-256 in counter mode:
// the number of the partition is the first half of the counter. The stretches of a
// partition use it up one behind the other, and what is written is written once; so no
// part of it is used twice.
func (s *spill) keyOf(p int) cipher.Stream {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[:], uint64(p))
	return cipher.NewCTR(s.block, counter[:])
}

// open makes the folder and the file. s is locked.
func (s *spill) open() error {
	var key [32]byte
	rand.Read(key[:]) // ends the process where the system has no random bytes
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return err
	}
	s.block = block
	if s.folder, err = os.MkdirTemp(s.dir, "dprelease-"); err != nil { // mode 0700
		return spillError(err)
	}
	s.file, err = os.OpenFile(filepath.Join(s.folder, "units"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		s.file = nil
		return spillError(errors.Join(err, os.Remove(s.folder)))
	}
	if os.Remove(s.file.Name()) == nil && os.Remove(s.folder) == nil {
		s.folder = ""
	}
	return nil
}

// close forgets all and removes what is on disk. It may be called twice.
func (s *spill) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	if s.folder != "" {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	s.parts, s.held, s.file, s.folder, s.block = nil, 0, nil, "", nil
	if err != nil {
		return spillError(err)
	}
	return nil
}

func spillError(err error) error {
	return fmt.Errorf("units that do not fit into memory are put aside on disk for a while; "+
		"give more memory, or a folder for temporary files with more room: %w", err)
}

// A row is put aside as a tuple: the word of its id, how far its place lies behind
// that of the row before it (both little-endian, of 8 and 2 bytes), and what else is
// needed of it. A tuple whose step is 0 is no row and ends there: its word is the
// place that the next row is counted from. Each stretch begins with one.
const (
	tupleBytes = 10
	mostStep   = 1<<16 - 1
)

// router gathers rows by bits of their words and puts them aside for the
// partitions of a spill. Not for concurrent use.
type router struct {
	spill *spill
	base  int // the first partition
	skip  int // bits of the words that are the same in all rows
	shift int // what is left of a word without those bits is a partition
	chunk int // bytes to gather
	least int // bytes to begin with
	parts []gathered
}

// gathered are the rows of a partition that are not put aside yet.
type gathered struct {
	held []byte
	used int
	last uint64 // place of the last row
}

func newRouter(s *spill, base, skip, parts, chunk int) router {
	return router{spill: s, base: base, skip: skip, shift: 64 - bits.Len(uint(parts-1)), chunk: chunk,
		least: 16 * tupleBytes, parts: make([]gathered, parts)}
}

// Add gathers a row, of whose tuple more bytes are wanted: those are returned.
func (r *router) add(word, place uint64, more int) ([]byte, error) {
	g := &r.parts[word<<r.skip>>r.shift]
	size := tupleBytes + more
	step := place - g.last
	if step-1 >= mostStep || g.used+size > len(g.held) {
		if err := r.begin(word, place, size); err != nil {
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

// addAll is add for each id, of which nothing more is wanted: the first has the place
// given, and the others those behind it.
func (r *router) addAll(by permutation, place uint64, ids []int64) error {
	for i, id := range ids {
		word, place := by.of(uint64(id)), place+uint64(i)
		g := &r.parts[word<<r.skip>>r.shift]
		step := place - g.last
		if step-1 >= mostStep || g.used+tupleBytes > len(g.held) {
			if err := r.begin(word, place, tupleBytes); err != nil {
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

// begin makes room for a row, and says its place, so that it is one step behind the
// last. What is gathered grows up to a chunk, and then it is put aside.
func (r *router) begin(word, place uint64, size int) error {
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

// flush leaves what is gathered with the spill. The router is not to be used
// behind it.
func (r *router) flush() {
	for p, g := range r.parts {
		if g.used > 0 {
			r.spill.leave(r.base+p, g.held[:g.used])
		}
	}
	r.parts = nil
}

// fit is a slice of n entries, in the memory of scratch where they fit.
func fit[T any](scratch []T, n int) []T {
	if cap(scratch) < n {
		return make([]T, n, n+n/8)
	}
	return scratch[:n]
}
