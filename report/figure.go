package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
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
	// Withheld cells have a noisy count below what the spec shows. Of Unbounded ones nothing is published, as the noise leaves open
	// all that the figure may be. The interval of NoiseCells, of figures that can be added up, reaches zero or holds nothing that
	// the figure can be. All three are of all Cells of the table.
	Withheld   int64 `json:"withheld"`
	Unbounded  int64 `json:"unbounded"`
	NoiseCells int64 `json:"noise_dominates"`
	// StandardError and HalfWidth are medians over the cells that have them: of the standard errors of the noise, which
	// quantiles have none of, and of half the width of the interval.
	StandardError *float64 `json:"median_standard_error,omitempty"`
	HalfWidth     *float64 `json:"median_half_width,omitempty"`
	// Relative is of the figures that have an interval and are not 0, without their sign. Fit are the cells by what they are
	// precise enough for; absent where the spec has no classes, and of quantiles, which have no standard error.
	Relative *RelativeMargin `json:"relative_margin,omitempty"`
	Fit      []FitClass      `json:"fit,omitempty"`
	// Ranks is, of a quantile, by how many rows at most, of weighted ones by how much weight, its rank is off, as planned. Way says
	// how it was found, and Bins by how many bins of its column rows were counted for it; 0 of one that was drawn.
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

// figuresOf tells of the figures of a table beside its count, and of the measurements that they rest on.
func figuresOf(p *plan.Plan, planned plan.Table, t synth.Table) ([]Figure, []Part, error) {
	if len(t.Numbers) != len(planned.Figures) {
		return nil, nil, fmt.Errorf("%d figures are published beside its count, the plan has %d", len(t.Numbers), len(planned.Figures))
	}
	var figures []Figure
	var parts []Part
	seen := map[string]bool{}
	for i, n := range t.Numbers {
		asked := planned.Figures[i]
		if n.Name != asked.Name || n.Kind != asked.Kind {
			return nil, nil, fmt.Errorf("figure %s: the plan does not have it", n.Name)
		}
		f, err := figureOf(p, planned, n, t.Cells)
		if err != nil {
			return nil, nil, fmt.Errorf("figure %s: %w", n.Name, err)
		}
		if f.Ranks = asked.Quality.Ranks; n.Kind == spec.Quantiles {
			f.Way, f.Bins = capital(describe.WayText(asked.Quality, asked.Column)), asked.Quality.Bins
		}
		f.Confidence = planned.Statistics[0].Confidence
		figures = append(figures, f)
		for _, id := range f.RestsOn {
			if seen[id] {
				continue
			}
			seen[id] = true
			part, err := partFor(p, id)
			if err != nil {
				return nil, nil, fmt.Errorf("figure %s: %w", n.Name, err)
			}
			parts = append(parts, part)
		}
	}
	return figures, parts, nil
}

// partFor tells of a measurement that figures rest on.
func partFor(p *plan.Plan, id string) (Part, error) {
	m, ok := p.Measurement(id)
	if !ok {
		return Part{}, fmt.Errorf("the plan has no measurement %s", id)
	}
	loss, part, err := lossOf(m.Mechanism, p.Spent())
	if err != nil {
		return Part{}, err
	}
	return Part{Measurement: id, Cells: m.Cells, Mechanism: mechanismOf(m.Mechanism), Loss: loss, PartOfBudget: part}, nil
}

// figureOf tells of one figure, but for its confidence.
func figureOf(p *plan.Plan, planned plan.Table, n synth.Number, cells int) (Figure, error) {
	if err := wholeColumns(n.FigureColumns, cells); err != nil {
		return Figure{}, err
	}
	f := Figure{
		Name: n.Name, Kind: string(n.Kind), What: describe.What(n.Figure), Unit: describe.In(n.Figure, planned, p.Guarantee.Protects), Share: n.At, Columns: []string{}, Unbiased: n.Additive(), RestsOn: []string{},
	}
	f.Count = !slices.Contains([]spec.StatKind{spec.Units, spec.Distinct, spec.Quantiles}, n.Kind) && (n.Of == nil || n.Of.Counts == "" || n.Over.Counts == "")
	add := func(to *[]string, name string) {
		if name != "" && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, id := range []string{n.Sums, n.Squares, n.Part} {
		add(&f.RestsOn, id)
	}
	if n.Kind != spec.Distinct {
		add(&f.Columns, n.Column)
	}
	for _, term := range []*plan.Term{n.Of, n.Over} {
		if term != nil {
			add(&f.Columns, term.Column)
			add(&f.RestsOn, term.Counts)
			add(&f.RestsOn, term.Sums)
		}
	}
	if m, ok := p.Measurement(n.Part); ok && m.Query.Distinct != nil {
		f.Unit += fmt.Sprintf(", of each unit %s at most", budget.Group(m.Query.Distinct.PerUnit))
	}
	var errors, halves, values []float64 // values of those with an interval
	for i, flag := range n.Flags {
		switch flag {
		case synth.Withheld:
			f.Withheld++
		case synth.Unbounded:
			f.Unbounded++
		case synth.NoiseDominates:
			f.NoiseCells++
		}
		if n.Error.IsValid(i) {
			errors = append(errors, n.Error.Value(i))
		}
		if n.Low.IsValid(i) {
			halves = append(halves, (n.High.Value(i)-n.Low.Value(i))/2)
			values = append(values, math.Abs(n.Value.Value(i)))
		}
	}
	f.Relative = relativeMargin(func(i int) float64 { return halves[i] }, values) // before they are sorted
	f.StandardError, f.HalfWidth = median(errors), median(halves)
	f.Fit = fitOfFigures(p, planned, n)
	return f, nil
}

// wholeColumns refuses arrays that are not the columns of a figure: of another length, with values that are not finite, flags
// of another kind, or a cell that its flag does not suit.
func wholeColumns(c synth.FigureColumns, cells int) error {
	for _, column := range []*array.Float64{c.Value, c.Estimate, c.Error, c.Low, c.High} {
		if column == nil || column.Len() != cells || len(c.Flags) != cells {
			return fmt.Errorf("its columns do not all have %d cells", cells)
		}
		for i := range cells {
			if column.IsValid(i) && (math.IsNaN(column.Value(i)) || math.IsInf(column.Value(i), 0)) {
				return fmt.Errorf("its values, errors and intervals must be finite, or null")
			}
		}
	}
	for i, flag := range c.Flags {
		value, interval := c.Value.IsValid(i), c.Low.IsValid(i)
		suits := interval == c.High.IsValid(i) && value == c.Estimate.IsValid(i)
		switch flag {
		case synth.Plain, synth.NoiseDominates:
			suits = suits && value && interval && c.Low.Value(i) <= c.Estimate.Value(i) && c.Estimate.Value(i) <= c.High.Value(i)
		case synth.Unbounded, synth.Withheld:
			suits = suits && !value && !interval && c.Error.IsNull(i)
		default:
			suits = false
		}
		if !suits {
			return fmt.Errorf("a cell has an interval or a flag that does not suit its figure")
		}
	}
	return nil
}

// median is the nearest-rank median, nil of none.
func median(of []float64) *float64 {
	if len(of) == 0 {
		return nil
	}
	slices.Sort(of)
	return &of[(len(of)+1)/2-1]
}

// ErrorText is the typical standard error, of a quantile by how much its rank is off at most, a dash for none.
func (f Figure) ErrorText() string {
	if f.StandardError == nil && f.Ranks > 0 {
		return "rank ±" + margin(f.Ranks)
	}
	return typical(f.StandardError)
}

// HalfText is the typical half width of the intervals, a dash for none.
func (f Figure) HalfText() string {
	if f.HalfWidth == nil {
		return "–"
	}
	return "±" + typical(f.HalfWidth)
}

func typical(v *float64) string {
	if v == nil {
		return "–"
	}
	return decimal(*v)
}

// figuresIn is how many cells there are for figures beside counts, and of how many of them nothing is published: as their count is
// below what the spec shows, and as noise leaves open all that the figure may be.
func figuresIn(tables []Table) (all, withheld, unbounded int64) {
	for _, t := range tables {
		for _, f := range t.Figures {
			all, withheld, unbounded = all+t.Cells, withheld+f.Withheld, unbounded+f.Unbounded
		}
	}
	return all, withheld, unbounded
}

// figureKinds tells which kinds of figures there are.
func figureKinds(tables []Table) map[spec.StatKind]bool {
	kinds := map[spec.StatKind]bool{}
	for _, t := range tables {
		for _, f := range t.Figures {
			kinds[spec.StatKind(f.Kind)] = true
		}
	}
	return kinds
}

// Figured are the tables that have figures beside their count.
func (r *Report) Figured() []Table {
	var all []Table
	for _, t := range r.Tables {
		if len(t.Figures) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// partText names a measurement that figures rest on, without the folder of those.
func partText(id string) string { return strings.TrimPrefix(id, partsFolder) }

// partsFolder is where the measurements lie that figures rest on.
const partsFolder = "values/"

// RestsText says what a figure rests on.
func (f Figure) RestsText() string {
	var names []string
	if f.Count {
		names = append(names, "the count")
	}
	for _, id := range f.RestsOn {
		names = append(names, partText(id))
	}
	return strings.Join(names, ", ")
}

// cellsText is a number of cells with the part that it is of all.
func cellsText(n, of int64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%s (%s)", budget.Group(n), budget.Percent(part64(n, of)))
}
