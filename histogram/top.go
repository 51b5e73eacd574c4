package histogram

// This file holds the answer to a top selection: the cells with the largest counts, as far as private choices find
// them, and their counts with noise.

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"sort"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/selection"
)

// topCells returns the chosen cells of an answer, in the order of their choice, and their counts with the noise of
// its measurement. Cells without rows are candidates like any other: all of them have the score 0, and none is
// visited.
//
// Guarantee: each choice has the law of its mechanism among all cells that are left, with the cells' counts as
// scores, by bits of its own; what is added to the counts of the chosen ones is the noise of the measurement, by
// others. So all of it loses what the choices and the noise lose, composed ([selection.Top]). Neighbours: those of
// the sensitivities. Argument: docs/proofs/topk.md.
//
// The time that it takes depends on the counts and must never be shown.
func (x *opened) topCells(ctx context.Context, a exactAnswer) (measured.Measured, error) {
	if !a.Ascending(uint64(a.measurement.Cells)) {
		return measured.Measured{}, parallel.ErrBug
	}
	r, err := newRanks(a)
	if err != nil {
		return measured.Measured{}, err
	}
	for round := range int(a.measurement.Selection.(selection.Top).Of) {
		if err := ctx.Err(); err != nil {
			return measured.Measured{}, err
		}
		if err := r.chooseCell(x.streams.Selection(a.definition, a.hash, round)); err != nil {
			return measured.Measured{}, err
		}
	}
	cells := r.chosenCells(a)
	own := exactAnswer{measurement: a.measurement, definition: a.definition, hash: a.hash,
		Answer: answer.Answer{Counts: make([]int64, len(cells))}}
	for i, cell := range cells {
		if at, filled := slices.BinarySearch(a.Cells, cell); filled {
			own.Counts[i] = a.Counts[at]
		}
	}
	noisy, err := x.addNoise(ctx, own)
	if err != nil {
		return measured.Measured{}, err
	}
	return measured.Measured{Measurement: a.measurement, Values: int64Array(noisy), Cells: cells}, nil
}

// ranks is the cells of an answer by their counts, and the cells that were chosen.
type ranks struct {
	*noise.Ranking
	classes []noise.Class
	taken   [][]uint64   // by class, the chosen of its cells, ascending
	chosen  []chosenCell // in the order of their choice
}

// chosenCell is the cell with index place in its class, in ascending order of cells.
type chosenCell struct {
	class int
	place uint64
}

// newRanks returns an error if the measurement's mechanism of choice is unknown.
func newRanks(a exactAnswer) (*ranks, error) {
	c := a.measurement.Selection.(selection.Top)
	classes := classesOf(a)
	r := &ranks{classes: classes, taken: make([][]uint64, len(classes))}
	var err error
	switch c.Select.Kind {
	case budget.ExponentialMechanism:
		r.Ranking, err = noise.NewExponential(classes, c.Select.Parameter, big.NewInt(c.Sensitivity), c.Monotone)
	case budget.PermuteAndFlip:
		r.Ranking, err = noise.NewPermuteAndFlip(classes, c.Select.Parameter, big.NewInt(c.Sensitivity), c.Monotone)
	default:
		err = fmt.Errorf("there is no choice by the mechanism %q", c.Select.Kind)
	}
	return r, err
}

// fewRows is the count below which cells are counted by class without a map.
const fewRows = 1 << 12

// classesOf returns the counts of all cells, descending, and how many cells have each count.
func classesOf(a exactAnswer) []noise.Class {
	small, large := make([]uint64, fewRows), map[int64]uint64{}
	small[0] = uint64(a.measurement.Cells) - uint64(len(a.Cells))
	for _, count := range a.Counts {
		if count >= 0 && count < fewRows {
			small[count]++
		} else {
			large[count]++
		}
	}
	var classes []noise.Class
	for count, n := range large {
		classes = append(classes, noise.Class{Score: count, Candidates: n})
	}
	for count, n := range small {
		if n > 0 {
			classes = append(classes, noise.Class{Score: int64(count), Candidates: n})
		}
	}
	slices.SortFunc(classes, func(a, b noise.Class) int { return cmp.Compare(b.Score, a.Score) })
	return classes
}

// chooseCell makes one choice.
func (r *ranks) chooseCell(b *noise.Bits) error {
	class, place := r.Take(b)
	if class < 0 {
		return parallel.ErrBug // there are more cells than choices
	}
	place = nthNotIn(r.taken[class], place)
	at, _ := slices.BinarySearch(r.taken[class], place)
	r.taken[class] = slices.Insert(r.taken[class], at, place)
	r.chosen = append(r.chosen, chosenCell{class, place})
	return nil
}

// nthNotIn returns the number that is not in an ascending list and has n smaller numbers that are not in it.
func nthNotIn(list []uint64, n uint64) uint64 {
	before := sort.Search(len(list), func(i int) bool { return list[i]-uint64(i) > n })
	return n + uint64(before)
}

// chosenCells returns the chosen cells, in the order of their choice.
func (r *ranks) chosenCells(a exactAnswer) []uint64 {
	cells := make([]uint64, len(r.chosen))
	// by count, and by index among the cells with that count: the number of the choice
	wanted := map[int64]map[uint64]int{}
	for i, one := range r.chosen {
		score := r.classes[one.class].Score
		if score == 0 {
			cells[i] = nthNotIn(a.filledCells(), one.place)
			continue
		}
		if wanted[score] == nil {
			wanted[score] = map[uint64]int{}
		}
		wanted[score][one.place] = i
	}
	passed := map[int64]uint64{}
	for at, count := range a.Counts {
		if places, ok := wanted[count]; ok {
			if i, ok := places[passed[count]]; ok {
				cells[i] = a.Cells[at]
			}
			passed[count]++
		}
	}
	return cells
}

// filledCells returns the cells whose counts are not 0, ascending.
func (a exactAnswer) filledCells() []uint64 {
	if !slices.Contains(a.Counts, 0) {
		return a.Cells
	}
	var filled []uint64
	for i, cell := range a.Cells {
		if a.Counts[i] != 0 {
			filled = append(filled, cell)
		}
	}
	return filled
}
