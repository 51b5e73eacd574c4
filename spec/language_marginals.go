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
	open := &shape{kind: anything, says: "anything"}
	options := func(says string) *shape { return dictShape(says, `^.+$`, open) }
	along := func(says string) *shape { return listShape(says, textShape("an attribute of by"), 1, 0) }
	count := wholeShape("a whole number", 1, 1_000_000)
	return objectShape("by, and what is asked of it",
		field{key: "by", shape: listShape("a list of attributes, as [region, age.band]", textShape("an attribute, as age or age.band"), 0, 0), required: "the attributes of the marginal; [] for a total", fix: "by: []"},
		field{key: "every", shape: listShape("a list of sizes, as [1, 2]", wholeShape("a size from 0 to the number of attributes", 0, 1000), 1, 0)},
		field{key: "cumulative", shape: along("a list of attributes of by along which the table counts up, as [age]")},
		field{key: "ranges", shape: along("a list of attributes of by of which sums of neighbouring categories are to be accurate, as [age]")},
		field{key: "table", shape: textShape("a table")},
		field{key: "stats", shape: listShape("a list of statistics, as [count]", statShape(), 1, 0)},
		field{key: "budget", shape: textShape("a leaf of the budget")},
		field{key: "weight", shape: numberShape("a number from 1e-6 to 1e6: how much the variance of each cell counts beside other marginals of the leaf")},
		field{key: "top", shape: count.notBuilt("top")},
		field{key: "per_unit", shape: options("{groups: N, rows_per_group: N}").notBuilt("per_unit")},
		field{key: "show", shape: options("{when_count_at_least: N}").notBuilt("show")},
		field{key: "each", shape: textShape("a column with levels").notBuilt("each")},
		field{key: "cells", shape: choiceShape("{above: N}",
			onMapping(objectShape("{above: N}", field{key: "above", shape: wholeShape("a whole number of rows, 1 or more", 1, MostAbove), required: "the public threshold", fix: "above: 40"})))},
		field{key: "target", shape: objectShape("{margin, confidence, of}",
			field{key: "margin", shape: numberShape("a number above zero: how far from the exact figure a cell may lie"), required: "the margin of error", fix: "margin: 100"},
			field{key: "confidence", shape: numberShape("a share from 50% to below 100%, as 95%")},
			field{key: "of", shape: enumShape("each-cell or all-cells", eachCell, allCells)})},
		field{key: "bounds", shape: open.notBuilt("bounds")},
		field{key: "sample", shape: open.notBuilt("sample")},
	)
}

// statShape is a statistic: count, or one of those that are not built.
func statShape() *shape {
	column := textShape("a column")
	as := field{key: "as", shape: patternShape("a name for the statistic", `^`+columnSyntax+`$`)}
	fractions := listShape("a list, as [25%, 50%, 75%]", numberShape("a share, as 25%"), 1, 0)
	open := &shape{kind: anything, says: "anything"}
	of := func(name string, value *shape, more ...field) branch {
		fields := append([]field{{key: name, shape: value}, as}, more...)
		return onKey(objectShape("{"+name+": …}", fields...).notBuilt(name), name)
	}
	return choiceShape("count",
		onText(`^count$`, enumShape("count", "count")),
		onText(`^units$`, enumShape("units", "units").notBuilt("units")),
		of("sum", column), of("mean", column), of("median", column),
		of("ratio", dictShape("what over what", `^.+$`, open)),
		of("quantiles", column, field{key: "at", shape: fractions, required: "the shares, as [25%, 50%, 75%]"}))
}
