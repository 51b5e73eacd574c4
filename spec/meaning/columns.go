package meaning

import "github.com/dprelease/dprelease/spec/shape"

// This file says what the keys of a column mean.

var ofColumns = map[string]shape.Meaning{
	"tables.*.columns.*.from": {
		Is: "The column of the source, or an expression over its columns. A plain name, or a name in backticks, is a column; every other text is an expression, in quotes or not.", Without: "the column of the source with this name", Example: "years(admitted - born) >= 18", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.columns.*.type": {Is: "What kind of values the column has. A range needs it.",
		Without: "text, or what the domain or the expression says", Example: "integer", Page: "docs/files.md"},
	"tables.*.columns.*.values": {
		Is: "The domain as a list of all categories, each as its text is written; as whole numbers from one to another; or as what a selection discovers.", Without: "the domain is declared another way", Example: "[female, male]", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.codebook": {
		Is: "The domain as a public CSV file with the columns code, label and, for each level, a parent. It becomes part of the plan.", Without: "the domain is declared another way", Example: "regions.csv", Page: "docs/spec.md#places"},
	"tables.*.columns.*.map": {
		Is:      "A public GeoJSON file with a boundary for each code of the code book, for the maps of the report.",
		Without: "no maps are drawn of it", Example: "areas.geojson", Page: "docs/spec.md#places"},
	"tables.*.columns.*.range": {
		Is: "The domain as the smallest and the largest value, or one such pair for each category of another column. Values that are added up or ranked are brought to its ends.", Without: "the domain is declared another way", Example: "[0, 110]", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.grid": {Is: "The domain as a box of degrees that is cut into equal cells.",
		Without: "the domain is declared another way",
		Example: "{lon: pu_lon, lat: pu_lat, box: [-87.95, 41.64, -87.52, 42.03], cells: [64, 64]}",
		Page:    "docs/spec.md#places"},
	"tables.*.columns.*.step": {
		Is:      "How far apart the values of a range are. What lies between is rounded, halves up.",
		Without: "1 for integers, a day for dates; decimals and timestamps have none, and so no finest level", Example: "0.5",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.levels": {
		Is: "Coarsenings that marginals may use as `column.level`: bins of a range by width or edges, groups of categories, columns of the code book, or `quadtree` of a grid.", Without: "the finest level alone", Example: "{band: {edges: [0, 16, 65]}, ten: {width: 10}}", Page: "README.md#the-spec-in-brief"},
	"tables.*.columns.*.unknown": {
		Is: "What happens to a value outside the domain: error stops the run before anything is spent, drop leaves the row out, {as: CATEGORY} counts it as one.", Without: "error", Example: "{as: inactive}", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.null": {Is: "What happens to a null, in the same words.", Without: "error", Example: "drop",
		Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.bounds": {
		Is:      "Buys two noisy quantiles near the ends of the column, to choose a better range for the next release.",
		Without: "no suggestion", Example: "{suggest: 1%}", Page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.columns.*.derived_from": {
		Is: "The attribute of the table that decides the column, which is then not read.", Without: "the column is read",
		Example: "education_num.name", Page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"tables.*.columns.*.bounds.suggest": {Is: "The part of the whole budget that pays for it. The split divides the rest.",
		Example: "1%", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.unknown.as": {
		Is:      "The category that such a value counts as. Beside a range it is one of its own, behind the others.",
		Example: "other", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.null.as": {Is: "The category that a null counts as, or for statistics the number.",
		Example: "not known", Page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.columns.*.values.integers": {Is: "All whole numbers from the first to the second, both included.",
		Example: "[0, 23]"},
	"tables.*.columns.*.values.discover": {
		Is: "Nobody lists the categories: those appear that enough units have, by a selection that is paid for with a part of δ.", Example: "{max_length: 40}", Page: "docs/spec.md#groups-that-nobody-listed"},
	"tables.*.columns.*.values.discover.max_length": {
		Is: "The most characters of a value that can be a category. Others are unknown.", Example: "40",
		Page: "docs/spec.md#groups-that-nobody-listed"},
	"tables.*.columns.*.values.discover.at_least": {Is: "Groups of fewer units than this never appear.",
		Without: "any group may appear, a small one with a tiny chance", Example: "20",
		Page: "docs/spec.md#groups-that-nobody-listed"},

	"tables.*.columns.*.grid.lon": {Is: "The column of the source with the longitudes.", Without: "lon",
		Example: "pu_lon", Page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.lat": {Is: "The column of the source with the latitudes.", Without: "lat",
		Example: "pu_lat", Page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.box": {
		Is:      "West, south, east and north of the box, in degrees. It may not cross the date line.",
		Example: "[-87.95, 41.64, -87.52, 42.03]", Page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.cells": {Is: "How many columns and rows of cells.", Example: "[64, 64]",
		Page: "docs/spec.md#places"},

	"tables.*.columns.*.levels.*.width": {
		Is:      "Bins of one width from the start of the range: a number, and for dates and timestamps a duration.",
		Without: "the level is made of edges", Example: "10", Page: "README.md#the-spec-in-brief"},
	"tables.*.columns.*.levels.*.edges": {
		Is:      "The lower edge of each bin, ascending from the start of the range. Bins are half-open, the last is closed.",
		Without: "the level is made of bins of one width", Example: "[0, 16, 25, 35, 45, 55, 65]",
		Page: "README.md#the-spec-in-brief"},
}
