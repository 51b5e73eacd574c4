package histogram

// This file holds the answer to a sparse measurement: of very many cells, those whose noisy count is above a
// threshold.

import (
	"context"
	"runtime"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/plan/selection"
)

// sparseAnswer returns the cells of an answer whose noisy counts are above its threshold, ascending. Every possible
// cell has noise of its own. Cells with rows have it added to their counts. Of the cells without rows, only those
// whose noise is above the threshold are drawn ([noise.Exceeding]).
//
// Guarantee: the cells and their noisy counts have exactly the law that they have if noise is added to the count of
// every cell ([opened.noisyAnswer]) and those above the threshold are looked up, so that the loss is at most that of
// the mechanism on all cells. Neighbours: those of the mechanism's sensitivity. Argument: docs/proofs/sparse.md.
func (x *opened) sparseAnswer(ctx context.Context, a exactAnswer) (measured.Measured, error) {
	if !a.Ascending(uint64(a.measurement.Cells)) { // a cell's noise is drawn by its index
		return measured.Measured{}, parallel.ErrBug
	}
	mask, err := impossible.Of(a.measurement.Query, x.exact.plan.Release())
	if err != nil {
		return measured.Measured{}, err
	}
	empty, err := x.emptyAbove(ctx, a, mask)
	if err != nil {
		return measured.Measured{}, err
	}
	cells, noisy, err := x.filledAbove(ctx, a, mask, len(empty))
	if err != nil {
		return measured.Measured{}, err
	}
	n := len(cells)
	cells, noisy = cells[:n+len(empty)], noisy[:n+len(empty)]
	for len(empty) > 0 { // merge from the end, after the cells that are still to be moved
		at, last := n+len(empty)-1, len(empty)-1
		if n > 0 && cells[n-1] > empty[last].cell {
			n--
			cells[at], noisy[at] = cells[n], noisy[n]
		} else {
			cells[at], noisy[at] = empty[last].cell, empty[last].noisy
			empty = empty[:last]
		}
	}
	return measured.Measured{Measurement: a.measurement, Values: int64Array(noisy), Cells: cells}, nil
}

// filledAbove returns the cells with rows that are above the threshold, ascending, and their noisy counts, with
// capacity for `more` cells. Noise is added in blocks, as to the cells of any measurement.
func (x *opened) filledAbove(ctx context.Context, a exactAnswer, mask *impossible.Mask,
	more int) (cells []uint64, noisy []int64, err error) {
	counts, err := x.addNoise(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	threshold := selection.Threshold(a.measurement.Selection)
	n := 0
	for _, count := range counts {
		if count > threshold {
			n++
		}
	}
	cells, noisy = make([]uint64, 0, n+more), make([]int64, 0, n+more)
	for i, count := range counts {
		if count > threshold && !mask.IsImpossible(a.Cells[i]) {
			cells, noisy = append(cells, a.Cells[i]), append(noisy, count)
		}
	}
	return cells, noisy, nil
}

// cellAbove is a cell whose noisy count is above the threshold.
type cellAbove struct {
	cell  uint64
	noisy int64
}

// emptyAbove returns the cells without rows whose noise is above the threshold, ascending. Noise is drawn for
// stretches of all cells, each from a stream of its own. What falls on a cell with rows, which has its own noise, or
// on an impossible cell is discarded.
func (x *opened) emptyAbove(ctx context.Context, a exactAnswer, mask *impossible.Mask) ([]cellAbove, error) {
	law, err := noiseLawOf(a.measurement.Mechanism)
	if err != nil {
		return nil, err
	}
	exceeding, err := law.exceeding(a.measurement.Mechanism.Parameter, selection.Threshold(a.measurement.Selection))
	if err != nil {
		return nil, err
	}
	cells := uint64(a.measurement.Cells)
	stretches := make([][]cellAbove, (cells+exceeding.CellsPerStream()-1)/exceeding.CellsPerStream())
	err = parallel.Do(ctx, runtime.GOMAXPROCS(0), len(stretches), func(i int) error {
		from := uint64(i) * exceeding.CellsPerStream()
		return exceeding.Draw(x.streams.Empty(a.definition, a.hash, i), func(place uint64, noisy int64) {
			cell := from + place
			if _, filled := slices.BinarySearch(a.Cells, cell); cell < cells && !filled && !mask.IsImpossible(cell) {
				stretches[i] = append(stretches[i], cellAbove{cell, noisy})
			}
		})
	})
	return slices.Concat(stretches...), err
}
