package meaning

import "github.com/dprelease/dprelease/spec/shape"

// This file says what the keys of a marginal mean, except for its statistics.

var ofMarginals = map[string]shape.Meaning{
	"marginals": {States: "What is published: a table for each marginal, by names of your choice.",
		Default: "microdata alone are published", Example: "{status: {by: [region, status]}}",
		Page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.by": {
		States: "The attributes that the table counts by: columns, or levels as `age.band`. Every combination of their categories is a cell; [] is the total.", Example: "[region, age.band]", Page: "README.md#the-spec-in-brief"},
	"marginals.*.every": {States: "Not one table of all attributes of by, but one for every subset of these sizes.",
		Default: "one table of all of them", Example: "[1, 2]", Page: "README.md#the-spec-in-brief"},
	"marginals.*.title": {States: "What reports call the table.", Default: "its attributes, or its name",
		Example: "Residents by region", Page: titlesPage},
	"marginals.*.cumulative": {
		States:  "Attributes along which the table counts up: its row for 15 says how many are 15 or younger.",
		Default: "none",
		Example: "[age]", Page: "docs/spec.md#sums-along-a-column"},
	"marginals.*.ranges": {States: "Attributes of which sums of neighbouring categories are to be accurate.",
		Default: "none", Example: "[age]", Page: "docs/plan.md#sums-along-a-column"},
	"marginals.*.table": {States: "The confidential table that it is of.", Default: "the only one", Example: "persons",
		Page: "docs/spec.md#several-confidential-tables"},
	"marginals.*.stats": {
		States: "What is published of each cell. Each statistic has columns of its own for the figure, its error, its interval and a flag.", Default: "[count]", Example: "[count, {mean: pay}, {quantiles: pay, at: [10%, 90%]}]", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.budget": {States: "The leaf of the budget that pays. A leaf of a leaf is written with a dot.",
		Default: "the leaf called as the marginal, or the only one where the budget has no split", Example: "headline",
		Page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.weight": {
		States: "How much the variance of each cell counts beside other marginals of the leaf: with `minimise: guarded` it moves what sharing saves, with `sum` all of the leaf. It changes what the noise is shared by, never what is promised.", Default: "1", Example: "4", Page: "docs/spec.md#how-marginals-share-a-budget"},
	"marginals.*.top": {
		States:  "Only the cells with the largest counts are published, this many, as far as private choices find them.",
		Default: "every cell is published", Example: "10", Page: "docs/spec.md#the-cells-with-the-largest-counts"},
	"marginals.*.per_unit": {States: "What one unit adds to the table at most. Less of a unit is less noise.",
		Default: "max_rows of the table bounds it", Example: "{groups: 2}", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.show": {States: "Which cells show statistics beside counts.", Default: "all of them",
		Example: "{when_count_at_least: 30}", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.each": {States: "A column with levels: a table for each of them.", Default: "one table",
		Example: "region"},
	"marginals.*.cells": {States: "Which cells are published, of tables with very many.",
		Default: "every cell is published", Example: "{above: 40}", Page: "docs/spec.md#tables-of-very-many-cells"},
	"marginals.*.target": {
		States:  "How near to the exact figure the published one must be. A leaf that is `needed` gets what its targets take.",
		Default: "as near as the budget allows", Example: "{margin: 500, confidence: 95%}",
		Page: "docs/spec.md#how-good-a-table-must-be"},

	"marginals.*.per_unit.groups": {States: "The cells in which a unit has rows that are counted.",
		Default: "not bounded but by max_rows", Example: "2", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.per_unit.rows_per_group": {States: "The rows of a unit in one cell.",
		Default: "not bounded but by max_rows",
		Example: "1", Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.per_unit.total": {States: "The rows of a unit in the table.", Default: "max_rows", Example: "3",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.show.when_count_at_least": {
		States:  "Statistics are withheld where the noisy count is below this. It acts on the noisy count alone.",
		Example: "30",
		Page:    "docs/spec.md#numbers-not-only-counts"},
	"marginals.*.cells.above": {States: "Cells whose noisy count is above this are published, and no others.",
		Example: "40", Page: "docs/spec.md#tables-of-very-many-cells"},
	"marginals.*.target.margin": {
		States:  "How far the exact figure may lie from the published one: a number or, with `at`, a percentage.",
		Example: "500",
		Page:    "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.at": {
		States: "The size of the cell that the margin is a percentage of: `{margin: 5%, at: 1000}` is a margin of 50, for every cell of the table.", Default: "the margin is a number", Example: "1000", Page: "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.confidence": {States: "With which probability.", Default: "95%", Example: "99%",
		Page: "docs/spec.md#how-good-a-table-must-be"},
	"marginals.*.target.of": {
		States: "Whether that is asked of each cell by itself, or of all cells of a table at once.", Default: "each-cell",
		Example: "all-cells", Page: "docs/spec.md#how-good-a-table-must-be"},
}
