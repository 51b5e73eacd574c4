package report

// This file holds the distribution of the relative margin of a table.

import "slices"

// RelativeMargin is how margin ÷ published figure spreads over the cells with a
// published figure above zero; of a figure beside the count, half the width of its interval in place of the margin.
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

// relativeMargin works out the spread, from the margin of each cell; nil where
// nothing is above zero.
func relativeMargin[N int64 | float64](margin func(i int) float64, published []N) *RelativeMargin {
	ratios := make([]float64, 0, len(published))
	var within10, within50 int64
	for i, v := range published {
		if v <= 0 {
			continue
		}
		m, figure := margin(i), float64(v)
		ratios = append(ratios, m/figure)
		if float64(10*m) <= figure {
			within10++
		}
		if float64(2*m) <= figure {
			within50++
		}
	}
	n := int64(len(ratios))
	if n == 0 {
		return nil
	}
	slices.Sort(ratios)
	quantile := func(tenths int64) float64 { return ratios[(n*tenths+9)/10-1] }
	return &RelativeMargin{
		Cells: n, Q10: quantile(1), Q50: quantile(5), Q90: quantile(9),
		Within10: part64(within10, n), Within50: part64(within50, n),
	}
}
