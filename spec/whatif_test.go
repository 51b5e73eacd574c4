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
