package boosting

// This file holds the groups of a round, which a public seed draws.

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// Partition returns the group of each category of the column or pair of a round that sums residuals, from the noisy
// counts of the categories of each column. Groups of an ordered column are of adjacent categories. They have about
// equal sums of roots of counts: with equal counts, all rare categories would share one group. The groups of a pair are
// the cells of a grid: all combinations of a group of one column and a group of the other.
//
// It is public: it depends on the seed, the round and noisy counts. Other rounds have other groups.
func (s *Shape) Partition(round int, counts [][]int64) []int {
	bits, at := newStream(s.Seed, round), s.Column(round)
	pair, ok := s.Pair(at)
	if !ok {
		return bits.divide(s.Columns[at], s.Groups, counts[at])
	}
	first, second := s.Columns[pair[0]], s.Columns[pair[1]]
	rows, columns := bits.grid(s.Groups, first.Categories, second.Categories)
	across := bits.divide(second, columns, counts[pair[1]])
	width := slices.Max(across) + 1
	var groups []int
	for _, row := range bits.divide(first, rows, counts[pair[0]]) {
		for _, column := range across {
			groups = append(groups, row*width+column)
		}
	}
	return groups
}

// grid draws into how many groups the first and the second column of a pair are divided, by their numbers of
// categories: one of them into two, the other into half as many as there may be, or more if one has fewer categories.
func (x *stream) grid(most, first, second int) (rows, columns int) {
	rows = 2
	if x.below(2) == 1 {
		rows = max(most/2, 1)
	}
	rows = min(rows, first)
	columns = min(most/rows, second)
	return min(most/columns, first), columns
}

// divide draws the group of each category of a column, by noisy counts: as many groups as given, or fewer.
func (x *stream) divide(column Column, wanted int, counts []int64) []int {
	order := make([]int, column.Categories)
	for i := range order {
		order[i] = i
	}
	groups := make([]int, column.Categories)
	if len(order) <= wanted {
		return order
	}
	if !column.Ordered {
		for i := len(order) - 1; i > 0; i-- {
			j := x.below(i + 1)
			order[i], order[j] = order[j], order[i]
		}
	}
	total := 0.0
	for _, n := range counts {
		total += weight(n)
	}
	// A cut between two groups lies within half a group of where it would be if all groups had the same weight.
	cuts := make([]float64, wanted-1)
	for i := range cuts {
		cuts[i] = float64(total*(float64(i)+.5+float64(x.unit()))) / float64(wanted)
	}
	next, group, passed, sum := 0, -1, -1, 0.0
	for _, k := range order {
		w := weight(counts[k])
		for next < len(cuts) && cuts[next] <= sum+float64(w/2) {
			next++
		}
		if next != passed {
			group, passed = group+1, next
		}
		groups[k] = group
		sum += w
	}
	return groups
}

// weight returns the weight of a category in a partition, which is positive.
func weight(count int64) float64 { return 1 + math.Sqrt(float64(max(count, 0))) }

// stream is the public random numbers of a round: SHA-256 of seed, round and block.
type stream struct {
	of    [48]byte
	block uint64
	rest  []byte
}

// newStream returns the stream of a round.
func newStream(seed [32]byte, round int) *stream {
	x := &stream{}
	copy(x.of[:], seed[:])
	binary.BigEndian.PutUint64(x.of[32:], uint64(round))
	return x
}

// word returns the next 32 bits.
func (x *stream) word() uint32 {
	if len(x.rest) == 0 {
		binary.BigEndian.PutUint64(x.of[40:], x.block)
		digest := sha256.Sum256(x.of[:])
		x.rest = digest[:]
		x.block++
	}
	w := binary.BigEndian.Uint32(x.rest)
	x.rest = x.rest[4:]
	return w
}

// unit returns a number in [0, 1).
func (x *stream) unit() float64 { return float64(float64(x.word()) / (1 << 32)) }

// below returns an integer from 0 to n−1. Its law is uniform to within n/2³².
func (x *stream) below(n int) int { return int(uint64(x.word()) * uint64(n) >> 32) }
