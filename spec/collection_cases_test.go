package spec

// withCollection is a spec whose answers are randomised on the respondents' devices.
const withCollection = `version: 1
release: drugs-2026
privacy: {protects: respondent, neighbours: replace}
collect:
  answers: {protocol: local, epsilon: 2, expect: 100000, shuffled: true, honest: 50000}
tables:
  replies:
    source: {parquet: "reports/*.parquet"}
    collected: answers
    columns:
      used:  {values: ["no", "yes"]}
      units: {type: integer, range: [0, 60], levels: {band: {edges: [0, 1, 15]}}}
marginals:
  used: {by: [used]}
`

// collected is a case of withCollection with one change.
func collected(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params = withCollection, map[string]string{}
	return c
}

var collectionCases = []errorCase{
	collected("a budget as well", "collect:\n", "budget: {epsilon: 1}\ncollect:\n"),
	collected("a unit as well", "    collected: answers\n", "    collected: answers\n    unit: row\n"),
	collected("no protocol", "protocol: local, ", ""),
	collected("another protocol", "protocol: local", "protocol: central"),
	collected("no number of respondents", "expect: 100000, ", ""),
	collected("nothing to lose", "epsilon: 2", "epsilon: 0"),
	collected("as good as the answer", "epsilon: 2", "epsilon: 11"),
	collected("a second collection", "collect:\n", "collect:\n  first: {protocol: local, epsilon: 1, expect: 100}\n"),
	collected("neighbours with and without a respondent", "neighbours: replace", "neighbours: add-remove"),
	collected("total", "neighbours: replace", "neighbours: replace, total: true"),
	collected("shuffled without an honest minimum", ", honest: 50000", ""),
	collected("an honest minimum without a shuffler", "shuffled: true, ", ""),
	collected("not shuffled", "shuffled: true", "shuffled: false"),
	collected("a delta of 1", "honest: 50000", "honest: 50000, delta: 1"),
	collected("another rule for faulty reports", "honest: 50000", "honest: 50000, faulty: skip"),
	collected("rows", "    collected: answers\n", "    unit: {id: person, max_rows: 1}\n"),
	collected("another name of the collection", "collected: answers", "collected: answer"),
	collected("a second table", "marginals:\n",
		"  more:\n    source: {parquet: more.parquet}\n    collected: answers\n"+
			"    columns: {a: {values: [x, y]}}\nmarginals:\n  a: {table: more, by: [a]}\n"),
	collected("reports in a CSV file", `parquet: "reports/*.parquet"`, `csv: "reports/*.csv"`),
	collected("weights", "    collected: answers\n",
		"    collected: answers\n    weight: {from: w, range: [0, 2], step: 1, kind: design}\n"),
	collected("unknown values", `values: ["no", "yes"]`, `values: ["no", "yes"], unknown: {as: "no"}`),
	collected("a median", "used: {by: [used]}", "used: {by: [used], stats: [{median: units}]}"),
	collected("numbers of two columns", "      units:",
		"      hours: {type: integer, range: [0, 24]}\n      units:").with(
		"used: {by: [used]}", "used: {by: [used], stats: [{mean: units}, {sum: hours}]}"),
	collected("numbers by themselves", "used: {by: [used]}", "used: {by: [units.band], stats: [{mean: units}]}"),
	collected("a target of a mean", "used: {by: [used]}", "used: {by: [used], stats: [{mean: units}], target: "+
		"{margin: 9}}"),
	collected("numbers whose range depends on another answer", "range: [0, 60], levels: {band: {edges: [0, 1, 15]}}",
		`range: {by: used, "no": [0, 1], "yes": [0, 60]}, step: 1`).with("used: {by: [used]}",
		"used: {by: [used], stats: [{mean: units}]}"),
	collected("a mean of texts", "used: {by: [used]}", "used: {by: [], stats: [{mean: used}]}"),
	collected("diagnostics", "marginals:\n", "diagnostics: {share: 2%}\nmarginals:\n"),
	collected("a total", "by: [used]", "by: []"),
}
