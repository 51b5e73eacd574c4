package meaning

import "github.com/dprelease/dprelease/spec/shape"

// This file says what the keys of a table mean.

var ofTables = map[string]shape.Meaning{
	"tables": {States: "The confidential tables, by names of your choice.",
		Example: "{persons: {source: {parquet: \"data/*.parquet\"}, unit: row, columns: {sex: {values: [f, m]}}}}",
		Page:    "docs/spec.md#the-contract-of-a-table"},
	"tables.*.collected": {States: "The collection whose reports the table holds, in place of `unit`: its columns " +
		"are questions, and each marginal is asked of the respondents as one question.",
		Default: "the rows are confidential data of the units that `unit` names", Example: "answers", Page: localPage},
	"tables.*.source": {
		States: "Where the rows are: files of one format, or a table of a database. Relative paths start from the " +
			"spec's folder, or from `--data`.",
		Example: "{parquet: \"data/lfs-*.parquet\"}", Page: "docs/files.md"},
	"tables.*.source.parquet": {States: "Parquet files: a path or glob, or a list of them. Each must reach a file.",
		Default: "the files are CSV or Arrow", Example: "\"data/lfs-*.parquet\"", Page: "docs/files.md"},
	"tables.*.source.csv": {States: "CSV files with a header line, plain or compressed (.gz, .zst).",
		Default: "the files are Parquet or Arrow", Example: "[\"2025/*.csv.gz\", new.csv]", Page: "docs/files.md"},
	"tables.*.source.arrow": {States: "Arrow IPC files (Feather 2) or streams.",
		Default: "the files are Parquet or CSV",
		Example: "survey.arrow", Page: "docs/files.md"},
	"tables.*.source.postgres": {
		States: "A table, a view or a query of a PostgreSQL database. Its rows are read once, in one snapshot with " +
			"all other tables of the same server.",
		Default: "the rows are in files", Example: "{url: env:REGISTER_URL, table: register.spells}",
		Page: "docs/howto/engines.md"},
	"tables.*.source.postgres.url": {
		States:  "Where the address of the server is, so that no password stands in a spec: an environment variable or a file.",
		Example: "env:REGISTER_URL", Page: "docs/howto/engines.md"},
	"tables.*.source.postgres.table": {
		States: "The name of a table or a view as the database has it, capital letters included. A part with a dot " +
			"or a space is in double quotes.",
		Default: "the rows come from a query", Example: "register.spells", Page: "docs/howto/engines.md"},
	"tables.*.source.postgres.stay": {
		States: "Whether the rows are counted in the database and do not leave it. What leaves it is the distinct " +
			"values of each column that is read, and counts.",
		Default: "the rows are read, and counted here", Example: "true", Page: "docs/howto/engines.md"},
	"tables.*.source.postgres.query": {
		States:  "A SELECT in place of a table. Everybody who sees the plan sees it.",
		Default: "the rows come from a table", Example: "\"SELECT id, sex FROM register.spells WHERE closed\"",
		Page: "docs/howto/engines.md"},
	"tables.*.source.duckdb": {
		States:  "A table, a view or a query of a DuckDB database file, read by the program `duckdb`.",
		Default: "the rows are in files", Example: "{file: survey.duckdb, table: persons}",
		Page: "docs/howto/engines.md"},
	"tables.*.source.duckdb.file": {States: "The file of the database. It is opened for reading only.",
		Example: "survey.duckdb", Page: "docs/howto/engines.md"},
	"tables.*.source.duckdb.table": {States: "The name of a table or a view, with its schema if it is in one.",
		Default: "the rows come from a query", Example: "persons", Page: "docs/howto/engines.md"},
	"tables.*.source.duckdb.stay": {
		States:  "Whether the rows must be counted in the database: never, as its file is on this machine.",
		Default: "the rows are read, and counted here", Example: "false", Page: "docs/howto/engines.md"},
	"tables.*.source.duckdb.query": {States: "A SELECT in place of a table. Everybody who sees the plan sees it.",
		Default: "the rows come from a table", Example: "\"SELECT * FROM persons WHERE wave = 3\"",
		Page: "docs/howto/engines.md"},
	"tables.*.source.spark": {
		States: "A table, a query or Parquet files that your own Spark counts, by a job that dprelease writes. The " +
			"rows stay there: what comes back is files with the distinct values of each column that is read, and counts.",
		Default: "the rows are in files", Example: "{table: register.spells}", Page: "docs/howto/engines.md#spark"},
	"tables.*.source.spark.table": {States: "The name of a table or a view as Spark's catalog has it. A part with a " +
		"dot or a space is in double quotes.",
		Default: "the rows come from a query or from Parquet files", Example: "register.spells",
		Page: "docs/howto/engines.md#spark"},
	"tables.*.source.spark.query": {States: "A SELECT in Spark's SQL in place of a table. Everybody who sees the " +
		"plan sees it.",
		Default: "the rows come from a table or from Parquet files",
		Example: "\"SELECT person_id, sex FROM register.spells WHERE closed\"", Page: "docs/howto/engines.md#spark"},
	"tables.*.source.spark.parquet": {States: "Where Spark finds Parquet files: a folder or an address. dprelease " +
		"itself does not open it.",
		Default: "the rows come from a table or from a query", Example: "\"s3://register/spells\"",
		Page: "docs/howto/engines.md#spark"},
	"tables.*.source.delimiter": {States: "The character between the fields of a CSV file.", Default: "a comma",
		Example: "\";\"", Page: "docs/files.md"},
	"tables.*.source.nulls": {States: "Texts of a CSV file that mean null, quoted or not.",
		Default: "the empty text alone", Example: "[\"\", NA]", Page: "docs/files.md"},

	"tables.*.unit": {
		States: "Which rows are one unit, the thing that is protected: all rows with one id, of which at most " +
			"max_rows are counted; or `row`, where every row is a unit by itself.",
		Default: "the table holds reports: `collected`", Example: "{id: person_id, max_rows: 1}",
		Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.id": {States: "The column of the source that tells units apart.", Example: "person_id",
		Page: "docs/files.md"},
	"tables.*.unit.null": {
		States:  "What happens to a row without an id: error stops the run before anything is spent, drop leaves the row out.",
		Default: "error", Example: "drop", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.unit.max_rows": {
		States: "How many rows of a unit are counted at most. Which ones are counted is chosen at random. Noise " +
			"grows with it.", Example: "3",
		Page: "docs/spec.md#the-contract-of-a-table"},

	"tables.*.weight": {
		States: "A column that says how many each row stands for. All counts, sums, means, ratios and quantiles are " +
			"then weighted.", Default: "every row counts once", Example: "{from: weight, range: [0, 25], step: 0.5, " +
			"kind: design}", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.from": {States: "The column of the source that holds the weights.", Example: "weight",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.range": {
		States: "The least and the largest weight. A weight beyond them is brought to the nearer one. The largest " +
			"decides the noise.",
		Example: "[0, 25]", Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.step": {States: "The step to which weights are rounded.", Example: "0.5",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.kind": {
		States: "Whether a weight is an attribute of its unit (design), or was adjusted to totals and so depends on " +
			"other units (calibrated).", Default: "design, with a warning", Example: "design",
		Page: "docs/spec.md#numbers-not-only-counts"},
	"tables.*.weight.null": {States: "What happens to a row without a weight.", Default: "error", Example: "drop",
		Page: "docs/spec.md#numbers-not-only-counts"},

	"tables.*.expect": {
		States: "What the files must hold to be complete; only rows that count are considered. It is checked before " +
			"anything is spent, and a failure does not say the number.", Default: "nothing is asked of the files " +
			"beyond their columns", Example: "{rows: [40000, 60000], every: [region]}",
		Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.expect.rows": {
		States: "The least and the most rows of all files together. The plan also judges the noise against the " +
			"middle of this range.",
		Default: "any number", Example: "[40000, 60000]", Page: "docs/plan.md#what-the-tables-will-be-good-for"},
	"tables.*.expect.every": {States: "Attributes each of whose declared codes must occur in some row.",
		Default: "no code has to occur",
		Example: "[region, age.band]", Page: "docs/spec.md#the-contract-of-a-table"},
	"tables.*.where": {States: "The condition under which a row counts. It is public.", Default: "all rows count",
		Example: "country == 'de' and admitted >= 2025-01-01",
		Page:    "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.is": {States: "The condition under which a row counts, if `unknown` stands beside it.",
		Example: "age >= 18", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},
	"tables.*.where.unknown": {States: "What happens to a row with a value that the condition cannot read.",
		Default: "error",
		Example: "drop", Page: "docs/spec.md#columns-that-are-made-of-others-and-rows-that-count"},

	"tables.*.join": {States: "Public tables in which columns are looked up, by names of your choice.",
		Default: "none", Example: "{register: {csv: register.csv, on: ent_id, public: true}}",
		Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.csv": {States: "A CSV file with the public table, beside the spec. It becomes part of the plan, " +
		"and so public.",
		Default: "the table is Parquet or Arrow", Example: "register.csv",
		Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.parquet": {States: "A Parquet file with the public table.", Default: "the table is CSV or Arrow",
		Example: "register.parquet"},
	"tables.*.join.*.arrow": {States: "An Arrow file with the public table.", Default: "the table is CSV or Parquet",
		Example: "register.arrow"},
	"tables.*.join.*.delimiter": {States: "The character between the fields of the CSV file.", Default: "a comma",
		Example: "\";\"", Page: "docs/files.md"},
	"tables.*.join.*.nulls": {States: "Texts that mean null in the CSV file.", Default: "the empty text alone",
		Example: "[\"\", NA]", Page: "docs/files.md"},
	"tables.*.join.*.on": {States: "The key: a column, or several, that both tables call by the same name.",
		Example: "ent_id", Page: "docs/spec.md#columns-of-a-public-table"},
	"tables.*.join.*.public": {
		States: "Says that every row of the public table may be known to anybody. The promise rests on it, so it " +
			"must be said.",
		Example: "true", Page: "docs/spec.md#columns-of-a-public-table"},

	"tables.*.sample": {
		States:  "A secret sample of the units, drawn anew by `measure`: the same promise for less noise in what is measured.",
		Default: "all units are measured", Example: "{poisson: 10%}", Page: "docs/spec.md#a-secret-sample"},
	"tables.*.sample.poisson": {States: "The probability with which each unit is drawn, independently.", Example: "10%",
		Page: "docs/spec.md#a-secret-sample"},
	"tables.*.columns": {
		States:  "The columns that marginals, expectations and microdata use, by names of your choice. Others are not read.",
		Example: "{sex: {values: [female, male]}}", Page: "docs/spec.md#the-contract-of-a-table"},
}
