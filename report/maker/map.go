package maker

// This file holds maps: pictures of published tables by place. They are drawn from published figures alone.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/shading"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/synth"
)

const (
	mostMaps = 12 // of a report
	// mostFlowShades leaves out the light ones.
	mostFlowShades = 4
	mostFlows      = 60
	mostLargest    = 10
)

// mapsOf draws the tables by one place, and those by an origin and a destination, in the plan's order.
func mapsOf(p *plan.Plan, told []report.Table, tables []synth.Table) []report.Map {
	var all []report.Map
	for i, t := range tables {
		if told[i].Aside || told[i].Cumulative != nil || len(t.Statistics) == 0 {
			continue
		}
		from := p.Release().Table(p.Tables[i].From)
		switch len(t.Keys) {
		case 1:
			if a := atlasOf(from, t.Keys[0]); a != nil {
				for _, f := range drawnFigures(t) {
					all = append(all, areaMap(t, a, f))
				}
			}
		case 2:
			origins, destinations := atlasOf(from, t.Keys[0]), atlasOf(from, t.Keys[1])
			if origins != nil && destinations != nil && origins.extent == destinations.extent {
				all = append(all, flowMap(t, origins, destinations, drawnFigures(t)[0]))
			}
		}
	}
	return all[:min(len(all), mostMaps)]
}

// drawn is a figure of a table's rows as it is drawn.
type drawn struct {
	name, what string
	whole      bool
	value      func(row int) float64
	sure       func(row int) bool
	some       func(row int) bool // there is a figure
}

// drawnFigures are the first count and the means.
func drawnFigures(t synth.Table) []drawn {
	s := t.Statistics[0]
	all := []drawn{{
		name: s.Name, what: s.Name, whole: true,
		value: func(row int) float64 { return float64(s.Published.Value(row)) },
		sure:  func(row int) bool { return s.Flags[row] != synth.NoiseDominates },
		some:  func(row int) bool { return s.Flags[row] != synth.Impossible },
	}}
	for _, n := range t.Numbers {
		of := statistic.OfFigure(n.Figure)
		if !of.Mapped() {
			continue
		}
		all = append(all, drawn{
			name: n.Name, what: of.What(n.Figure),
			value: func(row int) float64 { return n.Value.Value(row) },
			sure: func(row int) bool {
				return all[0].sure(row) && n.Value.IsValid(row) && n.Flags[row] == synth.Plain &&
					n.High.Value(row)-n.Low.Value(row) < float64(2*math.Abs(n.Value.Value(row)))
			},
			some: func(int) bool { return true },
		})
	}
	return all
}

// valueText writes a figure as the map's list has it.
func (f drawn) valueText(v float64) string {
	return words.Either(f.whole, budget.Group(int64(v)), words.Signed(v))
}

// rowsOf are the rows of a table by the category of their one key, −1 where a sparse table has none.
func rowsOf(t synth.Table) []int {
	rows := slices.Repeat([]int{-1}, t.Keys[0].Level.Size())
	category := t.CategoriesOf(0)
	for row := range t.Cells {
		rows[category(row)] = row
	}
	return rows
}

// areaMap shades places by a figure.
func areaMap(t synth.Table, a *atlas, f drawn) report.Map {
	of := t.Keys[0].Attribute.String()
	m := report.Map{Kind: "grid", Classes: []report.MapClass{}, Table: t.Path, Figure: f.name,
		Of: of, Title: fmt.Sprintf("%s by %s", words.Capital(f.what), of), Where: a.where, Width: a.width, Height: a.height}
	if a.outlines != nil {
		m.Kind = "areas"
	}
	rows := rowsOf(t)
	some := func(category int) bool { return rows[category] >= 0 && a.shows(category) && f.some(rows[category]) }
	sure := func(category int) bool { return some(category) && f.sure(rows[category]) }
	unsure := func(category int) bool { return some(category) && !f.sure(rows[category]) }
	var ranked []int // rows
	left := 0
	for category, row := range rows {
		switch {
		case row >= 0 && !a.shows(category):
			m.Beside = append(m.Beside, f.place(t, row))
		case sure(category):
			ranked = append(ranked, row)
		case unsure(category):
			left++
		}
	}
	m.Largest = f.largest(t, ranked)
	values := f.values(ranked)
	shades := shading.Of(values, shading.Most)
	for i, s := range shades.All {
		m.Classes = append(m.Classes, report.MapClass{Range: shades.Text(i), Shade: s, Path: a.path(func(category int) bool {
			return sure(category) && shades.Class(f.value(rows[category])) == i
		})})
	}
	m.Unsure = a.path(unsure)
	m.Text = fmt.Sprintf("A map of %s of %s: %s shaded by %s as published%s, and %s hatched, whose figure is withheld or has a margin as large as itself.",
		budget.Plural(int64(len(ranked)+left), "place"), of, budget.Group(int64(len(ranked))), f.what, f.extremes(values),
		budget.Group(int64(left)))
	return m
}

// extremes says from where to where figures go, the largest first.
func (f drawn) extremes(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf(", from %s to %s", f.valueText(values[len(values)-1]), f.valueText(values[0]))
}

// largest sorts rows by their figures, the largest first, and names the first of them.
func (f drawn) largest(t synth.Table, rows []int) []report.Place {
	slices.SortStableFunc(rows, func(x, y int) int { return cmp.Compare(f.value(y), f.value(x)) })
	places := []report.Place{}
	for _, row := range rows[:min(len(rows), mostLargest)] {
		places = append(places, f.place(t, row))
	}
	return places
}

// values are the figures of rows.
func (f drawn) values(rows []int) []float64 {
	values := make([]float64, len(rows))
	for i, row := range rows {
		values[i] = f.value(row)
	}
	return values
}

// place names the keys of a row, with its figure.
func (f drawn) place(t synth.Table, row int) report.Place {
	p := report.Place{Value: f.valueText(f.value(row))}
	labelled := false
	for key := range t.Keys {
		c := t.Category(row, key)
		p.Codes, p.Labels = append(p.Codes, c.Code), append(p.Labels, c.Label)
		labelled = labelled || c.Label != ""
	}
	if !labelled {
		p.Labels = nil
	}
	if !f.sure(row) {
		p.Value = "not told"
	}
	return p
}

// flowMap draws the largest flows between places: a wedge that is wide at the origin and ends in a point at the
// destination, and a ring for one within a place.
func flowMap(t synth.Table, origins, destinations *atlas, f drawn) report.Map {
	of := t.Keys[0].Attribute.String() + " to " + t.Keys[1].Attribute.String()
	m := report.Map{Kind: "flows", Classes: []report.MapClass{}, Table: t.Path, Figure: f.name,
		Of: of, Title: fmt.Sprintf("%s from %s", words.Capital(f.what), of), Where: origins.where, Width: origins.width,
		Height: origins.height}
	if origins.outlines != nil {
		m.Ground = origins.path(func(int) bool { return true })
	}
	from, to := t.CategoriesOf(0), t.CategoriesOf(1)
	var ranked []int
	for row := range t.Cells {
		if f.some(row) && f.sure(row) {
			ranked = append(ranked, row)
		}
	}
	m.Largest = f.largest(t, ranked)
	on := slices.DeleteFunc(slices.Clone(ranked), func(row int) bool {
		return !origins.shows(from(row)) ||
			!destinations.shows(to(row))
	})
	on = on[:min(len(on), mostFlows)]
	values := f.values(on)
	s := shading.Of(values, mostFlowShades)
	for i := range s.All {
		shade := shading.Most - len(s.All) + 1 + i // light ones are lost where they are narrow
		var path strings.Builder
		for k := len(on) - 1; k >= 0; k-- {
			if s.Class(values[k]) == i {
				path.WriteString(flow(origins.centres[from(on[k])], destinations.centres[to(on[k])], 2*shade-1))
			}
		}
		m.Classes = append(m.Classes, report.MapClass{Range: s.Text(i), Shade: shade, Path: path.String()})
	}
	m.Text = fmt.Sprintf("A map of the %s with the largest %s as published%s. Each is a wedge, wide at its origin and pointed at its destination; one within a place is a ring. %s of the table could not be zero; those that begin or end off the map are not drawn.",
		budget.Plural(int64(len(on)), "flow"), f.what, f.extremes(values),
		words.Capital(budget.Plural(int64(len(ranked)), "row")))
	return m
}

// flow is the path of a flow of some width. It keeps to one side of the line from origin to destination, so that it can
// be told from the one back.
func flow(from, to dot, width int) string {
	if from == to {
		return fmt.Sprintf("M%d %da%[3]d %[3]d 0 1 0 %[4]d 0a%[3]d %[3]d 0 1 0 -%[4]d 0z", from.x-width, from.y, width,
			2*width)
	}
	east, south := float64(to.x-from.x), float64(to.y-from.y)
	length := math.Sqrt(float64(east*east) + float64(south*south))
	x, y := int(math.Round(-south/length*float64(width))), int(math.Round(east/length*float64(width)))
	return fmt.Sprintf("M%d %dL%d %dL%d %dz", from.x+x, from.y+y, to.x, to.y, from.x, from.y)
}
