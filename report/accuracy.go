package report

// This file holds the headline: how close the published numbers are.

// Accuracy sums up all tables: at least Confidence of the published numbers lie
// within Margin of the exact figure, on average over the noise; where numbers were
// made to add up, what they were before.
type Accuracy struct {
	Numbers    int64   `json:"numbers"`    // published with noise, in all tables
	Confidence float64 `json:"confidence"` // the least of all statistics
	Margin     float64 `json:"margin"`     // the largest of all statistics
	OneMargin  bool    `json:"one_margin"` // true where every statistic has it
	// Groups are the counts by weight and the others, where some are by weight: their margins are not of one unit.
	Groups   []AccuracyOf `json:"groups,omitempty"`
	Sentence string       `json:"sentence"`
	More     []string     `json:"more,omitempty"` // sentences, on what stands beside
}

// AccuracyOf is how close the counts of some tables are.
type AccuracyOf struct {
	Of         string  `json:"of"`
	Numbers    int64   `json:"numbers"`
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
	OneMargin  bool    `json:"one_margin"`
	// what is published is rounded to a whole number, and lies up to a half further off
	Rounded bool `json:"rounded"`
}
