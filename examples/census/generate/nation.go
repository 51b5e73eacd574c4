package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the areas of the nation, from the whole down to the block.

// level is a level of the geographic hierarchy.
type level int

const (
	us level = iota
	state
	county
	tract
	group // block group
	block
)

var levelNames = [...]string{us: "us", state: "state", county: "county", tract: "tract", group: "bg", block: "block"}

// area is an area and what it consists of. The area above it divides what it has among its parts, and needs only its
// own stream to do so. A part of the nation is therefore the same whether or not the rest is made.
type area struct {
	level level
	code  string

	states, counties, tracts, groups int
	settled                          int // blocks with housing units
	empty                            int // blocks without a unit
	persons                          int // in households

	hasReservations bool // in a state with areas of American Indians and Alaska Natives
	reservation     bool // a block in such an area

	// composition is the logarithm of the factors by which the shares of the races, and of Hispanics, differ from the
	// national ones.
	composition [len(spread)]float64
}

// The nation at full scale.
const (
	fullStates, fullCounties = 51, 3143
	fullTracts, fullGroups   = 84_414, 239_780
	fullSettled, fullBlocks  = 5_900_000, 8_132_968
	fullPersons, fullInGQ    = 331_449_281, 8_239_016
	statesWithReservations   = 36

	// The nation at 1/1000 has this many states and counties: with a thousandth of them there would be no hierarchy.
	smallStates, smallCounties = 3, 12
)

// spread holds the standard deviations of the composition's logarithms: White, Black, American Indian and Alaska
// Native, Asian, Native Hawaiian and Pacific Islander, some other race, Hispanic.
var spread = [...]float64{.5, 1, .9, .9, .8, .5, .9}

// levelSpread holds, by level, the factor of the spread among the areas in one area of the level above.
var levelSpread = [...]float64{us: 0, state: .7, county: .7, tract: .7, group: .35, block: .35}

// nation makes areas from a seed.
type nation struct {
	seed uint64
	nth  int    // the scale is 1/nth
	only string // the code of the area that is made; by default all are
}

// whole returns the area of the nation. Persons, tracts and what is below are proportional to the scale. The numbers of
// states and counties are interpolated between 1 and 1/1000 with a constant factor.
func (n nation) whole() area {
	proportional := func(full int) int { return int(float64(full)/float64(n.nth) + .5) }
	steps := budget.Log(float64(n.nth)) / budget.Log(1000)
	interpolated := func(full, small float64) int {
		return int(float64(full*budget.Exp(float64(steps*budget.Log(small/full)))) + .5)
	}
	a := area{level: us, code: levelNames[us]}
	a.states = max(interpolated(fullStates, smallStates), 1)
	a.counties = max(interpolated(fullCounties, smallCounties), a.states)
	a.tracts = max(proportional(fullTracts), a.counties)
	a.groups = max(proportional(fullGroups), a.tracts)
	a.settled = max(proportional(fullSettled), leastBlocks*a.groups)
	a.empty = proportional(fullBlocks - fullSettled)
	a.persons = max(proportional(fullPersons-fullInGQ), a.settled)
	return a
}

// leastBlocks is the number of blocks with housing units that each block group has at least.
const leastBlocks = 2

// concerns reports whether an area belongs to what is made, or contains it.
func (n nation) concerns(a area) bool {
	return strings.HasPrefix(a.code, n.only) || strings.HasPrefix(n.only, a.code)
}

// contains reports whether an area belongs to what is made.
func (n nation) contains(a area) bool { return strings.HasPrefix(a.code, n.only) }

// walk calls do for an area and all areas in it that are made, each before its parts, in the order of their codes.
func (n nation) walk(a area, do func(area)) {
	if n.contains(a) {
		do(a)
	}
	if a.level == block {
		return
	}
	for _, part := range n.parts(a) {
		if n.concerns(part) {
			n.walk(part, do)
		}
	}
}

// codeDigits holds how many digits the codes of a level have, of which the first are the codes of the areas above.
var codeDigits = [...]int{us: 0, state: 2, county: 5, tract: 11, group: 12, block: 15}

// in returns the code of the area of a level that an area is in.
func (a *area) in(l level) string { return a.code[:codeDigits[l]] }

// parts returns the areas of the next level that an area consists of.
func (n nation) parts(a area) []area {
	r := n.streamOf(&a)
	switch a.level {
	case us:
		return a.splitNation(r)
	case state:
		return a.splitState(r)
	case county:
		return a.splitCounty(r)
	case tract:
		return a.splitTract(r)
	}
	return a.splitGroup(r)
}

// streamOf returns the stream of an area after it has drawn the area's composition.
func (n nation) streamOf(a *area) *stream {
	r := newStream(n.seed, levelNames[a.level], a.code)
	for i, s := range spread {
		a.composition[i] += float64(levelSpread[a.level] * s * r.normal())
	}
	return r
}

// newParts returns the parts of an area. Their codes count in steps.
func (a *area) newParts(count, step int) []area {
	parts := make([]area, count)
	prefix, digits := a.in(a.level), codeDigits[a.level+1]-codeDigits[a.level]
	for i := range parts {
		parts[i] = area{level: a.level + 1, code: fmt.Sprintf("%s%0*d", prefix, digits, (i+1)*step),
			hasReservations: a.hasReservations, composition: a.composition}
	}
	return parts
}

// splitNation makes the states, the largest first.
func (a *area) splitNation(r *stream) []area {
	states := a.newParts(a.states, 1)
	weights := r.lognormals(a.states, 1)
	slices.SortFunc(weights, func(x, y float64) int { return cmp.Compare(y, x) })
	many, odds := make([]float64, a.states), make([]float64, a.states)
	for i := range many {
		many[i] = min(max(r.lognormal(.8), 1./62), 254./62)
		share := min(max(float64(.27*r.lognormal(.35)), .14), .65)
		odds[i] = share / (1 - share)
	}
	counties := split(a.counties, repeated(1, a.states), many)
	tracts := split(a.tracts, counties, weights)
	groups := split(a.groups, tracts, weighted(tracts, repeated(1., a.states)))
	a.assign(states, tracts, groups, repeated(1., a.states), odds, weights)
	for i := range states {
		states[i].counties = counties[i]
		before, after := i*statesWithReservations/fullStates, (i+1)*statesWithReservations/fullStates
		states[i].hasReservations = after > before
	}
	return states
}

// assign gives parts their tracts and block groups, and divides blocks and persons among them.
func (a *area) assign(parts []area, tracts, groups []int, dense, emptyOdds, weights []float64) {
	settled := split(a.settled, scaled(leastBlocks, groups), weighted(groups, dense))
	empty := split(a.empty, repeated(0, len(parts)), weighted(settled, emptyOdds))
	persons := split(a.persons, settled, weights)
	for i := range parts {
		p := &parts[i]
		p.tracts, p.groups, p.settled, p.empty, p.persons = tracts[i], groups[i], settled[i], empty[i], persons[i]
	}
}

func (a *area) splitState(r *stream) []area {
	counties := a.newParts(a.counties, 1)
	weights := r.lognormals(a.counties, 1.65)
	same := repeated(1., a.counties)
	tracts := split(a.tracts, repeated(1, a.counties), weights)
	groups := split(a.groups, tracts, weighted(tracts, same))
	a.assign(counties, tracts, groups, same, same, weights)
	return counties
}

func (a *area) splitCounty(r *stream) []area {
	tracts := a.newParts(a.tracts, 100)
	weights, dense := r.lognormals(a.tracts, .42), r.lognormals(a.tracts, .5)
	a.assign(tracts, repeated(1, a.tracts), r.groupsOfTracts(a.groups, a.tracts), dense, repeated(1., a.tracts),
		weights)
	return tracts
}

// groupsOfTracts draws how many block groups each tract has, and then changes some of them by one until they add up to
// the total. The code of a block group has one digit, so a tract has at most nine.
func (r *stream) groupsOfTracts(total, tracts int) []int {
	groups := make([]int, tracts)
	for i := range groups {
		groups[i] = 1 + r.IntN(4)
		if r.chance(.3) {
			groups[i]++
		}
		total -= groups[i]
	}
	for total != 0 {
		switch g := &groups[r.IntN(tracts)]; {
		case total > 0 && *g < 9:
			*g++
			total--
		case total < 0 && *g > 1:
			*g--
			total++
		}
	}
	return groups
}

func (a *area) splitTract(r *stream) []area {
	groups := a.newParts(a.groups, 1)
	weights, dense := r.lognormals(a.groups, .4), r.lognormals(a.groups, .75)
	for i := range dense {
		dense[i] = min(dense[i], 8)
	}
	a.assign(groups, repeated(0, a.groups), repeated(1, a.groups), dense, repeated(1., a.groups), weights)
	return groups
}

// splitGroup makes the blocks of a block group. One in 200 blocks with housing units has no person. The first in random
// order always has one.
func (a *area) splitGroup(r *stream) []area {
	blocks := a.newParts(a.settled+a.empty, 1)
	order := r.Perm(len(blocks))
	weights, least := make([]float64, len(blocks)), make([]int, len(blocks))
	for rank, i := range order[:a.settled] {
		blocks[i].settled = 1
		if rank == 0 || !r.chance(.005) {
			weights[i], least[i] = r.lognormal(1.1), 1
		}
	}
	for i, persons := range split(a.persons, least, weights) {
		blocks[i].persons = persons
	}
	if a.hasReservations && r.chance(.08) { // a run is a quarter of the blocks on average: 2 % of all
		from, to := r.run(len(blocks))
		for i := range blocks[from:to] {
			blocks[from+i].reservation = true
		}
	}
	return blocks
}
