package report_test

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

// titledColumns have titles, units and labels in several scripts.
const titledColumns = `age: {type: integer, range: [0, 11], levels: {band: {edges: [0, 2, 5]}}, title: Alter, level_titles: {band: Altersgruppe}, level_labels: {band: {0–1: Säuglinge}}}, ` +
	`sex: {values: [f, m], title: "Φύλο", labels: {f: "γυναίκες", m: "<b>άνδρες</b>"}}, ` +
	`pay: {type: integer, range: [0, 100], title: الأجر, measured_in: "€ je Stunde"}`

// Charts, lists and files name things as the spec titles them; what the spec does not title keeps its name. No text of
// a spec becomes markup.
func TestTitlesAreShown(t *testing.T) {
	r := reportOf(t, figuresOf(report.Official, head("{rho: 1}", titledColumns,
		`ages: {by: [age.band, sex], title: "Einwohner <i>nach</i> Alter", stats: [count, {mean: pay, title: Mittlerer Lohn}, {sum: pay}]}, `+
			"pairs: {every: [1, 2], by: [age.band, sex]}")))
	html, markdown, readme := pageOf(t, r), string(page.Markdown(r)), string(page.Readme(r))
	for text, pages := range map[string][]string{
		"Einwohner &lt;i&gt;nach&lt;/i&gt; Alter": {html},
		"Einwohner <i>nach</i> Alter":             {readme},
		"Altersgruppe × Φύλο":                     {html, markdown, readme},
		"Mittlerer Lohn by Altersgruppe and Φύλο": {html},
		"Mittlerer Lohn; in € je Stunde":          {html},
		"sum of الأجر":                            {html, markdown, readme},
		"Säuglinge":                               {html},
		"γυναίκες":                                {html},
		"&lt;b&gt;άνδρες&lt;/b&gt;":               {html},
	} {
		for _, in := range pages {
			if !strings.Contains(in, text) {
				t.Errorf("%q is missing from\n%.600s", text, in)
			}
		}
	}
	for _, markup := range []string{"<i>nach", "<b>άνδρες"} {
		if strings.Contains(html, markup) || strings.Contains(markdown, markup) {
			t.Errorf("%q is markup", markup)
		}
	}
	for i, table := range r.Tables {
		want := []string{"Einwohner <i>nach</i> Alter", "Altersgruppe", "Φύλο", "Altersgruppe × Φύλο"}[i]
		if table.Title != want {
			t.Errorf("table %s is called %q, want %q", table.Path, table.Title, want)
		}
	}
}

// A release without titles has none in its report.
func TestNothingIsTitledWithoutTitles(t *testing.T) {
	for _, table := range reportOf(t, levelsInput()).Tables {
		if table.Title != "" || table.ByTitles != nil {
			t.Errorf("table %s is called %q, by %q", table.Path, table.Title, table.ByTitles)
		}
	}
}
