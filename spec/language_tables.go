package spec

import (
	"fmt"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file holds the grammar of tables and columns as data.

// fromShape is a column of the source, named plainly or in backticks, or a column of a public table. Everything else is
// an expression.
func fromShape() *shape.Shape {
	name := shape.OnText(`^`+plainSyntax+`$`,
		shape.Text("a column of the source, in backticks if it is not a plain name"))
	joined := shape.OnText(joinedName.String(), shape.Text("a column of a public table, such as register.size"))
	return shape.Choice(name.Then.Says+", or an expression such as age >= 18", name, joined,
		shape.OnScalar(expressionShape()))
}

func expressionShape() *shape.Shape {
	return shape.Text("an expression, such as age >= 18 or days(discharged - admitted)")
}

func predicateShape() *shape.Shape {
	condition := shape.Text("a condition, such as age >= 18: rows for which it is true are counted")
	return shape.Choice(condition.Says,
		shape.OnMapping(shape.Object("{is: CONDITION, unknown: drop}",
			shape.Field{Key: "is", Shape: condition, Required: "the condition", Fix: "is: age >= 18"},
			shape.Field{Key: "unknown",
				Shape: shape.Enum("error or drop: what happens to a row with a value that the condition cannot read",
					rowsError,
					rowsDrop)})),
		shape.OnScalar(condition))
}

func tablesShape() *shape.Shape {
	table := shape.Object("source, unit and columns",
		shape.Field{Key: "source", Shape: sourceShape(), Required: "where the rows are",
			Fix: "source: {parquet: data/*.parquet}"},
		shape.Field{Key: "unit", Shape: unitShape(),
			Required: "what is protected: {id: COLUMN, max_rows: N} where a column identifies units and a unit has " +
				"up to N rows; row where every row is a unit of its own",
			Fix: "unit: {id: person_id, max_rows: 1}", Instead: "collected"},
		shape.Field{Key: "collected", Shape: shape.Pattern("the name of the collection under `collect`",
			`^`+columnSyntax+`$`)},
		shape.Field{Key: "weight", Shape: tableWeightShape()},
		shape.Field{Key: "expect", Shape: expectShape()},
		shape.Field{Key: "where", Shape: predicateShape()},
		shape.Field{Key: "join", Shape: joinShape()},
		shape.Field{Key: "sample", Shape: sampleShape()},
		shape.Field{Key: "columns", Shape: columnsShape(), Required: "the columns that marginals use"}).
		WithReplacements(whereHabits("where: CONDITION, such as where: age >= 18, which leaves out the rows for " +
			"which it is not true"))
	return shape.Dictionary("tables by name", `^`+columnSyntax+`$`, table).Nonempty("at least one table")
}

func pathsShape() *shape.Shape {
	path := shape.Text("a path or glob").WithParams()
	return shape.Choice("a path or glob, or a list of them",
		shape.OnSequence(shape.List("a list of paths", path, 1, 0)), shape.OnScalar(path))
}

func sourceShape() *shape.Shape {
	return shape.Object("{parquet: …}, {csv: …}, {arrow: …}, {postgres: …}, {duckdb: …} or {spark: …}",
		sourceFields()...).
		WithForms([]string{"parquet"}, []string{"csv"}, []string{"arrow"}, []string{"postgres"}, []string{"duckdb"},
			[]string{"spark"}).
		WithReplacements(sourceHabits()).WithInstead(sourceOfText)
}

func sourceFields() []shape.Field {
	return append([]shape.Field{
		{Key: "parquet", Shape: pathsShape()},
		{Key: "csv", Shape: pathsShape()},
		{Key: "arrow", Shape: pathsShape()},
		{Key: "delimiter", Shape: delimiterShape(), Requires: "csv"},
		{Key: "nulls", Shape: nullsShape(), Requires: "csv"},
	}, databaseFields()...)
}

func delimiterShape() *shape.Shape { return shape.Pattern("one character", `^[^\r\n"]$`) }

func nullsShape() *shape.Shape {
	return shape.List("a list of texts that mean null", shape.Category("a text"), 0, 0)
}

func unitShape() *shape.Shape {
	says := "row, or {id: COLUMN, max_rows: N}"
	null := "error or drop: what happens to a row without an id, which is of no unit"
	return shape.Choice(says,
		shape.OnMapping(shape.Object(says,
			shape.Field{Key: "id", Shape: shape.Pattern("a column of the source", `\S`),
				Required: "the column that identifies units", Fix: "id: person_id"},
			shape.Field{Key: "null", Shape: shape.Enum(null, "error", "drop")},
			shape.Field{Key: "max_rows", Shape: shape.Whole("a whole number from 1 to 1000000", 1, 1_000_000),
				Required: "the most rows of a unit that are counted", Fix: "max_rows: 1"})),
		shape.OnText(`^public$`, shape.Enum("public", "public").NotBuilt("unit: public")),
		shape.OnScalar(shape.Enum(says, "row")))
}

func tableWeightShape() *shape.Shape {
	return shape.Object("{from, range, step, kind}",
		shape.Field{Key: "from", Shape: shape.Text("a column of the source"), Required: "the column of the weight",
			Fix: "from: w"},
		shape.Field{Key: "range", Shape: shape.List("the smallest and the largest, such as [0, 2000]",
			shape.Number("a number"), 2,
			2), Required: "the smallest and the largest weight, such as [0, 2000]"},
		shape.Field{Key: "step", Shape: shape.Number("a number"), Required: "the step to which weights are rounded",
			Fix: "step: 1"},
		shape.Field{Key: "kind",
			Shape: shape.Enum("design (an attribute of the unit) or calibrated (adjusted to totals, or raked, so "+
				"that it depends on other units)",
				designWeight, calibratedWeight)},
		shape.Field{Key: "null", Shape: shape.Enum("error or drop: what happens to a row without a weight", rowsError,
			rowsDrop)})
}

func sampleShape() *shape.Shape {
	return shape.Object("{poisson: 10%}: the share of the units that are drawn, in secret, and measured",
		shape.Field{Key: "poisson", Shape: shape.Number("a share from 1e-6 to below 100%, such as 10%"),
			Required: "the probability with which each unit is drawn", Fix: "poisson: 10%"})
}

func expectShape() *shape.Shape {
	every := shape.List("a list of attributes each of whose declared codes occurs, such as [region, age.band]",
		shape.Text("an attribute, such as age or age.band"),
		1, 0).WithMessage("at least one attribute, such as [region]")
	return shape.Object("{rows: [a, b]}, {every: [ATTRIBUTE, …]} or both",
		shape.Field{Key: "rows", Shape: shape.List("the least and the most rows of the table's files, such as "+
			"[40000, 60000]",
			shape.Whole("a whole number from 0", 0, 1<<53), 2, 2)},
		shape.Field{Key: "every", Shape: every},
	).WithForms([]string{"rows"}, []string{"every"}, []string{"rows", "every"})
}

func joinShape() *shape.Shape {
	column := shape.Text("a column")
	join := shape.Object("{csv, parquet or arrow, on, public: true}",
		shape.Field{Key: "csv", Shape: shape.Text("a CSV file, which may be compressed (.gz, .zst)").WithParams()},
		shape.Field{Key: "parquet", Shape: shape.Text("a Parquet file").WithParams()},
		shape.Field{Key: "arrow", Shape: shape.Text("an Arrow IPC file").WithParams()},
		shape.Field{Key: "delimiter", Shape: delimiterShape(), Requires: "csv"},
		shape.Field{Key: "nulls", Shape: nullsShape(), Requires: "csv"},
		shape.Field{Key: "on", Shape: shape.Choice("a column, or a list of them",
			shape.OnSequence(shape.List("a list of columns", column, 1, 0)), shape.OnScalar(column)),
			Required: "the key that both tables have", Fix: "on: ent_id"},
		shape.Field{Key: "public", Shape: shape.Boolean("true"),
			Required: "that the table is public: every row of it may be known to anybody, and nothing of it is protected",
			Fix:      "public: true"}).
		WithForms([]string{"csv"}, []string{"parquet"}, []string{"arrow"}).WithInstead(sourceOfText)
	return shape.Dictionary("public tables to join, by name", `^`+columnSyntax+`$`, join)
}

func columnsShape() *shape.Shape {
	return shape.Dictionary("columns by name", `^`+columnSyntax+`$`, columnShape()).Nonempty("at least one column")
}

func columnShape() *shape.Shape {
	return shape.Object("from, type, a domain and policies",
		shape.Field{Key: "from", Shape: fromShape()},
		shape.Field{Key: "type", Shape: shape.Enum("text, integer, decimal, date, timestamp or boolean",
			string(domain.Text), string(domain.Integer), string(domain.Decimal), string(domain.Date),
			string(domain.Timestamp),
			string(domain.Boolean))},
		shape.Field{Key: "values", Shape: valuesShape()},
		shape.Field{Key: "codebook", Shape: shape.Text("a CSV file: code, label, parents").WithParams()},
		shape.Field{Key: "map", Shape: shape.Text("a GeoJSON file: an area for each code").WithParams(),
			Requires: "codebook"},
		shape.Field{Key: "range", Shape: rangeShape()},
		shape.Field{Key: "grid", Shape: gridShape()},
		shape.Field{Key: "step", Shape: stepShape(), Requires: "range"},
		shape.Field{Key: "levels", Shape: levelsShape()},
		shape.Field{Key: "unknown", Shape: policyShape()},
		shape.Field{Key: "null", Shape: policyShape()},
		shape.Field{Key: "bounds",
			Shape: shape.Object("{suggest: 1%}: the part of the whole budget that buys a suggestion of bounds",
				shape.Field{Key: "suggest", Shape: shape.Number("a share of the whole budget, such as 1%"),
					Required: "the part of the whole budget", Fix: "suggest: 1%"}), Requires: "range"},
		shape.Field{Key: "derived_from", Shape: shape.Text("an attribute of the table that decides the column, such " +
			"as age.band")},
		shape.Field{Key: "title", Shape: titleShape(), Words: true},
		shape.Field{Key: "measured_in", Shape: shape.Scalar("a text, such as EUR or hours a week", `\S`), Words: true,
			Requires: "range"},
		shape.Field{Key: "labels", Shape: labelsShape(), Words: true},
		shape.Field{Key: "level_titles", Words: true,
			Shape: shape.Dictionary("levels, each with its title, such as {band: Age group}", `^`+levelSyntax+`$`,
				titleShape()).
				Nonempty("at least one, such as {band: Age group}")},
		shape.Field{Key: "level_labels", Words: true,
			Shape: shape.Dictionary("levels, each with the labels of its categories, such as {band: {0–15: Children}}",
				`^`+levelSyntax+`$`, labelsShape()).Nonempty("at least one, such as {band: {0–15: Children}}")},
	).WithForms([]string{"values"}, []string{"codebook"}, []string{"range"}, []string{"grid"},
		[]string{"derived_from"}).
		WithMessage("a domain, declared once: values, codebook, range (of numbers that are added up, with a step), " +
			"grid (of places) or derived_from")
}

// titleShape is a text by which people know a thing.
func titleShape() *shape.Shape { return shape.Scalar("a text", `\S`) }

func labelsShape() *shape.Shape {
	return shape.Dictionary("categories, each with the text that people read for it, such as {f: female, m: male}",
		`^.+$`,
		titleShape()).Nonempty("at least one, such as {f: female, m: male}")
}

func valuesShape() *shape.Shape {
	says := "a list of categories, such as [female, male], or {integers: [0, 23]}, or {discover: {max_length: 40}} " +
		"where nobody lists them"
	whole := shape.Whole("a whole number", -document.MaxWhole, document.MaxWhole)
	categories := shape.List(says, shape.Category("a category, in quotes where YAML would read nothing"), 1, 0).
		WithMessage("the list of all categories, such as [female, male]")
	return shape.Choice(says,
		shape.OnSequence(categories),
		shape.OnKey(discoverShape(), "discover"),
		shape.OnMapping(shape.Object("{integers: [from, to]}",
			shape.Field{Key: "integers", Shape: shape.List("the smallest and the largest, such as [0, 23]", whole, 2,
				2),
				Required: "the smallest and the largest, such as [0, 23]"})))
}

// boundShape is an end of a range: a number, a date or a timestamp.
func boundShape() *shape.Shape {
	return shape.NumberOr("a number, a date such as 2024-01-31 or a timestamp such as 2024-01-31T00:00:00",
		`^(`+document.NumberSyntax+`|`+domain.DateSyntax+`|`+domain.TimeSyntax+`)$`)
}

func pairShape() *shape.Shape {
	return shape.List("the smallest and the largest, such as [0, 110]", boundShape(), 2, 2)
}

func rangeShape() *shape.Shape {
	by := shape.Dictionary("{by: COLUMN, CATEGORY: [a, b], …}", `^.+$`,
		shape.Choice("a range [a, b] for each category", shape.OnSequence(pairShape()),
			shape.OnScalar(shape.Category("a column, or one of its levels"))))
	return shape.Choice("the smallest and the largest value, such as [0, 110], or for each category of a column {by: "+
		"size, small: [0, 9], large: [10, 500]}",
		shape.OnSequence(pairShape()),
		shape.OnKey(by, domain.RangeBy))
}

func gridShape() *shape.Shape {
	return shape.Object("{lon, lat, box, cells}",
		shape.Field{Key: "lon", Shape: shape.Text("the column of longitudes, in degrees")},
		shape.Field{Key: "lat", Shape: shape.Text("the column of latitudes, in degrees")},
		shape.Field{Key: "box", Shape: shape.List("the corners in degrees, such as [west, south, east, north]",
			shape.Number("a number"), 4, 4), Required: "the corners in degrees, such as [west, south, east, north]",
			Fix: "box: [-87.95, 41.64, -87.52, 42.03]"},
		shape.Field{Key: "cells", Shape: shape.List("how many columns and rows of cells, such as [64, 64]",
			shape.Whole("a whole number from 1 to 4096", 1, domain.MostAlong), 2, 2),
			Required: "how many columns and rows of cells, such as [64, 64]", Fix: "cells: [64, 64]"})
}

func stepShape() *shape.Shape {
	return shape.NumberOr("a number, or for timestamps a duration such as 15 minutes", `^(`+document.NumberSyntax+`|`+
		domain.DurationSyntax+`)$`)
}

func levelsShape() *shape.Shape {
	says := "coarsenings by name, such as {band: {width: 10}}"
	groups := shape.Dictionary("groups, each with the list of its categories", `^.+$`,
		shape.List("a list of categories", shape.Category("a category"), 1, 0)).Nonempty("at least one group")
	level := shape.Choice("{width: …}, {edges: […]} or groups such as {young: [a, b], old: [c]}",
		shape.OnKey(shape.Object("{width: …} or {edges: […]}",
			shape.Field{Key: "width", Shape: stepShape()},
			shape.Field{Key: "edges", Shape: shape.List("the lower edges, such as [0, 16, 65]", boundShape(), 1, 0)},
		).WithForms([]string{"width"}, []string{"edges"}), "width", "edges"),
		shape.OnMapping(groups))
	names := shape.Dictionary(says, `^`+levelSyntax+`$`, level)
	return shape.Choice(says+"; for a code book the list of its parent columns, coarse to fine",
		shape.OnMapping(names),
		shape.OnSequence(shape.List("columns of the code book, coarse to fine",
			shape.Pattern("a column of the code book", `^`+levelSyntax+`$`), 1, 0)),
		shape.OnScalar(shape.Enum("quadtree", "quadtree")))
}

func policyShape() *shape.Shape {
	says := "error, drop or {as: CATEGORY}"
	return shape.Choice(says,
		shape.OnMapping(shape.Object(says, shape.Field{Key: "as", Shape: shape.Category("a category"),
			Required: "the category it counts as"})),
		shape.OnScalar(shape.Enum(says, "error", "drop")))
}

func discoverShape() *shape.Shape {
	return shape.Object("{discover: {max_length: N}}: the categories are the values that enough units have",
		shape.Field{Key: "discover",
			Shape: shape.Object("{max_length: N}, with at_least: M where smaller groups must never appear",
				shape.Field{Key: "max_length",
					Shape: shape.Whole(fmt.Sprintf("a whole number of characters, from 1 to %d", domain.MostKey),
						1, domain.MostKey), Required: "the most characters of a value that can be a category",
					Fix: "max_length: 40"},
				shape.Field{Key: "at_least", Shape: shape.Whole("a whole number of units, from 1 to 1000000", 1,
					mostOfAUnit)},
				shape.Field{Key: "alphabet", Shape: shape.Text("the characters of texts, each once, such as " +
					"abcdefghijklmnopqrstuvwxyz")})})
}
