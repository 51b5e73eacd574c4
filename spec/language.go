package spec

// This file holds the grammar of the language as data, from the top down to the budget.

import (
	"maps"
	"strings"
	"sync"

	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/spec/meaning"
	"github.com/dprelease/dprelease/spec/shape"
)

// grammar is the shape of a whole spec in version 1, including the parts that this version of the program does not
// build.
var grammar = sync.OnceValue(func() *shape.Shape {
	return shape.Object("a release",
		shape.Field{Key: "version", Shape: shape.Whole("1, the version of the language", 1, 1),
			Required: "the version of the language", Fix: "version: 1"},
		shape.Field{Key: "release", Shape: shape.Text("the name of the release").WithParams(),
			Required: "the name of the release", Fix: "release: my-release"},
		shape.Field{Key: "corrects", Shape: shape.Text("the name of the earlier release that this one corrects").
			WithParams()},
		shape.Field{Key: "params", Shape: paramsShape()},
		shape.Field{Key: "about", Shape: aboutShape(), Words: true},
		shape.Field{Key: "fit", Shape: fitShape()},
		shape.Field{Key: "privacy", Shape: privacyShape(), Required: "whom the release protects",
			Fix: "privacy: {protects: person, neighbours: add-remove}"},
		shape.Field{Key: "holders", Shape: holdersShape()},
		shape.Field{Key: "budget", Shape: budgetShape(), Required: "the privacy budget: {epsilon}, {rho} or " +
			"{epsilon, delta}",
			Fix: "budget: {epsilon: 1}", Instead: "collect"},
		shape.Field{Key: "collect", Shape: collectShape()},
		shape.Field{Key: "tables", Shape: tablesShape(), Required: "the tables the release reads"},
		shape.Field{Key: "marginals", Shape: marginalsShape()},
		shape.Field{Key: "impossible", Shape: impossibleShape()},
		shape.Field{Key: "invariants", Shape: invariantsShape()},
		shape.Field{Key: "synthetic", Shape: syntheticShape()},
		shape.Field{Key: "models", Shape: modelsShape()},
		shape.Field{Key: "publish", Shape: publishShape()},
		shape.Field{Key: "diagnostics",
			Shape: shape.Object("{share: 1%}: the part of the whole budget that pays for counts of what domains, "+
				"bounds and clamping leave out",
				shape.Field{Key: "share", Shape: shape.Number("a share of the whole budget, such as 1%"),
					Required: "the part of the whole budget", Fix: "share: 1%"})},
	).WithForms([]string{"marginals"}, []string{"synthetic"}, []string{"models"}, []string{"marginals", "synthetic"},
		[]string{"marginals", "models"}, []string{"synthetic", "models"}, []string{"marginals", "synthetic", "models"}).
		WithMessage("marginals, the tables of counts to publish, synthetic, microdata, or models")
})

func paramsShape() *shape.Shape {
	return shape.Dictionary("parameters, each as name: {pattern: …}", `^`+paramSyntax+`$`,
		shape.Object("{pattern: …}",
			shape.Field{Key: "pattern", Shape: shape.Text("a regular expression in quotes").WithParams(),
				Required: "a regular expression that the value must match as a whole"}))
}

func aboutShape() *shape.Shape {
	return shape.Object("title, population, period, contact and language",
		shape.Field{Key: "title", Shape: shape.Category("a text").WithParams()},
		shape.Field{Key: "population",
			Shape: shape.Category("whom or what the figures are about, such as residents aged 15 and over").WithParams()},
		shape.Field{Key: "period", Shape: shape.Category("the time that the figures are about, such as the first " +
			"quarter of 2026").
			WithParams()},
		shape.Field{Key: "contact", Shape: shape.Category("a text").WithParams()},
		shape.Field{Key: "language", Shape: shape.Enum(strings.Join(language.Tags(), " or "), language.Tags()...)})
}

func privacyShape() *shape.Shape {
	account := shape.Pattern("an account name of a–z, 0–9, dot, _ and -", `^`+dottedSyntax+`$`)
	accounts := shape.List("at least one account", account, 1, 0)
	return shape.Object("protects, neighbours, account",
		shape.Field{Key: "protects", Shape: shape.Pattern("a noun, such as person or trip", `^\S(.*\S)?$`),
			Required: "the noun of what is protected, such as person or trip", Fix: "protects: person"},
		shape.Field{Key: "neighbours", Shape: shape.Enum("add-remove or replace", string(AddRemove), string(Replace)),
			Required: "add-remove (a unit is there or not) or replace (only what it says is protected, the number of " +
				"units is public)",
			Fix: "neighbours: add-remove"},
		shape.Field{Key: "account",
			Shape: shape.Choice("an account, or a list of them: the release's own first, then those of further "+
				"datasets that are read",
				shape.OnSequence(accounts), shape.OnScalar(account))},
		shape.Field{Key: "resume",
			Shape: shape.Enum("never: the noise key is kept in memory only, and a run that is cut off after its "+
				"debit loses the release",
				"never")},
		shape.Field{Key: "total", Shape: shape.Boolean("true or false")},
		shape.Field{Key: "within", Shape: shape.Text("an attribute, such as block.state").NotBuilt("within")})
}

func budgetShape() *shape.Shape {
	says := "a number, such as 1, 0.5, 1e-9 or 3/10"
	return shape.Object("{epsilon}, {rho} or {epsilon, delta}",
		shape.Field{Key: "epsilon", Shape: shape.Number(says)},
		shape.Field{Key: "delta", Shape: shape.Number(says)},
		shape.Field{Key: "rho", Shape: shape.Number(says)},
		shape.Field{Key: "minimise",
			Shape: shape.Enum("guarded (the sum, no table worse than if measured separately), sum (of weight × "+
				"variance, over all cells) or largest (weight × variance of a cell)",
				string(Guarded), string(LeastSum), string(LeastLargest))},
		shape.Field{Key: "noise", Shape: noiseShape()},
		shape.Field{Key: "split", Shape: splitShape()},
	).WithForms([]string{"epsilon"}, []string{"rho"}, []string{"epsilon", "delta"})
}

// splitShape is the tree of a budget: its leaves are shares, absolute amounts or needed.
func splitShape() *shape.Shape {
	says := "a share such as 3/10, 0.3 or 30%, an amount such as {epsilon: 0.1} or {rho: 1/100}, or needed"
	split := shape.Dictionary("leaves, each with its share", `^`+leafSyntax+`$`, nil).Named("split").
		Nonempty("at least one leaf, such as {main: 100%}")
	part := shape.Object(says,
		shape.Field{Key: "share", Shape: shape.Number("a share, such as 3/10, 0.3 or 30%")},
		shape.Field{Key: "epsilon", Shape: shape.Number("an amount of epsilon")},
		shape.Field{Key: "rho", Shape: shape.Number("an amount of rho")},
		shape.Field{Key: "split", Shape: split},
	).WithForms([]string{"share"}, []string{"epsilon"}, []string{"rho"})
	split.Element = shape.Choice(says,
		shape.OnMapping(part),
		shape.OnText(`^needed$`, shape.Enum("needed", "needed")),
		shape.OnScalar(shape.Number(says)))
	return split
}

func impossibleShape() *shape.Shape {
	return shape.List("a list of what no row can be, such as [{where: {age.band: 0–15, status: employed}}]",
		shape.Object("{table, where: {…}, rows}",
			shape.Field{Key: "table", Shape: shape.Text("a table")},
			shape.Field{Key: "where",
				Shape: whereShape("attributes and their categories, such as {age.band: 0–15, status: [employed, " +
					"unemployed]}"),
				Required: "attributes and their categories", Fix: "where: {age.band: 0–15, status: employed}"},
			shape.Field{Key: "rows", Shape: shape.Enum("error or drop: what happens to an impossible row", rowsError,
				rowsDrop)}),
		1, 0).WithMessage("at least one, such as {where: {age.band: 0–15, status: employed}}")
}

func invariantsShape() *shape.Shape {
	figure := shape.Whole("a whole number from 0 to 2^40", 0, MaxCount)
	figures := shape.Dictionary("each category of the one attribute with its figure, such as {north: 120, south: 80}",
		`^.*$`,
		figure)
	return shape.Dictionary("public figures by name, such as {totals: {by: [region], from: totals.csv}}",
		`^`+dottedSyntax+`$`,
		shape.Object("{table, by, from} or {table, by, values}",
			shape.Field{Key: "table", Shape: shape.Text("a table")},
			shape.Field{Key: "by", Shape: shape.List("a list of attributes, [] for the number of rows",
				shape.Text("an attribute"), 0, 0), Required: "the attributes of the figures, [] for the number of rows",
				Fix: "by: []"},
			shape.Field{Key: "from", Shape: shape.Text(
				"a CSV file with a column for each attribute and one called count").
				WithParams()},
			shape.Field{Key: "values",
				Shape: shape.Choice("the number of rows, or each category of the one attribute with its figure",
					shape.OnMapping(figures), shape.OnScalar(figure))})).
		Nonempty("at least one, such as {totals: {by: [region], from: totals.csv}}")
}

// publishShape says how estimates are published.
func publishShape() *shape.Shape {
	return shape.Object("{integers: consistent}",
		shape.Field{Key: "integers",
			Shape: shape.Enum("consistent: the counts of a table are whole, none is negative, and tables agree on "+
				"what they all show",
				consistent)},
		shape.Field{Key: "partition_by",
			Shape: shape.Text("an attribute, such as block.state").NotBuilt("partition_by")},
		shape.Field{Key: "tables", Shape: shape.Dictionary("marginals with `each`, and the finest level that is published",
			`^`+dottedSyntax+`$`, shape.Text("a level")).NotBuilt("tables")})
}

// mostWays is the largest number of columns that a round measures together.
const mostWays = 3

// mostFiles bounds the number of files into which rows are drawn.
const mostFiles = 100

// syntheticShape is the microdata of each table.
func syntheticShape() *shape.Shape {
	rows := "noisy, for as many as the noisy total, or a whole number from 1 to 1000000000"
	says := "auto, mst, aim or tables"
	return shape.Dictionary("tables and how their microdata are made, such as {persons: {budget: microdata}}",
		`^`+columnSyntax+`$`,
		shape.Object("{budget, rows, method, ways, by, files, parent, size}",
			shape.Field{Key: "budget", Shape: shape.Text("a leaf of the budget that pays for nothing else")},
			shape.Field{Key: "rows", Shape: shape.Choice(rows,
				shape.OnText(`^[^0-9]`, shape.Enum(rows, noisyRows)),
				shape.OnScalar(shape.Whole(rows, 1, 1_000_000_000)))},
			shape.Field{Key: "method", Shape: shape.Enum(says, string(AutoMethod), string(MST), string(AIM),
				string(TablesMethod))},
			shape.Field{Key: "ways", Shape: shape.Whole("2 or 3", 2, mostWays)},
			shape.Field{Key: "by", Shape: shape.List("a list of at least two attributes, such as [region, age.band]",
				shape.Text("an attribute, such as age or age.band"), leastColumns, 0)},
			shape.Field{Key: "parent",
				Shape: shape.Text("the table to whose microdata these rows belong, each to one row")},
			shape.Field{Key: "size", Shape: shape.Pattern("a name for the number of rows of a parent row",
				`^`+columnSyntax+`$`),
				Requires: "parent"},
			shape.Field{Key: "files", Shape: shape.Whole("a whole number from 2 to 100", 2, mostFiles)})).
		Nonempty("at least one table, such as {persons: {budget: microdata}}")
}

func fitShape() *shape.Shape {
	says := "a relative standard error, above 0 and at most 100%, such as 5%; or rest, for what is less precise than " +
		"every class before it"
	return shape.Dictionary(
		"classes from the most precise to the least, each with the largest relative standard error of its figures, "+
			"such as {precise: 5%, usable: 20%}",
		`^`+fitSyntax+`$`, shape.Choice(says,
			shape.OnText(`^[a-z]`, shape.Enum(says, fitRest)),
			shape.OnScalar(shape.Number(says)))).Nonempty("at least one class, such as {precise: 5%, usable: 20%}")
}

// Schema returns the JSON Schema (draft 2020-12) of a spec: the whole language, with the parts that this version does
// not build described as such. It covers the form of a spec; only Parse checks the relations between its parts (that a
// marginal's attributes exist, that shares add up).
func Schema() []byte { return grammar().Schema("dprelease spec, version 1", keyMeanings()) }

// keyMeanings returns what every key of a spec does, by its path.
func keyMeanings() map[string]shape.Meaning {
	all := meaning.Keys()
	maps.Copy(all, statMeanings())
	return all
}
