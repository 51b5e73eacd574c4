package maker

// This file makes series: the cells of small tables, as charts show them, from the published arrays alone.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// Limits with which a page stays readable.
const (
	mostSeries  = 24   // per report
	mostPoints  = 2400 // of all series together
	mostFigures = 2    // per table, in addition to its first count
	mostLabels  = 48   // categories without an order
	mostAlong   = 400  // numbers and days
	mostRows    = 40   // per table of two attributes
	mostColumns = 24
)

// addSeries adds series to tables, in the plan's order: first to tables of one attribute, which are the easiest to
// read.
func addSeries(p *plan.Plan, told []report.Table, tables []synth.Table) {
	charts, points := 0, 0
	for _, plain := range []bool{true, false} {
		for i, t := range tables {
			if told[i].Aside || (len(t.Keys) == 1) != plain {
				continue
			}
			largestFirst := selectionsByKind[told[i].Selects()].largestFirst
			for _, s := range seriesOf(p, p.Tables[i], t, largestFirst) {
				if charts == mostSeries || points+len(s.Points) > mostPoints {
					break
				}
				told[i].Series = append(told[i].Series, s)
				charts, points = charts+1, points+len(s.Points)
			}
		}
	}
}

// seriesOf returns the series of a table: of its first count and of the first other figures, largest count first if the
// table shows the cells with the largest counts. It returns none if the table is too large or empty.
func seriesOf(p *plan.Plan, planned plan.Table, t synth.Table, largestFirst bool) []report.Series {
	shape, ok := labelledShape(p.Release().Table(planned.From), t)
	if !ok || len(t.Statistics) == 0 {
		return nil
	}
	count := t.Statistics[0]
	shape.Of = p.Release().Words.OfTable(planned.From).TitlesOf(planned.By)
	first := shape
	first.Figure, first.What, first.Points = count.Name, count.Name, countPoints(count)
	all := []report.Series{first}
	for _, n := range t.Numbers[:min(len(t.Numbers), mostFigures)] {
		next := shape
		next.Figure, next.What, next.Points = n.Name, describe.FigureText(languageOf(p), p.Release().Words, n.Figure,
			planned),
			figurePoints(n.FigureColumns)
		all = append(all, next)
	}
	if largestFirst {
		order := make([]int, t.Cells)
		for i := range order {
			order[i] = i
		}
		counts := count.Published.Int64Values()
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
		for i := range all {
			all[i].Labels, all[i].Points = permute(all[i].Labels, order), permute(all[i].Points, order)
		}
	}
	return all
}

// permute returns the values at the given indices, in their order.
func permute[T any](of []T, indices []int) []T {
	out := make([]T, len(indices))
	for i, at := range indices {
		out[i] = of[at]
	}
	return out
}

// labelledShape returns a series with labels for the cells of a table. ok is false if there are too many cells.
func labelledShape(from *spec.Table, t synth.Table) (report.Series, bool) {
	s := report.Series{Labels: []string{}}
	if len(t.Keys) == 1 && t.CellIndices == nil {
		s.Ordered = orderedLabels(from, t.Keys[0])
	}
	switch {
	case t.Cells == 0:
		return s, false
	case t.Cells <= mostLabels && (t.CellIndices != nil || len(t.Keys) != 2), s.Ordered > 0 && t.Cells <= mostAlong:
		for row := range t.Cells {
			s.Labels = append(s.Labels, rowLabel(t, row))
		}
		return s, true
	case t.CellIndices == nil && len(t.Keys) == 2 && t.Keys[0].Level.Size() <= mostRows &&
		t.Keys[1].Level.Size() <= mostColumns:
		for _, c := range t.Keys[0].Level.Categories {
			s.Labels = append(s.Labels, words.Category(c))
		}
		for _, c := range t.Keys[1].Level.Categories {
			s.Columns = append(s.Columns, words.Category(c))
		}
		return s, true
	}
	return s, false
}

// orderedLabels returns the number of a key's categories that are consecutive numbers or days, 0 if it has no order:
// numbers that a spec or a code book lists are codes.
func orderedLabels(from *spec.Table, k synth.Key) int {
	switch k.Type {
	case domain.Integer, domain.Decimal, domain.Date, domain.Timestamp:
	default:
		return 0
	}
	c := from.Column(attributes.Counted(from, k.Attribute).Column)
	if c == nil || c.Domain == nil || !c.Domain.Ranged() {
		return 0
	}
	return k.Level.Size() - (c.Domain.Size() - c.Domain.Declared())
}

// rowLabel names the cell of a row by its categories.
func rowLabel(t synth.Table, row int) string {
	labels := make([]string, len(t.Keys))
	for key := range t.Keys {
		labels[key] = words.Category(t.Category(row, key))
	}
	return strings.Join(labels, ", ")
}

// countPoints returns the cells of a count.
func countPoints(s synth.Statistic) []report.Point {
	points := make([]report.Point, s.Published.Len())
	for i := range points {
		value := float64(s.Published.Value(i))
		points[i] = report.Point{Value: &value, Low: valueAt(s.Low, i), High: valueAt(s.High, i)}
	}
	return points
}

// figurePoints returns the cells of a figure other than the count.
func figurePoints(c synth.FigureColumns) []report.Point {
	points := make([]report.Point, c.Value.Len())
	for i := range points {
		points[i] = report.Point{Value: valueAt(c.Value, i), Low: valueAt(c.Low, i), High: valueAt(c.High, i)}
		if c.Value.IsNull(i) {
			points[i].Flag = c.Flags[i]
		}
	}
	return points
}

// valueAt returns a value of a column, nil if it is null.
func valueAt(a *array.Float64, i int) *float64 {
	if a.IsNull(i) {
		return nil
	}
	v := a.Value(i)
	return &v
}
