package meaning

import "github.com/dprelease/dprelease/spec/shape"

// This file says what the keys of a marginal mean, except for its statistics.

var ofMarginals = map[string]shape.Meaning{
	"marginals": {States: "What is published: a table for each marginal, by names of your choice.",
		Default: "microdata alone are published", Example: "{status: {by: [region, status]}}",
		Page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.by": {
		States: "The attributes that the table counts by: columns, or levels such as `age.band`. Every combination " +
			"of their categories is a cell; [] is the total.", Example: "[region, age.band]",
		Page: "README.md#the-spec-in-brief"},
	"marginals.*.every": {States: "A table for every subset of `by` that has one of these sizes, instead of one " +
		"table of all its attributes.",
		Default: "one table of all attributes of by", Example: "[1, 2]", Page: "README.md#the-spec-in-brief"},
	"marginals.*.title": {States: "What reports call the table.", Default: "the attributes of the table, or its name",
		Example: "Residents by region", Page: titlesPage},
	"marginals.*.cumulative": {
		States:  "Attributes along which the table counts up: its row for 15 says how many are 15 or younger.",
		Default: "none",
		Example: "[age]", Page: "docs/spec.md#sums-along-a-column"},
	"marginals.*.ranges": {States: "Attributes of which sums of neighbouring categories are to be accurate.",
		Default: "none", Example: "[age]", Page: "docs/plan.md#sums-along-a-column"},
	"marginals.*.table": {States: "The confidential table whose rows are counted.",
		Default: "the only confidential table", Example: "persons",
		Page: "docs/spec.md#several-confidential-tables"},
	"marginals.*.stats": {
		States: "What is published of each cell. Each statistic has columns of its own for the figure, its error, " +
			"its interval and a flag.", Default: "[count]", Example: "[count, {mean: pay}, {quantiles: pay, at: " +
			"[10%, 90%]}]", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.budget": {States: "The leaf of the budget that pays. A leaf of a leaf is written with a dot.",
		Default: "the leaf with the name of the marginal, or the whole budget if it has no split", Example: "headline",
		Page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.weight": {
		States: "How much the variance of each cell counts, compared with other marginals of the leaf. With " +
			"`minimise: guarded` the weight shifts only what sharing saves, with `sum` the whole leaf. It changes " +
			"how the noise is shared out, never what is promised.", Default: "1", Example: "4",
		Page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.top": {
		States:  "How many cells are published: those with the largest counts, as far as a private selection finds them.",
		Default: "every cell is published", Example: "10", Page: "docs/spec.md#the-cells-with-the-largest-counts"},
	"marginals.*.per_unit": {States: "What one unit adds to the table at most. The less that is, the less noise is needed.",
		Default: "max_rows of the table bounds it", Example: "{groups: 2}",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.show": {States: "Which cells show statistics beside counts.", Default: "all cells show them",
		Example: "{when_count_at_least: 30}", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.each": {States: "A column with levels. The marginal is a table at each of them, by the level and by " +
		"the attributes of `by`. Where the budget is split by level first, `budget: NAME` is the leaf NAME of every " +
		"level that has one.", Default: "one table", Example: "block",
		Page: "docs/spec.md#a-marginal-at-each-level"},
	"marginals.*.cells": {States: "Which cells of a table with very many are published.",
		Default: "every cell is published", Example: "{above: 40}", Page: "docs/spec.md#tables-of-very-many-cells"},
	"marginals.*.target": {
		States: "How near to the exact figure the published one must be. A leaf that is `needed` gets the least " +
			"budget that meets its targets.",
		Default: "as near as the budget allows", Example: "{margin: 500, confidence: 95%}",
		Page: "docs/spec.md#how-good-a-table-must-be"},

	"marginals.*.per_unit.groups": {States: "In how many cells of the table rows of one unit are counted at most.",
		Default: "not bounded but by max_rows", Example: "2", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.per_unit.rows_per_group": {States: "How many rows of one unit are counted in one cell at most.",
		Default: "not bounded but by max_rows",
		Example: "1", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.per_unit.total": {States: "How many rows of one unit are counted in the table at most.",
		Default: "max_rows", Example: "3",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.show.when_count_at_least": {
		States:  "Statistics of a cell are withheld if its noisy count is below this number. The exact count plays no part.",
		Example: "30",
		Page:    "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.cells.above": {States: "Only cells whose noisy count is above this number are published.",
		Example: "40", Page: "docs/spec.md#tables-of-very-many-cells"},
	"marginals.*.target.margin": {
		States:  "How far the exact figure may lie from the published one: a number or, with `at`, a percentage.",
		Example: "500",
		Page:    "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.at": {
		States: "The size of the cell that the margin is a percentage of: `{margin: 5%, at: 1000}` is a margin of " +
			"50, for every cell of the table.", Default: "the margin is a number", Example: "1000",
		Page: "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.confidence": {States: "The probability with which the exact figure lies within the margin of `target`.", Default: "95%", Example: "99%",
		Page: "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.of": {
		States:  "Whether the confidence is asked of each cell by itself, or of all cells of a table at once.",
		Default: "each-cell",
		Example: "all-cells", Page: "docs/spec.md#how-good-a-table-must-be"},
}
