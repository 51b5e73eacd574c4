package planner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// Whatever the values of its parameters, a spec has one template, and its plans
// differ.
func TestTemplateIsBlindToParameters(t *testing.T) {
	of := func(q, b, f string) *plan.Plan {
		p, err := plantest.PlanOfSource(plantest.QuarterlySource(q, b, f))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := of("2026q1", "regions", "v")
	if len(template.Hash(p)) != 64 || template.Hash(p) == p.Hash() {
		t.Fatalf("template %s of plan %s", template.Hash(p), p.Hash())
	}
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.StringMatching(`20[0-9][0-9]q[1-4]`).Draw(t, "quarter")
		b := rapid.StringMatching(`[a-z]{1,9}`).Filter(func(s string) bool { return s != "homes" }).Draw(t, "book")
		f := rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "first")
		other := of(q, b, f)
		if template.Hash(other) != template.Hash(p) {
			t.Fatalf("another template for %s, %s, %s", q, b, f)
		}
		if same := q == "2026q1" && b == "regions" && f == "v"; (other.Hash() == p.Hash()) != same {
			t.Fatalf("plan hash of %s, %s, %s", q, b, f)
		}
	})
}

// Words, comments and layout are no part of a plan, and so of no template.
func TestWordsAndLayoutChangeNeitherPlanNorTemplate(t *testing.T) {
	p, err := plantest.PlanOfSource(plantest.QuarterlySource("2026q1", "regions", "v"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{"Labour force,", "Labour,"}, {"contact: office", "contact: offices"},
		{"values: [f, m]", "values: [f, m], title: Sex, labels: {f: female}"},
		{"{half: {width: 5}}", "{half: {width: 5}}, measured_in: years, level_titles: {half: Age group}, " +
			"level_labels: {half: {0–4: small}}"},
		{"{by: [age.half", "{title: By age, by: [age.half"},
		{"\n  m:", "\n  # what is asked\n  m:"}, {"version: 1", "version:  1"},
		{"regions.csv", "code,label,state\n1,One,a\n2,Two,b\n", "code,label,state\n1,Eins,a\n2,Two,b\n"},
		{"homes.csv", "code,label\nh,House\nf,Flat\n", "code,label\nh,House\nf,Flat \n"},
		{"homes.csv", "code,label\nh,House\nf,Flat\n", "code\nh\nf\n"},
	} {
		src := plantest.QuarterlySource("2026q1", "regions", "v")
		if c[2] != "" && src.Files[c[0]] == c[1] {
			src.Files[c[0]] = c[2]
		} else if strings.Count(src.Text, c[0]) == 1 {
			src.Text = strings.Replace(src.Text, c[0], c[1], 1)
		} else {
			t.Fatalf("%q is not there once", c[0])
		}
		other, err := plantest.PlanOfSource(src)
		if err != nil {
			t.Errorf("%q: %v", c, err)
			continue
		}
		if other.Hash() != p.Hash() || template.Hash(other) != template.Hash(p) {
			t.Errorf("%q: another plan or template", c)
		}
		isLayout := strings.Contains(c[1], "#") || strings.Contains(c[1], "version")
		if same := other.Release().Words.Hash() == p.Release().Words.Hash(); same != isLayout {
			t.Errorf("%q: the same words: %v", c, same)
		}
	}
}

// A change of what the spec asks, however small, or of a code book is another
// template; so is the same code book read for another column.
func TestTemplateChangesWithAllElse(t *testing.T) {
	p, err := plantest.PlanOfSource(plantest.QuarterlySource("2026q1", "regions", "v"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{template.Hash(p): "the plan itself"}
	try := func(what string, src spec.Source) {
		other, err := plantest.PlanOfSource(src)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		if before, ok := seen[template.Hash(other)]; ok {
			t.Errorf("%s: the template of %s", what, before)
		}
		seen[template.Hash(other)] = what
	}
	for _, c := range [][2]string{
		{"'20\\d\\dq[1-4]'", "'2026q[1-4]'"}, {"release: labour-", "release: labours-"},
		{"corrects: labour-${quarter}-", "corrects: labour-${quarter}."},
		{"protects: person", "protects: patient"},
		{"add-remove", "replace"}, {"[lfs, register]", "[register, lfs]"}, {"[lfs, register]", "lfs"},
		{", resume: never", ""},
		{"rho: 1/2,", "rho: 1/3,"}, {"{rho: 1/2,", "{epsilon: 1, delta: 1e-9,"},
		{"main: 1/2, rest: 1/2", "main: 1/3, rest: 2/3"},
		{"-*.csv", "*.csv"}, {"max_rows: 2", "max_rows: 3"}, {"id: who", "id: whom"}, {"[10, 20]", "[10, 21]"},
		{", every: [region.state]", ""},
		{"range: [0, 9]", "range: [0, 10]"}, {"width: 5", "width: 4"}, {"[f, m]", "[m, f]"},
		{"unknown: {as: m}", "unknown: drop"},
		{"levels: [state, code]", "levels: [state]"}, {"[age.half, region.state]", "[region.state, age.half]"},
		{"every: [1, 2], by", "every: [1], by"},
	} {
		src := plantest.QuarterlySource("2026q1", "regions", "v")
		if strings.Count(src.Text, c[0]) != 1 {
			t.Fatalf("%q is not there once", c[0])
		}
		src.Text = strings.Replace(src.Text, c[0], c[1], 1)
		try(c[0]+" → "+c[1], src)
	}
	for _, c := range [][2]string{
		{"regions.csv", "code,label,state\n3,One,a\n2,Two,b\n"},
		{"regions.csv", "code,label,state\n1,One,a\n2,Two,a\n"},
		{"regions.csv", "code,label,state\n2,Two,b\n1,One,a\n"},
		{"homes.csv", "code,label,more\nh,House,x\nf,Flat,y\n"}, {"homes.csv", "code\nf\nh\n"},
	} {
		src := plantest.QuarterlySource("2026q1", "regions", "v")
		src.Files[c[0]] = c[1]
		try(c[0]+": "+c[1], src)
	}
	for _, east := range []string{"1", "2"} {
		src := plantest.QuarterlySource("2026q1", "regions", "v")
		src.Text = strings.Replace(src.Text, "levels: [state, code]", "map: regions.geojson, levels: [state, code]", 1)
		src.Files["regions.geojson"] = `{"type": "FeatureCollection", "features": [{"type": "Feature", "id": "1", "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [` + east + `, 0], [0, 1], [0, 0]]]}}]}`
		try("boundaries to "+east, src)
	}
	src := plantest.QuarterlySource("2026q1", "regions", "v")
	src.Files["regions.csv"], src.Files["homes.csv"] = "code,label,state\nh,House,a\nf,Flat,b\n",
		"code,label\n1,One\n2,Two\n"
	try("the code books changed over", src)
}

// The name of the spec's file decides nothing.
func TestTemplateIsBlindToTheFileName(t *testing.T) {
	src := plantest.QuarterlySource("2026q1", "regions", "v")
	a, err := plantest.PlanOfSource(src)
	if err != nil {
		t.Fatal(err)
	}
	src.Name = "release.yaml"
	if b, err := plantest.PlanOfSource(src); err != nil || template.Hash(b) != template.Hash(a) {
		t.Errorf("another template, or %v", err)
	}
}

// Whatever number or text of a plan is another makes another template where it is
// part of what a standing approval signs, and none where parameters decide it:
// tried on every one that plan.json has.
func TestEveryPartOfAPlanIsInItsTemplateOrNot(t *testing.T) {
	src := plantest.QuarterlySource("2026q1", "regions", "v")
	src.Text = strings.Replace(src.Text, "rest: 1/2", "rest: 1/4, persons: 1/4", 1) +
		"synthetic: {persons: {rows: 100}}\n"
	p, err := plantest.PlanOfSource(src)
	if err != nil {
		t.Fatal(err)
	}
	signed := []string{"format", "guarantee", "cost", "leaves", "strategies", "tables", "measurements", "synthetic",
		"source.text", "source.files", "resume"}
	// the digests say which files the texts are of
	decided := []string{"release", "title", "corrects", "warnings", "size", "other_noise", "source.name",
		"source.params",
		"source.digests"}
	var document any
	if err := json.Unmarshal(p.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	met := map[string]int{}
	plantest.EachLeaf(document, "", func(path string) {
		b, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		changed := *plan.NewEmpty(p.Release())
		changed.Source = spec.Source{} // decoded anew: its maps are not the plan's
		if err := json.Unmarshal(b, &changed); err != nil {
			return // not every text is a number
		}
		among := func(parts []string) bool {
			return slices.ContainsFunc(parts, func(part string) bool {
				return path == part ||
					strings.HasPrefix(path, part+".")
			})
		}
		switch other := template.Hash(&changed) != template.Hash(p); {
		case among(signed) == among(decided):
			t.Errorf("%s is neither signed nor decided by parameters", path)
		case other != among(signed):
			t.Errorf("%s changed: another template: %v", path, other)
		}
		met[strings.Split(path, ".")[0]]++
	})
	if len(met) < 13 || met["measurements"] < 20 {
		t.Errorf("only %v were tried", met)
	}
}

// A plan refilled with other values of its parameters is, byte for byte, the one that the planner makes of them; and a
// release that differs in more cannot be refilled.
func TestRefilledPlansAreThePlanners(t *testing.T) {
	source := func(q, b, f string) spec.Source {
		src := plantest.QuarterlySource(q, b, f)
		src.Text = strings.Replace(src.Text, "rest: 1/2", "rest: 1/4, persons: 1/4", 1)
		src.Text = strings.Replace(src.Text, "    expect:",
			"    join: {area: {csv: '${book}-areas.csv', on: region, public: true}}\n    expect:", 1)
		src.Text = strings.Replace(src.Text, "home:   {codebook: homes.csv}",
			"home:   {codebook: homes.csv}\n      kind:   {from: area.kind, values: [town, land]}", 1)
		src.Text += "synthetic: {persons: {rows: 100}}\ninvariants: {homes: {table: persons, by: [home], from: " +
			"'${quarter}-homes.csv'}}\n"
		src.Files[b+"-areas.csv"] = "region,kind\n1,town\n2,land\n"
		src.Files[q+"-homes.csv"] = "home,count\nh,5\nf,6\n"
		return src
	}
	made := func(t interface{ Fatal(...any) }, src spec.Source) *plan.Plan {
		p, err := plantest.PlanOfSource(src)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := made(t, source("2026q1", "regions", "v"))
	stored, err := compiled.Read(first.Bytes()) // as a later run has it
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Invariants) != 1 || first.Invariants[0].From != "2026q1-homes.csv" {
		t.Fatalf("invariants %+v say nothing of a parameter", first.Invariants)
	}
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.StringMatching(`20[0-9][0-9]q[1-4]`).Draw(t, "quarter")
		b := rapid.StringMatching(`[a-z]{1,9}`).Filter(func(s string) bool { return s != "homes" }).Draw(t, "book")
		f := rapid.StringMatching(`[a-z]{1,9}`).Draw(t, "first")
		want := made(t, source(q, b, f))
		if template.Hash(want) != template.Hash(first) {
			t.Fatalf("%s, %s, %s: another template", q, b, f)
		}
		got := planner.Refill(stored, want.Release())
		if got == nil || string(got.Bytes()) != string(want.Bytes()) {
			t.Fatalf("%s, %s, %s: not the planner's plan", q, b, f)
		}
		if _, err := planner.Verify(got); err != nil {
			t.Fatal(err)
		}
	})
	stored.Measurements[0].Mechanism.Parameter.SetFrac64(1, 1000)
	if got := planner.Refill(stored, made(t, source("2026q1", "regions", "v")).Release()); got.Hash() != first.Hash() {
		t.Error("a plan that was written to since it was compiled is refilled as it is now")
	}
	for what, change := range map[string]func(*spec.Source){
		"text":      func(s *spec.Source) { s.Text = strings.Replace(s.Text, "width: 5", "width: 2", 1) },
		"code book": func(s *spec.Source) { s.Files["homes.csv"] = "code,label\nf,Flat\nh,House\n" },
		"join":      func(s *spec.Source) { s.Files["regions-areas.csv"] = "region,kind\n1,land\n2,land\n" },
		"invariant": func(s *spec.Source) { s.Files["2026q2-homes.csv"] = "home,count\nh,5\nf,7\n" },
	} {
		src := source("2026q2", "regions", "v")
		change(&src)
		if planner.Refill(stored, made(t, src).Release()) != nil {
			t.Errorf("another %s is refilled", what)
		}
	}
}
