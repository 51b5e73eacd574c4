package evaluate

// This file holds the comparison of chosen cells with the truth.

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
)

// compareTop compares the figures of chosen cells, in any order, with the truth, which is 0 for every cell that it
// does not list. Each integer stands for unit. Everything except Rows is over the chosen cells.
func (f Figures) compareTop(truth answer.Answer, unit float64) (Difference, error) {
	d := Difference{Cells: int64(len(f.Cells)), Rows: total(truth.Counts)}
	for _, n := range []int{len(f.Published), len(f.Unbiased), len(f.Low), len(f.High)} {
		if n != len(f.Cells) {
			return d, errOtherCells
		}
	}
	chosen := make([]int64, len(f.Cells))
	left := slices.Clone(truth.Counts) // counts of cells that were not chosen
	for i, cell := range f.Cells {
		if at, filled := slices.BinarySearch(truth.Cells, cell); filled {
			chosen[i], left[at] = truth.Counts[at], 0
		}
		exact := float64(chosen[i]) * unit
		off := f.Unbiased[i] - exact
		d.L1 += math.Abs(float64(f.Published[i]) - exact)
		d.Squares += off * off
		if f.Low[i] <= exact && exact <= f.High[i] {
			d.Covered++
		}
	}
	if len(chosen) == 0 {
		return d, nil
	}
	best := int64(0) // largest count that was not chosen
	for _, count := range left {
		best = max(best, count)
	}
	d.Shortfall = max(0, float64(best-slices.Min(chosen))*unit)
	all := append(left, chosen...)
	slices.Sort(all)
	least := int64(0) // the least of the largest counts, as many as were chosen
	if len(all) >= len(chosen) {
		least = all[len(all)-len(chosen)]
	}
	for _, count := range chosen {
		if count >= least {
			d.Right++
		}
	}
	return d, nil
}
