package main

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the 63 sets of races, and how common they are.

// raceNames are the six races of which a person states one or more.
var raceNames = [...]string{"White", "Black", "American Indian and Alaska Native", "Asian",
	"Native Hawaiian and Pacific Islander", "Some other race"}

// raceSet is a set of races: bit i is race i.
type raceSet uint8

// raceSets are the sets, ordered by the number of races and then by the races. A race code is the place in this list,
// from 1.
var raceSets = listRaceSets()

func listRaceSets() []raceSet {
	var sets []raceSet
	for s := raceSet(1); s < 1<<len(raceNames); s++ {
		sets = append(sets, s)
	}
	slices.SortFunc(sets, func(a, b raceSet) int {
		if d := a.size() - b.size(); d != 0 {
			return d
		}
		return int(bits.Reverse8(uint8(b))) - int(bits.Reverse8(uint8(a)))
	})
	return sets
}

func (s raceSet) size() int { return bits.OnesCount8(uint8(s)) }

// String returns the names of the races.
func (s raceSet) String() string {
	var names []string
	for i, name := range raceNames {
		if s>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "; ")
}

// The national shares, approximately those of 2020: of all persons who state the races, and of Hispanics among them.
const (
	white raceSet = 1 << iota
	black
	american
	asian
	pacific
	other
)

var shareOfAll = map[raceSet]float64{
	white: .616, black: .124, american: .011, asian: .060, pacific: .002, other: .084,
	white | other: .058, white | american: .012, white | black: .0093, white | asian: .0082, black | other: .0031,
	white | pacific: .0006, black | american: .0008, black | asian: .0006, black | pacific: .0002,
	american | asian: .0002, american | pacific: .0001, american | other: .0012, asian | pacific: .0006,
	asian | other: .0007, pacific | other: .0002,
}

var shareHispanic = map[raceSet]float64{
	white: .062, black: .03, american: .39, asian: .02, pacific: .08, other: .94, white | other: .9,
}

// share returns the national share of a set of races, and of Hispanics among these persons.
func (s raceSet) share() (ofAll, hispanic float64) {
	ofAll, isListed := shareOfAll[s]
	switch {
	case isListed:
	case s.size() > 3:
		ofAll = .0007 / 22
	case s&white > 0:
		ofAll = .0006
	default:
		ofAll = .0001
	}
	hispanic, isListed = shareHispanic[s]
	switch {
	case isListed:
	case s&other > 0:
		hispanic = .5
	default:
		hispanic = .06
	}
	return ofAll, hispanic
}

// origin is a person's race code and whether the person is Hispanic.
type origin struct {
	race       uint8
	isHispanic bool
}

// baseShares holds the national shares of the 126 origins: not Hispanic and Hispanic, of each set of races in turn.
var baseShares = listBaseShares()

func listBaseShares() []float64 {
	var shares []float64
	for _, s := range raceSets {
		all, hispanic := s.share()
		shares = append(shares, float64(all*(1-hispanic)), float64(all*hispanic))
	}
	return shares
}

// origins is a distribution of origins: cumulative sums of weights.
type origins [126]float64

// newOrigins returns the distribution of a composition. A set of races has its national share, times the geometric mean
// of the factors of its races, and for Hispanics times theirs.
func newOrigins(composition [len(spread)]float64) *origins {
	var roots [len(raceNames) + 1][len(raceNames)]float64 // by number of races: the root of each factor
	for size := 1; size <= len(raceNames); size++ {
		for i := range raceNames {
			roots[size][i] = budget.Exp(composition[i] / float64(size))
		}
	}
	hispanic := budget.Exp(composition[len(raceNames)])
	o := new(origins)
	var sum float64
	for i, s := range raceSets {
		factor := 1.
		for races, of := s, &roots[s.size()]; races != 0; races &= races - 1 {
			factor *= of[bits.TrailingZeros8(uint8(races))]
		}
		sum += float64(baseShares[2*i] * factor)
		o[2*i] = sum
		sum += float64(baseShares[2*i+1] * factor * hispanic)
		o[2*i+1] = sum
	}
	return o
}

// draw draws an origin.
func (o *origins) draw(r *stream) origin {
	at, _ := slices.BinarySearch(o[:len(o)-1], r.Float64()*o[len(o)-1])
	return origin{race: uint8(at/2 + 1), isHispanic: at%2 == 1}
}
