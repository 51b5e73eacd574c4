package maker

// This file describes the figures that a table publishes in addition to its count, and how good they turned out, from
// the published arrays alone.

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/synth"
)

// figuresOf describes the figures of a table other than its count, and the measurements that they use.
func figuresOf(p *plan.Plan, planned plan.Table, t synth.Table) ([]report.Figure, []report.Part, error) {
	if len(t.Numbers) != len(planned.Figures) {
		return nil, nil, fmt.Errorf("%d figures are published beside its count, the plan has %d", len(t.Numbers),
			len(planned.Figures))
	}
	var figures []report.Figure
	var parts []report.Part
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
		if f.Ranks = asked.Quality.Ranks; statistic.OfFigure(n.Figure).Ranked() {
			f.Way = words.Capital(describe.QuantileMethodText(languageOf(p), asked.Quality, asked.Column))
			f.Bins = asked.Quality.Bins
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

// partFor describes a measurement that figures use.
func partFor(p *plan.Plan, id string) (report.Part, error) {
	m, ok := p.Measurement(id)
	if !ok {
		return report.Part{}, fmt.Errorf("the plan has no measurement %s", id)
	}
	loss, part, err := lossOf(m.Mechanism, p.Spent())
	if err != nil {
		return report.Part{}, err
	}
	return report.Part{Measurement: id, Cells: m.Cells, Mechanism: mechanismOf(m.Mechanism), Loss: loss,
		PartOfBudget: part}, nil
}

// figureOf describes one figure, without its confidence.
func figureOf(p *plan.Plan, planned plan.Table, n synth.Number, cells int) (report.Figure, error) {
	if err := checkColumns(n.FigureColumns, cells); err != nil {
		return report.Figure{}, err
	}
	l, of := languageOf(p), statistic.OfFigure(n.Figure)
	f := report.Figure{
		Name: n.Name, Kind: n.Kind.String(), What: describe.FigureText(l, p.Release().Words, n.Figure, planned),
		Unit: describe.UnitOf(l, p.Release().Words, n.Figure, planned, p.Guarantee.Protects), Share: n.At,
		Columns:  []string{},
		Unbiased: of.Additive(), RestsOn: []string{}, Count: of.OfCount(n.Figure),
	}
	add := func(to *[]string, name string) {
		if name != "" && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, id := range []string{n.Sums, n.Squares, n.Part} {
		add(&f.RestsOn, id)
	}
	if of.Clamped() {
		add(&f.Columns, n.Column)
	}
	for _, term := range []*plan.Term{n.Of, n.Over} {
		if term != nil {
			add(&f.Columns, term.Column)
			add(&f.RestsOn, term.Counts)
			add(&f.RestsOn, term.Sums)
		}
	}
	if m, ok := p.Measurement(n.Part); ok {
		f.Unit += wordsByKind[m.Query.Counted.Kind()].most(l, m.Query.Counted)
	}
	var errors, halves, values []float64 // values only of cells with an interval
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
	f.Relative = relativeMargin(func(i int) float64 { return halves[i] }, values) // before median sorts them
	f.StandardError, f.HalfWidth = median(errors), median(halves)
	f.Fit = fitOfFigures(p, planned, n)
	return f, nil
}

// checkColumns returns an error if arrays are not the columns of a figure: if they have another length, values that are
// not finite, unknown flags, or a cell that contradicts its flag.
func checkColumns(c synth.FigureColumns, cells int) error {
	for _, column := range []*array.Float64{c.Value, c.Estimate, c.Error, c.Low, c.High} {
		if column == nil || column.Len() != cells || len(c.Flags) != cells {
			return fmt.Errorf("its columns do not all have %d cells", cells)
		}
		for i := range cells {
			if column.IsValid(i) && !isFinite(column.Value(i)) {
				return fmt.Errorf("its values, errors and intervals must be finite, or null")
			}
		}
	}
	for i, flag := range c.Flags {
		value, interval := c.Value.IsValid(i), c.Low.IsValid(i)
		suits := interval == c.High.IsValid(i) && value == c.Estimate.IsValid(i)
		switch flag {
		case synth.Plain, synth.NoiseDominates:
			suits = suits && value && interval && c.Low.Value(i) <= c.Estimate.Value(i) &&
				c.Estimate.Value(i) <= c.High.Value(i)
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

// isFinite reports whether v is neither NaN nor infinite.
func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// median returns the nearest-rank median, nil for no values.
func median(of []float64) *float64 {
	if len(of) == 0 {
		return nil
	}
	slices.Sort(of)
	return &of[(len(of)+1)/2-1]
}
