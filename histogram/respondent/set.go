package respondent

import (
	"math/bits"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// This file counts bits of reports that are sets, many at a time.

const (
	// lanes is how many counters of a byte each are in a word, and mostInLane how far one counts.
	lanes      = 8
	mostInLane = 255
	lowBits    = 0x0101010101010101
	// together is how many reports are added up bit by bit before they are counted.
	together = 8
)

// setCounter counts how many sets hold each category. A set is a list of words of 64 categories. Eight sets are added
// up in binary, with a word for each of the three low digits of 64 sums; the carry into the fourth digit is counted in
// eight words of eight counters of a byte each: counter k of word j is for category 8k + j.
type setCounter struct {
	support int
	bytes   int
	beyond  uint64 // the bits of the last word that are no category
	words   []setWord
	waiting int // sets that are not added up yet
	carried int // carries since the last flush, each of eight sets
	into    []int64
}

// setWord is what is counted of 64 categories.
type setWord struct {
	waiting           [together]uint64
	ones, twos, fours uint64
	eights            [lanes]uint64
}

func newSetCounter(q *client.Question, into []int64) *setCounter {
	c := &setCounter{support: int(q.Support), bytes: int(q.Categories+7) / 8,
		words: make([]setWord, (q.Categories+63)/64), into: into}
	if used := q.Categories % 64; used > 0 {
		c.beyond = ^uint64(0) << used
	}
	return c
}

func (c *setCounter) count(report string) bool {
	if len(report) != c.bytes {
		return false
	}
	held, last := 0, uint64(0)
	for w := range c.words {
		last = c.wordOf(report, w)
		held += bits.OnesCount64(last)
		c.words[w].waiting[c.waiting] = last
	}
	if held != c.support || last&c.beyond != 0 {
		return false // what waits is overwritten
	}
	if c.waiting++; c.waiting == together {
		c.addUp()
	}
	return true
}

// wordOf returns the bits of a set from 64·w on, zeros beyond its end.
func (c *setCounter) wordOf(report string, w int) uint64 {
	if from := 8 * w; from+8 <= len(report) {
		return load(report[from:])
	}
	if len(report) >= 8 {
		return load(report[len(report)-8:]) >> (8 * (8*(w+1) - len(report)))
	}
	var word uint64
	for i := range len(report) {
		word |= uint64(report[i]) << (8 * i)
	}
	return word
}

// load returns the first eight bytes, the least significant first.
func load(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 |
		uint64(b[6])<<48 | uint64(b[7])<<56
}

// sum3 adds up three bits in each of 64 places.
func sum3(a, b, c uint64) (ones, twos uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// addUp adds up eight sets that wait.
func (c *setCounter) addUp() {
	c.waiting = 0
	for i := range c.words {
		w := &c.words[i]
		x := &w.waiting
		var twos, more, fours, rest uint64
		w.ones, twos = sum3(w.ones, x[0], x[1])
		w.ones, more = sum3(w.ones, x[2], x[3])
		w.twos, fours = sum3(w.twos, twos, more)
		w.ones, twos = sum3(w.ones, x[4], x[5])
		w.ones, more = sum3(w.ones, x[6], x[7])
		w.twos, rest = sum3(w.twos, twos, more)
		var eights uint64
		w.fours, eights = sum3(w.fours, fours, rest)
		for j := range w.eights {
			w.eights[j] += eights >> j & lowBits
		}
	}
	if c.carried++; c.carried == mostInLane {
		c.flushEights()
	}
}

// flushEights adds the carries to the tally.
func (c *setCounter) flushEights() {
	c.carried = 0
	for i := range c.words {
		for j, eights := range c.words[i].eights {
			for k := range lanes {
				c.add(i, 8*k+j, int64(eights>>(8*k)&mostInLane)*together)
			}
		}
		c.words[i].eights = [lanes]uint64{}
	}
}

// flush adds everything to the tally.
func (c *setCounter) flush() {
	c.flushEights()
	for i := range c.words {
		w := &c.words[i]
		for bit := range 64 {
			n := w.ones>>bit&1 + 2*(w.twos>>bit&1) + 4*(w.fours>>bit&1)
			for _, set := range w.waiting[:c.waiting] {
				n += set >> bit & 1
			}
			c.add(i, bit, int64(n))
		}
		w.ones, w.twos, w.fours = 0, 0, 0
	}
	c.waiting = 0
}

// add adds to the tally of a category, by its word and its bit. No set holds what is beyond the categories.
func (c *setCounter) add(word, bit int, n int64) {
	if n > 0 {
		c.into[64*word+bit] += n
	}
}
