package spec

import (
	"strings"
	"testing"
)

func TestWithBudgetChangesTheAmountAlone(t *testing.T) {
	text := `version: 1
release: r
about: {title: "ε, δ"}
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1, delta: 1e-9, split: {über: 1}} # epsilon: 1
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}}}}
marginals: {m: {by: [mode], budget: main}}
`
	text = strings.Replace(text, "über", "main", 1)
	r, err := Parse(Source{Name: "r.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.WithBudget("delta", "1e-12")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Parse(Source{Name: "r.yaml", Text: strings.Replace(text, "1e-9", "1e-12", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if other.Source.Text != want.Source.Text || other.Budget.Delta.RatString() != "1/1000000000000" ||
		other.About.Title != "ε, δ" {
		t.Errorf("the text became\n%s\nwith the title %q", other.Source.Text, other.About.Title)
	}
	if other, err = r.WithBudget("epsilon", "5/2"); err != nil || other.Budget.Epsilon.RatString() != "5/2" ||
		other.Budget.Delta.Cmp(r.Budget.Delta) != 0 {
		t.Errorf("epsilon 5/2: %+v, %v", other, err)
	}
	for _, c := range [][2]string{{"rho", "1"}, {"split", "1"}, {"epsilon", "none"}, {"epsilon", "-1"},
		{"epsilon", "1, rho: 2"}} {
		if _, err := r.WithBudget(c[0], c[1]); err == nil {
			t.Errorf("%s: %s is accepted", c[0], c[1])
		}
	}
}

// TestNumbersAreFoundWhereTheyStand replaces every number by a mark: the rest of the text stays as it is.
func TestNumbersAreFoundWhereTheyStand(t *testing.T) {
	text := "\ufeff# ε: 1\u2028# a: 1/2\r\nversion: 1\r\nrelease: r\r\nabout: {title: \"ε, δ\"}\r\n" + `
privacy: {protects: trip, neighbours: add-remove}
budget: {delta: "1e-9", epsilon: 1e0, split: {a: 1/2, "b": {share: '25%', split: {a: {rho: 1/1000}, c: needed, d: 1}}, e: {share: 0.25}}} # a: 1/2
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}}}}
marginals:
  é.m: {by: [mode], budget: a, target: {margin: 5%, at: 100}}
  n: {by: [mode], budget: b.c, target: {margin: 50}}
  o: {by: [mode], budget: b.a}
  p: {by: [mode], budget: b.d}
  q: {by: [mode], budget: e}
`
	text = strings.Replace(text, "é.m", "e.m", 1)
	r, err := Parse(Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := r.Numbers()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	from := 0
	for _, n := range numbers {
		got += text[from:n.From] + "<" + n.Of + ">"
		from = n.To
	}
	got += text[from:]
	want := strings.NewReplacer(`"1e-9"`, `"<delta>"`, "1e0", "<epsilon>", "{a: 1/2", "{a: <leaf.a>", "25%", "<leaf.b>",
		"1/1000", "<leaf.b.a>", "d: 1}", "d: <leaf.b.d>}", "0.25", "<leaf.e>", "5%", "<target.e.m>", "50",
		"<target.n>").
		Replace(text)
	if got != want {
		t.Errorf("the text became\n%s", got)
	}
	r.written = strings.Replace(text, `"1e-9"`, `"1\x65-9"`, 1)
	if _, err := r.Numbers(); err == nil || !strings.Contains(err.Error(), "budget.delta") {
		t.Errorf("a number with escapes: %v", err)
	}
}
