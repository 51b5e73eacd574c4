package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const titled = `version: 1
release: pay
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  jobs:
    source: {csv: jobs.csv}
    unit: row
    columns:
      region: {codebook: regions.csv, levels: [state], title: Region, labels: {n: Norden}}
      age:    {type: integer, range: [0, 99], levels: {band: {edges: [0, 65]}, ten: {width: 10}}, title: Age,
               level_titles: {band: Age group}, level_labels: {band: {65+: Pensioners}}}
      sex:    {values: ["1", "2"], labels: {1: male, 2: female}}
      pay:    {type: integer, range: [0, 100], title: Pay, measured_in: EUR an hour}
marginals:
  pay:
    by: [region, sex]
    title: Pay by region
    stats: [count, {mean: pay, title: Average pay}, {quantiles: pay, at: [25%, 50%], as: q, title: Quartile}]
`

// The texts of a spec are words of the release, and no part of its canonical text. A label takes the place of that of a
// code book.
func TestTextsAreWords(t *testing.T) {
	r, err := Parse(Source{Text: titled,
		Files: map[string]string{"regions.csv": "code,label,state\nn,North,a\ns,South,b\n"}})
	if err != nil {
		t.Fatal(err)
	}
	got := *r.Words
	got.Files = nil
	want := Words{Format: WordsFormat,
		Titles: map[string]map[string]string{"jobs": {"region": "Region", "age": "Age", "age.band": "Age group",
			"pay": "Pay"}},
		MeasuredIn: map[string]map[string]string{"jobs": {"pay": "EUR an hour"}},
		Labels: map[string]map[string]map[string]string{"jobs": {"region": {"n": "Norden", "s": "South"},
			"age.band": {"65+": "Pensioners"}, "sex": {"1": "male", "2": "female"}}},
		Marginals: map[string]MarginalWords{"pay": {Title: "Pay by region",
			Statistics: map[string]string{"pay_mean": "Average pay", "q": "Quartile"}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, word := range []string{"title", "measured_in", "labels", "level_"} {
		if strings.Contains(r.Source.Text, word) {
			t.Errorf("the canonical text has %s:\n%s", word, r.Source.Text)
		}
	}
	again, err := ReadWords(r.Words.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.WithWords(again); err != nil {
		t.Error(err)
	}
}

// What has no title has its name; a level has at least that of its column.
func TestAttributesHaveTitles(t *testing.T) {
	r, err := Parse(Source{Text: titled,
		Files: map[string]string{"regions.csv": "code,label,state\nn,North,a\ns,South,b\n"}})
	if err != nil {
		t.Fatal(err)
	}
	jobs := r.Words.OfTable("jobs")
	for attribute, want := range map[string]string{"age": "Age", "age.band": "Age group", "age.ten": "Age (ten)",
		"sex":          "sex",
		"region.state": "Region (state)"} {
		if got := jobs.Title(attribute); got != want {
			t.Errorf("%s is called %q, want %q", attribute, got, want)
		}
	}
	pay := r.Words.OfMarginal("pay")
	for figure, want := range map[string]string{"pay_mean": "Average pay", "q_q25": "Quartile (25% quantile)",
		"count": ""} {
		if got := pay.OfFigure(figure); got != want {
			t.Errorf("%s is called %q, want %q", figure, got, want)
		}
	}
	if a, b := jobs.Unit("pay"), jobs.Unit("age"); a != "EUR an hour" || b != "Age" {
		t.Errorf("units %q and %q", a, b)
	}
	var none *Words
	if got := none.OfTable("jobs").Title("age.band"); got != "age.band" {
		t.Errorf("without words it is called %q", got)
	}
}

// Words of what the release does not have are refused.
func TestWordsOfAnotherReleaseAreRefused(t *testing.T) {
	r, err := Parse(Source{Text: titled,
		Files: map[string]string{"regions.csv": "code,label,state\nn,North,a\ns,South,b\n"}})
	if err != nil {
		t.Fatal(err)
	}
	one := func(table, attribute string) map[string]map[string]string {
		return map[string]map[string]string{table: {attribute: "x"}}
	}
	for name, change := range map[string]func(*Words){
		"a table":    func(w *Words) { w.Titles = one("people", "age") },
		"a column":   func(w *Words) { w.Titles = one("jobs", "ages") },
		"a level":    func(w *Words) { w.Titles = one("jobs", "age.half") },
		"a unit":     func(w *Words) { w.MeasuredIn = one("jobs", "wage") },
		"a marginal": func(w *Words) { w.Marginals = map[string]MarginalWords{"pays": {Title: "x"}} },
		"a statistic": func(w *Words) {
			w.Marginals = map[string]MarginalWords{"pay": {Statistics: map[string]string{"x": "x"}}}
		},
	} {
		w := *r.Words
		change(&w)
		if _, err := r.WithWords(&w); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
