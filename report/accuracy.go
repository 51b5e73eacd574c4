package report

// This file holds the headline: how close the published numbers are to the exact ones.

// Accuracy summarises all tables: on average over the noise, at least Confidence of the published numbers lie within
// Margin of the exact figure. For numbers that were adjusted to add up, this holds before the adjustment.
type Accuracy struct {
	Numbers    int64   `json:"numbers"`    // published with noise, in all tables
	Confidence float64 `json:"confidence"` // the least over all statistics
	Margin     float64 `json:"margin"`     // the largest over all statistics
	OneMargin  bool    `json:"one_margin"` // every statistic has this margin
	// Groups are the weighted and the unweighted counts, if some are weighted: their margins have different units.
	Groups   []AccuracyOf `json:"groups,omitempty"`
	Sentence string       `json:"sentence"`
	More     []string     `json:"more,omitempty"` // further sentences
}

// AccuracyOf is how close the counts of some tables are to the exact ones.
type AccuracyOf struct {
	Of         string  `json:"of"`
	Numbers    int64   `json:"numbers"`
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
	OneMargin  bool    `json:"one_margin"`
	// the published value is rounded to a whole number, which can add up to a half to its error
	Rounded bool `json:"rounded"`
}
