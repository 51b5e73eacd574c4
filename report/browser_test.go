package report_test

// This file tests the pages in a browser: nothing is loaded, the console shows no error, and nothing overflows a narrow
// screen. It needs Chromium and is skipped without it.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
)

// narrow is the width of a small telephone's screen, in pixels.
const narrow = 400

// seen is what a browser reports about a page: its name, its width and the element that caused it, and what it tried to
// load.
type seen struct {
	Name   string   `json:"name"`
	Width  int      `json:"width"`
	Wide   []string `json:"wide"`
	Loaded []string `json:"loaded"`
}

// lookAtAll opens the details of all frames, and reports on each.
const lookAtAll = `<script>
addEventListener("load", () => {
  const all = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, root = page.documentElement
    page.querySelectorAll("details").forEach(d => { d.open = true })
    const wide = []
    if (root.scrollWidth > frame.clientWidth) page.querySelectorAll("body *").forEach(e => {
      if (e.getBoundingClientRect().right > frame.clientWidth + 1 && !e.closest(".scroll, pre, nav")) wide.push(e.tagName + "." + e.getAttribute("class") + ": " + e.textContent.slice(0, 30))
    })
    return {name: frame.name, width: root.scrollWidth, wide: wide.slice(0, 5), loaded: frame.contentWindow.performance.getEntriesByType("resource").map(r => r.name)}
  })
  document.body.innerHTML = ""
  document.body.append("SEEN" + JSON.stringify(all) + "SEEN")
})
</script>`

// browserFor returns the browser of a test, which is skipped without one.
func browserFor(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("needs a browser: there is no %s", strings.Join(names, ", "))
	return ""
}

// headless returns the options of a browser without a screen, with a profile in a folder of its own.
func headless(dir string) []string {
	return []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--user-data-dir=" + filepath.Join(dir, "profile")}
}

// mostPrinted bounds the bytes of a printed report, so that it can be sent by mail.
const mostPrinted = 3 << 20

// TestHatchedCellsArePrintedInFewBytes prints a report of two tables of 960 cells each, all of which could be zero.
func TestHatchedCellsArePrintedInFewBytes(t *testing.T) {
	browser := browserFor(t)
	values := func(letter string, n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("%s%d", letter, i))
		}
		return "{values: [" + strings.Join(names, ", ") + "]}"
	}
	p := planned(head("{epsilon: 1/10}", "row: "+values("r", 40)+", line: "+values("l", 40)+", column: "+
		values("c", 24),
		"one: {by: [row, column]}, two: {by: [line, column]}"))
	none := map[string][]int64{}
	for _, m := range p.Measurements {
		none[m.ID] = make([]int64, m.Cells)
	}
	page := pageOf(t, reportOf(t, maker.Input{Plan: compiled.Of(p), Tables: published(p, none),
		Receipt:  receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"}))
	if n := strings.Count(page, `<td class="n hatched">`); n != 2*960 {
		t.Fatalf("%d cells are hatched, want all 1920", n)
	}
	to := printed(t, browser, page)
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d bytes", info.Size()); info.Size() > mostPrinted {
		t.Errorf("the report takes %d bytes on paper, want %d at most", info.Size(), mostPrinted)
	}
}

// mostSheets is the most sheets that a release of some twenty tables takes.
const mostSheets = 12

func TestPrintedReportsAreShort(t *testing.T) {
	testkit.SkipPassed(t)
	pdf, err := os.ReadFile(printed(t, browserFor(t), pageOf(t, reports()["levels"])))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`/Type /Page\b`).FindAll(pdf, -1)); n < 2 || n > mostSheets {
		t.Errorf("%d sheets, want %d at most", n, mostSheets)
	}
}

// printed prints a page, and returns the path of the PDF.
func printed(t *testing.T, browser, page string) string {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "report.html"), filepath.Join(dir, "report.pdf")
	if err := os.WriteFile(from, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, browser, append(headless(dir), "--print-to-pdf="+to, "file://"+from)...).
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return to
}

func TestPagesInABrowser(t *testing.T) {
	testkit.SkipPassed(t)
	browser := browserFor(t)
	long := strings.Repeat("averylongname", 6)
	_, whatIf := whatIfPage(t, strings.ReplaceAll(whatIfSpec, "ages", long))
	pages := map[string]string{
		"what if": whatIf,
		"maps":    pageOf(t, reportOf(t, mapsInput(t))),
		"pairs":   pageOf(t, pairReport(t)),
		"long":    pageOf(t, hostileReport(t, long)),
		"wide":    `<div style="width: 900px">too wide</div>`,
		"loads":   `<img src="http://127.0.0.1:9/picture.png" alt="">`,
		"shouts":  `<script>console.error("shouted")</script>`,
	}
	kinds := []string{"release", "microdata", "figures", "many tables", "sparse"}
	if os.Getenv("DPRELEASE_LONG") != "" {
		kinds = append(kinds, "practice", "rehearsal", "summed", "target", "huge", "all zero")
	}
	for _, name := range kinds {
		pages[name] = pageOf(t, reports()[name])
	}
	all, console := lookAt(t, browser, pages)
	if len(all) != len(pages) {
		t.Fatalf("the browser saw %d of %d pages:\n%s", len(all), len(pages), console)
	}
	for _, s := range all {
		switch s.Name {
		case "wide":
			if s.Width <= narrow {
				t.Errorf("a page that is too wide was not noticed: %+v", s)
			}
		case "loads":
			if len(s.Loaded) != 1 {
				t.Errorf("a picture from elsewhere was not noticed: %+v", s)
			}
		default:
			if s.Width > narrow || len(s.Loaded) > 0 {
				t.Errorf("%s: %+v", s.Name, s)
			}
		}
	}
	if shouts := strings.Count(console, "CONSOLE"); shouts != 1 || !strings.Contains(console, "shouted") {
		t.Errorf("the console has %d messages, want the planted one:\n%s", shouts, console)
	}
}

// lookAt opens pages, each in a narrow frame, and returns what the browser reports about them and writes to its
// console.
func lookAt(t *testing.T, browser string, pages map[string]string) ([]seen, string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8><body>")
	for name, page := range pages {
		fmt.Fprintf(&b, `<iframe name="%s" width="%d" height="900" style="border: 0" srcdoc="%s"></iframe>`, name,
			narrow,
			html.EscapeString(page))
	}
	b.WriteString(lookAtAll)
	answer, console := browsed(t, browser, b.String())
	var all []seen
	if err := json.Unmarshal([]byte(answer), &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(console) {
		if strings.Contains(line, "CONSOLE") && !strings.Contains(line, "127.0.0.1:9") {
			lines = append(lines, line)
		}
	}
	return all, strings.Join(lines, "")
}

// browsed opens a page, and returns what its script writes between two words SEEN, and the messages of the browser.
func browsed(t *testing.T, browser, page string) (answer, messages string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "pages.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, append(headless(dir), "--window-size=1000,900", "--enable-logging=stderr",
		"--dump-dom", "file://"+path)...)
	var console strings.Builder
	c.Stderr = &console
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, console.String())
	}
	parts := strings.Split(string(out), "SEEN")
	if len(parts) != 3 {
		t.Fatalf("the browser says nothing of the page:\n%.2000s\n%s", out, console.String())
	}
	return html.UnescapeString(parts[1]), console.String()
}

// workTheLists sorts the list of tables by its third column, up and down, and then searches it, and reports the names
// of the rows that are to be seen each time.
const workTheLists = `<script>
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument
  const list = page.querySelector("table.errors"), head = list.tHead.rows[0].cells[2]
  const names = () => [...list.tBodies[0].rows].filter(row => row.hidden === false).map(row => row.cells[0].textContent)
  const all = {before: names()}
  head.querySelector("button").click()
  all.up = names(), all.order = head.getAttribute("aria-sort")
  head.querySelector("button").click()
  all.down = names()
  const find = page.getElementById("find")
  find.value = "SEX"
  find.dispatchEvent(new Event("input"))
  all.found = names(), all.says = page.querySelector(".finder output").textContent
  document.body.innerHTML = ""
  document.body.append("SEEN" + JSON.stringify(all) + "SEEN")
})
</script>`

// TestListsAreSortedAndSearched works the script of the page, which its content security policy must let run. The
// smallest real difference of a table is in its third column.
func TestListsAreSortedAndSearched(t *testing.T) {
	testkit.SkipPassed(t)
	browser := browserFor(t)
	r := reportOf(t, residualsInput())
	answer, _ := browsed(t, browser, `<!doctype html><meta charset=utf-8><body><iframe srcdoc="`+
		html.EscapeString(pageOf(t, r))+`"></iframe>`+workTheLists)
	var got struct {
		Before, Up, Down, Found []string
		Order, Says             string
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatal(err)
	}
	var planned, withSex []string
	differs := map[string]int64{}
	for _, table := range r.Tables {
		planned = append(planned, table.Path)
		differs[table.Path] = table.Statistics[0].CellsDifferFrom
	}
	if !slices.Equal(got.Before, planned) || len(planned) < 3 {
		t.Errorf("the list begins as %v, want the plan's order %v", got.Before, planned)
	}
	byDifference := func(a, b string) int { return cmp.Compare(differs[a], differs[b]) }
	if slices.IsSortedFunc(planned, byDifference) || !slices.IsSortedFunc(got.Up, byDifference) ||
		got.Order != "ascending" || len(got.Up) != len(planned) {
		t.Errorf("sorted %s: %v of %v", got.Order, got.Up, differs)
	}
	slices.Reverse(got.Down)
	if !slices.IsSortedFunc(got.Down, byDifference) {
		t.Errorf("sorted downwards: the reverse of %v of %v", got.Down, differs)
	}
	for _, path := range got.Down {
		if strings.Contains(path, "sex") {
			withSex = append([]string{path}, withSex...)
		}
	}
	if !slices.Equal(got.Found, withSex) || len(withSex) == 0 || len(withSex) == len(planned) ||
		got.Says != fmt.Sprintf("%d tables", len(withSex)) && got.Says != "1 table" {
		t.Errorf("found %v, want %v; it says %q", got.Found, withSex, got.Says)
	}
}
