package maker

// This file draws maps: pictures of published tables by place, from published figures alone.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/shading"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

const (
	mostMaps = 12 // per report
	// mostFlowShades leaves out the light shades.
	mostFlowShades = 4
	mostFlows      = 60
	mostLargest    = 10
)

// mapsOf draws the tables by one place, and the tables by an origin and a destination, in the plan's order.
func mapsOf(p *plan.Plan, reported []report.Table, tables []synth.Table) []report.Map {
	l := languageOf(p)
	var all []report.Map
	for i, t := range tables {
		if reported[i].Aside || reported[i].Cumulative != nil || len(t.Statistics) == 0 {
			continue
		}
		from, called := p.Release().Table(p.Tables[i].From), p.Release().Words.OfTable(p.Tables[i].From)
		switch len(t.Keys) {
		case 1:
			if a := atlasOf(l, from, t.Keys[0]); a != nil {
				for _, f := range drawnFigures(p, p.Tables[i], t) {
					all = append(all, areaMap(l, called, t, a, f))
				}
			}
		case 2:
			origins, destinations := atlasOf(l, from, t.Keys[0]), atlasOf(l, from, t.Keys[1])
			if origins != nil && destinations != nil && origins.extent == destinations.extent {
				all = append(all, flowMap(l, called, t, origins, destinations, drawnFigures(p, p.Tables[i], t)[0]))
			}
		}
	}
	return all[:min(len(all), mostMaps)]
}

// drawnFigure is a figure of a table's rows as it is drawn.
type drawnFigure struct {
	name, what string
	whole      bool
	value      func(row int) float64
	isSure     func(row int) bool
	exists     func(row int) bool // there is a figure
}

// drawnFigures returns the first count and the means.
func drawnFigures(p *plan.Plan, planned plan.Table, t synth.Table) []drawnFigure {
	s := t.Statistics[0]
	all := []drawnFigure{{
		name: s.Name, what: s.Name, whole: true,
		value:  func(row int) float64 { return float64(s.Published.Value(row)) },
		isSure: func(row int) bool { return s.Flags[row] != synth.NoiseDominates },
		exists: func(row int) bool { return s.Flags[row] != synth.Impossible },
	}}
	for _, n := range t.Numbers {
		of := statistic.OfFigure(n.Figure)
		if !of.HasMap() {
			continue
		}
		all = append(all, drawnFigure{
			name: n.Name, what: describe.FigureText(languageOf(p), p.Release().Words, n.Figure, planned),
			value: func(row int) float64 { return n.Value.Value(row) },
			isSure: func(row int) bool {
				return all[0].isSure(row) && n.Value.IsValid(row) && n.Flags[row] == synth.Plain &&
					n.High.Value(row)-n.Low.Value(row) < float64(2*math.Abs(n.Value.Value(row)))
			},
			exists: func(int) bool { return true },
		})
	}
	return all
}

// valueText writes a figure for the list of a map.
func (f drawnFigure) valueText(l *language.Language, v float64) string {
	return words.Either(f.whole, budget.Group(int64(v)), l.Number(words.Signed(v)))
}

// rowByCategory returns the row of each category of a table's only key, −1 if a sparse table has none.
func rowByCategory(t synth.Table) []int {
	rows := slices.Repeat([]int{-1}, t.Keys[0].Level.Size())
	category := t.CategoriesOf(0)
	for row := range t.Cells {
		rows[category(row)] = row
	}
	return rows
}

// areaMap shades places by a figure.
func areaMap(l *language.Language, called spec.TableWords, t synth.Table, a *atlas, f drawnFigure) report.Map {
	of := called.Title(t.Keys[0].Attribute.String())
	m := report.Map{Kind: "grid", Classes: []report.MapClass{}, Table: t.Path, Figure: f.name,
		Of: of, Title: l.Text("%s by %s", words.Capital(f.what), of), Where: a.where, Width: a.width, Height: a.height}
	if a.outlines != nil {
		m.Kind = "areas"
	}
	rows := rowByCategory(t)
	some := func(category int) bool { return rows[category] >= 0 && a.isOnMap(category) && f.exists(rows[category]) }
	sure := func(category int) bool { return some(category) && f.isSure(rows[category]) }
	unsure := func(category int) bool { return some(category) && !f.isSure(rows[category]) }
	var ranked []int // rows
	left := 0
	for category, row := range rows {
		switch {
		case row >= 0 && !a.isOnMap(category):
			m.OffMap = append(m.OffMap, f.placeOf(l, t, row))
		case sure(category):
			ranked = append(ranked, row)
		case unsure(category):
			left++
		}
	}
	m.Largest = f.largestPlaces(l, t, ranked)
	values := f.valuesOf(ranked)
	shades := shading.New(values, shading.Most)
	for i, s := range shades.All {
		m.Classes = append(m.Classes,
			report.MapClass{Range: shades.Text(l, i), Shade: s, Path: a.drawPlaces(func(category int) bool {
				return sure(category) && shades.Class(f.value(rows[category])) == i
			})})
	}
	m.Unsure = a.drawPlaces(unsure)
	m.Text = l.Text("A map of %s of %s: %s shaded by %s as published%s, and %s hatched, whose figure is withheld or "+
		"has a margin as large as itself.",
		l.Plural(int64(len(ranked)+left), "place"), of, budget.Group(int64(len(ranked))), f.what,
		f.extremesText(l, values),
		budget.Group(int64(left)))
	return m
}

// extremesText states the range of the figures, given in descending order.
func (f drawnFigure) extremesText(l *language.Language, values []float64) string {
	if len(values) == 0 {
		return ""
	}
	return ", " + l.Text("from %s to %s", f.valueText(l, values[len(values)-1]), f.valueText(l, values[0]))
}

// largestPlaces sorts rows by descending figure, and describes the first of them.
func (f drawnFigure) largestPlaces(l *language.Language, t synth.Table, rows []int) []report.Place {
	slices.SortStableFunc(rows, func(x, y int) int { return cmp.Compare(f.value(y), f.value(x)) })
	places := []report.Place{}
	for _, row := range rows[:min(len(rows), mostLargest)] {
		places = append(places, f.placeOf(l, t, row))
	}
	return places
}

// valuesOf returns the figures of rows.
func (f drawnFigure) valuesOf(rows []int) []float64 {
	values := make([]float64, len(rows))
	for i, row := range rows {
		values[i] = f.value(row)
	}
	return values
}

// placeOf describes the keys of a row, with its figure.
func (f drawnFigure) placeOf(l *language.Language, t synth.Table, row int) report.Place {
	p := report.Place{Value: f.valueText(l, f.value(row))}
	labelled := false
	for key := range t.Keys {
		c := t.Category(row, key)
		p.Codes, p.Labels = append(p.Codes, c.Code), append(p.Labels, c.Label)
		labelled = labelled || c.Label != ""
	}
	if !labelled {
		p.Labels = nil
	}
	if !f.isSure(row) {
		p.Value = l.Text("not shown")
	}
	return p
}

// flowMap draws the largest flows between places: a wedge that is wide at the origin and ends in a point at the
// destination, and a ring for a flow within a place.
func flowMap(l *language.Language, called spec.TableWords, t synth.Table, origins, destinations *atlas,
	f drawnFigure) report.Map {
	origin, destination := called.Title(t.Keys[0].Attribute.String()), called.Title(t.Keys[1].Attribute.String())
	m := report.Map{Kind: "flows", Classes: []report.MapClass{}, Table: t.Path, Figure: f.name,
		Of:    l.Text("%[1]s to %[2]s", origin, destination),
		Title: l.Text("%s from %s to %s", words.Capital(f.what), origin, destination), Where: origins.where,
		Width:  origins.width,
		Height: origins.height}
	if origins.outlines != nil {
		m.Ground = origins.drawPlaces(func(int) bool { return true })
	}
	from, to := t.CategoriesOf(0), t.CategoriesOf(1)
	var ranked []int
	for row := range t.Cells {
		if f.exists(row) && f.isSure(row) {
			ranked = append(ranked, row)
		}
	}
	m.Largest = f.largestPlaces(l, t, ranked)
	on := slices.DeleteFunc(slices.Clone(ranked), func(row int) bool {
		return !origins.isOnMap(from(row)) ||
			!destinations.isOnMap(to(row))
	})
	on = on[:min(len(on), mostFlows)]
	values := f.valuesOf(on)
	s := shading.New(values, mostFlowShades)
	for i := range s.All {
		shade := shading.Most - len(s.All) + 1 + i // narrow flows would be invisible in light shades
		var path strings.Builder
		for k := len(on) - 1; k >= 0; k-- {
			if s.Class(values[k]) == i {
				path.WriteString(flowPath(origins.centres[from(on[k])], destinations.centres[to(on[k])], 2*shade-1))
			}
		}
		m.Classes = append(m.Classes, report.MapClass{Range: s.Text(l, i), Shade: shade, Path: path.String()})
	}
	m.Text = l.Text("A map of the %s with the largest %s as published%s. Each is a wedge, wide at its origin and "+
		"pointed at its destination; one within a place is a ring. %s of the table could not be zero; those that "+
		"begin or end off the map are not drawn.",
		l.Plural(int64(len(on)), "flow"), f.what, f.extremesText(l, values),
		words.Capital(l.Plural(int64(len(ranked)), "row")))
	return m
}

// flowPath returns the path of a flow of some width. It stays on one side of the line from origin to destination, so
// that it can be distinguished from the flow in the opposite direction.
func flowPath(from, to dot, width int) string {
	if from == to {
		return fmt.Sprintf("M%d %da%[3]d %[3]d 0 1 0 %[4]d 0a%[3]d %[3]d 0 1 0 -%[4]d 0z", from.x-width, from.y, width,
			2*width)
	}
	east, south := float64(to.x-from.x), float64(to.y-from.y)
	length := math.Sqrt(float64(east*east) + float64(south*south))
	x, y := int(math.Round(-south/length*float64(width))), int(math.Round(east/length*float64(width)))
	return fmt.Sprintf("M%d %dL%d %dL%d %dz", from.x+x, from.y+y, to.x, to.y, from.x, from.y)
}
