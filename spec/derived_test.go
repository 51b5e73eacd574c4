package spec

import (
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/google/go-cmp/cmp"
)

// A derived column has the categories of its level, with their labels, and no levels of its own. None of its values is
// read.
func TestDerivedColumnsHaveTheirLevelsCategories(t *testing.T) {
	src := baseSource()
	src.Text = strings.Replace(derived, "      stage:  {",
		"      north:  {derived_from: region.state}\n      years:  {derived_from: age}\n      stage:  {", 1)
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	columns := r.Tables[0]
	for name, from := range map[string]Attribute{"north": {"region", "state"}, "stage": {"age", "band"},
		"years": {"age", ""}} {
		c := columns.Column(name)
		if c.DerivedFrom == nil || *c.DerivedFrom != from || c.From != "" || c.Type != domain.Text ||
			len(c.Domain.LevelNames()) != 0 {
			t.Errorf("%s: %+v", name, c)
		}
		origin, _ := columns.Column(from.Column).Domain.Level(from.Level)
		finest, _ := c.Domain.Level("")
		if diff := cmp.Diff(origin.Categories, finest.Categories); diff != "" || c.Domain.Size() != origin.Size() ||
			finest.CategoryOf != nil {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	north, _ := columns.Column("north").Domain.Level("")
	if want := []domain.Category{{Code: "s1"}, {Code: "s2"}}; !cmp.Equal(want, north.Categories) {
		t.Errorf("categories %v, want %v", north.Categories, want)
	}
	if label := r.Words.Labels[columns.Name]["north"]["s2"]; label != "South" {
		t.Errorf("s2 is called %q", label)
	}
	want := []Attribute{{"age", "band"}, {"stage", ""}, {"sex", ""}, {"region", ""}, {"fare", "coarse"}}
	if by := r.Marginals[2].By; !cmp.Equal(want, by) {
		t.Errorf("by %v, want %v", by, want)
	}
}

// Microdata include derived columns together with a column that decides them, whether the columns are named or not.
func TestMicrodataHaveDerivedColumnsBesideWhatDecidesThem(t *testing.T) {
	for synthetic, want := range map[string][]Attribute{
		"{}":                               {{"half", ""}, {"mode", ""}, {"hour", ""}},
		"{by: [mode, half, hour]}":         {{"mode", ""}, {"half", ""}, {"hour", ""}},
		"{by: [mode, half, hour.quarter]}": {{"mode", ""}, {"half", ""}, {"hour", "quarter"}},
		"{by: [mode, hour.third]}":         {{"mode", ""}, {"hour", "third"}},
	} {
		r, err := Parse(Source{Text: "version: 1\nrelease: x\nprivacy: {protects: trip, neighbours: replace}\n" +
			"budget: {rho: 1, split: {m: 1/2, t: 1/2}}\n" +
			"tables: {t: {source: {csv: t.csv}, unit: row, columns: {half: {derived_from: hour.half}, mode: {values: " +
			"[walk, ride]}, hour: {type: integer, range: [0, 23], levels: {half: {width: 12}, third: {width: 8}, " +
			"quarter: {width: 6}}}}}}\n" +
			"marginals: {m: {by: [half]}}\nsynthetic: {t: " + synthetic + "}\n"})
		if err != nil {
			t.Errorf("%s: %v", synthetic, err)
			continue
		}
		if by := r.Synthetic[0].By; !cmp.Equal(want, by) {
			t.Errorf("%s: microdata of %v, want %v", synthetic, by, want)
		}
	}
}
