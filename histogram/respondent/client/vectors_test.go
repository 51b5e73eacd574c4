package client_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
)

var update = flag.Bool("update", false, "write testdata/vectors.json")

// vectors are examples for clients in other languages.
type vectors struct {
	Format     string            `json:"format"`
	About      string            `json:"about"`
	Collectors map[string]string `json:"collectors"` // texts of files
	Vectors    []vector          `json:"vectors"`
}

// vector is a device without a memo that responds, once or more often.
type vector struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
}

// step is a response: the bytes that it draws, which are all used, what it sends, and the ε that is spent after it.
type step struct {
	Collector string            `json:"collector"`
	Answers   map[string]string `json:"answers"`
	Random    client.Hex        `json:"random"`
	Reports   []client.Report   `json:"reports"`
	Spent     string            `json:"spent"`
}

const vectorsFile = "testdata/vectors.json"

// TestVectors runs the client on all vectors.
func TestVectors(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var all vectors
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Vectors) < 60 {
		t.Errorf("%d vectors, want 60", len(all.Vectors))
	}
	for _, v := range all.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			memo := new(client.Memo)
			for i, s := range v.Steps {
				checkStep(t, i, s, read(t, all.Collectors[s.Collector]), memo)
			}
		})
	}
}

// checkStep responds with the bytes of a step, and with one less.
func checkStep(t *testing.T, i int, s step, c *client.Collector, memo *client.Memo) {
	t.Helper()
	if n := len(s.Random); n > 0 {
		before := *memo
		if reports, err := c.Respond(s.Answers, &before, bytes.NewReader(s.Random[:n-1])); err == nil {
			t.Errorf("step %d does not need all its bytes: %v", i, reports)
		}
	}
	random := bytes.NewReader(append(bytes.Clone(s.Random), 0xff))
	reports, err := c.Respond(s.Answers, memo, random)
	if err != nil || textOf(t, reports) != textOf(t, s.Reports) || memo.Spent() != s.Spent {
		t.Errorf("step %d: reports %s with ε = %s: %v\nwant %s with ε = %s", i, textOf(t, reports), memo.Spent(), err,
			textOf(t, s.Reports), s.Spent)
	}
}

// vectorCollectors are the files of the vectors.
func vectorCollectors(t *testing.T) map[string]string {
	of := func(form, epsilon string, columns ...client.Column) string {
		return textOf(t, collectorOf(client.One, epsilon, question(t, form, epsilon, columns...)))
	}
	retitled := threeQuestions(t, client.One, "3", "1")
	retitled.Title = "Drug use among students 2026"
	fewer := collectorOf(client.One, "1", threeQuestions(t, client.One, "3", "1").Questions[1:]...)
	smaller := collectorOf(client.All, "3", threeQuestions(t, client.All, "3", "1").Questions...)
	smaller.Questions[0] = question(t, client.Set, "1/2", smaller.Questions[0].Columns...)
	return map[string]string{
		"yes or no":           of(client.Set, "2", client.Column{Name: "c", Categories: []string{"0", "1"}}),
		"3 categories":        of(client.Set, "1/2", column("c", 3)),
		"8 categories":        of(client.Set, "1", column("c", 8)),
		"9 in two columns":    of(client.Set, "1/3", column("c", 3), column("d", 3)),
		"100 categories":      of(client.Set, "1", column("c", 100)),
		"257 categories":      of(client.Set, "3", column("c", 257)),
		"4 permuted":          of(client.Permuted, "1", column("c", 4)),
		"13 permuted":         of(client.Permuted, "1/2", column("c", 13)),
		"600 permuted":        of(client.Permuted, "2", column("c", 30), column("d", 20)),
		"70000 permuted":      of(client.Permuted, "5", column("c", 280), column("d", 250)),
		"7 numbers":           of(client.Set, "2", numbers("c", 7, 3)),
		"300 numbers":         of(client.Set, "1/2", numbers("c", 300, 2)),
		"33 numbers by group": of(client.Set, "3", column("d", 3), numbers("c", 33, 5)),
		"numbers, permuted":   of(client.Permuted, "1", column("d", 5), numbers("c", 9, 4)),
		"10 in bands of 4":    of(client.Set, "1", bands("c", 10, 4)),
		"bands by group":      of(client.Set, "2", column("d", 2), bands("c", 9, 2)),
		"one band by group":   of(client.Set, "1", column("d", 3), bands("c", 5, 8)),
		"bands, permuted":     of(client.Permuted, "1", bands("c", 50, 16), column("d", 5)),
		"a text":              of(client.Permuted, "1", openText("c", 12)),
		"a text's start":      of(client.Permuted, "4", openText("c", 2)),
		"one of three":        textOf(t, threeQuestions(t, client.One, "3", "1")),
		"one of three, later": textOf(t, retitled),
		"one of two":          textOf(t, fewer),
		"all three":           textOf(t, threeQuestions(t, client.All, "3", "1")),
		"all three, smaller":  textOf(t, smaller),
	}
}

// writeVectors writes the file, with the reports of the slow client.
func writeVectors(t *testing.T) {
	t.Helper()
	all := vectors{Format: "dprelease.client-vectors/1", Collectors: vectorCollectors(t),
		About: "Responses of the client to collectors' files, by protocol.md. A vector is a device that has sent nothing; " +
			"its steps follow each other. A step uses all its random bytes. A step without any sends what it has " +
			"sent before."}
	for _, name := range []string{"yes or no", "3 categories", "8 categories", "9 in two columns", "100 categories",
		"257 categories", "4 permuted", "13 permuted", "600 permuted", "70000 permuted", "7 numbers", "300 numbers",
		"33 numbers by group", "numbers, permuted", "10 in bands of 4", "bands by group", "one band by group",
		"bands, permuted", "a text", "a text's start"} {
		all.Vectors = append(all.Vectors, simpleVectors(t, name, all.Collectors[name])...)
	}
	for _, name := range []string{"one of three", "all three"} {
		c := read(t, all.Collectors[name])
		for i, x := range []int64{0, certain/3 - 1, certain / 3, certain / 3 * 2, certain - 1} {
			random := append(append(stream(fmt.Sprint(name, i), 16), six(x)...),
				stream(fmt.Sprint(name, i, "rest"), 4096)...)
			all.Vectors = append(all.Vectors, vector{fmt.Sprintf("%s, first number %d", name, x),
				[]step{referenceStep(name, c, students, random)}})
		}
	}
	all.Vectors = append(all.Vectors, memoVectors(t, all.Collectors)...)
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(vectorsFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(vectorsFile, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// referenceStep is a first response.
func referenceStep(name string, c *client.Collector, answers map[string]string, random []byte) step {
	r := &reference{bytes: random}
	reports := r.respond(c, answers)
	spent := c.Epsilon
	if c.Asks == client.One {
		spent = c.Questions[0].Epsilon // the same for all questions
	}
	return step{name, answers, random[:r.used], reports, spent}
}

// simpleVectors answer one question: with any bytes, on both sides of the chance that a report holds the answer, with
// bytes that are rejected for as long as can be, and with the same byte again and again before they are others.
func simpleVectors(t *testing.T, name, text string) (all []vector) {
	c := read(t, text)
	q := c.Questions[0]
	answers := map[string]string{"c": "2", "d": "1"}
	if len(q.Columns[0].Categories) == 2 {
		answers["c"] = "1"
	}
	if q.Columns[0].Length > 0 {
		answers["c"] = "żółw, größer"
	}
	rest := func(of string) []byte { return stream(name+of, 4096) }
	for _, s := range []struct {
		of     string
		kept   int64
		before []byte
	}{
		{"never held", certain - 1, nil},
		{"just held", q.Keep - 1, nil},
		{"just not held", q.Keep, nil},
		{"held, bytes of ones", 0, bytes.Repeat([]byte{0xff}, 12)},
		{"not held, bytes of ones", certain - 1, bytes.Repeat([]byte{0xff}, 12)},
		{"held, equal bytes", 0, bytes.Repeat([]byte{0, 2}, 6)},
		{"not held, equal bytes", certain - 1, bytes.Repeat([]byte{0, 2}, 6)},
	} {
		start := 22 // the token, the question, and what a number is rounded by
		if last := q.Columns[len(q.Columns)-1]; last.Points > 0 {
			start += (bits.Len(uint(len(last.Categories)-2)) + 7) / 8
		}
		random := append(append(append(rest(s.of + " token")[:start:start], six(s.kept)...), s.before...),
			rest(s.of)...)
		all = append(all, vector{name + ", " + s.of, []step{referenceStep(name, c, oneOf(q, answers), random)}})
	}
	return all
}

// oneOf keeps the answers to the columns of a question.
func oneOf(q client.Question, answers map[string]string) map[string]string {
	kept := map[string]string{}
	for _, c := range q.Columns {
		kept[c.Name] = answers[c.Name]
	}
	return kept
}

// memoVectors respond more than once. The reference has no memo: what a later step draws is spelled out here.
func memoVectors(t *testing.T, collectors map[string]string) []vector {
	one, later, two := read(t, collectors["one of three"]), read(t, collectors["one of three, later"]),
		read(t, collectors["one of two"])
	three, smaller := read(t, collectors["all three"]), read(t, collectors["all three, smaller"])
	first := func(x int64) step {
		random := append(append(stream("memo", 16), six(x)...), stream("memo rest", 4096)...)
		return referenceStep("one of three", one, students, random)
	}
	same := func(s step, name string, c *client.Collector, spent string) step {
		reports := append([]client.Report(nil), s.Reports...)
		for i := range reports {
			reports[i].Collector = c.ID()
		}
		return step{name, s.Answers, client.Hex{}, reports, spent}
	}
	redraw := func(s step, name string, c *client.Collector, i int, before []byte, answers map[string]string,
		spent string) step {
		q := c.Questions[i]
		r := &reference{bytes: append(before, stream("redraw"+q.Name, 4096)...), used: len(before)}
		report := client.Report{Collector: c.ID(), Token: s.Reports[0].Token, Question: q.Name,
			Bytes: r.report(q, answerOf(q, answers))}
		return step{name, answers, r.bytes[:r.used], []client.Report{report}, spent}
	}
	drawn0, drawn2 := first(0), first(certain-1)
	no := with(students, "used", "no")
	changed := redraw(drawn0, "one of three", one, 0, nil, no, "2")
	all := referenceStep("all three", three, students, stream("all", 4096))
	fresh := redraw(all, "all three, smaller", smaller, 0, nil, students, "7/2")
	fresh.Reports = append(fresh.Reports, same(all, "", smaller, "").Reports[1:]...)
	other := same(drawn0, "one of three", one, "1")
	other.Answers = with(students, "postcode", "999")
	return []vector{
		{"the same again", []step{drawn0, same(drawn0, "one of three", one, "1")}},
		{"the same again, in a later version", []step{drawn2, same(drawn2, "one of three, later", later, "1")}},
		{"another answer to a question that was not drawn", []step{drawn0, other}},
		{"an answer that changes, and changes back", []step{drawn0, changed,
			same(drawn0, "one of three", one, "2"), same(changed, "one of three, later", later, "2")}},
		{"a question that is not asked any more", []step{drawn0,
			redraw(drawn0, "one of two", two, 1, six(certain-1), students, "2"),
			redraw(drawn0, "one of three", one, 2, nil, with(no, "postcode", "7"), "3")}},
		{"a question that is still asked by another file", []step{drawn2, same(drawn2, "one of two", two, "1")}},
		{"a question of another ε", []step{all, fresh}},
		{"all questions again", []step{all, same(all, "all three", three, "3")}},
	}
}
