package main

// This file holds the table that is counted: made up row by row from a fixed seed.

import (
	"fmt"
	"math/rand/v2"
	"sort"
)

// column is a column of categories.
type column struct {
	Name string
	Size int
}

// columns are the columns of the table that are counted. Beside them it has an age,
// an income and the number of a person.
var columns = []column{
	{"a", 2}, {"b", 2}, {"c", 3}, {"d", 5}, {"e", 7}, {"f", 9},
	{"g", 15}, {"h", 16}, {"i", 42}, {"j", 51}, {"k", 85}, {"l", 100},
}

// value is the text of a code, of 15 bytes. Codes sort as their texts do.
func (c column) value(code int) string { return fmt.Sprintf("%s-category-%04d", c.Name, code) }

// values are the texts of a column's codes.
func (c column) values() []string {
	texts := make([]string, c.Size)
	for code := range texts {
		texts[code] = c.value(code)
	}
	return texts
}

// version is that of the law by which tables are made: another law is another version.
const version = 1

// seed makes the same table everywhere.
const seed = 0x64_7072_656c_6561

// table is made of this many rows. Nine hundred and ninety of a thousand belong to
// persons of which there are 0.33 a row, drawn uniformly, so that persons that occur have
// 3.16 rows on average; the others to heavy persons, about a hundred rows each. In a
// column a person has, with probability one half, one value for all rows; else each row
// has its own. Values follow Zipf's law: code i has a probability in proportion to 1/(i+1).
type table struct{ rows int }

func (t table) heavy() int   { return max(1, t.rows/10_000) }
func (t table) persons() int { return t.heavy() + max(1, t.rows*33/100) }

// block is rows of a table as they are made.
type block struct {
	person []uint32 // from 0; heavy persons first
	codes  [][]uint8
}

// id is the number of a person as it stands in the table: all differ, in no order.
func id(person uint32) int64 { return int64(mix(uint64(person) ^ seed)) }

// blockRows is how many rows are made at a time.
const blockRows = 1 << 16

// make hands the rows of the table to visit, block by block. What is made depends on the
// number of rows alone.
func (t table) make(visit func(*block) error) error {
	source := rand.NewPCG(seed, version)
	laws := make([]law, len(columns))
	for c := range laws {
		laws[c] = zipf(columns[c].Size)
	}
	b := &block{person: make([]uint32, blockRows), codes: make([][]uint8, len(columns))}
	for c := range b.codes {
		b.codes[c] = make([]uint8, blockRows)
	}
	heavy, all := uint64(t.heavy()), uint64(t.persons())
	r := rand.New(source)
	for left := t.rows; left > 0; left -= len(b.person) {
		rows := min(left, blockRows)
		b.person = b.person[:rows]
		for i := range rows {
			from, to := heavy, all
			if r.Uint64N(100) == 0 {
				from, to = 0, heavy
			}
			b.person[i] = uint32(from + r.Uint64N(to-from))
		}
		for c, law := range laws {
			b.codes[c] = b.codes[c][:rows]
			for i, person := range b.person {
				trait := mix(uint64(person)<<8 ^ uint64(c) ^ seed)
				fresh := source.Uint64()
				if trait&1 == 0 {
					fresh = mix(trait)
				}
				b.codes[c][i] = law.code(fresh)
			}
		}
		if err := visit(b); err != nil {
			return err
		}
	}
	return nil
}

// mix is a bijection of 64 bits that scatters them (SplitMix64; Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// law is a distribution of codes: above[i] of 2^32 words lead to a code of at most i.
type law struct{ above []uint32 }

// zipf gives code i of n a probability in proportion to 1/(i+1).
func zipf(n int) law {
	const whole = 1 << 32
	var sum float64
	for i := range n {
		sum += 1 / float64(i+1)
	}
	l := law{above: make([]uint32, n-1)}
	var part float64
	for i := range l.above {
		part += 1 / float64(i+1)
		l.above[i] = uint32(part / sum * whole)
	}
	return l
}

// code is the code that a uniform word leads to.
func (l law) code(word uint64) uint8 {
	w := uint32(word >> 32)
	return uint8(sort.Search(len(l.above), func(i int) bool { return w < l.above[i] }))
}
