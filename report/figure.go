package report

// This file holds the figures that a table publishes in addition to its count.

import (
	"strings"

	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Figure is one figure per cell in addition to the count, computed from noisy integers or drawn.
type Figure struct {
	Name  string `json:"name"` // of its column
	Kind  string `json:"kind"`
	What  string `json:"what"`            // in words ([plan.Figure.What])
	Unit  string `json:"unit"`            // the unit of account of the figure
	Share string `json:"share,omitempty"` // of a quantile, an exact fraction
	// Columns are the columns whose values, after bounding, it uses.
	Columns []string `json:"columns"`
	// Unbiased reports that its mean over the noise is the exact figure of the rows as they are counted.
	Unbiased bool `json:"unbiased"`
	// Withheld cells have a noisy count below the threshold of the spec. For Unbounded ones nothing is published,
	// because the noise leaves every possible value open. NoiseCells, of figures that can be added up, have an
	// interval that contains zero or no possible value. All three are numbers out of all Cells of the table.
	Withheld   int64 `json:"withheld"`
	Unbounded  int64 `json:"unbounded"`
	NoiseCells int64 `json:"noise_dominates"`
	// NoiseLabels name those cells; absent if the release has too many to be read, and in reports of older versions.
	NoiseLabels []string `json:"noise_dominates_cells,omitempty"`
	// StandardError and HalfWidth are medians over the cells that have them: of the standard error of the noise, which
	// quantiles lack, and of half the width of the interval.
	StandardError *float64 `json:"median_standard_error,omitempty"`
	HalfWidth     *float64 `json:"median_half_width,omitempty"`
	// Relative is over the absolute values of figures that have an interval and are not 0. Fit counts the cells by
	// class of precision; it is absent without classes in the spec, and for quantiles, which have no standard error.
	Relative *RelativeMargins `json:"relative_margin,omitempty"`
	Fit      []FitClass       `json:"fit,omitempty"`
	// Ranks is, for a quantile, a bound on the error of its rank, in rows or in weight, as planned. Way says how it was
	// found, and Bins is the number of bins of its column in which rows were counted for it; 0 for a quantile that was
	// drawn.
	Ranks      float64 `json:"ranks,omitempty"`
	Way        string  `json:"way,omitempty"`
	Bins       int64   `json:"bins,omitempty"`
	Confidence float64 `json:"confidence"` // of the intervals, over all cells
	// Count reports that it also depends on the table's count; ErrorSources are the other measurements.
	Count   bool     `json:"rests_on_count"`
	RestsOn []string `json:"rests_on"`
}

// Part is a measurement that only the figures of a table use.
type Part struct {
	Measurement  string    `json:"measurement"`
	Cells        int64     `json:"cells"` // number of answers; for quantiles three for each, with the ends of its interval
	Mechanism    Mechanism `json:"mechanism"`
	Loss         Amount    `json:"loss"` // exact, in the account's terms
	PartOfBudget float64   `json:"part_of_budget"`
}

// ErrorText returns the typical standard error, for a quantile the bound on the error of its rank, and a dash for none.
func (f Figure) ErrorText(l *language.Language) string {
	if f.StandardError == nil && f.Ranks > 0 {
		return l.Text("rank ±%s", words.Margin(f.Ranks))
	}
	return typicalText(l, f.StandardError)
}

// HalfText returns the typical half width of the intervals, a dash for none.
func (f Figure) HalfText(l *language.Language) string {
	return words.When(f.HalfWidth != nil, "±") + typicalText(l, f.HalfWidth)
}

func typicalText(l *language.Language, v *float64) string {
	if v == nil {
		return "–"
	}
	return l.Number(words.Decimal(*v))
}

// PartText names a measurement that figures use, without its folder.
func PartText(id string) string { return strings.TrimPrefix(id, partsFolder) }

// partsFolder is the folder of the measurements that figures use.
const partsFolder = "values/"

// RestsText names the measurements that a figure depends on.
func (f Figure) RestsText(l *language.Language) string {
	names := words.NonEmpty(words.When(f.Count, l.Text("the count")))
	for _, id := range f.RestsOn {
		names = append(names, PartText(id))
	}
	return strings.Join(names, ", ")
}
