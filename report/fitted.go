package report

// This file holds how far counts were moved to add up.

// Fitted is how far the published counts of a table are from the unbiased estimates, which are published with them.
// Gaps are published − unbiased in standard errors, over the cells that have one. Distances are absolute differences in
// counts, over the possible cells.
type Fitted struct {
	Way     string  `json:"way"`         // fitted: adjusted to the estimates; microdata: counted in the microdata
	Moved   int64   `json:"moved"`       // cells whose count is not the estimate, rounded, with 0 for a negative one
	Mean    float64 `json:"mean_gap"`    // signed
	Spread  float64 `json:"rms_gap"`     // root mean square
	Largest float64 `json:"largest_gap"` // absolute
	// Off and MostOff are the mean and the largest distance; absent in reports of older versions.
	Off     float64 `json:"mean_distance,omitempty"`
	MostOff float64 `json:"largest_distance,omitempty"`
}

// Adjustment is how far counts of some tables that were adjusted to add up are from the unbiased ones, in counts.
type Adjustment struct {
	Name       string // of the counts
	Cells      int64
	Mean, Most float64
}

// AdjustmentOf summarises how far the counts of tables were moved.
func AdjustmentOf(tables []Table) Adjustment {
	var m Adjustment
	off := 0.0
	for _, t := range tables {
		for _, s := range t.Statistics {
			if s.Fitted == nil || t.Aside {
				continue
			}
			cells := t.Cells - t.Impossible
			m.Name, m.Cells, m.Most = s.Name, m.Cells+cells, max(m.Most, s.Fitted.MostOff)
			off += float64(s.Fitted.Off * float64(cells))
		}
	}
	if m.Cells > 0 {
		m.Mean = off / float64(m.Cells)
	}
	return m
}
