package residual

import (
	"math"
	"slices"
	"testing"
)

// TestWeightsAreThoseOfTheMatrices: by hand, for a column of 3 categories, of 1, 2 and 4 at the next level (c = 4, 2,
// 1).
func TestWeightsAreThoseOfTheMatrices(t *testing.T) {
	two := NewColumn([]int{0, 0, 0}, []int{0, 1, 1, 2, 2, 2, 2})
	for _, c := range []struct {
		column *Column
		axis   Axis
		level  int
		q      []float64
		plain  bool
		want   []float64
	}{
		{flat(3), Axis{0, 1, Cells}, 0, []float64{1, 0, 0}, false, []float64{1. / 3}},
		{flat(3), Axis{0, 1, Cells}, 1, []float64{1, 0, 0}, false, []float64{2. / 9, -1. / 9, -1. / 9}},
		{flat(3), Axis{0, 1, Prefixes}, 1, []float64{1, 0, 0}, true, []float64{2. / 3, -1. / 3, -1. / 3}},
		{two, Axis{0, 2, Cells}, 0, []float64{0, 1, 0, 0, 0, 0, 0}, false, []float64{1. / 6}},
		{two, Axis{0, 2, Cells}, 1, []float64{0, 1, 0, 0, 0, 0, 0}, false, []float64{-1. / 18, 1. / 9, -1. / 18}},
		{two, Axis{0, 2, Cells}, 2, []float64{0, 1, 0, 0, 0, 0, 0}, false, []float64{0, 1. / 8, -1. / 8, 0, 0, 0, 0}},
		{two, Axis{0, 2, Cells}, 2, []float64{0, 0, 0, 1, 1, 0, 0}, false,
			[]float64{0, 0, 0, 1. / 8, 1. / 8, -1. / 8, -1. / 8}},
		{two, Axis{0, 1, Cells}, 1, []float64{0, 2, 0}, true, []float64{-2. / 3, 4. / 3, -2. / 3}},
	} {
		got := c.column.Weights(c.axis, c.level, c.q, c.plain)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("axis %v, residual %d, plain %v: %v of %v, expected %v", c.axis, c.level, c.plain, got, c.q,
				c.want)
		}
	}
}
