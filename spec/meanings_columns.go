package spec

// This file holds what the keys of a column mean.

var columnMeanings = map[string]meaning{
	"tables.*.columns.*.from":     {is: "The column of the source, or an expression over its columns. A plain name, or a name in backticks, is a column; every other text is an expression, in quotes or not.", without: "the column of the source with this name", example: "years(admitted - born) >= 18", page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.columns.*.type":     {is: "What kind of values the column has. A range needs it.", without: "text, or what the domain or the expression says", example: "integer", page: "docs/files.md"},
	"tables.*.columns.*.values":   {is: "The domain as a list of all categories, each as its text is written; as whole numbers from one to another; or as what a selection discovers.", without: "the domain is declared another way", example: "[female, male]", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.codebook": {is: "The domain as a public CSV file with the columns code, label and, for each level, a parent. It becomes part of the plan.", without: "the domain is declared another way", example: "regions.csv", page: "docs/spec.md#places"},
	"tables.*.columns.*.map":      {is: "A public GeoJSON file with a boundary for each code of the code book, for the maps of the report.", without: "no maps are drawn of it", example: "areas.geojson", page: "docs/spec.md#places"},
	"tables.*.columns.*.range":    {is: "The domain as the smallest and the largest value, or one such pair for each category of another column. Values that are added up or ranked are brought to its ends.", without: "the domain is declared another way", example: "[0, 110]", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.grid":     {is: "The domain as a box of degrees that is cut into equal cells.", without: "the domain is declared another way", example: "{lon: pu_lon, lat: pu_lat, box: [-87.95, 41.64, -87.52, 42.03], cells: [64, 64]}", page: "docs/spec.md#places"},
	"tables.*.columns.*.step":     {is: "How far apart the values of a range are. What lies between is rounded, halves up.", without: "1 for integers, a day for dates; decimals and timestamps have none, and so no finest level", example: "0.5", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.levels":   {is: "Coarsenings that marginals may use as `column.level`: bins of a range by width or edges, groups of categories, columns of the code book, or `quadtree` of a grid.", without: "the finest level alone", example: "{band: {edges: [0, 16, 65]}, ten: {width: 10}}", page: "README.md#the-spec-in-brief"},
	"tables.*.columns.*.unknown":  {is: "What happens to a value outside the domain: error stops the run before anything is spent, drop leaves the row out, {as: CATEGORY} counts it as one.", without: "error", example: "{as: inactive}", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.null":     {is: "What happens to a null, in the same words.", without: "error", example: "drop", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.bounds":   {is: "Buys two noisy quantiles near the ends of the column, to choose a better range for the next release.", without: "no suggestion", example: "{suggest: 1%}", page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.columns.*.derived_from":   {is: "The attribute of the table that decides the column, which is then not read.", without: "the column is read", example: "education_num.name", page: "docs/spec.md#what-is-decided-and-what-cannot-be"},
	"tables.*.columns.*.bounds.suggest": {is: "The part of the whole budget that pays for it. The split divides the rest.", example: "1%", page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.columns.*.unknown.as":     {is: "The category that such a value counts as. Beside a range it is one of its own, behind the others.", example: "other", page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.columns.*.null.as":        {is: "The category that a null counts as, or for statistics the number.", example: "not known", page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.columns.*.values.integers":            {is: "All whole numbers from the first to the second, both included.", example: "[0, 23]"},
	"tables.*.columns.*.values.discover":            {is: "Nobody lists the categories: those appear that enough units have, by a selection that is paid for with a part of δ.", example: "{max_length: 40}", page: "docs/spec.md#groups-that-nobody-listed"},
	"tables.*.columns.*.values.discover.max_length": {is: "The most characters of a value that can be a category. Others are unknown.", example: "40", page: "docs/spec.md#groups-that-nobody-listed"},
	"tables.*.columns.*.values.discover.at_least":   {is: "Groups of fewer units than this never appear.", without: "any group may appear, a small one with a tiny chance", example: "20", page: "docs/spec.md#groups-that-nobody-listed"},

	"tables.*.columns.*.grid.lon":   {is: "The column of the source with the longitudes.", without: "lon", example: "pu_lon", page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.lat":   {is: "The column of the source with the latitudes.", without: "lat", example: "pu_lat", page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.box":   {is: "West, south, east and north of the box, in degrees. It may not cross the date line.", example: "[-87.95, 41.64, -87.52, 42.03]", page: "docs/spec.md#places"},
	"tables.*.columns.*.grid.cells": {is: "How many columns and rows of cells.", example: "[64, 64]", page: "docs/spec.md#places"},

	"tables.*.columns.*.levels.*.width": {is: "Bins of one width from the start of the range: a number, and for dates and timestamps a duration.", without: "the level is made of edges", example: "10", page: "README.md#the-spec-in-brief"},
	"tables.*.columns.*.levels.*.edges": {is: "The lower edge of each bin, ascending from the start of the range. Bins are half-open, the last is closed.", without: "the level is made of bins of one width", example: "[0, 16, 25, 35, 45, 55, 65]", page: "README.md#the-spec-in-brief"},
}
