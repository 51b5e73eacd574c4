package main

import "fmt"

// This file holds places: towns and cities, which do not keep to the boundaries of tracts.

const (
	withoutPlace = .69 // of tracts, as far as no place of an earlier tract reaches into them
	crossing     = .3  // of places
)

// placesOf draws the places of a county, and calls do for each block in a place, in order. A place is a run of
// neighbouring blocks, within a tract or across the boundaries of tracts. No block is in two places.
func (n nation) placesOf(county area, tracts [][]area, do func(place string, b area)) {
	r := newStream(n.seed, "places", county.code)
	count, from := 0, 0 // from is the first block of the tract that no place reaches
	for at := 0; at < len(tracts); {
		free := tracts[at][from:]
		if len(free) == 0 || r.chance(withoutPlace) {
			at, from = at+1, 0
			continue
		}
		count++
		name := fmt.Sprintf("%s-%04d", county.code, count)
		cover := func(blocks []area) {
			for _, b := range blocks {
				do(name, b)
			}
		}
		if at == len(tracts)-1 || !r.chance(crossing) {
			start, end := r.run(len(free))
			cover(free[start:end])
			from += end
			continue
		}
		cover(free[r.IntN(len(free)):])
		for at++; at < len(tracts)-1 && r.chance(.5); at++ {
			cover(tracts[at])
		}
		from = 1 + r.IntN(len(tracts[at]))
		cover(tracts[at][:from])
	}
}
