package plan

import (
	"fmt"
	"os"
	"testing"

	"github.com/dprelease/dprelease/spec"
)

// topSpec is a release of a top table of 400 cells beside a marginal, with a unit of so many rows.
func topSpec(neighbours, budget, unit, more, marginal string) string {
	return "version: 1\nrelease: busy\nprivacy: {protects: trip, neighbours: " + neighbours + "}\nbudget: " + budget + "\ntables:\n  trips:\n    source: {csv: trips.csv}\n" +
		"    unit: " + unit + "\n" + more + "    columns:\n      from: {values: {integers: [1, 20]}}\n      to: {values: {integers: [1, 20]}}\n" +
		"marginals:\n  busy: " + marginal + "\n"
}

func topPlan(t *testing.T, text string) *Plan {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTry(t *testing.T) {
	for _, b := range []string{"{epsilon: 1}", "{rho: 1/10}", "{epsilon: 1, delta: 1e-9}"} {
		for _, n := range []string{"add-remove", "replace"} {
			p := topPlan(t, topSpec(n, b, "row", "", "{by: [from, to], top: 10}"))
			fmt.Println(string(p.Bytes()))
			if err := p.Verify(); err != nil {
				t.Fatal(err)
			}
			again, err := Read(p.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Verify(); err != nil {
				t.Fatal(err)
			}
			p.Explain(os.Stdout)
			l, err := p.Loss()
			fmt.Println(l, err)
		}
	}
}
