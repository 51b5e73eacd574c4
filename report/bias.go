package report

// This file holds bias: what moves figures away from the truth on the mean.

import (
	"cmp"

	"github.com/dprelease/dprelease/report/internal/words"
)

// Bias is one cause of bias, with the published tables that it bears on.
type Bias struct {
	Cause     string   `json:"cause"`
	Tables    []string `json:"tables"` // paths; none: every one
	Direction string   `json:"direction"`
	// Size says how large it is: known exactly, told by a noisy count, bounded by public numbers alone, or not known.
	Size string `json:"size"`
	// Noisy is the count that tells it, Margin that of its interval; absent where none was paid for.
	Noisy  *float64 `json:"noisy_count,omitempty"`
	Margin *float64 `json:"margin,omitempty"`
}

// TablesText names the tables that it bears on.
func (b Bias) TablesText() string {
	return cmp.Or(words.Few(b.Tables), "all")
}
