package report

// This file holds the figures beside the counts of a table.

import (
	"strings"

	"github.com/dprelease/dprelease/report/internal/words"
)

// Figure is one figure per cell beside the count, worked out from noisy integers or drawn.
type Figure struct {
	Name  string `json:"name"` // of its column
	Kind  string `json:"kind"`
	What  string `json:"what"`            // in words ([plan.Figure.What])
	Unit  string `json:"unit"`            // of account: what the figure is in
	Share string `json:"share,omitempty"` // of a quantile, an exact fraction
	// Columns are those whose values it is of, as they are bounded.
	Columns []string `json:"columns"`
	// Unbiased tells that its mean over the noise is the exact figure of the rows as they are counted.
	Unbiased bool `json:"unbiased"`
	// Withheld cells have a noisy count below what the spec shows. Of Unbounded ones nothing is published, as the noise
	// leaves open all that the figure may be. The interval of NoiseCells, of figures that can be added up, reaches zero or
	// holds nothing that the figure can be. All three are of all Cells of the table.
	Withheld   int64 `json:"withheld"`
	Unbounded  int64 `json:"unbounded"`
	NoiseCells int64 `json:"noise_dominates"`
	// StandardError and HalfWidth are medians over the cells that have them: of the standard errors of the noise, which
	// quantiles have none of, and of half the width of the interval.
	StandardError *float64 `json:"median_standard_error,omitempty"`
	HalfWidth     *float64 `json:"median_half_width,omitempty"`
	// Relative is of the figures that have an interval and are not 0, without their sign. Fit are the cells by what they
	// are precise enough for; absent where the spec has no classes, and of quantiles, which have no standard error.
	Relative *RelativeMargin `json:"relative_margin,omitempty"`
	Fit      []FitClass      `json:"fit,omitempty"`
	// Ranks is, of a quantile, by how many rows at most, of weighted ones by how much weight, its rank is off, as planned.
	// Way says how it was found, and Bins by how many bins of its column rows were counted for it; 0 of one that was
	// drawn.
	Ranks      float64 `json:"ranks,omitempty"`
	Way        string  `json:"way,omitempty"`
	Bins       int64   `json:"bins,omitempty"`
	Confidence float64 `json:"confidence"` // of the intervals, over all cells
	// Count tells that it rests on the table's own count as well, RestsOn are the other measurements.
	Count   bool     `json:"rests_on_count"`
	RestsOn []string `json:"rests_on"`
}

// Part is a measurement that figures of a table rest on and nothing else does.
type Part struct {
	Measurement  string    `json:"measurement"`
	Cells        int64     `json:"cells"` // its answers; of quantiles three for each, with the ends of its interval
	Mechanism    Mechanism `json:"mechanism"`
	Loss         Amount    `json:"loss"` // exact, in the account's terms
	PartOfBudget float64   `json:"part_of_budget"`
}

// ErrorText is the typical standard error, of a quantile by how much its rank is off at most, a dash for none.
func (f Figure) ErrorText() string {
	if f.StandardError == nil && f.Ranks > 0 {
		return "rank ±" + words.Margin(f.Ranks)
	}
	return typical(f.StandardError)
}

// HalfText is the typical half width of the intervals, a dash for none.
func (f Figure) HalfText() string {
	return words.When(f.HalfWidth != nil, "±") + typical(f.HalfWidth)
}

func typical(v *float64) string {
	if v == nil {
		return "–"
	}
	return words.Decimal(*v)
}

// PartText names a measurement that figures rest on, without the folder of those.
func PartText(id string) string { return strings.TrimPrefix(id, partsFolder) }

// partsFolder is where the measurements lie that figures rest on.
const partsFolder = "values/"

// RestsText says what a figure rests on.
func (f Figure) RestsText() string {
	names := words.Said(words.When(f.Count, "the count"))
	for _, id := range f.RestsOn {
		names = append(names, PartText(id))
	}
	return strings.Join(names, ", ")
}
