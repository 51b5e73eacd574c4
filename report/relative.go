package report

// This file holds the distribution of the relative margins of a table.

// RelativeMargins is the distribution of margin ÷ published figure over the cells with a published figure above zero.
// For figures other than the count, half the width of the interval replaces the margin.
type RelativeMargins struct {
	Cells int64 `json:"cells"` // with a published figure above zero
	// Nearest-rank quantiles over those cells.
	Q10 float64 `json:"q10"`
	Q50 float64 `json:"q50"`
	Q90 float64 `json:"q90"`
	// Parts of those cells with a relative margin of at most 10% and 50%.
	Within10 float64 `json:"at_most_10_percent"`
	Within50 float64 `json:"at_most_50_percent"`
}
