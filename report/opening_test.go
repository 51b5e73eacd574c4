package report_test

// This file tests what the opening says about populations, about rows that are protected one by one, and about tables
// to avoid.

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

// rowText is a spec that protects each row.
func rowText(budget string) string {
	return strings.Replace(oneTable(budget), "unit: {id: person_id, max_rows: 1}", "unit: row", 1)
}

// The guarantee for single rows, and the warning about a weak guarantee, are stated with the guarantee: on the first
// page and in the terminal.
func TestThePromiseStandsWithItsCaveats(t *testing.T) {
	const ofRows, weak = "For a person with several rows the promise holds row by row", "This promise is weak."
	for name, c := range map[string]struct {
		text       string
		rows, weak bool
	}{"rows": {rowText("{epsilon: 1}"), true, false}, "weak": {oneTable("{epsilon: 12}"), false, true},
		"neither": {oneTable("{epsilon: 1}"), false, false}} {
		r := reportOf(t, specInput(report.Official, c.text))
		for where, text := range map[string]string{"opening": strings.Join((page.View{Report: r}).Opening(), " "),
			"terminal": string(page.Terminal(r, screen.Look{Columns: 400}, "f", false))} {
			if strings.Contains(text, ofRows) != c.rows || strings.Contains(text, weak) != c.weak {
				t.Errorf("%s, %s: %s", name, where, text)
			}
		}
	}
}

// A sentence that ends in a text of the spec has one full stop.
func TestTheSubjectEndsOnce(t *testing.T) {
	for population, want := range map[string]string{"people": "These figures are about people.",
		"people.": "These figures are about people.", "people, all?": "These figures are about people, all?"} {
		if got := (page.View{Report: &report.Report{Population: population}}).Subject(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// If no cell is published, the page does not say how many could be zero.
func TestNothingIsSaidOfNoCells(t *testing.T) {
	const left = "No table has to be avoided"
	for name, c := range map[string]struct {
		text      string
		published bool
	}{
		"no cell at all": {sparseAlone(), false},
		"one table":      {sparseText, true},
	} {
		r := reportOf(t, sparseOf(c.text, nil, nil))
		if said := strings.Contains(strings.Join((page.View{Report: r}).Further(), " "), left); said != c.published {
			t.Errorf("%s: %q", name, (page.View{Report: r}).Further())
		}
		if strings.Contains(r.Accuracy.Sentence, " 0 more") {
			t.Errorf("%s: %s", name, r.Accuracy.Sentence)
		}
	}
}

// The opening says how wide the intervals of figures other than counts are, or that none has one.
func TestTheOpeningTellsTheErrorOfOtherFigures(t *testing.T) {
	wide, narrow, ratio := 288.2, 61.25, 0.004
	release := func(widths ...*float64) string {
		r := &report.Report{Accuracy: report.Accuracy{Sentence: "Counts."}}
		for i, what := range []string{"mean of pay", "mean of pay", "share of women"}[:len(widths)] {
			kind := []string{"mean", "mean", "share"}[i]
			r.Tables = append(r.Tables, report.Table{Figures: []report.Figure{
				{What: what, Kind: kind, HalfWidth: widths[i], Confidence: 0.95}}})
		}
		return strings.Join((page.View{Report: r}).HowClose(), " ")
	}
	for want, got := range map[string]string{
		"Counts.": release(),
		"Counts. No figure of another kind has an interval: see “Figures other than counts”.": release(nil),
		"Counts. Half of the 95% intervals of other figures are no wider than: mean of pay ±61.25 " +
			"to ±288.2, by table; share of women ±0.004 (see “Figures other than counts”).": release(&wide,
			&narrow, &ratio),
		"Counts. Half of the 95% intervals of other figures are no wider than: mean of pay ±288.2 " +
			"(see “Figures other than counts”).": release(&wide, nil),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
