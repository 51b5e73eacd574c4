package compiled

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// TestLawsHaveOneNameEverywhere checks that the name of a law of noise in a spec is the law's own name.
func TestLawsHaveOneNameEverywhere(t *testing.T) {
	for _, kind := range budget.Laws() {
		asked := SpecNoise(kind)
		if back, ok := budget.LawNamed(string(asked)); !ok || back != kind {
			t.Errorf("%s is asked for as %q, which is %q", kind, asked, back)
		}
		if !strings.HasSuffix(kind.Name(), asked.Law()) {
			t.Errorf("%s is called %q, and %q in a spec, which calls it %s", kind, kind.Name(), asked, asked.Law())
		}
	}
	if budget.DefaultLaw(true) != budget.DiscreteLaplace || budget.DefaultLaw(false) != budget.DiscreteGaussian {
		t.Errorf("the usual laws are %q and %q", budget.DefaultLaw(true), budget.DefaultLaw(false))
	}
}
