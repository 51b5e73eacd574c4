package evaluate

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/plan/counted"
)

// This file holds the quantiles of the true rows.

// quantile returns the interval of the quantiles of the true rows: from the least value up to which there are as many
// rows as the share says, to the least up to which there are more.
func (x *truths) quantile() (func(cell int) truth, error) {
	q, pairs := x.asked[x.figure.Part].Query.Counted.(counted.Quantiles), x.got[x.figure.Part]
	l := x.comparison.plan.Release().Table(x.table.From).Column(q.Column).Lattice
	share, ok := new(big.Rat).SetString(x.figure.At)
	if !ok {
		return nil, fmt.Errorf("the share %q of a quantile is no fraction", x.figure.At)
	}
	step, _ := l.Step.Float64()
	points := uint64(l.PointCount())
	return func(cell int) truth {
		from, _ := slices.BinarySearch(pairs.Cells, uint64(cell)*points)
		end, _ := slices.BinarySearch(pairs.Cells, uint64(cell+1)*points)
		rank := new(big.Int).Mul(share.Num(), big.NewInt(total(pairs.Counts[from:end]))) // in parts of 1/denominator
		out, below := exactly(math.NaN()), int64(0)
		for i := from; i < end; i++ {
			below += pairs.Counts[i]
			value := step * float64(l.First+int64(pairs.Cells[i]%points))
			order := new(big.Int).Mul(share.Denom(), big.NewInt(below)).Cmp(rank)
			if order >= 0 && math.IsNaN(out.low) {
				out.low = value
			}
			if order > 0 {
				out.high = value
				break
			}
		}
		return out
	}, nil
}
