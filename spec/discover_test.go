package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"
)

// discoverText is a spec with a column whose categories are not listed, given its budget and further keys of its
// column, table and marginal.
func discoverText(budget, discover, more, unit, marginal string) string {
	return `version: 1
release: words
privacy: {protects: customer, neighbours: add-remove}
budget: ` + budget + `
tables:
  searches:
    source: {csv: s.csv}
    unit: ` + unit + `
    columns:
      word: {values: {discover: ` + discover + `}` + more + `}
      region: {values: [north, south]}
      pay: {type: integer, range: [0, 9]}
marginals:
  words: ` + marginal + `
`
}

func init() {
	const (
		both   = "{epsilon: 1, delta: 1e-9}"
		short  = "{max_length: 40}"
		unit   = "{id: customer, max_rows: 9}"
		groups = "{by: [word], stats: [units], per_unit: {groups: 2}}"
	)
	refused := func(name, text string) errorCase {
		return errorCase{name: name, text: text, params: map[string]string{}}
	}
	marginal := func(name, text string) errorCase {
		return refused(name, discoverText(both, short, "", unit, text))
	}
	column := func(name, discover, more string) errorCase {
		return refused(name, discoverText(both, discover, more, unit, groups))
	}
	errorCases["discover"] = []errorCase{
		refused("a pure budget", discoverText("{epsilon: 1}", short, "", unit, groups)),
		refused("a budget of ρ", discoverText("{rho: 1/8}", short, "", unit, groups)),
		refused("total privacy",
			strings.Replace(discoverText(both, short, ", unknown: drop, null: drop", "row", "{by: [word]}"),
				"add-remove",
				"add-remove, total: true", 1)),
		column("no length", "{at_least: 3}", ""),
		column("a length of nothing", "{max_length: 0}", ""),
		column("at least no unit", "{max_length: 40, at_least: 0}", ""),
		refused("an alphabet", discoverText(both, "{max_length: 9, alphabet: ab}", "", "row", "{by: [word]}")),
		column("levels", short, ", levels: {half: {first: [a]}}"),
		column("a category for what is unknown", short, ", unknown: {as: other}"),
		column("dates", short, ", type: date"),
		marginal("no bound on the groups of a unit", "{by: [word], stats: [units]}"),
		marginal("rows of a group", "{by: [word], stats: [units], per_unit: {groups: 2, rows_per_group: 1}}"),
		marginal("counts of rows", "{by: [word], per_unit: {groups: 2}}"),
		marginal("a mean", "{by: [word], stats: [units, {mean: pay}], per_unit: {groups: 2}}"),
		marginal("a level", "{by: [word.first], stats: [units], per_unit: {groups: 2}}"),
		marginal("distinct values", "{by: [region], stats: [{distinct: word, per_unit: 1}]}"),
		marginal("where", "{by: [region], stats: [{ratio: {of: {word: a}, over: count}, as: rate}]}"),
		refused("every", discoverText(both, short, "", "row", "{by: [word, region], every: [1]}")),
		refused("cumulative", discoverText(both, short, "", "row", "{by: [word], cumulative: [word]}")),
		refused("ranges", discoverText(both, short, "", "row", "{by: [word, region], ranges: [region]}")),
		refused("a threshold", discoverText(both, short, "", "row", "{by: [word], cells: {above: 9}}")),
		refused("a target", discoverText(both, short, "", "row", "{by: [word], target: {margin: 9}}")),
		refused("microdata of all columns", discoverText(both, short, "", "row", "{by: [word]}")+
			"synthetic: {searches: {method: tables}}\n"),
		refused("microdata of it", discoverText(both[:len(both)-1]+", split: {a: 1/2, b: 1/2}}", short, "", "row",
			"{by: [word], budget: a}")+"synthetic: {searches: {by: [region, word], budget: b}}\n"),
		refused("microdata for nothing, of pairs in groups alone",
			discoverText(both, short, "", "row", "{by: [word, region, pay]}")+
				"synthetic: {searches: {by: [region, pay]}}\n"),
		refused("impossible", discoverText(both, short, "", "row", "{by: [word]}")+
			"impossible: [{where: {word: a, region: north}}]\n"),
		refused("expected to be complete", strings.Replace(discoverText(both, short, "", "row", "{by: [word]}"),
			"    columns:", "    expect: {every: [word]}\n    columns:", 1)),
		refused("decides another column", strings.Replace(discoverText(both, short, "", "row", "{by: [word]}"),
			"      pay:",
			"      other: {derived_from: word}\n      pay:", 1)),
	}
}

// TestColumnsThatNobodyLists reads the settings of a column without listed categories and of its marginal, and tests
// which values can be categories.
func TestColumnsThatNobodyLists(t *testing.T) {
	r, err := Parse(Source{Name: "r.yaml",
		Text: discoverText("{epsilon: 1, delta: 1e-9}", "{max_length: 3, at_least: 5}",
			", unknown: drop", "{id: customer, max_rows: 9}", "{by: [region, word], stats: [units], per_unit: "+
				"{groups: 2}}")})
	if err != nil {
		t.Fatal(err)
	}
	table := r.Tables[0]
	columns := table.Discovers(r.Marginals[0].By)
	if len(columns) != 1 || columns[0].Name != "word" ||
		*columns[0].Domain.Discover() != (domain.Discover{MaxLength: 3, AtLeast: 5}) || columns[0].Domain.Size() != 0 {
		t.Fatalf("%+v", columns)
	}
	d := columns[0].Domain
	for text, can := range map[string]bool{"": false, "a": true, "äöü": true, "äöüß": false, "a\tb": false,
		"\xff": false,
		" a ":  true, "日本語": true, "abcd": false, "\u202e": true} {
		if d.CanBeKey(text) != can {
			t.Errorf("%q can be a key: %v", text, !can)
		}
	}
	found := d.Discovered([]string{"a", "b"})
	if code, fit := found.CodeOfText("b"); code != 1 || fit != domain.Fits || found.Size() != 2 {
		t.Errorf("b has code %d, %v", code, fit)
	}
	if _, fit := found.CodeOfText("c"); fit != domain.OutOfDomain {
		t.Errorf("c is %v", fit)
	}
	none := d.Discovered(nil)
	if _, fit := none.CodeOfText(""); none.Size() != 1 || fit != domain.OutOfDomain {
		t.Errorf("a column without a value has %d categories, and the empty text is %v", none.Size(), fit)
	}
	integers, err := Parse(Source{Name: "r.yaml", Text: discoverText("{epsilon: 1, delta: 1e-9}", "{max_length: 3}",
		", type: integer", "row", "{by: [word]}")})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, text := range []string{"7", "007", "-3", "1.0", "x", "+1", "1000"} {
		if integers.Tables[0].Column("word").Domain.CanBeKey(text) {
			keys = append(keys, text)
		}
	}
	sorted := []string{"10", "-3", "9", "-12", "0", "123456789012345678901234567890"}
	slices.SortFunc(sorted, integers.Tables[0].Column("word").Domain.CompareKeys)
	if !slices.Equal(sorted, []string{"-12", "-3", "0", "9", "10", "123456789012345678901234567890"}) {
		t.Errorf("integers are in the order %q", sorted)
	}
	if !slices.Equal(keys, []string{"7", "-3"}) {
		t.Errorf("integers are %q", keys)
	}
}

// The type of keys does not depend on which keys are selected: they are integers if every possible key fits 64 bits.
func TestTypesOfKeysAreOfTheSpecAlone(t *testing.T) {
	for _, c := range []struct {
		of     domain.Type
		length int64
		want   domain.Type
	}{{domain.Integer, 1, domain.Integer}, {domain.Integer, 18, domain.Integer}, {domain.Integer, 19, domain.Text},
		{domain.Integer, 40, domain.Text}, {domain.Text, 3, domain.Text}} {
		d := column(t, fmt.Sprintf("{type: %s, values: {discover: {max_length: %d}}}", c.of, c.length), nil).Domain
		for _, of := range []*domain.Domain{d, d.Discovered(nil), d.Discovered([]string{"7"})} {
			if got := (&Column{Declaration: domain.Declaration{Type: c.of, Domain: of}}).KeyType(); got != c.want {
				t.Errorf("keys of %s of %d characters are %s, want %s", c.of, c.length, got, c.want)
			}
		}
	}
	listed := Column{Declaration: domain.Declaration{Type: domain.Integer,
		Domain: domain.NewTexts(domain.Integer, nil)}}
	if got := listed.KeyType(); got != domain.Integer {
		t.Errorf("keys that are listed are %s", got)
	}
}
