package statistic

import (
	"slices"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Every kind has a statistic of its own, and says so in its word.
func TestEveryKindHasAStatistic(t *testing.T) {
	seen := map[Statistic]spec.StatKind{}
	for i, s := range statistics {
		kind := spec.StatKind(i)
		if s == nil {
			t.Fatalf("there is no statistic for %s", kind)
		}
		if other, ok := seen[s]; ok {
			t.Errorf("%s and %s are one statistic", kind, other)
		}
		seen[s] = kind
		text, err := kind.MarshalText()
		var read spec.StatKind
		if err != nil || read.UnmarshalText(text) != nil || read != kind || len(text) == 0 {
			t.Errorf("%s is read as %s", kind, read)
		}
	}
	var none spec.StatKind
	if none.UnmarshalText([]byte("share of")) == nil {
		t.Error("a word of no statistic is read as one")
	}
}

// The totals of a table of 2 × 3 × 2 cells whose shares have the second attribute in common are three, and each is of
// the four cells with its category.
func TestTotalsAreOfTheCellsThatAgree(t *testing.T) {
	f := plan.Figure{Over: &plan.Term{Where: []plan.Condition{{Attribute: "a"}, {Attribute: "c"}}}}
	of, totals := Totals(f, []string{"a", "b", "c"}, []int{2, 3, 2})
	if want := []int{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}; totals != 3 || !slices.Equal(of, want) {
		t.Errorf("%d totals: %v, want %v", totals, of, want)
	}
}
