package spec

import "testing"

// everyKey is a release of answers that respondents' devices randomise, with every key of a collection.
const everyKey = `version: 1
release: students
privacy: {protects: student, neighbours: replace, account: students}
collect:
  answers: {protocol: local, epsilon: 2, expect: 100000, shuffled: true, honest: 50000, delta: 1e-8, faulty: error}
tables:
  answers:
    source: {parquet: "reports/*.parquet"}
    collected: answers
    columns:
      used:    {title: Used, values: ["no", "yes"]}
      units:   {type: integer, range: [0, 60], levels: {band: {edges: [0, 1, 8]}}}
      faculty: {values: [arts, law]}
marginals:
  used: {by: [used], weight: 2, target: {margin: 1000}}
  both: {by: [units.band, faculty]}
`

// collection is the collection in everyKey.
const collection = "collect:\n  answers: {protocol: local, epsilon: 2, expect: 100000, shuffled: true, honest: 50000, " +
	"delta: 1e-8, faulty: error}\n"

// ofReports is a case of everyKey with one change.
func ofReports(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params = everyKey, map[string]string{}
	return c
}

// reportCases are changes that make everyKey invalid, other than those of collectionCases.
var reportCases = []errorCase{
	ofReports("by an unknown key", "protocol: local", "protocol: local, memo: true"),
	ofReports("of no ε", "epsilon: 2, ", ""),
	ofReports("of a negative ε", "epsilon: 2", "epsilon: -1"),
	ofReports("in ρ", "epsilon: 2", "rho: 2"),
	ofReports("of one respondent", "expect: 100000", "expect: 1"),
	ofReports("of too many respondents", "expect: 100000", "expect: 1e10"),
	ofReports("of part of a respondent", "expect: 100000", "expect: 99.5"),
	ofReports("with a delta that is not shuffled", "shuffled: true, honest: 50000, ", ""),
	ofReports("of δ = 0", "delta: 1e-8", "delta: 0"),
	ofReports("two", "tables:\n", "  more: {protocol: local, epsilon: 1, expect: 10}\ntables:\n"),
	ofReports("none", collection, "collect: {}\n"),
	ofReports("as a list", "  answers: {protocol: local,", "  - {protocol: local,"),
	ofReports("with neither a collection nor a budget", collection, ""),
	ofReports("of neither rows nor reports", "    collected: answers\n", ""),
	ofReports("by a name that is a number", "collected: answers", "collected: 1"),
	ofReports("with a public table", "marginals:", "  more: {source: {csv: m.csv}, unit: public, columns: {x: "+
		"{values: [a, b]}}}\nmarginals:").with("used: {by", "used: {table: answers, by").with("both: {by",
		"both: {table: answers, by"),
	ofReports("of some", "collected: answers", "collected: answers\n    where: used = 'yes'"),
	ofReports("joined", "collected: answers", "collected: answers\n    join: {other: {on: id}}"),
	ofReports("with conditions", "collected: answers", "collected: answers\n    expect: {rows: [1, 10]}"),
	ofReports("of a sample", "collected: answers", "collected: answers\n    sample: {poisson: 10%}"),
	ofReports("from another column", "{title: Used, ", "{title: Used, from: u, "),
	ofReports("with unknown values", "{title: Used, ", "{title: Used, unknown: drop, "),
	ofReports("with nulls", "{title: Used, ", "{title: Used, null: drop, "),
	ofReports("with suggested bounds", "range: [0, 60],", "range: [0, 60], bounds: {suggest: 1%},"),
	ofReports("with a derived column", "      faculty:", "      band: {derived_from: units.band}\n      faculty:"),
	ofReports("of a column that is not asked", "{by: [used],", "{by: [usde],"),
	ofReports("with a count by units", "faculty]}", "faculty], stats: [units]}"),
	ofReports("of numbers of which no range is known", "faculty: {values",
		"pay: {type: integer}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [faculty], stats: [{sum: pay}]"),
	ofReports("of the most frequent", "faculty]}", "faculty], top: {cells: 2, of: [faculty]}}"),
	ofReports("of frequent cells", "faculty]}", "faculty], cells: {above: 9}}"),
	ofReports("from a part of the budget", "faculty]}", "faculty], budget: main}"),
	ofReports("bounded per unit", "faculty]}", "faculty], per_unit: {total: 1}}"),
	ofReports("of texts without an alphabet", "faculty: {values", "word: {type: text, values: {discover: "+
		"{max_length: 9}}}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [word]"),
	ofReports("of texts with no alphabet", "faculty: {values", "word: {type: text, values: {discover: {max_length: "+
		"9, alphabet: aa}}}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [word]"),
	ofReports("of integers that nobody lists", "faculty: {values", "word: {type: integer, values: {discover: "+
		"{max_length: 9, alphabet: \"01\"}}}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [word]"),
	ofReports("of texts of many units", "faculty: {values", "word: {type: text, values: {discover: {max_length: 9, "+
		"at_least: 3, alphabet: ab}}}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [word]"),
	ofReports("of texts by another attribute", "faculty: {values", "word: {type: text, values: {discover: "+
		"{max_length: 9, alphabet: ab}}}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [faculty, word]"),
	ofReports("of numbers by texts", "faculty: {values", "word: {type: text, values: {discover: {max_length: 9, "+
		"alphabet: ab}}}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [word], stats: [{mean: units}]"),
	ofReports("of texts with a target", "faculty: {values", "word: {type: text, values: {discover: {max_length: 9, "+
		"alphabet: ab}}}\n      faculty: {values").with(
		"by: [units.band, faculty]", "by: [word], target: {margin: 100}"),
	ofReports("in ranges along two attributes", "faculty]}", "faculty], ranges: [units.band, faculty]}"),
	ofReports("in ranges, and counted up", "faculty]}", "faculty], ranges: [units.band], cumulative: [faculty]}"),
	ofReports("with microdata", "marginals:", "synthetic: {answers: {}}\nmarginals:"),
	ofReports("with impossible combinations", "marginals:",
		"impossible: [{where: {used: \"no\", faculty: law}}]\nmarginals:"),
	ofReports("in a release of rows", collection, "budget: {epsilon: 1}\n"),
}

// TestCollectionsAreRead compares what is read of a collection with its spec.
func TestCollectionsAreRead(t *testing.T) {
	r, err := Parse(Source{Name: "release.yaml", Text: everyKey})
	if err != nil {
		t.Fatal(err)
	}
	c, table := r.Collection, r.Table("answers")
	if c == nil || c.Name != "answers" || c.Epsilon.RatString() != "2" || c.Expect != 100_000 || !c.Shuffled() ||
		c.Honest != 50_000 || c.Delta.RatString() != "1/100000000" || !c.RefusesFaulty {
		t.Errorf("%+v", c)
	}
	if table.Collected != "answers" || !table.Unit.Row || table.Unit.MaxRows != 1 ||
		r.Budget.Epsilon.RatString() != "2" ||
		len(r.Warnings)+len(r.Unbuilt) != 0 {
		t.Errorf("%+v, %+v, %v", table, r.Budget, r.Warnings)
	}
	least := ofReports("least", ", shuffled: true, honest: 50000, delta: 1e-8, faulty: error", "").source(t)
	r, err = Parse(least)
	if err != nil || r.Collection.Shuffled() || r.Collection.RefusesFaulty || r.Collection.Delta != nil {
		t.Errorf("%+v, %v", r, err)
	}
	plain := ofReports("δ by itself", ", delta: 1e-8", "").source(t)
	if r, err = Parse(plain); err != nil || r.Collection.Delta.RatString() != "1/1000000000" {
		t.Errorf("%+v, %v", r, err)
	}
}
