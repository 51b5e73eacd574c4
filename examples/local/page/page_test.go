package main_test

// This file tests the page in a browser: its client makes the reports of all vectors, and a respondent can use it. It
// needs Chromium and is skipped without it.

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

// vectorsPage runs the client on the vectors, as package client's own test does, and posts the names of those that
// fail.
const vectorsPage = `<!DOCTYPE html><title>vectors</title><script src="wasm_exec.js"></script><script>
(async () => {
  const go = new Go(), bytes = await (await fetch("client.wasm")).arrayBuffer()
  go.run((await WebAssembly.instantiate(bytes, go.importObject)).instance)
  const all = await (await fetch("vectors.json")).json(), failed = []
  for (const v of all.vectors) {
    let memo = ""
    for (const s of v.steps) {
      const text = all.collectors[s.collector]
      const less = s.random ? dprelease.respond(text, s.answers, memo, s.random.slice(0, -2) || "0") : {error: "none"}
      const got = dprelease.respond(text, s.answers, memo, s.random || "00")
      memo = got.memo
      const lines = s.reports.map(r => JSON.stringify(r))
      if (!less.error || got.error || got.spent !== s.spent || JSON.stringify(got.reports) !== JSON.stringify(lines))
        failed.push(v.name)
    }
  }
  const wrong = dprelease.respond(all.collectors["yes or no"], {c: "SECRET"}, "", "").error
  fetch("result", {method: "POST", body: JSON.stringify({vectors: all.vectors.length, failed, wrong})})
})().catch(e => fetch("result", {method: "POST", body: JSON.stringify({failed: [String(e)]})}))
</script>`

// visitPage is a respondent on a narrow screen, who answers, sends, comes back with the same answers and then with
// others.
const visitPage = `<!DOCTYPE html><html lang="en"><title>visit</title><iframe width=400 height=900></iframe><script>
(async () => {
  const frame = document.querySelector("iframe"), pause = () => new Promise(done => setTimeout(done, 20))
  const $ = s => frame.contentDocument.querySelector(s)
  const until = async what => { while (!what()) await pause() }
  const problems = []
  const open = async () => {
    frame.src = "index.html?" + Math.random()
    await new Promise(done => { frame.onload = done })
    frame.contentWindow.onerror = message => problems.push(String(message))
    await until(() => $("#form") && (!$("#form").hidden || !$("#problem").hidden))
  }
  const answer = async option => {
    frame.contentDocument.querySelectorAll("select").forEach(list => { list.selectedIndex = option })
    $("#randomise").click()
    await until(() => !$("#result").hidden)
    const seen = {text: frame.contentDocument.body.innerText, spent: $("#loss").innerText.match(/ε = ([0-9/]+)/)[1]}
    $("#send").click()
    await until(() => $("#status").textContent.startsWith("Sent") || !$("#problem").hidden)
    return seen
  }
  await open()
  const before = {problem: $("#problem").textContent, title: frame.contentDocument.title,
    labels: [...frame.contentDocument.querySelectorAll("select")].map(list => list.labels.length)}
  $("#randomise").click()
  before.stopped = $("#result").hidden
  const visits = [await answer(2)]
  await open()
  visits.push(await answer(2))
  visits.push(await answer(1))
  const width = frame.contentDocument.documentElement.scrollWidth
  frame.contentWindow.localStorage.setItem(frame.contentWindow.localStorage.key(0), "{}")
  await open()
  const damaged = $("#problem").textContent
  fetch("result", {method: "POST", body: JSON.stringify({before, visits, width, damaged, problems})})
})().catch(e => fetch("result", {method: "POST", body: JSON.stringify({problems: [String(e.stack)]})}))
</script>`

// numbersFile asks for a number, which is rounded to one of three points.
const numbersFile = `{"format":"dprelease.collector/1","release":"drinks","collection":"answers","epsilon":"2",` +
	`"asks":"one","questions":[{"name":"average","columns":[{"name":"units","title":"Units a week","categories":` +
	`["-1","-1/2","0","1/2","1"],"points":3}],"chance":281474976710656,"epsilon":"2","form":"set","categories":3,` +
	`"support":1,"keep":221516877889047}]}`

// textsFile asks for a text of at most five characters, or for the first two of it, which no device draws here.
const textsFile = `{"format":"dprelease.collector/1","release":"words","collection":"answers","epsilon":"2",` +
	`"asks":"one","questions":[{"name":"words/2","columns":[{"name":"word","title":"A word","categories":null,"length":2}],` +
	`"chance":1,"epsilon":"2","form":"permuted","categories":2147483647,"support":255986325,"keep":140737488131520},` +
	`{"name":"words","columns":[{"name":"word","title":"A word","categories":null,"length":5}],"chance":281474976710655,` +
	`"epsilon":"2","form":"permuted","categories":2147483647,"support":255986325,"keep":140737488131520}]}`

// askedPage is a respondent who writes what ANSWERS lists, on the page that is asked of ASKED.
const askedPage = `<!DOCTYPE html><html lang="en"><title>asked</title><iframe width=400 height=900></iframe><script>
(async () => {
  const frame = document.querySelector("iframe"), $ = s => frame.contentDocument.querySelector(s)
  const until = async what => { while (!what()) await new Promise(done => setTimeout(done, 20)) }
  frame.src = "ASKED.html"
  await new Promise(done => { frame.onload = done })
  await until(() => $("#form") && (!$("#form").hidden || !$("#problem").hidden))
  const seen = []
  for (const answer of [ANSWERS]) {
    $("#form").dispatchEvent(new Event("change"))
    $("input").value = answer
    $("#randomise").click()
    seen.push($("#result").hidden ? "" : $("#loss").innerText.match(/ε = ([0-9/]+)/)[1])
  }
  fetch("result", {method: "POST", body: JSON.stringify({seen, label: $("label").innerText, problem: $("#problem").innerText,
    text: $("#reports").innerText})})
})().catch(e => fetch("result", {method: "POST", body: JSON.stringify({problem: String(e.stack)})}))
</script>`

// built returns a folder with the page and its client.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "client.wasm"), ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"index.html", "page.css", "page.js", "collector.json",
		"../../../histogram/respondent/client/testdata/vectors.json",
		filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		served := strings.Replace(string(text), `data-post=""`, `data-post="reports"`, 1)
		write(t, filepath.Join(dir, filepath.Base(path)), served)
	}
	asked, err := os.ReadFile("index.html")
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string][2]string{
		"numbers": {numbersFile, `"", "2", "0.9", "1", "-0.26", "-0.25"`},
		"texts":   {textsFile, `"", " Äpfel ", "a\u0308pfel", "äpfelmus", "pear"`},
	} {
		write(t, filepath.Join(dir, name+".json"), of[0])
		write(t, filepath.Join(dir, name+"-asked.html"), strings.Replace(string(asked), "collector.json", name+".json",
			1))
		write(t, filepath.Join(dir, name+".html"),
			strings.NewReplacer("ASKED", name+"-asked", "ANSWERS", of[1]).Replace(askedPage))
	}
	write(t, filepath.Join(dir, "vectors.html"), vectorsPage)
	write(t, filepath.Join(dir, "visit.html"), visitPage)
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// browse opens a page of a folder, reads what its script posts as its result, and returns what was posted as reports.
func browse(t *testing.T, browser, dir, page string, result any) (reports []string) {
	t.Helper()
	results, posts := make(chan []byte, 1), make(chan string, 10)
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		case r.URL.Path == "/result":
			results <- body
		case r.URL.Path == "/reports":
			posts <- string(body)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "--enable-logging=stderr",
		"--remote-debugging-port=0", server.URL+"/"+page)
	var console strings.Builder
	c.Stderr, c.WaitDelay = &console, 10*time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var body []byte
	select {
	case body = <-results:
	case <-ctx.Done():
	}
	cancel()
	c.Wait() // it was ended
	if err := json.Unmarshal(body, result); err != nil {
		t.Fatalf("%s posts no result: %v\n%s", page, err, console.String())
	}
	for line := range strings.Lines(console.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("%s: %s", page, line)
		}
	}
	close(posts)
	for post := range posts {
		reports = append(reports, post)
	}
	return reports
}

// browserFor returns the browser of a test, which is skipped without one.
func browserFor(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("needs a browser")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs a browser: there is no Chromium")
	return ""
}

func TestPage(t *testing.T) {
	browser := browserFor(t)
	dir := built(t)
	t.Run("vectors", func(t *testing.T) { testVectors(t, browser, dir) })
	t.Run("visits", func(t *testing.T) { testVisits(t, browser, dir) })
	t.Run("numbers", func(t *testing.T) { testNumbers(t, browser, dir) })
	t.Run("texts", func(t *testing.T) { testTexts(t, browser, dir) })
}

// asked is what a respondent sees of a page that asks for one answer: the ε after each, "" while there is no result.
type asked struct {
	Seen                 []string
	Label, Problem, Text string
}

// testTexts has a respondent write nothing, the same word in three ways, of which one is longer, and another word,
// which alone costs ε again.
func testTexts(t *testing.T, browser, dir string) {
	var result asked
	browse(t, browser, dir, "texts.html", &result)
	if want := []string{"", "2", "2", "2", "4"}; !slices.Equal(result.Seen, want) || result.Problem != "" {
		t.Errorf("%+v, want ε %q", result, want)
	}
	if !strings.Contains(result.Label, "A word (at most 5 characters count)") ||
		!strings.Contains(result.Text, "at most the first 5 characters were reported, as one of 2,147,483,647 hashes") {
		t.Errorf("the page says %q and %q", result.Label, result.Text)
	}
}

// testNumbers has a respondent give no number, one beyond the range, and then some that are rounded to four answers:
// each costs ε, but for the same answer again.
func testNumbers(t *testing.T, browser, dir string) {
	var result asked
	browse(t, browser, dir, "numbers.html", &result)
	if want := []string{"", "", "2", "2", "4", "6"}; !slices.Equal(result.Seen, want) || result.Problem != "" {
		t.Errorf("%+v, want ε %q", result, want)
	}
	if !strings.Contains(result.Label, "Units a week (a number from -1 to 1)") ||
		!strings.Contains(result.Text, "rounded at random to one of 3: -1, 0, 1. It names “") {
		t.Errorf("the page says %q and %q", result.Label, result.Text)
	}
}

// testVectors has the client in the browser make the reports of all vectors.
func testVectors(t *testing.T, browser, dir string) {
	var result struct {
		Vectors int
		Failed  []string
		Wrong   string
	}
	browse(t, browser, dir, "vectors.html", &result)
	if result.Vectors < 60 || len(result.Failed) > 0 {
		t.Errorf("of %d vectors fail %s", result.Vectors, strings.Join(result.Failed, "\n"))
	}
	if !strings.Contains(result.Wrong, `column "c"`) || strings.Contains(result.Wrong, "SECRET") {
		t.Errorf("a wrong answer has the error %q", result.Wrong)
	}
}

// visit is what a respondent sees.
type visit struct{ Text, Spent string }

// testVisits has a respondent use the page.
func testVisits(t *testing.T, browser, dir string) {
	var result struct {
		Before struct {
			Problem, Title string
			Labels         []int
			Stopped        bool
		}
		Visits   []visit
		Width    int
		Damaged  string
		Problems []string
	}
	reports := browse(t, browser, dir, "visit.html", &result)
	if len(result.Problems) > 0 || result.Before.Problem != "" || len(result.Visits) != 3 || len(reports) != 3 {
		t.Fatalf("%+v\nwith reports %q", result, reports)
	}
	if b := result.Before; b.Title != "Drug use among students 2026" || len(b.Labels) != 4 || !b.Stopped {
		t.Errorf("the page before an answer: %+v", b)
	}
	if reports[0] != reports[1] || result.Visits[0].Spent != "2" || result.Visits[1].Spent != "2" ||
		result.Visits[2].Spent != "4" {
		t.Errorf("the same answers, and then others: %+v\nwith reports %q", result.Visits, reports)
	}
	if result.Width > 400 || !strings.Contains(result.Damaged, "damaged") {
		t.Errorf("the page is %d wide, and says of a damaged memo %q", result.Width, result.Damaged)
	}
	checkReports(t, filepath.Join(dir, "collector.json"), reports, result.Visits)
}

// checkReports checks that each report is valid and was shown to the respondent.
func checkReports(t *testing.T, path string, reports []string, visits []visit) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range reports {
		var r client.Report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		shown, err := r.Bytes.MarshalText()
		if err != nil || r.Collector != c.ID() || !strings.Contains(visits[i].Text, string(shown)) {
			t.Errorf("report %s is shown as %s: %v", line, visits[i].Text, err)
		}
		for _, q := range c.Questions {
			if q.Name == r.Question && !q.Valid(r.Bytes) {
				t.Errorf("report %s is not valid", line)
			}
		}
	}
}
