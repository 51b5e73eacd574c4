package report

// This file holds series: the cells of small tables, as charts show them.

import (
	"cmp"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// Form returns the form in which all figures of a series are written, with their intervals.
func (s Series) Form() screen.Form {
	var forms []screen.Form
	for _, p := range s.Points {
		if p.Value != nil {
			forms = append(forms, screen.FormOf(*p.Value, p.Low, p.High))
		}
	}
	return screen.FormOfFigures(forms)
}

// Text returns the figure of a point in the form of its series or, if it is not published, the flag that says why.
func (p Point) Text(l *language.Language, of screen.Form) string {
	switch {
	case p.Value == nil && p.Flag == "": // in a report without a reason
		return l.Text("not published")
	case p.Value == nil:
		return string(p.Flag)
	}
	return l.Number(screen.FormOf(*p.Value, p.Low, p.High).In(of).Nearest(*p.Value))
}

// LowText and HighText return the ends of its interval, a dash for none.
func (p Point) LowText(l *language.Language, of screen.Form) string {
	return p.endText(l, of, p.Low, screen.Form.Down)
}

func (p Point) HighText(l *language.Language, of screen.Form) string {
	return p.endText(l, of, p.High, screen.Form.Up)
}

// endText writes an end in the form of the published figure.
func (p Point) endText(l *language.Language, of screen.Form, v *float64,
	write func(screen.Form, float64) string) string {
	if v == nil {
		return "–"
	}
	return l.Number(write(screen.FormOf(*cmp.Or(p.Value, v), p.Low, p.High).In(of), *v))
}

// IsSure reports whether a figure could not be zero, or is exact. A count that is shown as 0 could be larger, even if
// its interval lies below zero.
func (p Point) IsSure() bool {
	if p.Value == nil || p.Low == nil || p.High == nil {
		return false
	}
	return *p.Low > 0 || *p.High < 0 && *p.Value < 0 || *p.Low == *p.High
}

// Unsure marks a published figure that could be zero, which means nothing by itself; "" for others.
func (p Point) Unsure(l *language.Language) string {
	return words.When(p.Value != nil && !p.IsSure(), l.Text("could be zero"))
}

// Series is a figure of a table cell by cell. A table of one attribute, or of few cells, has a label for each of its
// points; a table of two attributes has labels for its rows and its columns, and its points row by row.
type Series struct {
	Figure  string   `json:"figure"` // name of its column
	What    string   `json:"what"`   // in words
	Of      []string `json:"of"`     // the attributes
	Labels  []string `json:"labels"`
	Columns []string `json:"columns,omitempty"` // labels of the columns of a table of two attributes
	// Ordered is the number of leading labels that are consecutive numbers or days. The labels after them are
	// categories added for unknown values. It is 0 if labels have no order.
	Ordered int     `json:"ordered,omitempty"`
	Points  []Point `json:"points"`
}

// Point is a cell. A figure that is not published has no value, and a flag that says why. An exact zero has an interval
// from 0 to 0.
type Point struct {
	Value *float64   `json:"value,omitempty"` // as published
	Low   *float64   `json:"low,omitempty"`
	High  *float64   `json:"high,omitempty"`
	Flag  synth.Flag `json:"flag,omitempty"` // withheld or unbounded, for a figure that is not published
}
