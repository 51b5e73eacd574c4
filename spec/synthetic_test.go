package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Microdata have defaults: all columns, the noisy total, the planner's method, a leaf by its name.
func TestMicrodataAreReadWithTheirDefaults(t *testing.T) {
	all := []Attribute{{"mode", ""}, {"hour", ""}}
	for _, c := range []struct {
		budget, marginals, synthetic string
		want                         Synthetic
	}{
		{"{rho: 1, split: {main: 1/2, micro: 1/2}}", "{main: {by: [mode]}}", "{t: {budget: micro}}",
			Synthetic{Leaf: "micro", Method: AutoMethod, By: all}},
		{"{rho: 1, split: {main: 1/2, t: 1/2}}", "{main: {by: [mode]}}", "{t: {}}",
			Synthetic{Leaf: "t", Method: AutoMethod, By: all}},
		{"{epsilon: 1, delta: 1e-9, split: {main: 1/2, synthetic: 1/2}}", "{main: {by: [mode]}}", "{t: {method: mst}}",
			Synthetic{Leaf: "synthetic", Method: MST, By: all}},
		{"{rho: 1, split: {main: 1/2, more: {share: 1/2, split: {synthetic: 100%}}}}", "{main: {by: [mode]}}",
			"{t: {rows: noisy}}", Synthetic{Leaf: "more.synthetic", Method: AutoMethod, By: all}},
		{"{rho: 1, split: {main: 1/2, t: 1/2}}", "{main: {by: [mode]}}", "{t: {method: aim}}",
			Synthetic{Leaf: "t", Method: AIM, By: all}},
		{"{rho: 1, split: {main: 1/2, t: 1/2}}", "{main: {by: [mode]}}", "{t: {method: aim, ways: 2}}",
			Synthetic{Leaf: "t", Method: AIM, By: all, Ways: 2}},
		{"{rho: 1, split: {main: 1/2, t: 1/2}}", "{main: {by: [mode]}}", "{t: {ways: 2}}",
			Synthetic{Leaf: "t", Method: AutoMethod, By: all, Ways: 2}},
		{"{rho: 1, split: {main: 1/2, t: 1/4, synthetic: 1/4}}", "{main: {by: [mode]}, t: {by: [hour]}}",
			"{t: {budget: synthetic, method: auto, rows: 1000000000, by: [hour.half, mode]}}",
			Synthetic{Leaf: "synthetic", Method: AutoMethod, By: []Attribute{{"hour", "half"}, {"mode", ""}},
				Rows: 1_000_000_000}},
	} {
		for neighbours, unit := range map[string]string{"add-remove": "row", "replace": "{id: who, max_rows: 9}"} {
			r, err := Parse(Source{Name: "release.yaml",
				Text: fmt.Sprintf("version: 1\nrelease: x\nprivacy: {protects: trip, neighbours: %s}\nbudget: %s\n"+
					"tables: {t: {source: {csv: t.csv}, unit: %s, columns: {mode: {values: [walk, ride]}, hour: "+
					"{values: {integers: [0, 23]}, levels: {half: {width: 12}}}}}}\nmarginals: %s\nsynthetic: %s\n",
					neighbours, c.budget, unit, c.marginals, c.synthetic)})
			if err != nil {
				t.Errorf("%s: %v", c.synthetic, err)
				continue
			}
			c.want.Table = "t"
			if diff := cmp.Diff([]Synthetic{c.want}, r.Synthetic); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.synthetic, diff)
			}
		}
	}
}

func TestSharedSpecSaysItsMicrodata(t *testing.T) {
	r, _ := Parse(sharedSource(t, "labour.yaml"))
	if r == nil {
		t.Fatal("no release")
	}
	want := []Synthetic{{Table: "persons", Leaf: "microdata", Method: AutoMethod,
		By: []Attribute{{"age", ""}, {"sex", ""}, {"region", ""}, {"status", ""}, {"hours", ""}}}}
	if diff := cmp.Diff(want, r.Synthetic); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReleaseWithoutMicrodataHasNone(t *testing.T) {
	r, err := Parse(baseSource())
	if err != nil || r.Synthetic != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// alone is a release that consists only of microdata.
const alone = `version: 1
release: people
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables:
  persons:
    source: {csv: persons.csv}
    unit: {id: id, max_rows: 1}
    columns: {sex: {values: [f, m]}, hour: {values: {integers: [0, 23]}}}
  visits:
    source: {csv: visits.csv}
    unit: {id: id, max_rows: 3}
    columns: {mode: {values: [walk, ride]}, hour: {values: {integers: [0, 23]}}}
synthetic:
  persons: {by: [sex, hour]}
`

// TestMicrodataAloneHaveTheWholeBudget reads releases without marginals: one without a split, and one with leaves for
// two tables.
func TestMicrodataAloneHaveTheWholeBudget(t *testing.T) {
	release, err := Parse(Source{Name: "release.yaml", Text: alone})
	if err != nil {
		t.Fatal(err)
	}
	if s := release.Synthetic; len(s) != 1 || s[0].Leaf != "" || release.Marginals != nil {
		t.Errorf("%+v", s)
	}
	split := strings.NewReplacer("{rho: 1}", "{rho: 1, split: {persons: 1/2, visits: 1/2}}", "synthetic:",
		"synthetic:\n  visits: {}").Replace(alone)
	if release, err = Parse(Source{Name: "release.yaml", Text: split}); err != nil {
		t.Fatal(err)
	}
	for _, s := range release.Synthetic {
		if s.Leaf != s.Table {
			t.Errorf("the microdata of %s are paid for by leaf %q", s.Table, s.Leaf)
		}
	}
}
