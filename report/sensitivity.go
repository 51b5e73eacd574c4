package report

// This file holds sensitivities in words: how far one unit can move what is added up.

// Sensitivity is how far one unit can move the answers of a measurement, in the unit of the data.
type Sensitivity struct {
	Measurement string `json:"measurement"`
	Of          string `json:"of"` // what is added up
	// Most is by how much, over all cells together, an exact number; where categories have ranges of their own, of the one
	// where it is the most. Absent where values are drawn.
	Most string `json:"most,omitempty"`
	Text string `json:"text"`
}
