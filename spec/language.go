package spec

// This file holds the grammar of the language as data, from the top down to the budget.

import "sync"

const (
	leafSyntax     = `[a-z0-9][a-z0-9_-]*`
	columnSyntax   = `[\p{L}_][\p{L}\p{M}\p{N}_]*`
	levelSyntax    = `[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*`
	dottedSyntax   = `[a-z0-9][a-z0-9._-]*`
	plainSyntax    = `[\p{L}_][\p{L}\p{M}\p{N}_]*(-[\p{L}\p{M}\p{N}_]+)*`
	paramSyntax    = `[a-z][a-z0-9_]*`
	dateSyntax     = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	timeSyntax     = dateSyntax + `[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?`
	durationSyntax = `(([1-9][0-9]*) +)?(second|minute|hour|day|week|month|quarter|year)s?`
)

// language is the shape of a whole spec in version 1, including the parts that this version
// of the program does not build.
var language = sync.OnceValue(func() *shape {
	open := anythingShape("anything")
	release := objectShape("a release",
		field{key: "version", shape: wholeShape("1, the version of the language", 1, 1), required: "the version of the language", fix: "version: 1"},
		field{key: "release", shape: textShape("the name of the release").withParams(), required: "the name of the release", fix: "release: my-release"},
		field{key: "corrects", shape: textShape("the name of the earlier release that this one corrects").withParams()},
		field{key: "params", shape: paramsShape()},
		field{key: "about", shape: aboutShape()},
		field{key: "fit", shape: fitShape()},
		field{key: "privacy", shape: privacyShape(), required: "whom the release protects", fix: "privacy: {protects: person, neighbours: add-remove}"},
		field{key: "budget", shape: budgetShape(), required: "the privacy budget: {epsilon}, {rho} or {epsilon, delta}", fix: "budget: {epsilon: 1}"},
		field{key: "tables", shape: tablesShape(), required: "the tables the release reads"},
		field{key: "marginals", shape: marginalsShape()},
		field{key: "impossible", shape: impossibleShape()},
		field{key: "invariants", shape: invariantsShape()},
		field{key: "synthetic", shape: syntheticShape()},
		field{key: "publish", shape: publishShape()},
		field{key: "diagnostics", shape: objectShape("{share: 1%}: the part of the whole budget that pays for counts of what domains, bounds and clamping leave out",
			field{key: "share", shape: numberShape("a share of the whole budget, as 1%"), required: "the part of the whole budget", fix: "share: 1%"})},
		field{key: "engines", shape: open.notBuilt("engines")},
	).withForms([]string{"marginals"}, []string{"synthetic"}, []string{"marginals", "synthetic"})
	release.empty = "marginals, the tables of counts to publish, or synthetic, microdata"
	return release
})

func paramsShape() *shape {
	return dictShape("parameters, each as name: {pattern: …}", `^`+paramSyntax+`$`,
		objectShape("{pattern: …}",
			field{key: "pattern", shape: textShape("a regular expression in quotes").withParams(), required: "a regular expression that the value must match as a whole"}))
}

func aboutShape() *shape {
	return objectShape("title, population, period and contact",
		field{key: "title", shape: categoryShape("a text").withParams()},
		field{key: "population", shape: categoryShape("whom or what the figures are about, as residents aged 15 and over").withParams()},
		field{key: "period", shape: categoryShape("the time that the figures are about, as the first quarter of 2026").withParams()},
		field{key: "contact", shape: categoryShape("a text").withParams()})
}

func privacyShape() *shape {
	account := patternShape("an account name of a–z, 0–9, dot, _ and -", `^`+dottedSyntax+`$`)
	accounts := listShape("at least one account", account, 1, 0)
	return objectShape("protects, neighbours, account",
		field{key: "protects", shape: patternShape("a noun, as person or trip", `^\S(.*\S)?$`), required: "the noun of what is protected, as person or trip", fix: "protects: person"},
		field{key: "neighbours", shape: enumShape("add-remove or replace", string(AddRemove), string(Replace)), required: "add-remove (a unit is there or not) or replace (only what it says is protected, the number of units is public)", fix: "neighbours: add-remove"},
		field{key: "account", shape: choiceShape("an account, or a list of them: the release's own first, then those of further datasets that are read",
			onSequence(accounts), onScalar(account))},
		field{key: "resume", shape: enumShape("never: the noise key is kept in memory only, and a run that is cut off after its debit loses the release", "never")},
		field{key: "total", shape: booleanShape("true or false")},
		field{key: "within", shape: textShape("an attribute, as block.state").notBuilt("within")})
}

func budgetShape() *shape {
	says := "a number, as 1, 0.5, 1e-9 or 3/10"
	return objectShape("{epsilon}, {rho} or {epsilon, delta}",
		field{key: "epsilon", shape: numberShape(says)},
		field{key: "delta", shape: numberShape(says)},
		field{key: "rho", shape: numberShape(says)},
		field{key: "minimise", shape: enumShape("guarded (the sum, no table worse than by itself), sum (of weight × variance, over all cells) or largest (weight × variance of a cell)", string(Guarded), string(LeastSum), string(LeastLargest))},
		field{key: "noise", shape: enumShape("gaussian or laplace", string(GaussianNoise), string(LaplaceNoise))},
		field{key: "split", shape: splitShape()},
	).withForms([]string{"epsilon"}, []string{"rho"}, []string{"epsilon", "delta"})
}

// splitShape is the tree of a budget: its leaves are shares, absolute amounts or needed.
func splitShape() *shape {
	says := "a share as 3/10, 0.3 or 30%, an amount as {epsilon: 0.1} or {rho: 1/100}, or needed"
	split := dictShape("leaves, each with its share", `^`+leafSyntax+`$`, nil).named("split")
	split.least, split.empty = 1, "at least one leaf, as {main: 100%}"
	part := objectShape(says,
		field{key: "share", shape: numberShape("a share, as 3/10, 0.3 or 30%")},
		field{key: "epsilon", shape: numberShape("an amount of epsilon")},
		field{key: "rho", shape: numberShape("an amount of rho")},
		field{key: "split", shape: split},
	).withForms([]string{"share"}, []string{"epsilon"}, []string{"rho"})
	split.of = choiceShape(says,
		onMapping(part),
		onText(`^needed$`, enumShape("needed", "needed")),
		onScalar(numberShape(says)))
	return split
}

func impossibleShape() *shape {
	all := listShape("a list of what no row is, as [{where: {age.band: 0–15, status: employed}}]", objectShape("{table, where: {…}, rows}",
		field{key: "table", shape: textShape("a table")},
		field{key: "where", shape: whereShape("attributes and their categories, as {age.band: 0–15, status: [employed, unemployed]}"), required: "attributes and their categories", fix: "where: {age.band: 0–15, status: employed}"},
		field{key: "rows", shape: enumShape("error or drop: what happens to a row that is so", rowsError, rowsDrop)}), 1, 0)
	all.empty = "at least one, as {where: {age.band: 0–15, status: employed}}"
	return all
}

// whereShape are attributes, each with the categories of it that are meant.
func whereShape(says string) *shape {
	these := "a category, or a list of categories"
	categories := listShape(these, categoryShape("a category, in quotes where YAML would read nothing"), 1, 0)
	categories.empty = "at least one category"
	where := dictShape(says, `^.+$`, choiceShape(these, onSequence(categories), onScalar(categoryShape(these))))
	where.least, where.empty = 1, "at least one attribute with its categories, as {age.band: 0–15, status: employed}"
	return where
}

func invariantsShape() *shape {
	figure := wholeShape("a whole number from 0 to 2^40", 0, MaxCount)
	figures := dictShape("each category of the one attribute with its figure, as {north: 120, south: 80}", `^.*$`, figure)
	all := dictShape("public figures by name, as {totals: {by: [region], from: totals.csv}}", `^`+dottedSyntax+`$`, objectShape("{table, by, from} or {table, by, values}",
		field{key: "table", shape: textShape("a table")},
		field{key: "by", shape: listShape("a list of attributes, [] for the number of rows", textShape("an attribute"), 0, 0), required: "the attributes of the figures, [] for the number of rows", fix: "by: []"},
		field{key: "from", shape: textShape("a CSV file with a column for each attribute and one called count").withParams()},
		field{key: "values", shape: choiceShape("the number of rows, or each category of the one attribute with its figure", onMapping(figures), onScalar(figure))}))
	all.least, all.empty = 1, "at least one, as {totals: {by: [region], from: totals.csv}}"
	return all
}

// consistent asks for counts that add up.
const consistent = "consistent"

// publishShape is what becomes of the estimates when they are written.
func publishShape() *shape {
	return objectShape("{integers: consistent}",
		field{key: "integers", shape: enumShape("consistent: the counts of a table are whole, none is negative, and tables agree on what they all show", consistent)},
		field{key: "partition_by", shape: textShape("an attribute, as block.state").notBuilt("partition_by")})
}

// mostWays is the most columns that a round measures together.
const mostWays = 3

// noisyRows asks for as many rows as the noisy total says.
const noisyRows = "noisy"

// mostFiles is into how many files rows are drawn at most.
const mostFiles = 100

// syntheticShape is the microdata of each table.
func syntheticShape() *shape {
	rows := "noisy, for as many as the noisy total, or a whole number from 1 to 1000000000"
	says := "auto, mst, aim or tables"
	tables := dictShape("tables and how their microdata are made, as {persons: {budget: microdata}}", `^`+columnSyntax+`$`,
		objectShape("{budget, rows, method, ways, by, files, parent, size}",
			field{key: "budget", shape: textShape("a leaf of the budget that pays for nothing else")},
			field{key: "rows", shape: choiceShape(rows,
				onText(`^[^0-9]`, enumShape(rows, noisyRows)),
				onScalar(wholeShape(rows, 1, 1_000_000_000)))},
			field{key: "method", shape: enumShape(says, string(AutoMethod), string(MST), string(AIM), string(TablesMethod))},
			field{key: "ways", shape: wholeShape("2 or 3", 2, mostWays)},
			field{key: "by", shape: listShape("a list of at least two attributes, as [region, age.band]", textShape("an attribute, as age or age.band"), leastColumns, 0)},
			field{key: "parent", shape: textShape("the table whose microdata have the one row that each of these rows belongs to")},
			field{key: "size", shape: patternShape("a name for the number of rows of a parent row", `^`+columnSyntax+`$`), needs: "parent"},
			field{key: "files", shape: wholeShape("a whole number from 2 to 100", 2, mostFiles)}))
	tables.least, tables.empty = 1, "at least one table, as {persons: {budget: microdata}}"
	return tables
}
