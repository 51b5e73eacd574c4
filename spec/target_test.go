package spec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Targets are kept exactly, with their lines, and missing values have their defaults.
func TestTargetsAreExact(t *testing.T) {
	src := baseSource()
	src.Text = targeted
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if r.Budget.Minimise != LeastLargest || r.Budget.Noise != "laplace" {
		t.Errorf("minimise %q, noise %q", r.Budget.Minimise, r.Budget.Noise)
	}
	type said struct {
		Margin, Confidence string
		AllCells           bool
		Cumulative, Ranges []Attribute
	}
	got := map[string]said{}
	for _, m := range r.Marginals {
		s := said{Cumulative: m.Cumulative, Ranges: m.Ranges}
		if m.Target != nil {
			s.Margin, s.Confidence, s.AllCells = m.Target.Margin.RatString(), m.Target.Confidence.RatString(),
				m.Target.AllCells
		}
		got[m.Name] = s
	}
	want := map[string]said{
		"total": {},
		"ages":  {Margin: "500", Confidence: "99/100", AllCells: true, Ranges: []Attribute{{"age", ""}}},
		"pairs": {Margin: "1/2", Confidence: "19/20", Cumulative: []Attribute{{"age", "band"}, {"fare", "coarse"}},
			Ranges: []Attribute{{"region", ""}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r, err := Parse(baseSource()); err != nil || r.Budget.Minimise != Guarded || r.Budget.Noise != "" {
		t.Errorf("a spec that does not say: minimise %q, noise %q, %v", r.Budget.Minimise, r.Budget.Noise, err)
	}
}
