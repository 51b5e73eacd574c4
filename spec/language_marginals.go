package spec

// This file holds the grammar of marginals as data.

// MostAbove bounds the threshold of a sparse table.
const MostAbove = 1_000_000_000_000

// What a target is of.
const (
	eachCell = "each-cell"
	allCells = "all-cells"
)

func marginalsShape() *shape {
	marginals := dictShape("marginals by name", `^`+dottedSyntax+`$`, marginalShape())
	marginals.least, marginals.empty = 1, "at least one marginal, as status: {by: [status]}"
	return marginals
}

func marginalShape() *shape {
	along := func(says string) *shape { return listShape(says, textShape("an attribute of by"), 1, 0) }
	marginal := objectShape("by, and what is asked of it",
		field{key: "by", shape: listShape("a list of attributes, as [region, age.band]", textShape("an attribute, as age or age.band"), 0, 0), required: "the attributes of the marginal; [] for a total", fix: "by: []"},
		field{key: "every", shape: listShape("a list of sizes, as [1, 2]", wholeShape("a size from 0 to the number of attributes", 0, 1000), 1, 0)},
		field{key: "cumulative", shape: along("a list of attributes of by along which the table counts up, as [age]")},
		field{key: "ranges", shape: along("a list of attributes of by of which sums of neighbouring categories are to be accurate, as [age]")},
		field{key: "table", shape: textShape("a table")},
		field{key: "stats", shape: listShape("a list of statistics, as [count, {mean: pay}]", statShape(), 1, 0)},
		field{key: "budget", shape: textShape("a leaf of the budget")},
		field{key: "weight", shape: numberShape("a number from 1e-6 to 1e6: how much the variance of each cell counts beside other marginals of the leaf")},
		field{key: "top", shape: wholeShape("how many cells are published, those with the largest counts: a whole number from 1 to 10000", 1, MostTop)},
		field{key: "per_unit", shape: perUnitShape()},
		field{key: "show", shape: objectShape("{when_count_at_least: N}: the least noisy count of a group whose other statistics are shown",
			field{key: "when_count_at_least", shape: wholeShape("a whole number, 1 or more", 1, MostAbove), required: "the least noisy count of a group that is shown", fix: "when_count_at_least: 30"})},
		field{key: "each", shape: textShape("a column with levels").notBuilt("each")},
		field{key: "cells", shape: choiceShape("{above: N}",
			onMapping(objectShape("{above: N}", field{key: "above", shape: wholeShape("a whole number of rows, 1 or more", 1, MostAbove), required: "the public threshold", fix: "above: 40"})))},
		field{key: "target", shape: objectShape("{margin, at, confidence, of}",
			field{key: "margin", shape: numberShape("a number above zero, how far from the exact figure a cell may lie; or a percentage of a cell of the size `at`"), required: "the margin of error", fix: "margin: 100"},
			field{key: "at", shape: numberShape("a number above zero: the size of the cell that the margin is a percentage of")},
			field{key: "confidence", shape: numberShape("a share from 50% to below 100%, as 95%")},
			field{key: "of", shape: enumShape("each-cell or all-cells", eachCell, allCells)})},
	)
	marginal.habits = whereHabits("`where: CONDITION` in the table, which leaves rows out of all its marginals; or a column of the condition, as adult: {from: age >= 18}, in by")
	return marginal
}

// mostOfAUnit bounds the rows, groups and values of one unit.
const mostOfAUnit = 1_000_000

// perUnitShape is what one unit adds to a table at most.
func perUnitShape() *shape {
	most := func(of string) *shape {
		return wholeShape(of+" of one unit at most, from 1 to 1000000", 1, mostOfAUnit)
	}
	bounds := objectShape("{groups: N, rows_per_group: N, total: N}, at least one of them",
		field{key: "groups", shape: most("cells that hold rows")},
		field{key: "rows_per_group", shape: most("rows in a cell")},
		field{key: "total", shape: most("rows in all")},
	).withForms([]string{"groups"}, []string{"rows_per_group"}, []string{"total"}, []string{"groups", "rows_per_group"},
		[]string{"groups", "total"}, []string{"rows_per_group", "total"}, []string{"groups", "rows_per_group", "total"})
	bounds.empty = "at least one of groups, rows_per_group, total"
	return bounds
}

// statShape is a statistic: a word, or a mapping whose first key says which.
func statShape() *shape {
	says := "a statistic: count, units, {sum: x}, {mean: x}, {variance: x}, {deviation: x}, {median: x}, {quantiles: x, at: [25%, 75%]}, " +
		"{distinct: x, per_unit: N} or {ratio: {of: …, over: …}, as: name}"
	column := textShape("a column")
	as := field{key: "as", shape: patternShape("a name for the statistic", `^`+columnSyntax+`$`)}
	of := func(kind StatKind, value *shape, more ...field) branch {
		key := string(kind)
		return onKey(objectShape(says, append([]field{{key: key, shape: value}, as}, more...)...), key)
	}
	named := as
	named.required, named.fix = "the name of the ratio", "as: rate"
	return choiceShape(says,
		of(Sum, column), of(Mean, column), of(Variance, column), of(Deviation, column), of(medianOf, column),
		of(Quantiles, column, field{key: "at", shape: listShape("shares in ascending order, as [25%, 50%, 75%]", numberShape("a share above 0 and below 1, as 25%"), 1, mostQuantiles), required: "the shares, as [25%, 50%, 75%]", fix: "at: [25%, 50%, 75%]"}),
		of(Distinct, column, field{key: "per_unit", shape: wholeShape("a whole number from 1 to 1000000", 1, mostOfAUnit), required: "the most values that one unit gives", fix: "per_unit: 1"}),
		onKey(objectShape(says, field{key: string(Ratio), shape: ratioShape()}, named), string(Ratio)),
		onScalar(enumShape(says, string(Count), string(Units))))
}

const (
	// medianOf is the key of a median, which is a quantile.
	medianOf = StatKind("median")
	// mostQuantiles bounds the quantiles of one statistic.
	mostQuantiles = 100
)

// ratioShape is what over what: two terms, of which the first may stand without `of`.
func ratioShape() *shape {
	column, where := textShape("a column"), termWhere()
	terms := objectShape("two terms: {of: {status: unemployed}, over: {status: [employed, unemployed]}}, or {sum: turnover, over: {sum: staff}}",
		field{key: "of", shape: termShape()},
		field{key: "sum", shape: column}, field{key: "mean", shape: column}, field{key: "where", shape: where},
		field{key: "over", shape: termShape()},
	).withForms([]string{"of", "over"}, []string{"sum", "over"}, []string{"mean", "over"}, []string{"where", "over"},
		[]string{"sum", "where", "over"}, []string{"mean", "where", "over"})
	terms.empty = terms.says
	return terms
}

// termShape is one term of a ratio: a count, sum or mean over the rows that meet conditions.
func termShape() *shape {
	says := "a term: count, {sum: x}, {mean: x}, each with where: {column: category} if it is not of all rows, or {column: category} for a count"
	column := textShape("a column")
	conditions := whereShape(says)
	conditions.empty = says
	return choiceShape(says,
		onKey(objectShape(says, field{key: "sum", shape: column}, field{key: "mean", shape: column}, field{key: "where", shape: termWhere()}).
			withForms([]string{"sum"}, []string{"mean"}, []string{"where"}, []string{"sum", "where"}, []string{"mean", "where"}), "sum", "mean", "where"),
		onMapping(conditions),
		onScalar(enumShape(says, string(Count))))
}

func termWhere() *shape {
	return whereShape("attributes and the categories of the rows that count, as {sex: female, status: [employed, unemployed]}")
}
