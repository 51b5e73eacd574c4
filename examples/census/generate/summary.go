package main

import (
	"fmt"
	"io"
	"slices"
)

// This file holds the summary of what was made.

// cells is the number of combinations of quarters, adult or not, Hispanic or not and races.
const cells = kinds * 2 * 2 * 63

// summary counts what was made.
type summary struct {
	areas        [block + 1]int // by level
	settled      int            // blocks with a unit
	withFacility int
	reservations int
	housing      int
	persons      int
	in           [kinds]int // persons by kind of quarters
	minors       int
	hispanic     int
	byRace       [64]int        // by race code
	populations  []int          // blocks by number of persons
	cells        [block + 1]int // combinations that occur, summed over the areas of a level
	places, cut  int            // places, and those in more than one tract
}

// merge adds another summary.
func (s *summary) merge(o *summary) {
	for _, pair := range [][2][]int{{s.areas[:], o.areas[:]}, {s.in[:], o.in[:]}, {s.byRace[:], o.byRace[:]},
		{s.cells[:], o.cells[:]}} {
		for i, n := range pair[1] {
			pair[0][i] += n
		}
	}
	for population, blocks := range o.populations {
		s.addBlocks(population, blocks)
	}
	s.settled, s.withFacility, s.reservations = s.settled+o.settled, s.withFacility+o.withFacility,
		s.reservations+o.reservations
	s.housing, s.persons, s.minors, s.hispanic = s.housing+o.housing, s.persons+o.persons, s.minors+o.minors,
		s.hispanic+o.hispanic
	s.places, s.cut = s.places+o.places, s.cut+o.cut
}

// addBlocks counts blocks with the same number of persons.
func (s *summary) addBlocks(population, blocks int) {
	if more := population + 1 - len(s.populations); more > 0 {
		s.populations = append(s.populations, make([]int, more)...)
	}
	s.populations[population] += blocks
}

// counter adds areas to a summary, in the order in which they lie.
type counter struct {
	summary
	seenIn [block + 1][cells]int // the last area of a level in which a combination occurred, as areas are counted
}

// addBlock counts a block and who lives there.
func (c *counter) addBlock(b area, p people) {
	c.addBlocks(len(p.persons), 1)
	c.settled += b.settled
	if b.reservation {
		c.reservations++
	}
	c.housing += p.units[0]
	if slices.Max(p.units[1:]) > 0 {
		c.withFacility++
	}
	for _, one := range p.persons {
		c.addPerson(one)
	}
}

func (c *counter) addPerson(p person) {
	c.persons++
	c.in[p.quarters]++
	c.byRace[p.race]++
	cell := int(p.quarters)*63 + int(p.race) - 1
	if cell *= 2; p.isHispanic {
		c.hispanic++
		cell++
	}
	if cell *= 2; p.isAdult() {
		cell++
	} else {
		c.minors++
	}
	for l := block; l > us && c.seenIn[l][cell] != c.areas[l]; l-- {
		c.seenIn[l][cell] = c.areas[l]
		c.cells[l]++
	}
}

// populated returns the number of blocks with a person.
func (s *summary) populated() int { return s.areas[block] - s.populations[0] }

// percentile returns the number of persons that so many per cent of the blocks with a person do not exceed.
func (s *summary) percentile(percent int) int {
	left := (s.populated()*percent + 99) / 100
	for population, blocks := range s.populations[1:] {
		if left -= blocks; left <= 0 {
			return population + 1
		}
	}
	return len(s.populations) - 1
}

// inGroupQuarters returns the number of persons who do not live in a household.
func (s *summary) inGroupQuarters() int { return s.persons - s.in[0] }

// severalRaces returns the number of persons who state two or more races.
func (s *summary) severalRaces() int {
	sum := 0
	for _, n := range s.byRace[len(raceNames)+1:] {
		sum += n
	}
	return sum
}

// write writes the summary. What follows "recipe" was observed when the method was first tried.
func (s *summary) write(w io.Writer) {
	part := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	mean := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	fmt.Fprintf(w, "states %d, counties %d, tracts %d, block groups %d, blocks %d\n", s.areas[state], s.areas[county],
		s.areas[tract], s.areas[group], s.areas[block])
	fmt.Fprintf(w, "blocks with a unit %d, without %d; with a person %d\n", s.settled, s.areas[block]-s.settled,
		s.populated())
	fmt.Fprintf(w, "persons %d, housing units %d\n", s.persons, s.housing)
	fmt.Fprintf(w, "places %d, of which cross tracts %.1f%%; blocks in AIAN areas %.2f%%\n", s.places,
		part(s.cut, s.places), part(s.reservations, s.areas[block]))
	fmt.Fprintf(w, "persons per populated block %.1f (recipe: 59)\n", mean(s.persons, s.populated()))
	fmt.Fprintf(w, "population of a block, p5/25/50/75/95/99: %d/%d/%d/%d/%d/%d (recipe: 2/9/24/62/228/534)\n",
		s.percentile(5), s.percentile(25), s.percentile(50), s.percentile(75), s.percentile(95), s.percentile(99))
	fmt.Fprintf(w, "cells that occur, per populated block %.1f (recipe: 6.6 to 7.8), block group %.0f, tract %.0f, "+
		"county %.0f\n", mean(s.cells[block], s.populated()), mean(s.cells[group], s.areas[group]),
		mean(s.cells[tract], s.areas[tract]), mean(s.cells[county], s.areas[county]))
	fmt.Fprintf(w, "blocks with a facility, of those with a unit %.1f%% (recipe: 3.2%%)\n",
		part(s.withFacility, s.settled))
	for _, row := range []struct {
		name   string
		count  int
		recipe string
	}{
		{"in group quarters", s.inGroupQuarters(), "2.5%"}, {"minors", s.minors, "21.8%"},
		{"Hispanic", s.hispanic, "22%"}, {"two or more races", s.severalRaces(), "10.3%"},
		{"White alone", s.byRace[1], "53%"}, {"Black alone", s.byRace[2], "16.5%"},
		{"Asian alone", s.byRace[4], "8.2%"}, {"some other race alone", s.byRace[6], "10.1%"},
	} {
		fmt.Fprintf(w, "%s %.1f%% (recipe: %s)\n", row.name, part(row.count, s.persons), row.recipe)
	}
}
