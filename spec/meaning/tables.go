package meaning

import "github.com/dprelease/dprelease/spec/shape"

// This file says what the keys of a table mean.

var ofTables = map[string]shape.Meaning{
	"tables": {Is: "The confidential tables, by names of your choice.",
		Example: "{persons: {source: {parquet: \"data/*.parquet\"}, unit: row, columns: {sex: {values: [f, m]}}}}",
		Page:    "docs/spec.md#the-contract-of-a-table"},
	"tables.*.source": {
		Is:      "The files with the rows, of one format. Relative paths start from the spec's folder, or from `--data`.",
		Example: "{parquet: \"data/lfs-*.parquet\"}", Page: "docs/files.md"},
	"tables.*.source.parquet": {Is: "Parquet files: a path or glob, or a list of them. Each must reach a file.",
		Without: "the files are CSV or Arrow", Example: "\"data/lfs-*.parquet\"", Page: "docs/files.md"},
	"tables.*.source.csv": {Is: "CSV files with a header line, plain or compressed (.gz, .zst).",
		Without: "the files are Parquet or Arrow", Example: "[\"2025/*.csv.gz\", new.csv]", Page: "docs/files.md"},
	"tables.*.source.arrow": {Is: "Arrow IPC files (Feather 2) or streams.", Without: "the files are Parquet or CSV",
		Example: "survey.arrow", Page: "docs/files.md"},
	"tables.*.source.delimiter": {Is: "The character between the fields of a CSV file.", Without: "a comma",
		Example: "\";\"", Page: "docs/files.md"},
	"tables.*.source.nulls": {Is: "Texts of a CSV file that mean null, quoted or not.",
		Without: "the empty text alone", Example: "[\"\", NA]", Page: "docs/files.md"},

	"tables.*.unit": {
		Is: "Which rows are one unit, the thing that is protected: all rows with one id, of which at most max_rows are counted; or `row`, where every row is a unit by itself.", Example: "{id: person_id, max_rows: 1}", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.id": {Is: "The column of the source that tells units apart.", Example: "person_id",
		Page: "docs/files.md"},
	"tables.*.unit.null": {
		Is:      "What happens to a row without an id: error stops the run before anything is spent, drop leaves the row out.",
		Without: "error", Example: "drop", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.max_rows": {
		Is: "How many rows of a unit are counted at most. Which ones is drawn by lot. Noise grows with it.", Example: "3",
		Page: "docs/spec.md#the-contract-of-a-table"},

	"tables.*.weight": {
		Is: "A column that says how many each row stands for. All counts, sums, means, ratios and quantiles are then weighted.", Without: "every row counts once", Example: "{from: weight, range: [0, 25], step: 0.5, kind: design}", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.from": {Is: "The column of the source.", Example: "weight",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.range": {
		Is:      "The least and the largest weight. What lies beyond is brought to the end. The largest decides the noise.",
		Example: "[0, 25]", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.step": {Is: "The step to which weights are rounded.", Example: "0.5",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.kind": {
		Is: "Whether a weight is an attribute of its unit (design), or was adjusted to totals and so depends on other units (calibrated).", Without: "design, with a warning", Example: "design", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.null": {Is: "What happens to a row without a weight.", Without: "error", Example: "drop",
		Page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.expect": {
		Is: "What complete files hold, of rows that count. It is checked before anything is spent; a failure does not tell the number.", Without: "nothing is asked of the files beyond their columns", Example: "{rows: [40000, 60000], every: [region]}", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.expect.rows": {
		Is:      "The least and the most rows of all files together. The plan also sets the noise against the middle of it.",
		Without: "any number", Example: "[40000, 60000]", Page: "docs/plan.md#what-the-tables-will-be-good-for"},
	"tables.*.expect.every": {Is: "Attributes each of whose declared codes must occur in some row.", Without: "none need",
		Example: "[region, age.band]", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.where": {Is: "The condition under which a row counts. It is public.", Without: "all rows count",
		Example: "country == 'de' and admitted >= 2025-01-01",
		Page:    "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.is": {Is: "The condition, where something is said of unknown values beside it.",
		Example: "age >= 18", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.unknown": {Is: "What happens to a row with a value that the condition cannot read.", Without: "error",
		Example: "drop", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},

	"tables.*.join": {Is: "Public tables in which columns are looked up, by names of your choice.",
		Without: "none", Example: "{register: {csv: register.csv, on: ent_id, public: true}}",
		Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.csv": {Is: "The CSV file, beside the spec. It becomes part of the plan, and so public.",
		Without: "the table is of a format that is not read", Example: "register.csv",
		Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.parquet": {Is: "A public table in Parquet.", Without: "the table is CSV",
		Example: "register.parquet"},
	"tables.*.join.*.arrow": {Is: "A public table in Arrow.", Without: "the table is CSV", Example: "register.arrow"},
	"tables.*.join.*.delimiter": {Is: "The character between the fields of the file.", Without: "a comma",
		Example: "\";\"", Page: "docs/files.md"},
	"tables.*.join.*.nulls": {Is: "Texts that mean null in the file.", Without: "the empty text alone",
		Example: "[\"\", NA]", Page: "docs/files.md"},
	"tables.*.join.*.on": {Is: "The key: a column, or several, that both tables call by the same name.",
		Example: "ent_id", Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.public": {
		Is:      "That every row of the table may be known to anybody. The promise rests on it, so it must be said.",
		Example: "true", Page: "docs/spec.md#columns-of-a-public-table"},

	"tables.*.sample": {
		Is:      "A secret sample of the units, drawn anew by `measure`: the same promise for less noise in what is measured.",
		Without: "all units are measured", Example: "{poisson: 10%}", Page: "docs/spec.md#a-secret-sample"},
	"tables.*.sample.poisson": {Is: "The probability with which each unit is drawn, independently.", Example: "10%",
		Page: "docs/spec.md#a-secret-sample"},
	"tables.*.columns": {
		Is:      "The columns that marginals, expectations and microdata use, by names of your choice. Others are not read.",
		Example: "{sex: {values: [female, male]}}", Page: "docs/spec.md#the-contract-of-a-table"},
}
