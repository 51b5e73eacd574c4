package report

// This file holds sensitivities in words.

// Sensitivity is the sensitivity of a measurement, in the unit of the data.
type Sensitivity struct {
	Measurement string `json:"measurement"`
	Of          string `json:"of"` // what is added up
	// Most is the L1 sensitivity over all cells together, an exact number; if categories have ranges of their own, the
	// largest over the categories. It is absent for values that are drawn.
	Most string `json:"most,omitempty"`
	Text string `json:"text"`
}
