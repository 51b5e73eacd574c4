package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// personsByBlock is a release of persons by block, with a split of the budget, columns of the table and marginals to be filled in.
func personsByBlock(split, levels, marginals string) Source {
	return Source{Name: "release.yaml", Files: books, Text: `version: 1
release: areas
privacy: {protects: person, neighbours: replace}
budget: {rho: 1` + split + `}
tables:
  persons:
    source: {csv: persons.csv}
    unit: row
    columns:
      block: {codebook: geo/blocks.csv` + levels + `}
      sex: {values: [f, m]}
marginals: ` + marginals + "\n"}
}

// byLevel is a budget that is split by level first.
const byLevel = ", split: {state: {share: 1/4, split: {people: 1/3, sexes: 2/3}}, " +
	"county: {share: 1/2, split: {people: 1}}, " +
	"block: {share: 1/4, split: {sexes: 1}}}"

// A marginal that is asked of each level has a table at every level that has a leaf for it, from the coarsest to the
// finest.
func TestEachLevelHasItsOwnLeaf(t *testing.T) {
	r, err := Parse(personsByBlock(byLevel, ", levels: [state, county]",
		"{people: {each: block, by: []}, by_sex: {each: block, by: [sex], budget: sexes}}"))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]EachLevel{
		{{Attribute{"block", "state"}, "state.people"}, {Attribute{"block", "county"}, "county.people"}},
		{{Attribute{"block", "state"}, "state.sexes"}, {Attribute{"block", ""}, "block.sexes"}},
	}
	for i, m := range r.Marginals {
		if diff := cmp.Diff(want[i], m.Each); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m.Name, diff)
		}
		if m.Leaf != "" {
			t.Errorf("%s has one leaf, %s", m.Name, m.Leaf)
		}
	}
}

// A level that names the codes themselves is the column, and a budget without levels pays for all of them.
func TestEachLevelOfOneLeaf(t *testing.T) {
	for split, leaf := range map[string]string{"": "", ", split: {people: 1}": "people"} {
		r, err := Parse(personsByBlock(split, ", levels: [state, county, block]", "{people: {each: block, by: []}}"))
		if err != nil {
			t.Fatal(err)
		}
		want := []EachLevel{{Attribute{"block", "state"}, leaf}, {Attribute{"block", "county"}, leaf},
			{Attribute{"block", ""}, leaf}}
		if diff := cmp.Diff(want, r.Marginals[0].Each); diff != "" {
			t.Errorf("split %q (-want +got):\n%s", split, diff)
		}
	}
}

func TestEachLevelIsRefused(t *testing.T) {
	for _, c := range []struct{ split, levels, marginals, want string }{
		{"", "", "{x: {each: blok, by: []}}", `table persons has no column "blok"`},
		{"", "", "{x: {each: block, by: []}}", `column "block" has no levels`},
		{"", ", levels: [state]", "{x: {each: block.state, by: []}}", "each level of block is a table"},
		{"", ", levels: [state]", "{x: {each: block, by: [block.state]}}", `column "block" is among the attributes of by`},
		{"", ", levels: [state]", "{x: {each: block, by: [sex], top: 1}}", "this asks for one for each level"},
		{byLevel, ", levels: [state, county, tract, bg]",
			"{people: {each: block, by: []}, sexes: {each: block, by: [sex]}}", "no share is for tract, bg"},
		{byLevel, ", levels: [state, county]", "{people: {each: block, by: []}, x: {by: []}}",
			"nothing says which leaf pays for x"},
		{byLevel, ", levels: [state, county]", "{people: {each: block, by: []}}", `nothing uses leaf "state.sexes"`},
		{", split: {state: {share: 1/2, split: {people: 1}}, county: {share: 1/2, split: {people: 1}}, " +
			"block: {share: 1/4, split: {people: 1}}}", ", levels: [state, county]", "{people: {each: block, by: []}}",
			"5/4"},
	} {
		_, err := Parse(personsByBlock(c.split, c.levels, c.marginals))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, expected %q", c.levels, c.marginals, err, c.want)
		}
	}
}

// What is asked of one table alone cannot be asked of each level.
func TestEachLevelOfWhatHasOneTable(t *testing.T) {
	src := personsByBlock("", ", levels: [state, county]", "{jobs: {each: block, by: [job], stats: [units], "+
		"per_unit: {groups: 2}}}")
	src.Text = strings.NewReplacer("rho: 1", "epsilon: 1, delta: 1e-6", "neighbours: replace", "neighbours: add-remove",
		"unit: row", "unit: {id: who, max_rows: 3}", "sex: {values: [f, m]}",
		"job: {type: text, values: {discover: {max_length: 20}}}").Replace(src.Text)
	if _, err := Parse(src); err == nil || !strings.Contains(err.Error(), "it asks for a table for each level") {
		t.Errorf("groups that nobody listed: %v", err)
	}
	src = personsByBlock("", ", levels: [state, county]\n      age: {type: integer, range: [0, 9]}",
		"{x: {each: block, by: [sex], stats: [{mean: age, as: block}]}}")
	src.Text = strings.Replace(src.Text, "[state, county]\n      age: {type: integer, range: [0, 9]}}",
		"[state, county]}\n      age: {type: integer, range: [0, 9]}", 1)
	if _, err := Parse(src); err == nil || !strings.Contains(err.Error(), "the column block is one of attribute block already") {
		t.Errorf("a figure with the name of a level: %v", err)
	}
}
