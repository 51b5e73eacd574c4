package maker

// This file computes the distribution of the relative margin of a table.

import (
	"slices"

	"github.com/dprelease/dprelease/report"
)

// relativeMargin computes the distribution from the margin of each cell. It returns nil if no figure is above zero.
func relativeMargin[N int64 | float64](margin func(i int) float64, published []N) *report.RelativeMargins {
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
	return &report.RelativeMargins{
		Cells: n, Q10: quantile(1), Q50: quantile(5), Q90: quantile(9),
		Within10: report.Ratio(within10, n), Within50: report.Ratio(within50, n),
	}
}
