package report_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

// pairReport is the fixture's report with a model of a pair of 3 and 40 categories, of which one text is markup. Scores
// of 0.9, 0.3 and −0.6 are sure; those of the second row and the other columns could be 0.
func pairReport(t *testing.T) *report.Report {
	t.Helper()
	r := reportOf(t, input(report.Official, nil))
	first := report.ModelColumn{Name: "ward", Categories: []string{"a", "<b>", "c"}, Scores: make([]float64, 3),
		Errors: make([]float64, 3)}
	second := report.ModelColumn{Name: "age"}
	pair := report.ModelPair{Columns: []string{"ward", "age"}, Importance: .25}
	for k := range 40 {
		second.Categories = append(second.Categories, fmt.Sprint("from ", k))
		second.Scores, second.Errors = append(second.Scores, 0), append(second.Errors, .1)
	}
	for range 3 {
		pair.Scores, pair.Errors = append(pair.Scores, make([]float64, 40)), append(pair.Errors, second.Errors)
	}
	pair.Scores[0][0], pair.Scores[0][1], pair.Scores[0][2], pair.Scores[2][39] = .9, .9, .3, -.5
	pair.Scores[1][5] = .19
	r.Models = []report.Model{{Name: "risk", File: "models/risk.json", By: []string{"ward", "age"},
		Columns: []report.ModelColumn{first, second}, Pairs: []report.ModelPair{pair}}}
	return r
}

// TestPairsAreDrawn: every cell is drawn once, in its class or hatched, and adjacent cells of one class in a row are
// one rectangle. The drawing has a text, and labels that are escaped and do not crowd.
func TestPairsAreDrawn(t *testing.T) {
	r := pairReport(t)
	html := pageOf(t, r)
	walk(t, html, func(xml.StartElement) {})
	for _, want := range []string{
		`<path class="above3" d="M150 24H176V50H150Z"/>`,
		`<path class="above1" d="M176 24H189V50H176Z"/>`,
		`<path class="below2" d="M657 76H670V102H657Z"/>`,
		`<path fill="url(#pair-risk-0-hatch)" d="M189 24H670V50H189ZM150 50H670V76H150ZM150 76H657V102H150Z"/>`,
		`<li><span class="swatch below3"></span>−0.90 to −0.60</li>`,
		`<li><span class="swatch above1"></span>0 to 0.30</li>`,
		`text-anchor="end" dominant-baseline="middle">&lt;b&gt;</text>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	_, drawn, _ := strings.Cut(html, `<svg class="pair"`)
	drawn, _, _ = strings.Cut(drawn, "</svg>")
	if n := strings.Count(drawn, ">from "); n < 4 || n > 10 {
		t.Errorf("%d of 40 labels are shown", n)
	}
	markdown := string(page.Markdown(r))
	const want = "| ward × age | 0.25 | c × from 39 (−0.5) | a × from 0 (0.9) | 0.1 |"
	if !strings.Contains(markdown, want) {
		t.Errorf("the text lacks %s", want)
	}
	if again, err := report.Read(r.JSON()); err != nil || pageOf(t, again) != html {
		t.Errorf("the page of report.json differs: %v", err)
	}
	if plain := pageOf(t, reportOf(t, input(report.Official, nil))); strings.Contains(plain, "svg.pair") {
		t.Error("a report without pairs has the style of their drawings")
	}
}
