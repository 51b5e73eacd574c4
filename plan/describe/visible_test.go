package describe_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/spec/language"
)

// TestMicrodataWithoutExpectedRowsAreWarnedOf checks that the plan warns of microdata with the numbers of rows from
// which the noise hides less, if the spec does not state the number of rows. If the spec or an invariant states it,
// the plan compares.
func TestMicrodataWithoutExpectedRowsAreWarnedOf(t *testing.T) {
	const text = `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {rho: 1/100}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    columns: {mode: {values: [walk, ride]}, hour: {type: integer, range: [0, 3]}, day: {values: [mo, tu, we]}}
synthetic: {t: {method: mst}}
`
	told := func(text string) []string {
		p, err := plantest.PlanOfText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		about := slices.DeleteFunc(slices.Clone(describe.Warnings(language.English, p)),
			func(w string) bool { return !strings.Contains(w, "microdata") })
		var page strings.Builder
		if err := describe.Explain(compiled.Of(p), &page); err != nil {
			t.Fatal(err)
		}
		if len(about) > 0 && !strings.Contains(page.String(), "Before you sign: "+about[0]) {
			t.Errorf("the plan's page does not say %q", about[0])
		}
		return about
	}
	// A third of ρ is for three columns: each has σ² = 1/(2ρ/9) = 450. A third is for two rounds: each has 1/(2ρ/6) =
	// 300. Noise hides an average category below 3σ rows in each of two, and an average cell of the six of mode and
	// day below σ in each.
	least, together := int64(math.Ceil(3*math.Sqrt(450)*2)), int64(math.Ceil(6*math.Sqrt(300)))
	without := told(text)
	if len(without) != 1 || !strings.Contains(without[0], "expect: {rows: [AT_LEAST, AT_MOST]}") {
		t.Fatalf("without `expect` the plan warns %q", without)
	}
	for _, want := range []string{fmt.Sprintf("fewer than %d rows, noise hides", least),
		fmt.Sprintf("fewer than %d rows, noise is larger", together)} {
		if !strings.Contains(without[0], want) {
			t.Errorf("does not say %q: %s", want, without[0])
		}
	}
	expecting := func(rows string) string {
		return strings.Replace(text, "    unit: row\n", "    unit: row\n    expect: {rows: "+rows+"}\n", 1)
	}
	if few := told(expecting("[40, 60]")); len(few) != 1 || !strings.Contains(few[0], "will say little") {
		t.Errorf("of 50 rows the plan warns %q", few)
	}
	if many := told(expecting("[40000, 60000]")); len(many) != 0 {
		t.Errorf("of 50 000 rows the plan warns %q", many)
	}
	public := strings.Replace(text, "synthetic:", "invariants: {all: {table: t, by: [], values: 50}}\nsynthetic:", 1)
	if of := told(public); len(of) != 1 || !strings.Contains(of[0], "will say little") ||
		!strings.Contains(of[0], "50 rows") {
		t.Errorf("of 50 public rows the plan warns %q", of)
	}
}
