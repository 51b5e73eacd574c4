package synth

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/plan"
)

// A share of a table that is one measurement rests on the noise of its cell, which is in its total as well: of a total
// of k cells the variances of both, and their covariance, are 1, k and 1 times that of a cell.
func TestSharesOfOneMeasurementHaveTheNoiseOfTheirCell(t *testing.T) {
	n := &numbers{noises: []Noise{noiseNamed("L7")}, planned: plan.Table{By: []string{"a", "b"}}}
	cell := n.noises[0].Variance()
	for _, k := range []int{2, 5, 1000} {
		r := NewRatio(n.shareParts(plan.Figure{}, 0, nil, k), Domain{High: 1}, confidence)
		for _, c := range []struct{ over, under, want float64 }{{1, 0, 1}, {0, 1, float64(k)}, {1, 1, float64(k) - 1}} {
			if got := r.variance(c.over, c.under); math.Abs(got-c.want*cell) > 1e-9*cell*float64(k) {
				t.Errorf("of %d cells: %v·A − %v·B has variance %v, want %v", k, c.over, c.under, got, c.want*cell)
			}
		}
	}
}
