package report_test

// This file tests that the page is safe, self-contained, and accessible to everyone.

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec/document"
)

const hostile = `</title><script>alert("x")</script><img src=x onerror=alert(1)>'"&--></style></pre>`

func TestPageEscapesHostileTexts(t *testing.T) {
	page := pageOf(t, hostileReport(t, hostile))
	for _, tag := range []string{"<script>alert", "<img", "</pre></", `onerror=alert(1)>`} {
		if strings.Contains(page, tag) {
			t.Errorf("the page holds %s", tag)
		}
	}
	walk(t, page, func(xml.StartElement) {})
}

// hostileReport is the fixture's report with a text in every position that a spec can fill.
func hostileReport(t *testing.T, text string) *report.Report {
	t.Helper()
	in := input(report.Practice, nil)
	p := in.Plan.Plan()
	about := &p.Release().About
	about.Title, about.Population, about.Contact = text, text, text
	p.Source.Text, p.Source.Name, p.Guarantee.Protects = text, text, text
	p.Guarantee.ID, p.Release().Warnings = text, []document.Problem{{Message: text}}
	p.Source.Params, p.Source.Files = map[string]string{text: text}, map[string]string{text: text}
	for i := range p.Tables {
		p.Tables[i].By, p.Tables[i].Marginal = []string{text}, text
	}
	for i, s := range p.Strategies {
		p.Strategies[i].Leaf, p.Strategies[i].Tables = text, append([]string{text}, s.Tables...)
		p.Strategies[i].Alternatives = append(s.Alternatives,
			strategy.Alternative{Kind: strategy.Residuals, Why: phrase.New(phrase.NoChance, text)})
	}
	in.Modules = []report.Module{{Path: text, Version: text, Sum: text}}
	in.Approvals = []report.Approval{{Role: text, Statement: text, Signer: text, Fingerprint: text, Until: text}}
	for i := range p.Measurements {
		p.Measurements[i].Leaf = text
	}
	in.Plan, in.Software, in.Receipt = compiled.Of(p), text, receiptFor(p, report.Practice)
	r := reportOf(t, in)
	for i := range r.Certificate.Loss.Attributes {
		r.Certificate.Loss.Attributes[i].Of = text
	}
	for i := range r.Certificate.Mechanisms {
		r.Certificate.Mechanisms[i].Measurements = []string{text}
	}
	for i := range r.Tables { // the planner makes paths from names, and SumOf is a path
		r.Tables[i].Statistics[0].SumOf = text
		r.Tables[i].Cumulative, r.Tables[i].Ranges = []string{text}, []string{text}
		r.Tables[i].Target = &plan.Target{Margin: text, Confidence: text}
		r.Tables[i].Band = text
		r.Tables[i].Counts, r.Tables[i].Aside, r.Tables[i].Statistics[0].Of = text, i == 0, text
		r.Tables[i].Figures = []report.Figure{{Name: text, What: text, Unit: text, RestsOn: []string{text}}}
		r.Tables[i].Parts = []report.Part{{Measurement: text}}
	}
	r.Accuracy.More = []string{text}
	r.Certificate.Sensitivities = []report.Sensitivity{{Measurement: text, Of: text, Text: text}}
	r.Bounds = &report.Bounds{
		Columns: []report.ColumnBounds{{Table: text, Column: text, Step: text, By: text,
			Ranges: []report.Range{{Category: text, Low: text, High: text}}}},
		Weights: []report.WeightBounds{{Table: text, From: text, Low: text, High: text, Step: text}},
		Tables:  []report.TableBounds{{Table: text, Groups: 1}},
	}
	return r
}

// walk calls visit for every element, and fails if tags do not match.
func walk(t *testing.T, page string, visit func(xml.StartElement)) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, token.Name.Local)
			visit(token)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				t.Fatalf("</%s> closes %v", token.Name.Local, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
}

// attribute returns the value of an element's attribute.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestPageIsAccessible(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			level, tables, captions := 0, 0, 0
			ids, wanted := map[string]bool{}, map[string]bool{}
			count := map[string]int{}
			walk(t, pageOf(t, r), func(e xml.StartElement) {
				tag := e.Name.Local
				count[tag]++
				if len(tag) == 2 && tag[0] == 'h' && tag[1] >= '1' && tag[1] <= '6' {
					next := int(tag[1] - '0')
					if next > level+1 {
						t.Errorf("%s follows h%d", tag, level)
					}
					level = next
				}
				switch tag {
				case "html":
					if attribute(e, "lang") != "en" {
						t.Error("no language")
					}
				case "table":
					tables++
				case "caption":
					captions++
				case "th":
					if s := attribute(e, "scope"); s != "col" && s != "row" {
						t.Error("a th without scope")
					}
				case "link", "iframe", "object", "img":
					t.Errorf("the page has a %s", tag)
				}
				if id := attribute(e, "id"); id != "" {
					if ids[id] {
						t.Errorf("two elements have id %s", id)
					}
					ids[id] = true
				}
				for _, id := range strings.Fields(attribute(e, "aria-labelledby")) {
					wanted[id] = true
				}
				if href := attribute(e, "href"); href != "" {
					if !strings.HasPrefix(href, "#") {
						t.Errorf("the page leads to %s", href)
					}
					wanted[href[1:]] = true
				}
			})
			if tables == 0 || tables != captions {
				t.Errorf("%d tables, %d captions", tables, captions)
			}
			if count["script"] > 1 || (count["script"] == 1) != (len(r.Tables) > 0) {
				t.Errorf("%d scripts, want that of lists of tables", count["script"])
			}
			if count["h1"] != 1 || count["main"] != 1 || count["header"] != 1 || count["footer"] != 1 ||
				count["nav"] != 1 {
				t.Errorf("elements: %v", count)
			}
			for id := range wanted {
				if !ids[id] {
					t.Errorf("nothing has id %s", id)
				}
			}
		})
	}
}

// element is an element of a page with its content.
type element struct {
	tag, class string
	attributes func(name string) string
	inside     []*element
}

// elements returns the roots of a page's tree, which must be well formed.
func elements(t *testing.T, page string) *element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	open := []*element{{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return open[0]
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{tag: token.Name.Local, class: attribute(token, "class"),
				attributes: func(name string) string { return attribute(token, name) }}
			last := open[len(open)-1]
			last.inside, open = append(last.inside, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// all returns the descendants with a tag.
func (e *element) all(tag string) []*element {
	var found []*element
	for _, in := range e.inside {
		if in.tag == tag {
			found = append(found, in)
		}
		found = append(found, in.all(tag)...)
	}
	return found
}

// TestDrawingsAreNamed checks that each drawing begins with a title and has an accessible name, and that each figure
// has a caption and a table with the same content; that scrolling elements can be reached and have names of their own;
// and that each section has a heading or a name.
func TestDrawingsAreNamed(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			page := elements(t, pageOf(t, r))
			for _, svg := range page.all("svg") {
				if svg.class == "plot" || svg.class == "map" { // part of another drawing; a map has its heading
					continue
				}
				if svg.attributes("aria-hidden") == "true" { // beside the figures that it draws, in a row or a head
					continue
				}
				if svg.attributes("role") != "img" ||
					svg.attributes("aria-label")+svg.attributes("aria-labelledby") == "" {
					t.Errorf("a drawing of class %q without role or name", svg.class)
				}
			}
			for _, f := range page.all("figure") {
				if len(f.all("h3"))+len(f.all("h4")) != 1 || len(f.all("figcaption"))+len(f.all("caption")) == 0 ||
					len(f.all("table")) == 0 && len(r.Maps) == 0 {
					t.Errorf("a figure of class %q without heading, caption or table", f.class)
				}
				for _, svg := range f.all("svg") {
					if svg.attributes("aria-hidden") == "true" && len(f.all("table")) == 0 {
						t.Error("a hidden drawing without a table of its figures")
					}
				}
			}
			for _, name := range sameRegions(page) {
				t.Errorf("two boxes that scroll have the name %q", name)
			}
			for _, box := range page.all("div") {
				if strings.HasPrefix(box.class, "scroll") &&
					(box.attributes("tabindex") != "0" || box.attributes("role") != "region" ||
						box.attributes("aria-label")+box.attributes("aria-labelledby") == "") {
					t.Error("a box that scrolls and cannot be reached, or has no name")
				}
			}
			for _, table := range page.all("table") {
				if head := table.all("thead"); len(head) != 1 {
					t.Error("a table without a head")
				}
			}
			for _, s := range page.all("section") {
				if s.attributes("aria-label")+s.attributes("aria-labelledby") == "" {
					t.Error("a section without a name")
				}
			}
			for _, d := range page.all("details") {
				if len(d.inside) == 0 || d.inside[0].tag != "summary" || d.attributes("open") != "" {
					t.Error("details that do not begin with a summary")
				}
			}
		})
	}
}

// sameRegions returns the names of boxes that scroll which an earlier box has too.
func sameRegions(page *element) (same []string) {
	known := map[string]bool{}
	for _, box := range page.all("div") {
		if box.attributes("role") != "region" {
			continue
		}
		name := box.attributes("aria-label") + box.attributes("aria-labelledby")
		if known[name] {
			same = append(same, name)
		}
		known[name] = true
	}
	return same
}

func TestMicrodataOfSeveralTablesHaveNamesOfTheirOwn(t *testing.T) {
	r := *reports()["microdata"]
	other := r.Microdata[0]
	other.Table = "households"
	r.Microdata = []report.Microdata{r.Microdata[0], other}
	if same := sameRegions(elements(t, pageOf(t, &r))); same != nil {
		t.Errorf("boxes with the same names: %q", same)
	}
}

func TestPageNeedsNothingButItself(t *testing.T) {
	page := pageOf(t, reportOf(t, input(report.Official, nil)))
	if at := regexp.MustCompile(`https?:|//[a-z]|@import|url\([^#]|src=`).FindString(page); at != "" {
		t.Errorf("the page holds %s", at)
	}
}

func TestPageOfManyTablesIsSmall(t *testing.T) {
	if n := len(pageOf(t, reportOf(t, manyInput()))); n > 2<<20 {
		t.Errorf("%d bytes for 210 tables", n)
	}
}

func TestBudgetChartStaysReadable(t *testing.T) {
	if n := strings.Count(pageOf(t, reportOf(t, partsInput(4))), `class="bar"`); n != 4 {
		t.Errorf("%d bars for 4 tables", n)
	}
	page := pageOf(t, reportOf(t, input(report.Official, nil)))
	if n := strings.Count(page, `class="bar"`); n != 2 || strings.Contains(page, `class="within"`) {
		t.Errorf("%d bars for 2 parts of the budget, each of which is one group of tables", n)
	}
	page = pageOf(t, reportOf(t,
		specInput(report.Official, changed("{epsilon: 2, split: {headline: 3/5, detail: 2/5}}", "{epsilon: 2}",
			", budget: headline", "", ", budget: detail", ""))))
	if n, m := strings.Count(page, `class="bar"`), strings.Count(page, `class="within"`); n != 1 || m != 1 && m != 0 {
		t.Errorf("%d bars and %d within them of a budget that is not split", n, m)
	}
	if n := strings.Count(pageOf(t, reportOf(t, manyInput())), `class="bar"`); n != 1 {
		t.Errorf("%d bars for 210 tables of one marginal", n)
	}
	page = pageOf(t, reportOf(t, partsInput(40)))
	if n := strings.Count(page, `class="bar"`); n != 40 {
		t.Errorf("%d bars for 40 parts of the budget", n)
	}
}

// readable are the pairs of colours in which the page sets text, with the least contrast of WCAG 2.2 AA: 4.5 for text,
// 3 for meaningful shapes.
var readable = []struct {
	ink, paper string
	least      float64
}{
	{"ink", "paper", 4.5}, {"muted", "paper", 4.5}, {"accent", "paper", 4.5}, {"paper", "accent", 4.5},
	{"ink", "raised", 4.5}, {"caution-ink", "caution", 4.5}, {"accent", "caution", 4.5}, {"banner-ink", "banner", 4.5},
	{"bar", "paper", 3}, {"bar", "track", 3}, {"caution-line", "caution", 2.2},
	{"bar", "span", 3}, {"span", "paper", 1.7}, {"muted", "track", 3}, {"accent", "raised", 4.5},
	{"on-light", "shade1", 4.5}, {"on-light", "shade2", 4.5}, {"on-light", "shade3", 4.5},
	{"on-dark", "shade4", 4.5}, {"on-dark", "shade5", 4.5}, {"on-dark", "shade6", 4.5},
	{"ink", "raised", 4.5}, {"stripe", "raised", 2.5}, {"shade6", "track", 3}, {"shade4", "paper", 3},
}

func TestColoursHaveContrast(t *testing.T) {
	var themes [3]map[string]string
	for _, file := range []string{filepath.Join("page", "report.css"), filepath.Join("page", "charts.css")} {
		css, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
		if len(blocks) < 2 {
			t.Fatalf("%s has %d blocks of colours, want light, dark and, where it differs from light, print", file,
				len(blocks))
		}
		if len(blocks) == 2 {
			blocks = append(blocks, blocks[0])
		}
		for i, block := range blocks {
			if themes[i] == nil {
				themes[i] = map[string]string{}
			}
			for _, m := range regexp.MustCompile(`--([a-z]+[a-z0-9-]*): (#[0-9a-f]{6});`).FindAllStringSubmatch(
				block[1], -1) {
				themes[i][m[1]] = m[2]
			}
		}
	}
	for i, name := range []string{"light", "dark", "print"} {
		for _, pair := range readable {
			ink, paper := themes[i][pair.ink], themes[i][pair.paper]
			if ink == "" && i == 2 { // colours without a rule for print are those of the light theme
				ink = themes[0][pair.ink]
			}
			if paper == "" && i == 2 {
				paper = themes[0][pair.paper]
			}
			if got := contrast(t, ink, paper); got < pair.least {
				t.Errorf("%s: %s on %s has contrast %.2f, want %.1f", name, pair.ink, pair.paper, got, pair.least)
			}
		}
	}
}

func TestContrastOfKnownColours(t *testing.T) {
	if got := contrast(t, "#000000", "#ffffff"); math.Abs(got-21) > 1e-9 {
		t.Errorf("black on white: %v", got)
	}
	if got := contrast(t, "#777777", "#ffffff"); got >= 4.5 || got < 4.4 {
		t.Errorf("grey 77 on white, the well-known near miss: %v", got)
	}
}

// contrast returns the contrast ratio of WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of an sRGB colour, by WCAG 2.2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	v, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	linear := func(shift uint) float64 {
		c := float64(v>>shift&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

// TestPagesShowWhatTheyHold checks that no text of a spec changes the direction of writing or controls a terminal, on
// any page, and that joined letters stay joined.
func TestPagesShowWhatTheyHold(t *testing.T) {
	in := input(report.Official, nil)
	r := reportOf(t, in)
	r.Title, r.Population, r.Period = "a\x1b[2J\u202eb", "c\u202ed\x07",
		"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
	r.Spec.Text = "version: 1\r\nabout: {title: \"\u2066x\"}\r\n"
	for name, page := range map[string]string{"report.html": pageOf(t, r), "report.md": string(page.Markdown(r)),
		"README.txt": string(page.Readme(r))} {
		if i := strings.IndexAny(page, "\x1b\x07\r\u202e\u2066"); i >= 0 {
			t.Errorf("%s: %q", name, page[max(0, i-20):i+20])
		}
		for _, want := range []string{`\x1b[2J\u202eb`, `c\u202ed\a`, r.Period} {
			if name == "report.md" {
				want = strings.NewReplacer("[", `\[`).Replace(want)
			}
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
	}
}

// Code in a sentence is set as code: no backquote remains except in the spec as it was written.
func TestCodeIsSetAsCode(t *testing.T) {
	planted := reportOf(t, input(report.Practice, nil))
	planted.Plan.Warnings = []string{"ask for `every` by itself"}
	if page := pageOf(t, planted); !strings.Contains(page, "ask for <code>every</code> by itself") {
		t.Error("a warning's code is not set as code")
	}
	for name, r := range reports() {
		page, _, _ := strings.Cut(pageOf(t, r), "<pre ")
		if i := strings.Index(page, "`"); i >= 0 {
			t.Errorf("%s: %q", name, page[max(0, i-60):min(len(page), i+60)])
		}
	}
}
