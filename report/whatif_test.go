package report_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec"
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

// The page knows the requested noise distribution, so that the budget to paste requests it too.
func TestWhatIfPageKeepsTheLawOfTheNoise(t *testing.T) {
	_, page := whatIfPage(t, whatIfSpec)
	if !strings.Contains(page, `"noise":"gaussian"`) {
		t.Error("the page does not hold the law of the noise")
	}
	if _, page := whatIfPage(t, strings.Replace(whatIfSpec, "  noise: gaussian\n", "", 1)); strings.Contains(page,
		`"noise":`) {
		t.Error("the page of a spec without a law of the noise holds one")
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
		for _, pair := range [][2]string{{"ink", "paper"}, {"muted", "paper"}, {"accent", "paper"}, {"accent", "raised"},
			{"ink", "raised"}} {
			if got := contrast(t, colour[pair[0]], colour[pair[1]]); got < 4.5 {
				t.Errorf("%s on %s has contrast %.2f", pair[0], pair[1], got)
			}
		}
	}
}

// moved is what the page shows with its sliders in some position.
type moved struct {
	YAML, Status string
	Width        int
	Broken       []string // words of the table's headings that do not fit on one line
	Rows         [][]string
}

// readAll reads the page in every frame.
const readAll = `<script>
addEventListener("load", () => {
  const all = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument
    const rows = [...page.querySelectorAll("#tables tbody tr:first-child")].map(r => [...r.cells].map(c => c.textContent))
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
    return {Broken: broken, YAML: page.getElementById("yaml").textContent, Status: page.getElementById("status").textContent, Width: page.documentElement.scrollWidth, Rows: rows}
  })
  document.body.innerHTML = ""
  document.body.append("SEEN" + JSON.stringify(all) + "SEEN")
})
</script>`

// inBrowser opens a page with several positions of its sliders, in frames of a width in pixels.
func inBrowser(t *testing.T, page string, width int, places []string) []moved {
	t.Helper()
	browser := browserFor(t)
	dir := t.TempDir()
	var frames strings.Builder
	frames.WriteString("<!doctype html><meta charset=utf-8><body>")
	for _, place := range places {
		fmt.Fprintf(&frames, `<iframe width="%d" height="900" style="border: 0" src="page.html#%s"></iframe>`, width,
			strings.ReplaceAll(place, "&", "&amp;"))
	}
	for name, text := range map[string]string{"page.html": page, "frames.html": frames.String() + readAll} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
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
	text := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&nbsp;", "\u00a0").
		Replace(between(t, string(out), "SEEN", "SEEN"))
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
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

// TestWhatIfPageInABrowser moves the sliders by the page's address, and plans the spec with the budget that the page
// says to paste: the page showed what is planned then, to 1% and one unit of a margin.
func TestWhatIfPageInABrowser(t *testing.T) {
	p, page := whatIfPage(t, whatIfSpec)
	places := []string{"", "rho=0.1&leaf.no=80", "rho=0.04&leaf.no.two=12.5&leaf.fixed=0.01",
		"rho=0.3&leaf.no=20&leaf.rest=80&leaf.no.one=99", "leaf.no=nonsense&rho=-3&<b>", "rho=0.005", "rho=0.012"}
	all := inBrowser(t, page, narrow, places)
	if len(all) != len(places) {
		t.Fatalf("%d frames of %d", len(all), len(places))
	}
	for _, at := range append(inBrowser(t, page, 1280, places[:1]), all[0]) {
		if len(at.Broken) > 0 || at.Width > 1280 {
			t.Errorf("words of the table's heads are broken: %q (%d wide)", at.Broken, at.Width)
		}
	}
	if all[4].YAML != all[0].YAML {
		t.Errorf("an address that says nothing moved a slider:\n%s", all[4].YAML)
	}
	if none := all[5]; !strings.Contains(none.Status, "nothing can be planned") || none.Rows[0][1] != "–" {
		t.Errorf("a budget below what is needed: %q, %q", none.Status, none.Rows[0])
	}
	if little := all[6]; !strings.Contains(little.Status, "1 of 2 targets met") ||
		!strings.HasPrefix(little.Rows[1][5], "missed: ±") {
		t.Errorf("a target with too little: %q, %q", little.Status, little.Rows[1])
	}
	for _, want := range []string{"\"no\":\n      share: 80%\n", "rest: 20%\n", "rho: 0.1\n", "noise: gaussian\n",
		"fixed: {rho: 0.005}", "needs: needed"} {
		if !strings.Contains(all[1].YAML, want) {
			t.Errorf("the budget has no %q:\n%s", want, all[1].YAML)
		}
	}
	before, after, _ := strings.Cut(whatIfSpec, "budget:\n")
	_, after, _ = strings.Cut(after, "tables:\n")
	for i, at := range all[:4] {
		if at.Width > narrow {
			t.Errorf("%q: %d wide", places[i], at.Width)
		}
		r, err := spec.Parse(spec.Source{Text: before + at.YAML + "tables:\n" + after})
		if err != nil {
			t.Fatalf("%q: %v\n%s", places[i], err, at.YAML)
		}
		planned := p.Plan
		if i > 0 {
			other, err := planner.New(r)
			if err != nil {
				t.Fatalf("%q: %v", places[i], err)
			}
			planned = other
		}
		bands := map[usefulness.Band]int{}
		for k, table := range planned.Tables {
			row, s := at.Rows[k], table.Statistics[0]
			if row[0] != table.Path {
				t.Fatalf("row %d is of %s, want %s", k, row[0], table.Path)
			}
			if got := figureIn(t, row[1]); math.Abs(got/s.StandardError-1) > 0.01 {
				t.Errorf("%q: %s is said to have a standard error of %s, and has %g", places[i], table.Path, row[1],
					s.StandardError)
			}
			if got := figureIn(t, row[2]); math.Abs(got-s.Margin) > 1+0.01*s.Margin {
				t.Errorf("%q: %s is said to have a margin of %s, and has %g", places[i], table.Path, row[2], s.Margin)
			}
			if got := figureIn(t, row[3]); math.Abs(got-10*s.Margin) > 10+0.1*s.Margin {
				t.Errorf("%q: %s is said to be good from %s on, with a margin of %g", places[i], table.Path, row[3], s.Margin)
			}
			if row[4] != describe.Label(table.Usefulness) {
				t.Errorf("%q: %s is said to be %s, and is %s", places[i], table.Path, row[4], describe.Label(table.Usefulness))
			}
			bands[table.Usefulness.Band]++
			if table.Target != nil && !strings.HasPrefix(row[5], "met: ±") {
				t.Errorf("%q: the target of %s is %s", places[i], table.Path, row[5])
			}
		}
		for band, n := range bands {
			if want := fmt.Sprintf("%d table", n); !strings.Contains(at.Status, want) ||
				!strings.Contains(at.Status, string(band)) {
				t.Errorf("%q: the status is %q, with %d %s", places[i], at.Status, n, band)
			}
		}
	}
}
