package main

// This file makes the table that is counted, row by row from a fixed seed.

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

// columns are the counted columns of the table. It also has an age, an income and the number of a person.
var columns = []column{
	{"a", 2}, {"b", 2}, {"c", 3}, {"d", 5}, {"e", 7}, {"f", 9},
	{"g", 15}, {"h", 16}, {"i", 42}, {"j", 51}, {"k", 85}, {"l", 100},
}

// textOf returns the text of a code, of 15 bytes. Codes and their texts sort in the same order.
func (c column) textOf(code int) string { return fmt.Sprintf("%s-category-%04d", c.Name, code) }

// texts returns the texts of a column's codes.
func (c column) texts() []string {
	texts := make([]string, c.Size)
	for code := range texts {
		texts[code] = c.textOf(code)
	}
	return texts
}

// tableVersion numbers the rules by which tables are made: other rules are another version.
const tableVersion = 1

// seed makes the same table everywhere.
const seed = 0x64_7072_656c_6561

// table is a table with this many rows. In the mean, 990 of 1000 rows belong to ordinary persons, of which there are
// 0.33 a row, drawn uniformly, so that a person who occurs has 3.16 rows on average. The others belong to heavy
// persons, with about a hundred rows each. In each column a person has, with probability one half, one value for all
// rows; otherwise each row has its own. Values follow Zipf's law: code i has a probability in proportion to 1/(i+1).
type table struct {
	rows  int
	first uint32 // number of the first person
}

func (t table) heavyPersons() int { return max(1, t.rows/10_000) }
func (t table) allPersons() int   { return t.heavyPersons() + max(1, t.rows*33/100) }

// block is a block of rows as they are made.
type block struct {
	person []uint32 // from 0; heavy persons first
	codes  [][]uint8
}

// personNumber returns the number of a person in the table: the numbers are distinct and in no order.
func personNumber(person uint32) int64 { return int64(scatter(uint64(person) ^ seed)) }

// blockRows is how many rows are made at a time.
const blockRows = 1 << 16

// makeRows calls visit with the rows of the table, block by block. They depend on the number of rows alone.
func (t table) makeRows(visit func(*block) error) error {
	source := rand.NewPCG(seed, tableVersion)
	laws := make([]law, len(columns))
	for c := range laws {
		laws[c] = zipfLaw(columns[c].Size)
	}
	b := &block{person: make([]uint32, blockRows), codes: make([][]uint8, len(columns))}
	for c := range b.codes {
		b.codes[c] = make([]uint8, blockRows)
	}
	heavy, all := uint64(t.heavyPersons()), uint64(t.allPersons())
	r := rand.New(source)
	for left := t.rows; left > 0; left -= len(b.person) {
		rows := min(left, blockRows)
		b.person = b.person[:rows]
		for i := range rows {
			from, to := heavy, all
			if r.Uint64N(100) == 0 {
				from, to = 0, heavy
			}
			b.person[i] = t.first + uint32(from+r.Uint64N(to-from))
		}
		for c, law := range laws {
			b.codes[c] = b.codes[c][:rows]
			for i, person := range b.person {
				trait := scatter(uint64(person)<<8 ^ uint64(c) ^ seed)
				fresh := source.Uint64()
				if trait&1 == 0 {
					fresh = scatter(trait)
				}
				b.codes[c][i] = law.codeFor(fresh)
			}
		}
		if err := visit(b); err != nil {
			return err
		}
	}
	return nil
}

// scatter is a bijection of 64 bits that scatters them (SplitMix64; Steele, Lea and Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// law is a distribution of codes: bounds[i] of 2^32 words lead to a code of at most i.
type law struct{ bounds []uint32 }

// zipfLaw gives code i of n a probability in proportion to 1/(i+1).
func zipfLaw(n int) law {
	const whole = 1 << 32
	var sum float64
	for i := range n {
		sum += 1 / float64(i+1)
	}
	l := law{bounds: make([]uint32, n-1)}
	var part float64
	for i := range l.bounds {
		part += 1 / float64(i+1)
		l.bounds[i] = uint32(part / sum * whole)
	}
	return l
}

// codeFor returns the code that a uniform word leads to.
func (l law) codeFor(word uint64) uint8 {
	w := uint32(word >> 32)
	return uint8(sort.Search(len(l.bounds), func(i int) bool { return w < l.bounds[i] }))
}
