package planner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

func traceOf(t *testing.T, budget, marginals string) (string, error) {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(plantest.Sized, budget, "", marginals)})
	if err != nil {
		t.Fatal(err)
	}
	b := &strings.Builder{}
	err = planner.Trace(r, b)
	return b.String(), err
}

// A trace tells every pass once, in their order, with the designs that were not taken.
func TestTraceTellsEveryPass(t *testing.T) {
	got, err := traceOf(t, "{rho: 1/8}", "{x: {every: [0, 1, 2], by: [sex, region]}}")
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join("testdata", "trace.txt")
	if *update {
		if err := os.WriteFile(place, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the trace is\n%s\nwant\n%s", got, want)
	}
	passes := regexp.MustCompile(`(?m)^(\d\. [A-Z][a-z]+)$`).FindAllString(got, -1)
	if all := strings.Join(passes, ", "); all != "1. Tables, 2. Designs, 3. Division, 4. Measurements, 5. "+
		"Predictions, 6. Strategies, 7. Guarantee" {
		t.Errorf("the passes are %s", all)
	}
	if len(planner.Traced) != len(passes) {
		t.Errorf("%d passes of %d are told", len(passes), len(planner.Traced))
	}
}

// Both kinds of noise are told where a budget of ε and δ suits either, with what each would cost the account.
func TestTraceTellsBothNoises(t *testing.T) {
	got, err := traceOf(t, "{epsilon: 1, delta: 1e-9}", "{x: {by: [sex]}, y: {by: [region]}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"All groups with discrete Gaussian noise: weighted sum of variances ",
		"All groups with discrete Laplace noise: weighted sum of variances "} {
		if !strings.Contains(got, want) {
			t.Errorf("the trace does not say %q:\n%s", want, got)
		}
	}
}

// Of a release that cannot be planned the trace has what was worked out before.
func TestTraceOfWhatCannotBePlanned(t *testing.T) {
	got, err := traceOf(t, "{rho: 1/8}", "{x: {by: [sex], target: {margin: 2}}}")
	if err == nil || !strings.HasPrefix(got,
		"1. Tables\n   x  of t  2 cells, each within ±2 with probability 0.95  weight 1\n") ||
		!strings.Contains(got, "After this the planner gave up: "+err.Error()) {
		t.Errorf("error %v, trace\n%s", err, got)
	}
}

// Only the first of many lines are written.
func TestTraceOfManyTablesIsFolded(t *testing.T) {
	b := &strings.Builder{}
	if err := planner.Trace(plantest.Wide(t, 10).Release(), b); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "\n   … and 15 more\n"); got != 2 { // of 55 tables, and their predictions
		t.Errorf("%d lists are cut:\n%s", got, b)
	}
}

// Quantiles that are drawn have a mechanism that adds no noise, and are traced by its name.
func TestTraceNamesEveryMechanism(t *testing.T) {
	r := plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: payRelease}))(t)
	var b strings.Builder
	if err := planner.Trace(r, &b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "exponential quantiles, ") || strings.Contains(text, ",  = ") {
		t.Error(text)
	}
}
