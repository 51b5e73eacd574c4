package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// TestLawsHaveOneNameEverywhere checks that the name of a law of noise in a spec is the law's own name.
func TestLawsHaveOneNameEverywhere(t *testing.T) {
	for _, kind := range budget.Laws() {
		asked := NoiseOf(kind)
		if back, ok := budget.LawNamed(string(asked)); !ok || back != kind {
			t.Errorf("%s is asked for as %q, which is %q", kind, asked, back)
		}
		if !strings.HasSuffix(kind.Name(), asked.Law()) {
			t.Errorf("%s is called %q, and %q in a spec, which calls it %s", kind, kind.Name(), asked, asked.Law())
		}
	}
	for _, kind := range budget.Laws() { // a budget of ε alone pays for what is priced in ε, one of ρ for the rest
		for amount, pure := range map[string]bool{"epsilon": true, "rho": false} {
			_, err := Parse(Source{Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {%s: 1, noise: %s}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {x: {values: [a, b]}}}}
marginals: {m: {by: [x]}}
`, amount, NoiseOf(kind))})
			if (err == nil) != (kind.Pure() == pure) {
				t.Errorf("%s under %s: %v", kind, amount, err)
			}
		}
	}
	if budget.DefaultLaw(true) != budget.DiscreteLaplace || budget.DefaultLaw(false) != budget.DiscreteGaussian {
		t.Errorf("the usual laws are %q and %q", budget.DefaultLaw(true), budget.DefaultLaw(false))
	}
}
