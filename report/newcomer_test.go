package report_test

// This file tests that the questions of somebody who opens a report for the first time are answered in the expected
// places.

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/page"
)

// question is one of five, with the part of report.md that answers it and the texts that may answer it.
type question struct {
	asks, part string
	answers    []string
}

var questions = []question{
	{asks: "What was protected?", part: "", answers: []string{"Each person is protected: all rows with the same ",
		"Each row of the data is protected, as one person"}},
	{asks: "How well?", part: "",
		answers: []string{"after seeing all of it, at most ", "after seeing all of it, as good as always, as far as " +
			"this promise goes"}},
	{asks: "What is that as a formula?", part: "",
		answers: []string{"Adding or removing any one person changes the chance of any result by a factor of at most ",
			"Replacing the data of any one person by any other changes the chance of any result by a factor of at most "}},
	{asks: "How close are the numbers?", part: "", answers: []string{" of the exact count",
		" of the exact sum of weights", "have a noisy count within ±"}},
	{asks: "Is this cell different from that one?", part: "When two cells differ",
		answers: []string{"only if they are at least "}},
	{asks: "When do cells of two tables or years differ?", part: "When two cells differ",
		answers: []string{"Cells of two tables or releases, and other figures, differ if their intervals do not " +
			"touch. " +
			"Two equal figures are taken for different at most 10% of the time"}},
	{asks: "Which tables must not be used?", part: "What not to do with these figures",
		answers: []string{"Do not use the table", "Do not use a cell on its own "}},
	{asks: "Which single cells must not be used?", part: "What not to do with these figures",
		answers: []string{"“Cells that could be zero” names them", "“Cells that could be zero” says how to find them"}},
	{asks: "What did it cost?", part: "Cost", answers: []string{"- Cost: "}},
	{asks: "What is left?", part: "Cost",
		answers: []string{"The office sees what is left of it with `dprelease ledger show ",
			"It opened with a budget for three releases like its first.",
			"It has room for two more releases like this one", "- Cost: nothing: "}},
	{asks: "To whom was it charged?", part: "Cost",
		answers: []string{"- Paid by: account ", "- Paid by: practice account ", "keeps no account"}},
	{asks: "How can it be checked?", part: "How to check",
		answers: []string{"- To check this page you need the whole folder that it came in"}},
}

// TestNewcomersFindTheirAnswers tests every kind of release.
func TestNewcomersFindTheirAnswers(t *testing.T) {
	all := reports()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		page := "\n" + string(page.Markdown(all[name]))
		for _, q := range questions {
			part := partOf(page, q.part)
			answered := slices.ContainsFunc(q.answers, func(a string) bool { return strings.Contains(part, a) })
			if strings.HasSuffix(q.asks, "must not be used?") && !answered { // there is none, which the page says too
				answered = strings.Contains(partOf(page, "More about the promise and the figures"),
					"No table has to be avoided")
			}
			if !answered {
				t.Errorf("%s: %q is not answered in part %q", name, q.asks, q.part)
			}
		}
	}
}

// partOf returns the text of a page under a heading, or before the first heading for "".
func partOf(page, heading string) string {
	if heading != "" {
		_, page, _ = strings.Cut(page, "\n## "+heading+"\n")
	}
	page, _, _ = strings.Cut(page, "\n## ")
	return page
}

// TestOpeningIsInOrder checks the order of the opening: the subject, the guarantee, how close the figures are, and then
// the box, which is short.
func TestOpeningIsInOrder(t *testing.T) {
	for name, r := range reports() {
		opening := (page.View{Report: r}).Opening()
		oneRow := func(s string) string { return strings.Join(strings.Fields(s), " ") } // in the form of the page
		text := oneRow(string(page.Markdown(r)))
		at := 0
		for _, s := range opening {
			i := strings.Index(text, oneRow(s))
			if i < at {
				t.Errorf("%s: %q is not there, or not in its place", name, s)
			}
			at = i
		}
		if box := strings.Index(text, "## What not to do with these figures"); box < at {
			t.Errorf("%s: the box stands before the opening ends", name)
		}
		if n := len(r.Misuse); n < 2 || n > 8 {
			t.Errorf("%s: the box has %d items", name, n)
		}
		view := page.View{Report: r}
		if opening[0] != view.Subject() || opening[1+len(view.Promise())] != r.Accuracy.Sentence {
			t.Errorf("%s: the opening is %q", name, opening)
		}
	}
	if got, want := (page.View{Report: reports()["release"]}).Subject(),
		"These figures are about residents aged 0–110. Their period is the first quarter of 2026."; got != want {
		t.Errorf("the subject is %q", got)
	}
}

// TestLargePromisesAreSaidPlainly uses e^4 = 54.6 and e^7.3 = 1480.3, so that a guess at even odds is wrong once in
// 1481.3.
func TestLargePromisesAreSaidPlainly(t *testing.T) {
	for _, c := range []struct {
		budget string
		said   []string
		not    string
	}{
		{"{epsilon: 1}", nil, "Put plainly"},
		{"{epsilon: 4}", []string{
			"what comes out 1 time in 1000 without that person may come out up to 55 times in 1000 with that person",
			"at most 98.3% of the time"}, "every time"},
		{"{epsilon: 4, delta: 1e-3}",
			[]string{"up to 56 times in 1000", "an extra chance of at most one in 1000 (δ = 0.001)"}, "every time"},
		{"{epsilon: 7.3}", []string{"may come out every time with that person",
			"after seeing all of it, at most 1481 times in 1482"}, "100%"},
		{"{epsilon: 30}", []string{"after seeing all of it, as good as always, as far as this promise goes",
			"This promise is weak."}, "100%"},
	} {
		said := strings.Join(page.View{Report: reportOf(t, specInput(report.Official, oneTable(c.budget)))}.Opening(),
			"\n")
		for _, s := range c.said {
			if !strings.Contains(said, s) {
				t.Errorf("%s: %q is not said:\n%s", c.budget, s, said)
			}
		}
		if strings.Contains(said, c.not) {
			t.Errorf("%s: %q is said:\n%s", c.budget, c.not, said)
		}
	}
}

// TestOneNumberIsOne checks the sentences about a single number, and about none.
func TestOneNumberIsOne(t *testing.T) {
	one := reportOf(t, specInput(report.Official, head("{epsilon: 4/15}", "sex: {values: [female, male]}",
		"total: {by: []}")))
	if want := "The one published number is within 11 of the exact count with a chance of at least 95%, before " +
		"sampling and response error."; one.Accuracy.Sentence != want {
		t.Errorf("got  %s\nwant %s", one.Accuracy.Sentence, want)
	}
}

// TestTheFirstScreenAnswers checks that few words stand before what most readers look for: the cost, when two cells
// differ, and what not to do. The limits are what one or two screens of a telephone hold.
func TestTheFirstScreenAnswers(t *testing.T) {
	for name, r := range reports() {
		_, page, _ := strings.Cut(pageOf(t, r), "<main ")
		for part, most := range map[string]int{`<dt id="cost">`: 140, `<dt id="differ">`: 230,
			`<h2 id="misuse">`: 310} {
			before, _, found := strings.Cut(page, part)
			if n := len(strings.Fields(tags.ReplaceAllString(before, " "))); found && n > most {
				t.Errorf("%s: %d words stand before %s, want %d at most", name, n, part, most)
			}
		}
	}
}
