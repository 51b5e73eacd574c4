package report_test

import (
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
)

// inGerman returns the report of an input whose spec asks for German.
func inGerman(t testing.TB, in maker.Input) *report.Report {
	t.Helper()
	words := *in.Plan.Release().Words
	words.About.Language = "de"
	p, err := in.Plan.WithWords(&words)
	if err != nil {
		t.Fatal(err)
	}
	in.Plan = p
	return reportOf(t, in)
}

var (
	english = regexp.MustCompile(`\b(?i:the|of|is|are|and|which|each|with|from|than|not|there|its|has|have|only|good|weak|mostly)\b`)
	// point matches a decimal point, not a date, a version or a file.
	point  = regexp.MustCompile(`(^|[\s(±≥≤=−])\d+\.\d+($|[\s),;:%])`)
	code   = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>|<pre[^>]*>.*?</pre>|<style>.*?</style>|<script>.*?</script>|<title>.*?</title>`)
	tags   = regexp.MustCompile(`<[^>]*>`)
	spoken = regexp.MustCompile(`(?:aria-label|alt|placeholder)="([^"]*)"`)
)

// textsOf returns the texts that a reader of a page sees or hears, without code.
func textsOf(pageText string) []string {
	body := code.ReplaceAllString(pageText, "|")
	var all []string
	for _, m := range spoken.FindAllStringSubmatch(body, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	for _, text := range strings.Split(tags.ReplaceAllString(body, "|"), "|") {
		all = append(all, html.UnescapeString(strings.TrimSpace(text)))
	}
	return all
}

// ofTheSpec are the texts of the fixtures' specs and approvals, which no program translates, and the program's own
// examples.
var ofTheSpec = regexp.MustCompile(
	`I have read this plan\.|connecting the dots|not fit|print\(.*\)|FROM '.*'|It may be released every quarter\.|statistics office|residents aged 0–110|the first quarter of 2026|Labour force, [^ ]*|` +
		`tables/[^ ]*|[a-z_.]+/[a-z_.×]+`)

// A German report has no English in it, whatever kind of release it is of, and no decimal point.
func TestGermanReportsAreGerman(t *testing.T) {
	testkit.SkipPassed(t)
	all := inputs()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			r := inGerman(t, all[name])
			pages := map[string]string{"report.html": pageOf(t, r), "report.md": string(page.Markdown(r)),
				"README.txt": string(page.Readme(r))}
			seen := map[string]bool{}
			for file, text := range pages {
				texts := textsOf(text)
				if file != "report.html" {
					texts = strings.Split(regexp.MustCompile("(?s)```.*?```|`[^`]*`").ReplaceAllString(text, ""), "\n")
				}
				for _, text := range texts {
					own := ofTheSpec.ReplaceAllString(text, "")
					if !seen[own] && (english.MatchString(own) || point.MatchString(own)) {
						t.Errorf("%s: %q", file, text)
					}
					seen[own] = true
				}
			}
			if !strings.Contains(pages["report.html"], `<html lang="de">`) {
				t.Error("the page does not say that it is in German")
			}
		})
	}
}
