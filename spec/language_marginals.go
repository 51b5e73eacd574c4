package spec

import "github.com/dprelease/dprelease/spec/shape"

// This file holds the grammar of marginals as data.

// MostAbove bounds the threshold of a sparse table.
const MostAbove = 1_000_000_000_000

func marginalsShape() *shape.Shape {
	return shape.Dictionary("marginals by name", `^`+dottedSyntax+`$`, marginalShape()).
		Nonempty("at least one marginal, such as status: {by: [status]}")
}

func marginalShape() *shape.Shape {
	along := func(says string) *shape.Shape { return shape.List(says, shape.Text("an attribute of by"), 1, 0) }
	return shape.Object("by, and what is asked of it",
		shape.Field{Key: "by", Shape: shape.List("a list of attributes, such as [region, age.band]",
			shape.Text("an attribute, such as age or age.band"), 0, 0),
			Required: "the attributes of the marginal; [] for a total",
			Fix:      "by: []"},
		shape.Field{Key: "every", Shape: shape.List("a list of sizes, such as [1, 2]",
			shape.Whole("a size from 0 to the number of attributes", 0, 1000), 1, 0)},
		shape.Field{Key: "title", Shape: titleShape(), Words: true},
		shape.Field{Key: "cumulative", Shape: along("a list of attributes of by along which the table counts up, " +
			"such as [age]")},
		shape.Field{Key: "ranges",
			Shape: along("a list of attributes of by of which sums of neighbouring categories are to be accurate, " +
				"such as [age]")},
		shape.Field{Key: "table", Shape: shape.Text("a table")},
		shape.Field{Key: "stats", Shape: shape.List("a list of statistics, such as [count, {mean: pay}]", statShape(),
			1, 0)},
		shape.Field{Key: "budget", Shape: shape.Text("a leaf of the budget")},
		shape.Field{Key: "weight",
			Shape: shape.Number("a number from 1e-6 to 1e6: how much the variance of each cell counts compared with " +
				"other marginals of the leaf")},
		shape.Field{Key: "top", Shape: shape.Whole(
			"how many cells are published, those with the largest counts: a whole number from 1 to 10000", 1, MostTop)},
		shape.Field{Key: "per_unit", Shape: perUnitShape()},
		shape.Field{Key: "show",
			Shape: shape.Object("{when_count_at_least: N}: the least noisy count of a group whose other statistics are shown",
				shape.Field{Key: "when_count_at_least", Shape: shape.Whole("a whole number, 1 or more", 1, MostAbove),
					Required: "the least noisy count of a group that is shown", Fix: "when_count_at_least: 30"})},
		shape.Field{Key: "each", Shape: shape.Text("a column with levels")},
		shape.Field{Key: "cells", Shape: shape.Choice("{above: N}",
			shape.OnMapping(shape.Object("{above: N}",
				shape.Field{Key: "above", Shape: shape.Whole("a whole number of rows, 1 or more", 1, MostAbove),
					Required: "the public threshold", Fix: "above: 40"})))},
		shape.Field{Key: "target", Shape: shape.Object("{margin, at, confidence, of}",
			shape.Field{Key: "margin",
				Shape: shape.Number("a number above zero, how far from the exact figure a cell may lie; or a " +
					"percentage of a cell of the size `at`"),
				Required: "the margin of error", Fix: "margin: 100"},
			shape.Field{Key: "at", Shape: shape.Number(
				"a number above zero: the size of the cell that the margin is a percentage of")},
			shape.Field{Key: "confidence", Shape: shape.Number("a share from 50% to below 100%, such as 95%")},
			shape.Field{Key: "of", Shape: shape.Enum("each-cell or all-cells", eachCell, allCells)})},
	).
		WithReplacements(whereHabits("`where: CONDITION` in the table, which leaves rows out of all its marginals; " +
			"or a column of the condition, such as adult: {from: age >= 18}, in by"))
}

// perUnitShape is the shape of bounds on the contribution of one unit to a table.
func perUnitShape() *shape.Shape {
	most := func(of string) *shape.Shape {
		return shape.Whole("the most "+of+", from 1 to 1000000", 1, mostOfAUnit)
	}
	return shape.Object("{groups: N, rows_per_group: N, total: N}, at least one of them",
		shape.Field{Key: "groups", Shape: most("cells with rows of one unit")},
		shape.Field{Key: "rows_per_group", Shape: most("rows of one unit in a cell")},
		shape.Field{Key: "total", Shape: most("rows of one unit in all")},
	).WithForms([]string{"groups"}, []string{"rows_per_group"}, []string{"total"}, []string{"groups", "rows_per_group"},
		[]string{"groups", "total"}, []string{"rows_per_group", "total"},
		[]string{"groups", "rows_per_group", "total"}).
		WithMessage("at least one of groups, rows_per_group, total")
}
