package main

import (
	"fmt"
	"io"
	"slices"
)

// This file holds the summary of what was made.

// cells is the number of combinations of quarters, adult or not, Hispanic or not and races.
const cells = kinds * 2 * 2 * 63

// The figures of a summary that are single numbers.
const (
	unitBlocks     = iota // blocks with a unit
	facilityBlocks        // blocks with a facility
	aianBlocks            // blocks in areas of American Indians and Alaska Natives
	housingUnits
	minors
	hispanics
	places
	crossingPlaces // places in more than one tract
	figures
)

// summary counts what was made.
type summary struct {
	figures     [figures]int
	areas       [block + 1]int // by level
	quarters    [kinds]int     // persons, by kind of quarters
	races       [64]int        // persons, by race code
	populations []int          // blocks, by number of persons
	cells       [block + 1]int // cells that occur, summed over the areas of a level
}

// merge adds another summary.
func (s *summary) merge(o *summary) {
	add := func(to, from []int) {
		for i, n := range from {
			to[i] += n
		}
	}
	add(s.figures[:], o.figures[:])
	add(s.areas[:], o.areas[:])
	add(s.quarters[:], o.quarters[:])
	add(s.races[:], o.races[:])
	add(s.cells[:], o.cells[:])
	for population, blocks := range o.populations {
		s.addBlocks(population, blocks)
	}
}

// addBlocks counts blocks with the same number of persons.
func (s *summary) addBlocks(population, blocks int) {
	if more := population + 1 - len(s.populations); more > 0 {
		s.populations = append(s.populations, make([]int, more)...)
	}
	s.populations[population] += blocks
}

// counter adds areas to a summary, in the order of their codes.
type counter struct {
	summary
	seenIn [block + 1][cells]int // by level and cell, the number of the last area in which the cell occurred
}

// addBlock counts a block and who lives there.
func (c *counter) addBlock(b area, p people) {
	c.addBlocks(len(p.persons), 1)
	c.figures[unitBlocks] += b.settled
	c.figures[housingUnits] += p.units[0]
	if b.reservation {
		c.figures[aianBlocks]++
	}
	if slices.Max(p.units[1:]) > 0 {
		c.figures[facilityBlocks]++
	}
	for _, one := range p.persons {
		c.addPerson(one)
	}
}

func (c *counter) addPerson(p person) {
	c.quarters[p.quarters]++
	c.races[p.race]++
	cell := 4 * (int(p.quarters)*63 + int(p.race) - 1)
	if p.isHispanic {
		c.figures[hispanics]++
		cell += 2
	}
	if !p.isAdult() {
		c.figures[minors]++
		cell++
	}
	for l := block; l > us && c.seenIn[l][cell] != c.areas[l]; l-- {
		c.seenIn[l][cell] = c.areas[l]
		c.cells[l]++
	}
}

// sum returns the sum of numbers.
func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}

func (s *summary) persons() int { return sum(s.quarters[:]) }

// populated returns the number of blocks with a person.
func (s *summary) populated() int { return s.areas[block] - s.populations[0] }

// percentile returns the number of persons that so many per cent of the blocks with a person do not exceed.
func (s *summary) percentile(percent int) int {
	left, population := (s.populated()*percent+99)/100, 0
	for left > 0 {
		population++
		left -= s.populations[population]
	}
	return population
}

// write writes the summary. Figures in parentheses were observed when the method was first tried, with 900 tracts.
func (s *summary) write(w io.Writer) {
	part := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	mean := func(l level) float64 { return float64(s.cells[l]) / float64(max(s.areas[l], 1)) }
	fmt.Fprintf(w, "%d states, %d counties, %d tracts, %d block groups, %d blocks\n", s.areas[state], s.areas[county],
		s.areas[tract], s.areas[group], s.areas[block])
	fmt.Fprintf(w, "%d blocks with a unit, %d without; %d with a person\n", s.figures[unitBlocks],
		s.areas[block]-s.figures[unitBlocks], s.populated())
	fmt.Fprintf(w, "%d persons, %d housing units\n", s.persons(), s.figures[housingUnits])
	fmt.Fprintf(w, "%d places, %.1f%% of which cross tracts; %.2f%% of blocks in AIAN areas\n", s.figures[places],
		part(s.figures[crossingPlaces], s.figures[places]), part(s.figures[aianBlocks], s.areas[block]))
	fmt.Fprintf(w, "persons per populated block %.1f (59)\n", float64(s.persons())/float64(s.populated()))
	fmt.Fprintf(w, "population of a block, percentiles 5, 25, 50, 75, 95, 99:")
	for _, percent := range []int{5, 25, 50, 75, 95, 99} {
		fmt.Fprintf(w, " %d", s.percentile(percent))
	}
	fmt.Fprintf(w, " (2 9 24 62 228 534)\ncells that occur: per populated block %.1f (6.6 to 7.8), block group %.0f, "+
		"tract %.0f, county %.0f\n", float64(s.cells[block])/float64(s.populated()), mean(group), mean(tract),
		mean(county))
	for _, share := range []struct {
		name     string
		n, of    int
		observed float64
	}{
		{"blocks with a facility", s.figures[facilityBlocks], s.figures[unitBlocks], 3.2},
		{"in group quarters", sum(s.quarters[1:]), s.persons(), 2.5},
		{"minors", s.figures[minors], s.persons(), 21.8},
		{"Hispanic", s.figures[hispanics], s.persons(), 22},
		{"two or more races", sum(s.races[len(raceNames)+1:]), s.persons(), 10.3},
		{"White alone", s.races[1], s.persons(), 53},
		{"Black alone", s.races[2], s.persons(), 16.5},
		{"Asian alone", s.races[4], s.persons(), 8.2},
		{"some other race alone", s.races[6], s.persons(), 10.1},
	} {
		fmt.Fprintf(w, "%s %.1f%% (%.1f%%)\n", share.name, part(share.n, share.of), share.observed)
	}
}
