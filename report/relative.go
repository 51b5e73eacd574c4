package report

// This file holds the distribution of the relative margin of a table.

import "slices"

// RelativeMargin is how margin ÷ published figure spreads over the cells with a
// published figure above zero.
type RelativeMargin struct {
	Cells int64 `json:"cells"` // with a published figure above zero
	// Nearest-rank quantiles over those cells.
	Q10 float64 `json:"q10"`
	Q50 float64 `json:"q50"`
	Q90 float64 `json:"q90"`
	// Parts of those cells with a relative margin of at most 10 % and 50 %.
	Within10 float64 `json:"at_most_10_percent"`
	Within50 float64 `json:"at_most_50_percent"`
}

// relativeMargin works out the spread, nil where nothing is above zero.
func relativeMargin(margin int64, published []int64) *RelativeMargin {
	positive := make([]int64, 0, len(published))
	var within10, within50 int64
	for _, v := range published {
		if v <= 0 {
			continue
		}
		positive = append(positive, v)
		if margin <= v/10 {
			within10++
		}
		if margin <= v/2 {
			within50++
		}
	}
	n := int64(len(positive))
	if n == 0 {
		return nil
	}
	slices.Sort(positive)
	// The relative margin falls as the figure grows: its rank-k value from below
	// belongs to the rank-k figure from above.
	quantile := func(tenths int64) float64 {
		rank := (n*tenths + 9) / 10
		return float64(margin) / float64(positive[n-rank])
	}
	return &RelativeMargin{
		Cells: n, Q10: quantile(1), Q50: quantile(5), Q90: quantile(9),
		Within10: part64(within10, n), Within50: part64(within50, n),
	}
}
