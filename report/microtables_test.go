package report_test

// This file tests what a report says about microdata made from tables, and in several files.

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// tablesInput is a release whose microdata are made from its tables, none of which contains the age, in four files.
func tablesInput(shape string) maker.Input {
	text := strings.Replace(microdataText(", files: 4"), "budget: microdata, method: mst", "method: tables", 1)
	text = strings.Replace(text, "headline: 3/10, detail: 1/5, microdata: 1/2", "headline: 3/5, detail: 2/5", 1)
	in := microdataOf(report.Official, text, 36435)
	m := &in.Microdata[0]
	m.Method, m.Shape, m.Files = "tables", shape, 4
	m.Fits = []synth.Fit{
		{Table: "a", Columns: []spec.Attribute{m.Keys[0].Attribute, m.Keys[2].Attribute}, Measured: 1, Cells: 6,
			Sigma:    3,
			Distance: 4, Rows: 5, Bound: 77.5, Spread: 1.25},
		{Table: "b", Columns: []spec.Attribute{m.Keys[2].Attribute}, Measured: 1, Cells: 3, Sigma: 3, Distance: 4,
			Rows: 5},
	}
	return in
}

// Every page says that microdata made from tables cost nothing, which column no table contains, and what several files
// show and do not show.
func TestEveryPageSaysWhatMicrodataOfTablesAre(t *testing.T) {
	for shape, says := range map[string]string{synth.Tree: "in a single model (a junction tree)",
		synth.Gradual: "A single model of all of them (a junction tree) would be too large"} {
		r := reportOf(t, tablesInput(shape))
		if m := r.Microdata[0]; m.Block != nil || m.Loss.Rho != "0" || m.PartOfBudget != 0 || m.Files != 4 ||
			!m.Columns[1].Unmeasured || m.Columns[0].Unmeasured || m.Sets[0].Spread != 1.25 {
			t.Errorf("%+v", m)
		}
		texts := pages(t, r)
		for name, text := range texts {
			text = strings.Join(strings.Fields(strings.ReplaceAll(text, "&#39;", "'")), " ")
			for _, want := range []string{"odel only: no interval", "what they show about age.band: no table " +
				"contains this column",
				"how much chance the drawing of rows adds to a figure, and only that", "sex with status"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s does not say %q", name, want)
				}
			}
			for _, not := range []string{"rounds/ says", "The choices that such a run had made",
				"measured by itself before the rounds"} {
				if strings.Contains(text, not) {
					t.Errorf("%s says %q", name, not)
				}
			}
		}
		for _, page := range []string{"report.html", "report.md"} {
			for _, want := range []string{says, "deviation between files", "77.5", "1.25"} {
				if !strings.Contains(texts[page], want) {
					t.Errorf("%s does not say %q", page, want)
				}
			}
		}
		if !strings.Contains(texts["README.txt"], "microdata/persons-1.parquet to persons-4.parquet") {
			t.Errorf("README.txt does not name the files")
		}
	}
}

// Microdata of another method than the plan's, or in another number of files, are refused.
func TestMicrodataOfAnotherMethodAreRefused(t *testing.T) {
	for name, change := range map[string]func(*synth.Microdata){
		"rounds it has not":  func(m *synth.Microdata) { m.Method, m.Shape = "mst", "" },
		"no shape":           func(m *synth.Microdata) { m.Shape = "" },
		"no method":          func(m *synth.Microdata) { m.Method = "gum" },
		"fewer files":        func(m *synth.Microdata) { m.Files = 3 },
		"a column of others": func(m *synth.Microdata) { m.Fits[0].Columns[0].Column = "income" },
	} {
		in := tablesInput(synth.Tree)
		change(&in.Microdata[0])
		if _, err := maker.New(in); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
