// Package units lists the units that a machine has rows of, in a form in which two machines can compare their lists
// without showing an id: keyed hashes, sorted. It knows no table and counts nothing. What it writes to disk is
// enciphered, and removed with the list.
package units

import (
	"bufio"
	"bytes"
	"container/heap"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/temporary"
)

// unit stands for a unit: the first bytes of HMAC-SHA256 of its id as text, under a key of the table. Two units of a
// table with 2^32 units are taken for one with a probability below 2^−65 (a refusal, not a wrong count).
type unit [16]byte

// inMemory is the most units that a goroutine holds before it puts them on disk, sorted.
const inMemory = 1 << 18

// List is the units of a table that a machine has seen. It is sorted on disk, as there may be more than memory
// holds.
type List struct {
	key     [32]byte
	listers []*Lister

	mu   sync.Mutex
	file *temporary.File
	runs []sortedRun
	end  int64 // of the file
	kind arrow.Type
}

// sortedRun is a sorted stretch of the file.
type sortedRun struct{ at, bytes int64 }

// New returns an empty list of the units of a table, which are hashed under a key.
func New(key [32]byte) *List { return &List{key: key} }

// Lister lists the units of one goroutine.
type Lister struct {
	of   *List
	mac  hash.Hash
	text []byte
	sum  []byte
	have []unit
}

// Lister returns a lister for one more goroutine.
func (l *List) Lister() *Lister {
	one := &Lister{of: l, mac: hmac.New(sha256.New, l.key[:]), have: make([]unit, 0, inMemory)}
	l.listers = append(l.listers, one)
	return one
}

// Add adds the units of the rows of which no bit is set in out (nil: of all). Ids of a type that does not distinguish
// units are refused by bounding.
func (l *Lister) Add(ids arrow.Array, out []uint64) error {
	kind := bounding.KindOf(ids)
	if kind == arrow.NULL || ids.Len() == 0 {
		return nil
	}
	l.of.mu.Lock()
	l.of.kind = kind
	l.of.mu.Unlock()
	text := bounding.IDText(ids)
	for i := range ids.Len() {
		if ids.IsNull(i) || out != nil && out[i/64]>>(i%64)&1 == 1 {
			continue
		}
		l.text = text(l.text[:0], i)
		l.mac.Reset()
		l.mac.Write(l.text)
		l.sum = l.mac.Sum(l.sum[:0])
		u := unit(l.sum[:len(unit{})])
		if n := len(l.have); n > 0 && l.have[n-1] == u {
			continue
		}
		if l.have = append(l.have, u); len(l.have) == inMemory {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush puts what the lister holds on disk, sorted and each once.
func (l *Lister) flush() error {
	slices.SortFunc(l.have, unit.compare)
	l.have = slices.Compact(l.have)
	err := l.of.put(l.have)
	l.have = l.have[:0]
	return err
}

func (u unit) compare(v unit) int { return bytes.Compare(u[:], v[:]) }

// put writes sorted units to the file.
func (l *List) put(sorted []unit) error {
	if len(sorted) == 0 {
		return nil
	}
	text := make([]byte, 0, len(unit{})*len(sorted))
	for _, u := range sorted {
		text = append(text, u[:]...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		var err error
		if l.file, err = temporary.Create(""); err != nil {
			return err
		}
	}
	l.stream(l.end).XORKeyStream(text, text)
	if _, err := l.file.WriteAt(text, l.end); err != nil {
		return err
	}
	l.runs = append(l.runs, sortedRun{l.end, int64(len(text))})
	l.end += int64(len(text))
	return nil
}

// stream returns the key stream of the file from a byte on, which is a multiple of the length of a block.
func (l *List) stream(at int64) cipher.Stream {
	var counter [16]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(at/16))
	return cipher.NewCTR(l.file.Block, counter[:])
}

// Write writes how many units there are, in 8 bytes, and then the units, ascending.
func (l *List) Write(w io.Writer) error {
	for _, one := range l.listers {
		if err := one.flush(); err != nil {
			return err
		}
	}
	count := uint64(0)
	if err := l.each(func(unit) error { count++; return nil }); err != nil {
		return err
	}
	if err := binary.Write(w, binary.BigEndian, count); err != nil {
		return err
	}
	var out unit // one for all, as what a writer is given is put on the heap
	return l.each(func(u unit) error {
		out = u
		_, err := w.Write(out[:])
		return err
	})
}

// each visits the units, ascending, each once.
func (l *List) each(visit func(unit) error) error {
	var sources []*reader
	for _, run := range l.runs {
		read := cipher.StreamReader{S: l.stream(run.at), R: io.NewSectionReader(l.file, run.at, run.bytes)}
		sources = append(sources, &reader{from: bufio.NewReaderSize(read, 1<<14), left: uint64(run.bytes) / 16})
	}
	return merge(sources, func(u unit, again bool) error {
		if again {
			return nil
		}
		return visit(u)
	})
}

// Close removes the file.
func (l *List) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// reader reads ascending units.
type reader struct {
	from io.Reader
	left uint64 // not read yet
	next unit
}

// errOrder reports a list of units that is not what it should be.
var errOrder = errors.New("the list of its units is not in order")

// advance reads the next unit, and reports whether there is one.
func (r *reader) advance() (bool, error) {
	if r.left == 0 {
		return false, nil
	}
	r.left--
	before := r.next
	if _, err := io.ReadFull(r.from, r.next[:]); err != nil {
		return false, err
	}
	if before.compare(r.next) > 0 {
		return false, errOrder
	}
	return true, nil
}

// readerHeap has the reader with the least unit first.
type readerHeap []*reader

func (h readerHeap) Len() int           { return len(h) }
func (h readerHeap) Less(i, j int) bool { return h[i].next.compare(h[j].next) < 0 }
func (h readerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *readerHeap) Push(x any)        { *h = append(*h, x.(*reader)) }
func (h *readerHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// merge visits the units of several readers, ascending. Again reports that the unit was visited just before.
func merge(readers []*reader, visit func(u unit, again bool) error) error {
	var h readerHeap
	for _, r := range readers {
		there, err := r.advance()
		if err != nil {
			return err
		}
		if there {
			h = append(h, r)
		}
	}
	heap.Init(&h)
	var last unit
	for first := true; len(h) > 0; first = false {
		u := h[0].next
		if err := visit(u, !first && u == last); err != nil {
			return err
		}
		last = u
		there, err := h[0].advance()
		switch {
		case err != nil:
			return err
		case there:
			heap.Fix(&h, 0)
		default:
			heap.Pop(&h)
		}
	}
	return nil
}

// Compare returns ErrCommon if a unit is in the lists of two readers.
func Compare(lists []io.Reader) error {
	var readers []*reader
	for _, list := range lists {
		r := &reader{from: list}
		if err := binary.Read(list, binary.BigEndian, &r.left); err != nil {
			return err
		}
		readers = append(readers, r)
	}
	return merge(readers, func(_ unit, again bool) error {
		if again {
			return ErrCommon
		}
		return nil
	})
}

// ErrCommon reports a unit that two machines have.
var ErrCommon = errors.New("two machines have rows of the same unit")

// IDs returns the type of the ids, "" if there were none.
func (l *List) IDs() string {
	if l.kind == arrow.NULL {
		return ""
	}
	return l.kind.String()
}
