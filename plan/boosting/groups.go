package boosting

// This file holds the groups of a round, which a public seed draws.

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Partition returns the group of each category of the column of a round that sums residuals, from the noisy counts of
// its categories. Groups of an ordered column are of adjacent categories. They have about equal sums of roots of
// counts: with equal counts, all rare categories would share one group.
//
// It is public: it depends on the seed, the round and noisy counts. Other rounds have other groups.
func (s *Shape) Partition(round int, counts []int64) []int {
	column := s.Columns[s.Column(round)]
	bits := newStream(s.Seed, round)
	order := make([]int, column.Categories)
	for i := range order {
		order[i] = i
	}
	groups := make([]int, column.Categories)
	if len(order) <= s.Groups {
		return order
	}
	if !column.Ordered {
		for i := len(order) - 1; i > 0; i-- {
			j := bits.below(i + 1)
			order[i], order[j] = order[j], order[i]
		}
	}
	total := 0.0
	for _, n := range counts {
		total += weight(n)
	}
	// A cut between two groups lies within half a group of where it would be if all groups had the same weight.
	cuts := make([]float64, s.Groups-1)
	for i := range cuts {
		cuts[i] = float64(total*(float64(i)+.5+float64(bits.unit()))) / float64(s.Groups)
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
