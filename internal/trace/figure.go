package trace

import (
	"strings"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds the trace of a figure other than the count, and the noisy integers from which it is computed.

// TracedFigure is one figure of a cell. What is not published is nil.
type TracedFigure struct {
	Name          string   `json:"name"`
	What          string   `json:"what"`
	Published     *float64 `json:"published"`
	Unbiased      *float64 `json:"unbiased,omitempty"` // if the figure can be added up
	StandardError *float64 `json:"noise_se"`
	Low           *float64 `json:"low"`
	High          *float64 `json:"high"`
	Flag          string   `json:"flag,omitempty"`
	// Measurements are those from which it is computed, in addition to the count if OfCount is true.
	Measurements []string `json:"measurements,omitempty"`
	OfCount      bool     `json:"of_count"`
	// ofTotal reports that it is also worked out from the counts of other cells.
	ofTotal bool
}

// tracedFigure reads a figure of a row of a table. value returns the column with the figure's name
// and this suffix.
func tracedFigure(w *spec.Words, f plan.Figure, table plan.Table,
	value func(suffix string) parquet.Value) TracedFigure {
	of := statistic.OfFigure(f)
	t := TracedFigure{Name: f.Name, What: describe.FigureText(language.English, w, f, table), Measurements: f.Parts(),
		OfCount: of.OfCount(f),
		ofTotal: of.OfTotal()}
	columns := map[string]**float64{statistic.Published: &t.Published, statistic.StandardError: &t.StandardError,
		statistic.Low:  &t.Low,
		statistic.High: &t.High}
	if of.Additive() {
		columns[statistic.Unbiased] = &t.Unbiased
	}
	for suffix, to := range columns {
		if v := value(suffix); !v.IsNull() {
			x := published.Number(v)
			*to = &x
		}
	}
	if v := value(statistic.Flag); !v.IsNull() {
		t.Flag = v.String()
	}
	return t
}

// text returns a figure in a few lines; count names the cell's count, on which it may depend.
func (f TracedFigure) text(count string) string {
	text := "\n" + f.Name + ": " + f.What + "\n"
	switch {
	case f.Flag == string(synth.Unbounded):
		return text + "  unbounded: the noise leaves open all that it may be\n"
	case f.Published == nil:
		return text + "  withheld: the noisy count is below what the spec shows\n"
	}
	text += "  published " + screen.Shortly(*f.Published)
	if f.Unbiased != nil && *f.Unbiased != *f.Published {
		text += ", unbiased " + screen.Shortly(*f.Unbiased)
	}
	if f.StandardError != nil {
		text += ", standard error " + screen.Shortly(*f.StandardError)
	}
	text += ", interval " + screen.Shortly(*f.Low) + " … " + screen.Shortly(*f.High)
	if f.Flag == string(synth.NoiseDominates) {
		text += " (noise_dominates: noise alone could have made it)"
	}
	text += "\n"
	var from []string
	switch {
	case f.ofTotal:
		from = append(from, count+" and the counts of the other cells of its total")
	case f.OfCount:
		from = append(from, count)
	}
	for _, id := range f.Measurements {
		from = append(from, measured.Path(id))
	}
	return text + "  from " + strings.Join(from, ", ") + "\n"
}
