package histogram

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
	parts  []part
	held   int64 // bytes kept in memory
	folder string
	file   *os.File
	block  cipher.Block
	end    int64 // of what is written, a multiple of the cipher's block
}

// part is what was put aside for one partition.
type part struct {
	stretches []stretch
	size      int64
}

// stretch is a run of bytes in memory or, where held is nil, on disk.
type stretch struct {
	held []byte
	at   int64
	size int
}

func newSpill(dir string, limit int64, parts int) *spill {
	return &spill{dir: dir, limit: limit, parts: make([]part, parts)}
}

// grow adds partitions and returns the number of the first.
func (s *spill) grow(parts int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := len(s.parts)
	s.parts = append(s.parts, make([]part, parts)...)
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
	at := s.end
	s.end += (int64(len(bytes)) + aes.BlockSize - 1) &^ (aes.BlockSize - 1)
	s.add(p, stretch{at: at, size: len(bytes)})
	s.mu.Unlock()
	s.encipher(bytes, at)
	if _, err := s.file.WriteAt(bytes, at); err != nil {
		return false, spillError(err)
	}
	return false, nil
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
	for _, run := range stretches {
		bytes := run.held
		if bytes == nil {
			scratch = fit(scratch, run.size)
			if err := s.read(scratch, run.at); err != nil {
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
	n := 0
	for _, run := range s.drop(p) {
		to := taken[n : n+run.size]
		n += run.size
		if run.held != nil {
			copy(to, run.held)
		} else if err := s.read(to, run.at); err != nil {
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
	s.parts[p] = part{}
	return stretches
}

func (s *spill) read(to []byte, at int64) error {
	if _, err := s.file.ReadAt(to, at); err != nil {
		return spillError(err)
	}
	s.encipher(to, at)
	return nil
}

// encipher turns what stands at a place of the file into its cipher, or back. No
// place is written twice, so no part of the keystream is used twice.
func (s *spill) encipher(bytes []byte, at int64) {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(at)/aes.BlockSize)
	cipher.NewCTR(s.block, counter[:]).XORKeyStream(bytes, bytes)
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

// router gathers rows by bits of their words and puts them aside for the
// partitions of a spill. Not for concurrent use.
type router struct {
	spill *spill
	base  int // the first partition
	skip  int // bits of the words that are the same in all rows
	shift int // what is left of a word without those bits is a partition
	chunk int // bytes to gather
	held  [][]byte
	used  []int
}

func newRouter(s *spill, base, skip, parts, chunk int) router {
	return router{spill: s, base: base, skip: skip, shift: 64 - bits.Len(uint(parts-1)), chunk: chunk,
		held: make([][]byte, parts), used: make([]int, parts)}
}

// room returns the bytes of the next row of a partition.
func (r *router) room(word uint64, size int) ([]byte, error) {
	p := word << r.skip >> r.shift
	from := r.used[p]
	if from+size > len(r.held[p]) {
		if err := r.renew(int(p), size); err != nil {
			return nil, err
		}
		from = r.used[p]
	}
	r.used[p] = from + size
	return r.held[p][from : from+size], nil
}

// renew makes room for a row of a partition: what was gathered grows up to a
// chunk, and then it is put aside.
func (r *router) renew(p, size int) error {
	held, used := r.held[p], r.used[p]
	if len(held) < r.chunk {
		grown := make([]byte, max(min(4*len(held), r.chunk), 16*tupleBytes, used+size))
		copy(grown, held[:used])
		r.held[p] = grown
		return nil
	}
	keeps, err := r.spill.put(r.base+p, held[:used])
	if keeps || len(held) > r.chunk || size > len(held) {
		r.held[p] = make([]byte, max(r.chunk, size))
	}
	r.used[p] = 0
	return err
}

// flush leaves what is gathered with the spill. The router is not to be used
// behind it.
func (r *router) flush() {
	for p, held := range r.held {
		if r.used[p] > 0 {
			r.spill.leave(r.base+p, held[:r.used[p]])
		}
	}
	r.held = nil
}

// fit is a slice of n entries, in the memory of scratch where they fit.
func fit[T any](scratch []T, n int) []T {
	if cap(scratch) < n {
		return make([]T, n, n+n/8)
	}
	return scratch[:n]
}
