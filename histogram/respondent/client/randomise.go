package client

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// This file holds the draws of a report.

// Bytes is a stream of random bytes, read in blocks. It must not be used by two goroutines at a time.
type Bytes struct {
	source   io.Reader
	block    [4096]byte
	at, read int
	err      error
}

// NewBytes returns the bytes of a reader, or of the system's generator if it is nil.
func NewBytes(random io.Reader) *Bytes { return &Bytes{source: cmp.Or(random, rand.Reader)} }

// take returns the next n bytes as a big-endian number.
func (b *Bytes) take(n int) (x int64) {
	for range n {
		if b.at == b.read {
			b.fill()
		}
		x, b.at = x<<8|int64(b.block[b.at]), b.at+1
	}
	return x
}

// fill reads the next block. If that fails it is of zeros, with which all draws end.
func (b *Bytes) fill() {
	n, err := io.ReadAtLeast(b.source, b.block[:], 1)
	if b.at, b.read = 0, n; err != nil {
		b.err, b.block, b.read = fmt.Errorf("the random bytes have ended: %w", err), [4096]byte{}, len(b.block)
	}
}

// uniform draws a number below n ≥ 1.
func (b *Bytes) uniform(n int64) (x int64) {
	width := bits.Len64(uint64(n - 1))
	for x = n; x >= n; {
		if width > 0 && width <= 8 && b.at < b.read { // one byte, without a call
			x, b.at = int64(b.block[b.at])&(1<<width-1), b.at+1
		} else {
			x = b.take((width+7)/8) & (1<<width - 1)
		}
	}
	return x
}

// Randomise appends a report of an answer to dst, and allocates nothing if there is room. The question must be one that
// [Read] returned; the answer is an index, as [Question.Answer] returns it.
//
// Guarantee: with k categories, of which w are in a report, a set has probability p / C(k−1, w−1) if it holds the
// answer's category, else (1−p) / C(k−1, w); a permuted report p / (w (k−1)), or else (1−p) / ((k−w) (k−1)); both
// exactly. With points, the answer's category is drawn before, whatever the randomiser draws.
func (q *Question) Randomise(dst []byte, answer int64, random *Bytes) ([]byte, error) {
	category := q.round(answer, random)
	if answer < 0 || category >= q.Categories {
		return nil, errors.New("the answer to randomise is none of the question's")
	}
	kept := random.take(6) < q.Keep
	if q.Form == Permuted {
		dst = q.appendPermuted(dst, category, kept, random)
	} else {
		dst = q.appendSet(dst, category, kept, random)
	}
	if random.err != nil {
		return nil, random.err
	}
	return dst, nil
}

// round returns the category of an answer. Where there are points it is one of the two next to it, so that the mean of
// the points is the number that was answered.
func (q *Question) round(answer int64, random *Bytes) int64 {
	if n := len(q.Columns); n == 0 || q.Columns[n-1].Points == 0 {
		return answer
	}
	c := q.Columns[len(q.Columns)-1]
	last := int64(len(c.Categories)) - 1
	along := answer % (last + 1) * (c.Points - 1)
	if random.uniform(last) < along%last {
		along += last
	}
	return answer/(last+1)*c.Points + along/last
}

// appendSet appends a uniform set that holds category v, or does not.
func (q *Question) appendSet(dst []byte, v int64, kept bool, random *Bytes) []byte {
	dst = append(dst, make([]byte, (q.Categories+7)/8)...)
	set, left := dst[int64(len(dst))-(q.Categories+7)/8:], q.Support
	set[v/8] |= 1 << (v % 8)
	if kept {
		left--
	}
	for left > 0 && random.err == nil {
		u := uint64(random.uniform(q.Categories))
		left -= int64(^set[u/8] >> (u % 8) & 1)
		set[u/8] |= 1 << (u % 8)
	}
	if !kept {
		set[v/8] &^= 1 << (v % 8)
	}
	return dst
}

// appendPermuted appends a uniform a, and the b that takes category v to a uniform number in the support, or outside.
func (q *Question) appendPermuted(dst []byte, v int64, kept bool, random *Bytes) []byte {
	a, low, n := 1+random.uniform(q.Categories-1), int64(0), q.Support
	if !kept {
		low, n = q.Support, q.Categories-q.Support
	}
	b := (low + random.uniform(n) + q.Categories - a*v%q.Categories) % q.Categories
	return binary.BigEndian.AppendUint64(dst, uint64(a)<<32|uint64(b))
}

// Valid reports whether the report is one that a device can draw for the question.
func (q *Question) Valid(report []byte) bool {
	if q.Form == Permuted {
		return len(report) == 8 && 0 < number(report) && max(number(report), number(report[4:])) < q.Categories
	}
	held := int64(0)
	for _, part := range report {
		held += int64(bits.OnesCount8(part))
	}
	return int64(len(report)) == (q.Categories+7)/8 && held == q.Support &&
		report[len(report)-1]>>((q.Categories-1)%8+1) == 0
}

func number(of []byte) int64 { return int64(binary.BigEndian.Uint32(of)) }
