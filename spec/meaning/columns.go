package meaning

import "github.com/dprelease/dprelease/spec/shape"

// This file says what the keys of a column mean.

var ofColumns = map[string]shape.Meaning{
	"tables.*.columns.*.from": {
		States: "The column of the source, or an expression over its columns. A plain name, or a name in backticks, " +
			"is a column; every other text is an expression, in quotes or not.",
		Default: "the column of the source with this name", Example: "years(admitted - born) >= 18",
		Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.columns.*.type": {States: "What kind of values the column has. A range needs it.",
		Default: "text, or what the domain or the expression says", Example: "integer", Page: "docs/files.md"},
	"tables.*.columns.*.values": {
		States: "The domain as a list of all categories, each as its text is written; as whole numbers from one to " +
			"another; or as what a selection discovers.", Default: "the domain is declared another way",
		Example: "[female, male]", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.codebook": {
		States: "The domain as a public CSV file with the columns code, label and, for each level, a parent. It " +
			"becomes part of the plan.", Default: "the domain is declared another way", Example: "regions.csv",
		Page: "docs/spec.md#places"},
	"tables.*.columns.*.map": {
		States:  "A public GeoJSON file with a boundary for each code of the code book, for the maps of the report.",
		Default: "no maps are drawn of the column", Example: "areas.geojson", Page: "docs/spec.md#places"},
	"tables.*.columns.*.range": {
		States: "The domain as the smallest and the largest value, or one such pair for each category of another " +
			"column. Values that are added up or ranked are brought to its ends.",
		Default: "the domain is declared another way", Example: "[0, 110]",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.grid": {States: "The domain as a box of degrees that is cut into equal cells.",
		Default: "the domain is declared another way",
		Example: "{lon: pu_lon, lat: pu_lat, box: [-87.95, 41.64, -87.52, 42.03], cells: [64, 64]}",
		Page:    "docs/spec.md#places"},
	"tables.*.columns.*.step": {
		States:  "How far apart the values of a range are. Values between are rounded, halves up.",
		Default: "1 for integers, a day for dates; decimals and timestamps have none, and so no finest level",
		Example: "0.5",
		Page:    "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.levels": {
		States: "Coarsenings that marginals may use as `column.level`: bins of a range by width or edges, groups of " +
			"categories, columns of the code book, or `quadtree` of a grid.", Default: "the finest level alone",
		Example: "{band: {edges: [0, 16, 65]}, ten: {width: 10}}", Page: "README.md#the-spec-in-brief"},
	"tables.*.columns.*.unknown": {
		States: "What happens to a value outside the domain: error stops the run before anything is spent, drop " +
			"leaves the row out, {as: CATEGORY} counts it as that category.", Default: "error",
		Example: "{as: inactive}", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.null": {States: "What happens to a null: error stops the run before anything is spent, drop " +
		"leaves the row out, {as: CATEGORY} counts it as that category.", Default: "error", Example: "drop",
		Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.bounds": {
		States:  "Buys two noisy quantiles near the ends of the column, to choose a better range for the next release.",
		Default: "no suggestion", Example: "{suggest: 1%}", Page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.columns.*.derived_from": {
		States:  "The attribute of the table that decides the column, which is then not read.",
		Default: "the column is read",
		Example: "education_num.name", Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"tables.*.columns.*.bounds.suggest": {States: "The part of the whole budget that pays for the suggestion of " +
		"bounds. The split divides the rest.",
		Example: "1%", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.unknown.as": {
		States: "The category that a value outside the domain counts as. If the column has a range, this is an " +
			"extra category, listed after the others.",
		Example: "other", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.null.as": {States: "The category that a null counts as, or for statistics the number.",
		Example: "not known", Page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.columns.*.values.integers": {States: "All whole numbers from the first to the second, both included.",
		Example: "[0, 23]"},
	"tables.*.columns.*.values.discover": {
		States: "Nobody lists the categories. A selection, paid for with a part of δ, finds those that enough units " +
			"have, and only these appear. Texts that respondents are asked for are found from their reports.",
		Example: "{max_length: 40}", Page: "docs/spec.md#groups-that-nobody-listed"},
	"tables.*.columns.*.values.discover.max_length": {
		States: "The most characters of a value that can be a category. Longer values in rows are unknown; longer " +
			"texts in a collection are cut off by the device.", Example: "40",
		Page: "docs/spec.md#groups-that-nobody-listed"},
	"tables.*.columns.*.values.discover.at_least": {States: "Groups of fewer units than this never appear.",
		Default: "any group may appear, a small one with a tiny chance", Example: "20",
		Page: "docs/spec.md#groups-that-nobody-listed"},
	"tables.*.columns.*.values.discover.alphabet": {
		States: "The characters that a text can have, in a table of collected answers. Texts are found by extending " +
			"their first characters with each of these.",
		Default: "none: required in a collection, refused for rows", Example: "abcdefghijklmnopqrstuvwxyz",
		Page: "docs/local.md#texts-that-nobody-listed"},

	"tables.*.columns.*.grid.lon": {States: "The column of the source with the longitudes.", Default: "lon",
		Example: "pu_lon", Page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.lat": {States: "The column of the source with the latitudes.", Default: "lat",
		Example: "pu_lat", Page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.box": {
		States:  "West, south, east and north of the box, in degrees. It may not cross the date line.",
		Example: "[-87.95, 41.64, -87.52, 42.03]", Page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.cells": {States: "How many columns and rows of cells.", Example: "[64, 64]",
		Page: "docs/spec.md#places"},

	"tables.*.columns.*.levels.*.width": {
		States:  "Bins of one width from the start of the range: a number, and for dates and timestamps a duration.",
		Default: "the level is made of edges", Example: "10", Page: "README.md#the-spec-in-brief"},
	"tables.*.columns.*.levels.*.edges": {
		States:  "The lower edge of each bin, ascending from the start of the range. Bins are half-open, the last is closed.",
		Default: "the level is made of bins of one width", Example: "[0, 16, 25, 35, 45, 55, 65]",
		Page: "README.md#the-spec-in-brief"},

	"tables.*.columns.*.title": {States: "What charts, tables and messages call the column. No text for people " +
		"changes the plan.",
		Default: "the name of the column", Example: "Hours worked", Page: titlesPage},
	"tables.*.columns.*.measured_in": {States: "The unit of the column's values, as charts and tables write it.",
		Default: "no unit is written", Example: "hours a week", Page: titlesPage},
	"tables.*.columns.*.labels": {
		States:  "The text that people read for a category. It takes the place of a label in a code book.",
		Default: "the labels of the code book, or the categories themselves", Example: "{f: female, m: male}",
		Page: titlesPage},
	"tables.*.columns.*.level_titles": {States: "The titles of levels.",
		Default: "the column's title with the name of the level", Example: "{band: Age group}", Page: titlesPage},
	"tables.*.columns.*.level_labels": {States: "The labels of the categories of levels.",
		Default: "the labels of the code book, or the categories themselves", Example: "{band: {0–15: Children}}",
		Page: titlesPage},
}

const titlesPage = "docs/spec.md#titles-units-and-labels"
