package evaluate

// This file holds what the truth says of cells that were chosen.

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
)

// againstTop holds the figures of chosen cells, in any order, against the truth, which is 0 of every cell that it does
// not list, and of which each integer stands for so much. All is over the chosen cells, but for Rows.
func (f Figures) againstTop(truth answer.Answer, unit float64) (Difference, error) {
	d := Difference{Cells: int64(len(f.Cells)), Rows: total(truth.Counts)}
	for _, n := range []int{len(f.Published), len(f.Unbiased), len(f.Low), len(f.High)} {
		if n != len(f.Cells) {
			return d, errOtherCells
		}
	}
	chosen := make([]int64, len(f.Cells))
	left := slices.Clone(truth.Counts) // of those that were not chosen
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
	best := int64(0) // of those that were left out
	for _, count := range left {
		best = max(best, count)
	}
	d.Shortfall = max(0, float64(best-slices.Min(chosen))*unit)
	all := append(left, chosen...)
	slices.Sort(all)
	least := int64(0) // that one of the largest has, of which there are as many as were chosen
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
