package report_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// whatIfSpec is a release whose budget is divided in every possible way.
const whatIfSpec = `version: 1
release: survey
about: {title: "A survey"}
privacy: {protects: person, neighbours: add-remove}
budget:
  rho: 1/20
  noise: gaussian
  split:
    needs: needed
    fixed: {rho: 1/200}
    "no":
      share: 2/3
      split: {one: 1/3, two: 2/3}
    rest: 1/3
tables:
  t:
    source: {csv: t.csv}
    unit: row
    expect: {rows: [90000, 110000]}
    columns:
      sex: {values: [f, m]}
      age: {type: integer, range: [0, 99], levels: {ten: {width: 10}}}
      area: {type: integer, range: [1, 30]}
marginals:
  ages: {by: [age.ten, sex], budget: needs, target: {margin: 60}}
  areas: {by: [area], budget: fixed, target: {margin: 16}}
  fine: {by: [area, age], budget: "no.one"}
  sexes: {by: [area, sex], budget: "no.two"}
  all: {every: [1, 2], by: [sex, age.ten, area], budget: rest}
`

func whatIfPage(t *testing.T, text string) (*compiled.Forecast, string) {
	t.Helper()
	r, err := spec.Parse(spec.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.NewForecast(r)
	if err != nil {
		t.Fatal(err)
	}
	page, err := page.WhatIf(p)
	if err != nil {
		t.Fatal(err)
	}
	return p, string(page)
}

// between returns the text between two others, which occurs once.
func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	inside, _, ends := strings.Cut(rest, after)
	if !found || !ends {
		t.Fatalf("no %s … %s", before, after)
	}
	return inside
}

func TestWhatIfPageNeedsNothingButItself(t *testing.T) {
	_, page := whatIfPage(t, whatIfSpec)
	if at := regexp.MustCompile(`https?:|//[a-z]+\.|@import|url\(|src=|eval\(|new Function|style="| on[a-z]+=`).
		FindString(page); at != "" {
		t.Errorf("the page holds %s", at)
	}
	policy := between(t, page, `Content-Security-Policy" content="`, `"`)
	for directive, text := range map[string]string{"script-src": between(t, page, "<script>", "</script>"),
		"style-src": between(t, page, "<style>", "</style>")} {
		sum := sha256.Sum256([]byte(text))
		want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(policy), want) {
			t.Errorf("the policy %q does not hold %s", policy, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src &#39;none&#39;;") {
		t.Errorf("the policy is %q", policy)
	}
}

// TestWhatIfPageKnowsEveryLaw fails if a table can have noise whose law the script does not know.
func TestWhatIfPageKnowsEveryLaw(t *testing.T) {
	_, page := whatIfPage(t, whatIfSpec)
	script := between(t, page, "const laws = {", "\n  };")
	for _, law := range budget.Laws() {
		if !strings.Contains(script, fmt.Sprintf("\n    %q: (v) =>", string(law))) {
			t.Errorf("the script does not know %s", law)
		}
	}
}

// TestWhatIfPageRoundsAsThePlan fails if a threshold is not ten times the margin beside it, as on the plan's page and
// in the report.
func TestWhatIfPageRoundsAsThePlan(t *testing.T) {
	forecast, page := whatIfPage(t, whatIfSpec)
	rows := regexp.MustCompile(`margin">±(\d+)</td><td class="n">±\d+</td><td class="n tenth">(\d+)<`).FindAllStringSubmatch(
		page, -1)
	if len(rows) != len(forecast.Tables) {
		t.Fatalf("%d rows of %d tables", len(rows), len(forecast.Tables))
	}
	for _, row := range rows {
		if row[2] != row[1]+"0" {
			t.Errorf("a margin of ±%s, and good to 10%% from %s", row[1], row[2])
		}
	}
	if !strings.Contains(page, "group(10 * whole(r.margin))") {
		t.Error("the script has another rule for the threshold")
	}
}

func TestWhatIfPageEscapes(t *testing.T) {
	_, page := whatIfPage(t,
		strings.Replace(whatIfSpec, `"A survey"`, `"</title></script><img src=x onerror=alert(1)><!--"`, 1))
	if strings.Contains(page, "<img") || strings.Contains(page, "<!--") || strings.Count(page, "</script>") != 2 {
		t.Error("a title gets out of its place")
	}
}

// TestWhatIfPageOfManyTablesIsSmall uses 575 tables that two leaves pay for.
func TestWhatIfPageOfManyTablesIsSmall(t *testing.T) {
	var columns, names []string
	for i := range 15 {
		names = append(names, fmt.Sprintf("column%02d", i))
		columns = append(columns, fmt.Sprintf("      %s: {type: integer, range: [1, %d]}\n", names[i], 2+i%4))
	}
	by := strings.Join(names, ", ")
	p, page := whatIfPage(t,
		"version: 1\nrelease: many\nprivacy: {protects: person, neighbours: add-remove}\n"+
			"budget: {rho: 1, split: {few: 1/2, many: 1/2}}\ntables:\n  t:\n    source: {csv: t.csv}\n    unit: row\n"+
			"    columns:\n"+
			strings.Join(columns, "")+"marginals:\n  few: {every: [1], by: ["+by+
			"], budget: few}\n  many: {every: [2, 3], by: ["+
			by+"], budget: many}\n")
	if len(p.Tables) < 500 || len(page) > 300_000 {
		t.Errorf("%d bytes for %d tables", len(page), len(p.Tables))
	}
}

// TestWhatIfColoursHaveContrast checks the page's use of the colours of the report's stylesheet.
func TestWhatIfColoursHaveContrast(t *testing.T) {
	style, err := os.ReadFile(filepath.Join("page", "whatif.css"))
	if err != nil {
		t.Fatal(err)
	}
	if at := regexp.MustCompile(`#[0-9a-f]{3,8};`).Find(style); at != nil {
		t.Errorf("a colour of its own, %s", at)
	}
	css, err := os.ReadFile(filepath.Join("page", "report.css"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(blocks) < 2 {
		t.Fatalf("%d blocks of colours", len(blocks))
	}
	for _, block := range blocks {
		colour := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(block[1], -1) {
			colour[m[1]] = m[2]
		}
		for _, pair := range [][2]string{{"ink", "paper"}, {"muted", "paper"}, {"accent", "paper"},
			{"accent", "raised"},
			{"ink", "raised"}} {
			if got := contrast(t, colour[pair[0]], colour[pair[1]]); got < 4.5 {
				t.Errorf("%s on %s has contrast %.2f", pair[0], pair[1], got)
			}
		}
	}
}

// setting is a page with some of its numbers changed, in a frame of a width in pixels: by the address, and by a script
// that acts on the page.
type setting struct {
	page, place string
	width       int
	act         string
}

// moved is what the page shows of a setting.
type moved struct {
	Spec, Status, Copied, Link string
	Changes                    []string
	Said                       map[string]string // what stands beside each number
	Width                      int
	Broken                     []string // words of the table's headings that do not fit on one line
	Unnamed                    []string // controls without a label, references to no element, and chatty live regions
	Rows                       [][]string
	Figures                    [][]string
}

// readAll acts on the page in every frame, and reads it. A script that acts calls type to fill in a field, and drag to
// move a slider, which is left if done.
const readAll = `<script>
addEventListener("load", () => {
  const all = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, send = (e, name) => e.dispatchEvent(new frame.contentWindow.Event(name))
    let copied = ""
    Object.defineProperty(frame.contentWindow.navigator, "clipboard", {value: {writeText: text => { copied = text; return Promise.resolve() }}})
    const type = (of, text) => { const e = page.getElementById("number." + of); e.value = text; send(e, "change") }
    const drag = (of, value, done) => { const e = page.getElementById("slider." + of); e.value = value; send(e, "input"); if (done) send(e, "change") }
    new Function("page", "type", "drag", frame.dataset.act)(page, type, drag)
    page.getElementById("copy").click()
    const texts = rows => [...rows].map(r => [...r.cells].map(c => c.textContent))
    const broken = []
    for (const head of page.querySelectorAll("#tables thead button")) {
      const text = head.firstChild
      for (const word of text.data.matchAll(/\S+/g)) {
        const range = page.createRange()
        range.setStart(text, word.index)
        range.setEnd(text, word.index + word[0].length)
        if (range.getClientRects().length > 1) broken.push(word[0])
      }
    }
    const unnamed = [...page.querySelectorAll("input, textarea, button, [role=region], section, ul[aria-labelledby]")].filter(e => {
      const names = e.getAttribute("aria-labelledby")?.split(" ").map(id => page.getElementById(id)) || [...e.labels || []]
      return !(e.ariaLabel || e.localName === "button" && e.textContent || names.length && names.every(n => n?.textContent.trim()))
    }).concat([...page.querySelectorAll("[aria-describedby], label")].filter(e => !page.getElementById(e.htmlFor || e.getAttribute("aria-describedby"))))
      .concat([...page.querySelectorAll("[role=status], [aria-live], output")].filter(e => !["status", "copied"].includes(e.id)))
    return {
      Unnamed: unnamed.map(e => e.outerHTML.slice(0, 80)),
      Spec: page.getElementById("spec").value, Status: page.getElementById("status").textContent, Copied: copied,
      Link: page.getElementById("link").hash, Changes: [...page.querySelectorAll("#changes li")].map(e => e.textContent),
      Said: Object.fromEntries([...page.querySelectorAll(".lever input[type=text]")].map(e => [e.id.slice(7), page.getElementById("said." + e.id.slice(7)).textContent])),
      Width: page.documentElement.scrollWidth, Broken: broken,
      Rows: texts(page.querySelectorAll("#tables tbody tr:first-child")),
      Figures: texts(page.querySelectorAll("#tables tbody tr:not(:first-child)")),
    }
  })
  document.body.innerHTML = ""
  document.body.append("SEEN" + JSON.stringify(all) + "SEEN")
})
</script>`

// inBrowser opens pages, by their names, in some settings.
func inBrowser(t *testing.T, pages map[string]string, settings []setting) []moved {
	t.Helper()
	browser := browserFor(t)
	dir := t.TempDir()
	var frames strings.Builder
	frames.WriteString("<!doctype html><meta charset=utf-8><body>")
	for _, s := range settings {
		fmt.Fprintf(&frames, `<iframe width="%d" height="900" style="border: 0" data-act="%s" src="%s.html#%s"></iframe>`,
			s.width, html.EscapeString(s.act), s.page, html.EscapeString(s.place))
	}
	files := map[string]string{"frames": frames.String() + readAll}
	maps.Copy(files, pages)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name+".html"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, append(headless(dir), "--allow-file-access-from-files",
		"--enable-logging=stderr", "--dump-dom", "file://"+filepath.Join(dir, "frames.html"))...)
	var console strings.Builder
	c.Stderr = &console
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, console.String())
	}
	if strings.Contains(console.String(), "CONSOLE") {
		t.Errorf("on the console:\n%s", console.String())
	}
	var all []moved
	if err := json.Unmarshal([]byte(html.UnescapeString(between(t, string(out), "SEEN", "SEEN"))), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(settings) {
		t.Fatalf("%d frames of %d", len(all), len(settings))
	}
	return all
}

// figureIn returns the first number of a text.
func figureIn(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(regexp.MustCompile(`[0-9.]+`).FindString(strings.ReplaceAll(text, "\u202f", "")), 64)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// otherSpec is a release with a budget, marginals, and more of its table.
func otherSpec(budget, marginals, more string) string {
	return "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: " + budget + `
tables:
  t:
    source: {csv: t.csv}
    unit: {id: id, max_rows: 1}
    columns:
      sex: {values: [f, m]}
      age: {type: integer, range: [0, 99], levels: {ten: {width: 10}}}
      area: {type: integer, range: [1, 30]}
      pay: {type: decimal, range: [0, 5000], step: 1}
      place: {type: integer, range: [1, 100000]}
` + more + "marginals:\n" + marginals
}

// one is a table that is a single measurement, and oneEach are two tables of different parts of the budget.
const one = "  one: {by: [sex, age.ten]}\n"
const oneEach = "  one: {by: [sex, age.ten], budget: a}\n  two: {by: [area], budget: b}\n"

// estimated are tables that are put together from several measurements of both parts.
const estimated = `  one: {by: [sex, age.ten], budget: a}
  two: {by: [area, sex], budget: b}
  wide: {by: [age, area], budget: b}
  all: {every: [1, 2], by: [sex, age.ten, area], budget: a}
`

// TestWhatIfPageAgreesWithThePlanner changes numbers on the page, plans the spec that the page then shows, and compares
// every standard error and every margin. A table that is one measurement has the exact law of its integers on the page:
// only the scale of the noise differs, which the planner rounds to a grid, so that a margin can fall on the next
// integer. A table that is put together has the continuous law, whose variance is too large by up to a sixth of a
// squared unit. A sum of Laplace noise keeps the multiple of its planned law, and Laplace noise under ε and δ, or on a
// sample, adds up otherwise in other shares: these are held to 5%.
func TestWhatIfPageAgreesWithThePlanner(t *testing.T) {
	testkit.SkipPassed(t)
	const both = "{epsilon: 1, delta: 1e-9"
	cases := []struct {
		name, text string
		most       float64 // part of a margin
		places     []string
	}{
		{"laplace", otherSpec("{epsilon: 1/2}", one, ""), 0.005, []string{"", "epsilon=4", "epsilon=0.05"}},
		{"gaussian", otherSpec("{rho: 1/8}", one, ""), 0.005, []string{"rho=1.2", "rho=0.02"}},
		{"narrow gaussian", otherSpec("{rho: 1}", one, ""), 0.005, []string{"rho=10", "rho=4"}},
		{"laplace estimated", otherSpec("{epsilon: 1, split: {a: 40%, b: 60%}}", estimated, ""), 0.05,
			[]string{"epsilon=3", "epsilon=0.5&leaf.a=80"}},
		{"gaussian estimated", otherSpec("{rho: 1/8, split: {a: 2/5, b: 3/5}}", estimated, ""), 0.01,
			[]string{"rho=0.5", "rho=0.02&leaf.a=90"}},
		{"targets", whatIfSpec, 0.01, []string{"rho=0.1&leaf.no=80", "rho=0.04&leaf.no.two=12.5&leaf.fixed=0.01",
			"rho=0.3&leaf.no=20&leaf.no.one=99"}},
		{"gaussian of both", otherSpec(both+", noise: gaussian, split: {a: 40%, b: 60%}}", estimated, ""), 0.01,
			[]string{"delta=1e-7", "epsilon=3&delta=0.000001", "epsilon=0.3&delta=2e-12&leaf.a=20"}},
		{"laplace of both", otherSpec(both+", noise: laplace, split: {a: 40%, b: 60%}}", oneEach, ""), 0.05,
			[]string{"delta=1e-7", "epsilon=3&leaf.a=30", "epsilon=0.4&leaf.b=80&delta=1e-11"}},
		{"sample", strings.Replace(otherSpec(both+", noise: gaussian, split: {a: 40%, b: 60%}}", oneEach, ""),
			"    columns:\n", "    sample: {poisson: 10%}\n    columns:\n", 1), 0.05,
			[]string{"epsilon=2", "leaf.a=70"}},
		{"some cells", otherSpec("{rho: 1/8, split: {a: 0.3, b: 0.4, c: 0.3}}", oneEach+
			"  sparse: {by: [place, sex], budget: c, cells: {above: 60}}\n  most: {by: [place], budget: a, top: 5}\n",
			""), 0.01,
			[]string{"rho=0.5", "leaf.c=60"}},
		{"groups", otherSpec(both+", split: {a: 0.3, b: 0.4, c: 0.3}}", oneEach+
			"  terms: {by: [term], budget: c, stats: [units]}\n",
			"      term: {values: {discover: {max_length: 40}}, unknown: drop, null: drop}\n"), 0.01,
			[]string{"epsilon=2", "leaf.c=60"}},
		{"figures", otherSpec("{epsilon: 0.4, split: {a: 30%, b: 70%}}",
			"  pay: {by: [sex, age.ten], budget: a, stats: [count, {sum: pay}, {mean: pay}]}\n"+
				"  two: {by: [area], budget: b}\n",
			"    expect: {rows: [90000, 110000]}\n"), 0.01, []string{"epsilon=2", "leaf.a=80"}},
	}
	pages, forecasts := map[string]string{}, map[string]*compiled.Forecast{}
	var settings []setting
	for _, c := range cases {
		forecasts[c.name], pages[c.name] = whatIfPage(t, c.text)
		for _, place := range c.places {
			settings = append(settings, setting{page: c.name, place: place, width: narrow})
		}
	}
	all := inBrowser(t, pages, settings)
	for i, c := range cases {
		var worst disagreement
		for _, place := range c.places {
			worst.compare(t, forecasts[c.name], planOf(t, all[0].Spec), all[0], c.most)
			if t.Failed() {
				t.Fatalf("%s, %q", c.name, place)
			}
			all = all[1:]
		}
		if i < 3 && forecasts[c.name].Tables[0].Alone == "" {
			t.Errorf("%s: the table is put together", c.name)
		}
		if strings.Contains(pages[c.name], `id="number.delta"`) != strings.Contains(c.name, "both") {
			t.Errorf("%s: the page can vary δ where it cannot tell what follows, or cannot where it can", c.name)
		}
		t.Logf("%s: standard errors within %.2f%%, margins within %.2f%% and one", c.name, 100*worst.error,
			100*worst.margin)
	}
}

// disagreement is by which part the page and the planner disagree at most: on standard errors, and on margins beyond
// one integer.
type disagreement struct{ error, margin float64 }

// compare compares what the page shows of a setting with the plan of the spec that it shows. most is the part of a
// figure by which they may disagree.
func (d *disagreement) compare(t *testing.T, from *compiled.Forecast, planned *compiled.Compiled, at moved,
	most float64) {
	t.Helper()
	bands, figures := map[string]int{}, at.Figures
	for k, table := range planned.Tables {
		row, s := at.Rows[k], table.Statistics[0]
		if row[0] != table.Path {
			t.Fatalf("row %d is of %s, want %s", k, row[0], table.Path)
		}
		grid := 0.0
		if from.Tables[k].Alone == "" {
			grid = 1 / (12 * s.StandardError * s.StandardError)
		}
		off := math.Abs(figureIn(t, row[1])/s.StandardError - 1)
		if off > most+grid {
			t.Errorf("%s is said to have a standard error of %s, and has %g", table.Path, row[1], s.StandardError)
		}
		margin := figureIn(t, row[2])
		if math.Abs(margin-s.Margin) > 1+most*s.Margin {
			t.Errorf("%s is said to have a margin of %s, and has %g", table.Path, row[2], s.Margin)
		}
		d.error, d.margin = max(d.error, off-grid), max(d.margin, (math.Abs(margin-s.Margin)-1)/s.Margin)
		if want := math.Ceil(from.Plan.Tables[k].Statistics[0].Margin); figureIn(t, row[3]) != want {
			t.Errorf("%s is said to have a planned margin of %s, and has %g", table.Path, row[3], want)
		}
		if got := figureIn(t, row[4]); got > 10*margin || got < 10*(margin-1) {
			t.Errorf("%s is said to be good from %s on, with a margin of %g", table.Path, row[4], margin)
		}
		if label := describe.Label(language.English, table.Usefulness); label != "" {
			bands[string(table.Usefulness.Band)]++
			if row[5] != label {
				t.Errorf("%s is said to be %s, and is %s", table.Path, row[5], label)
			}
		}
		if goal := table.Target; goal != nil {
			text, met := strings.CutPrefix(row[6], "met: ±")
			if got := figureIn(t, text); !met || math.Abs(got-goal.Reached) > 1+most*goal.Reached {
				t.Errorf("the target of %s is %s, and reaches %g", table.Path, row[6], goal.Reached)
			}
		}
		for _, f := range from.Tables[k].Figures {
			i := slices.IndexFunc(table.Figures, func(other plan.Figure) bool { return other.Name == f.Name })
			if got, want := figureIn(t, figures[0][2]),
				table.Figures[i].Quality.Margin; math.Abs(got/want-1) > most+grid {
				t.Errorf("%s of %s is said to have a margin of %g, and has %g", f.Name, table.Path, got, want)
			}
			figures = figures[1:]
		}
	}
	for band, n := range bands {
		if want := fmt.Sprintf("%d table", n); !strings.Contains(at.Status, want) ||
			!strings.Contains(at.Status, band) {
			t.Errorf("the status is %q, with %d %s", at.Status, n, band)
		}
	}
}

// planOf plans the text of a spec.
func planOf(t *testing.T, text string) *compiled.Compiled {
	t.Helper()
	r, err := spec.Parse(spec.Source{Text: text})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// writtenSpec has every form of number, and comments and values that look like them.
const writtenSpec = `# The budget of 2026: rho is 1/8, a has 1/3 “of it” — agreed.
version: 1
release: survey
privacy: {protects: person, neighbours: add-remove}
budget:
  rho: 1/8        # a third would be rho: 1/3
  split: {"a": 1/3, b: {share: 0.5, split: {one: 25%, two: 0.75}},   # a: 1/3
          c: 1/6, d: needed, e: {rho: 1/200}}
tables:
  t: {source: {csv: été.csv}, unit: row, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 99]}, area: {type: integer, range: [1, 30]}}}
marginals:
  ages: {by: [age], budget: d, target: {margin: '60'}}   # target: {margin: 60}
  areas: {target: {at: 400, margin: 8%}, by: [area], budget: e}
  sexes: {by: [sex], budget: a}
  one: {by: [area, sex], budget: b.one}
  two: {by: [age, sex], budget: b.two}
  all: {by: [area, age], budget: c}
`

// TestWhatIfPageWritesTheSpecBack changes numbers by the address, the fields and the sliders: the page shows the
// author's text with these numbers alone replaced, shares add up to exactly 1, and each part of the budget gets what
// the page says.
func TestWhatIfPageWritesTheSpecBack(t *testing.T) {
	testkit.SkipPassed(t)
	cases := []struct {
		name         string
		place, act   string
		replaced     []string // old and new in turn
		said, status string
		// unplanned: the planner refuses it. unknown: the page cannot work it out.
		unplanned, unknown bool
	}{
		{name: "as planned", status: "As planned"},
		{name: "an address that says nothing", place: "leaf.a=nonsense&rho=-3&leaf.b.one=0&<b>=1&leaf.d=3",
			status: "As planned"},
		{name: "another place of the page", place: "tables", status: "As planned"},
		{name: "the whole", act: `type("rho", "1/4")`, replaced: []string{"rho: 1/8 ", "rho: 1/4 "},
			status: "ρ = 1/4. 1 number of the spec changed. Margins are 0.7 to 0.78 times those planned. 2 of 2 " +
				"targets met."},
		{name: "a slider of the whole", act: `drag("rho", 0, true)`, replaced: []string{"rho: 1/8 ", "rho: 0.013 "}},
		{name: "an amount", act: `type("leaf.e", "2e-2")`, replaced: []string{"{rho: 1/200}", "{rho: 2e-2}"}},
		{name: "a share by the address", place: "leaf.a=40",
			replaced: []string{`"a": 1/3`, `"a": 40%`, "share: 0.5", "share: 0.45", "c: 1/6", "c: 3/20"}},
		{name: "a share by its slider", act: `drag("leaf.a", 12.5); drag("leaf.a", 40, true)`,
			replaced: []string{`"a": 1/3`, `"a": 2/5`, "share: 0.5", "share: 0.45", "c: 1/6", "c: 3/20"}},
		{name: "a share that has no decimals", act: `type("leaf.b", "2/7")`,
			replaced: []string{`"a": 1/3`, `"a": 10/21`, "share: 0.5", "share: 2/7", "c: 1/6", "c: 5/21"}},
		{name: "two shares stay", act: `type("leaf.a", "0.2"); type("leaf.b", "10%")`,
			replaced: []string{`"a": 1/3`, `"a": 0.2`, "share: 0.5", "share: 10%", "c: 1/6", "c: 7/10"}},
		{name: "the first gives way", act: `type("leaf.a", "0.2"); type("leaf.b", "10%"); type("leaf.c", "1/4")`,
			replaced: []string{`"a": 1/3`, `"a": 13/20`, "share: 0.5", "share: 10%", "c: 1/6", "c: 1/4"}},
		{name: "a share that leaves no room", act: `type("leaf.a", "0.2"); type("leaf.b", "90%")`,
			replaced: []string{`"a": 1/3`, `"a": 1/15`, "share: 0.5", "share: 90%", "c: 1/6", "c: 1/30"}},
		{name: "a slider that passes by", act: `type("leaf.a", "0.2"); drag("leaf.b", 95); drag("leaf.b", 10, true)`,
			replaced: []string{`"a": 1/3`, `"a": 0.2`, "share: 0.5", "share: 0.1", "c: 1/6", "c: 7/10"}},
		{name: "inner shares", act: `drag("leaf.b.two", 1, true)`,
			replaced: []string{"one: 25%", "one: 99%", "two: 0.75", "two: 0.01"}},
		{name: "as it was", act: `type("leaf.a", "0.2"); type("leaf.a", "2/6")`, status: "As planned"},
		{name: "reset", act: `type("leaf.a", "0.2"); type("rho", "1"); page.getElementById("reset").click()`,
			status: "As planned"},
		{name: "not a number", act: `type("rho", ".5")`, said: "Write a number such as 1.5, 3/2 or 1e-9.",
			status: "Write a number such as 1.5, 3/2 or 1e-9"},
		{name: "out of range", act: `type("rho", "12")`, said: "From 0.013 to 1.2 on this page"},
		{name: "not a share", act: `type("leaf.a", "30")`, status: "A share is above 0 and below 1"},
		{name: "a looser target", act: `type("target.areas", "12.5%")`,
			replaced: []string{"margin: 8%", "margin: 12.5%"},
			status:   "2 of 2 targets met"},
		{name: "a missed target", act: `type("target.areas", "0.8%")`, replaced: []string{"margin: 8%", "margin: 0.8%"},
			status: "1 of 2 targets met: dprelease plan refuses this budget", unplanned: true},
		{name: "amounts above the whole", act: `type("rho", "0.013"); type("leaf.e", "0.05")`, unplanned: true,
			replaced: []string{"rho: 1/8 ", "rho: 0.013 ", "{rho: 1/200}", "{rho: 0.05}"},
			status:   "Nothing can be planned with this: fixed amounts and targets take more than there is."},
		{name: "a target that decides", act: `type("target.ages", "45")`, replaced: []string{"'60'", "'45'"},
			unknown: true,
			status: "The target of ages decides what its part of the budget gets, and only the planner can work " +
				"that out: save the changed spec and run dprelease plan release.yaml."},
		{name: "shares by a link", place: "leaf.b=2%2F7&rho=1%2F4", replaced: []string{`"a": 1/3`, `"a": 10/21`,
			"share: 0.5", "share: 2/7", "c: 1/6", "c: 5/21", "rho: 1/8 ", "rho: 1/4 "}},
	}
	_, page := whatIfPage(t, writtenSpec)
	_, other := whatIfPage(t, strings.ReplaceAll(writtenSpec, "\n", "\r\n"))
	var settings []setting
	for _, c := range cases {
		settings = append(settings, setting{"page", c.place, narrow, c.act})
	}
	settings = append(settings, setting{"page", "", 1280, ""}, setting{"windows", "rho=0.5", 1280, ""})
	all := inBrowser(t, map[string]string{"page": page, "windows": other}, settings)
	lines := all[len(cases)+1].Copied
	if half := strings.Replace(writtenSpec, "rho: 1/8 ", "rho: 0.5 ", 1); lines != strings.ReplaceAll(half, "\n",
		"\r\n") {
		t.Errorf("lines that end as on Windows became %q", lines)
	}
	for i, at := range all[:len(cases)] {
		c := cases[i]
		want := []string{"Nothing yet."}
		for k := 0; k < len(c.replaced); k += 2 {
			if strings.Count(writtenSpec, c.replaced[k]) != 1 {
				t.Fatalf("%q is not once in the spec", c.replaced[k])
			}
		}
		text := strings.NewReplacer(c.replaced...).Replace(writtenSpec)
		if at.Spec != text || at.Copied != text {
			t.Errorf("%s: the spec is\n%s\nand\n%s\nis copied", c.name, at.Spec, at.Copied)
		}
		if c.replaced != nil {
			want = make([]string, len(c.replaced)/2)
		}
		if len(at.Changes) != len(want) || !strings.HasPrefix(at.Changes[0], want[0]) {
			t.Errorf("%s: the changes are %q", c.name, at.Changes)
		}
		for k := range c.replaced {
			number := strings.Trim(c.replaced[k][strings.LastIndex(strings.TrimSpace(c.replaced[k]), " ")+1:], " }'")
			phrase := []string{": was ", ", now "}[k%2] + number
			if !strings.Contains(strings.Join(at.Changes, "\n"), phrase) {
				t.Errorf("%s: the changes %q do not say %q", c.name, at.Changes, phrase)
			}
		}
		if !strings.Contains(at.Status, c.status) || c.said != "" && !strings.Contains(at.Said["rho"], c.said) {
			t.Errorf("%s: the status is %q, and %q is said of rho", c.name, at.Status, at.Said["rho"])
		}
		if at.Width > narrow || len(at.Unnamed) > 0 {
			t.Errorf("%s: %d wide, and without a name are %q", c.name, at.Width, at.Unnamed)
		}
		if c.unplanned {
			if r, err := spec.Parse(spec.Source{Text: at.Spec}); err == nil {
				if _, err := planner.New(r); err == nil {
					t.Errorf("%s: the planner plans it", c.name)
				}
			}
			continue
		}
		if c.unknown {
			if at.Rows[0][1] != "–" || at.Rows[0][2] != "–" {
				t.Errorf("%s: the page says %q", c.name, at.Rows[0])
			}
			planOf(t, at.Spec)
			continue
		}
		for _, leaf := range planOf(t, at.Spec).Leaves {
			rho, _ := leaf.Amount.Rho.Float64()
			if said, ok := at.Said["leaf."+leaf.Path]; ok && strings.Contains(said, "ρ") &&
				math.Abs(figureIn(t, said[strings.Index(said, "ρ"):])/rho-1) > 0.001 {
				t.Errorf("%s: %s is said to have %s, and has ρ = %g", c.name, leaf.Path, said, rho)
			}
		}
	}
	for i, link := range map[int]string{9: "#leaf.a=20&leaf.b=10", 8: "#leaf.b=2%2F7", 3: "#rho=1%2F4"} {
		if all[i].Link != link {
			t.Errorf("%s: the link is %s, want %s", cases[i].name, all[i].Link, link)
		}
	}
	if wide := all[len(cases)]; wide.Width > 1280 || len(wide.Broken) > 0 || len(all[0].Broken) > 0 {
		t.Errorf("%d wide, and words of the table's heads are broken: %q, %q", wide.Width, wide.Broken, all[0].Broken)
	}
}
