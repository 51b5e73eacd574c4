package spec

import "github.com/dprelease/dprelease/spec/document"

// This file holds the grammar of tables and columns as data.

// fromShape is a column of the source, by a plain name or in backticks, or one of a public table. Everything else is an
// expression.
func fromShape() *shape {
	name := onText(`^`+plainSyntax+`$`, textShape("a column of the source, in backticks where it is no plain name"))
	joined := onText(joinedName.String(), textShape("a column of a public table, as register.size"))
	return choiceShape(name.then.says+", or an expression as age >= 18", name, joined, onScalar(expressionShape()))
}

func expressionShape() *shape {
	return textShape("an expression, as age >= 18 or days(discharged - admitted)")
}

func predicateShape() *shape {
	condition := textShape("a condition, as age >= 18: rows for which it is true are counted")
	return choiceShape(condition.says,
		onMapping(objectShape("{is: CONDITION, unknown: drop}",
			field{key: "is", shape: condition, required: "the condition", fix: "is: age >= 18"},
			field{key: "unknown", shape: enumShape("error or drop: what happens to a row with a value that the condition cannot read", rowsError, rowsDrop)})),
		onScalar(condition))
}

func tablesShape() *shape {
	table := objectShape("source, unit and columns",
		field{key: "source", shape: sourceShape(), required: "where the rows are", fix: "source: {parquet: data/*.parquet}"},
		field{key: "unit", shape: unitShape(), required: "what is protected: {id: COLUMN, max_rows: N} where a column tells units apart and a unit has up to N rows; row where every row is a unit of its own", fix: "unit: {id: person_id, max_rows: 1}"},
		field{key: "weight", shape: tableWeightShape()},
		field{key: "expect", shape: expectShape()},
		field{key: "where", shape: predicateShape()},
		field{key: "join", shape: joinShape()},
		field{key: "sample", shape: sampleShape()},
		field{key: "columns", shape: columnsShape(), required: "the columns that marginals use"})
	table.habits = whereHabits("where: CONDITION, as where: age >= 18, which leaves out the rows for which it is not true")
	tables := dictShape("tables by name", `^`+columnSyntax+`$`, table)
	tables.least, tables.empty = 1, "at least one table"
	return tables
}

func pathsShape() *shape {
	path := textShape("a path or glob").withParams()
	return choiceShape("a path or glob, or a list of them",
		onSequence(listShape("a list of paths", path, 1, 0)), onScalar(path))
}

func sourceShape() *shape {
	source := objectShape("{parquet: …}, {csv: …} or {arrow: …}", sourceFields()...).
		withForms([]string{"parquet"}, []string{"csv"}, []string{"arrow"})
	source.habits, source.instead = sourceHabits(), sourceOfText
	return source
}

func sourceFields() []field {
	return []field{
		{key: "parquet", shape: pathsShape()},
		{key: "csv", shape: pathsShape()},
		{key: "arrow", shape: pathsShape()},
		{key: "delimiter", shape: delimiterShape(), needs: "csv"},
		{key: "nulls", shape: nullsShape(), needs: "csv"},
	}
}

func delimiterShape() *shape { return patternShape("one character", `^[^\r\n"]$`) }

func nullsShape() *shape {
	return listShape("a list of texts that mean null", categoryShape("a text"), 0, 0)
}

func unitShape() *shape {
	says := "row, or {id: COLUMN, max_rows: N}"
	null := "error or drop: what happens to a row without an id, which is of no unit"
	return choiceShape(says,
		onMapping(objectShape(says,
			field{key: "id", shape: patternShape("a column of the source", `\S`), required: "the column that tells units apart", fix: "id: person_id"},
			field{key: "null", shape: enumShape(null, "error", "drop")},
			field{key: "max_rows", shape: wholeShape("a whole number from 1 to 1000000", 1, 1_000_000), required: "the most rows of a unit that are counted", fix: "max_rows: 1"})),
		onText(`^public$`, enumShape("public", "public").notBuilt("unit: public")),
		onScalar(enumShape(says, "row")))
}

// Kinds of weights.
const (
	designWeight     = "design"
	calibratedWeight = "calibrated"
)

func tableWeightShape() *shape {
	return objectShape("{from, range, step, kind}",
		field{key: "from", shape: textShape("a column of the source"), required: "the column of the weight", fix: "from: w"},
		field{key: "range", shape: listShape("the smallest and the largest, as [0, 2000]", numberShape("a number"), 2, 2), required: "the smallest and the largest weight, as [0, 2000]"},
		field{key: "step", shape: numberShape("a number"), required: "the step to which weights are rounded", fix: "step: 1"},
		field{key: "kind", shape: enumShape("design (an attribute of the unit) or calibrated (adjusted to totals, or raked, so that it depends on other units)", designWeight, calibratedWeight)},
		field{key: "null", shape: enumShape("error or drop: what happens to a row without a weight", rowsError, rowsDrop)})
}

func sampleShape() *shape {
	return objectShape("{poisson: 10%}: the share of the units that are drawn, in secret, and measured",
		field{key: "poisson", shape: numberShape("a share from 1e-6 to below 100%, as 10%"), required: "the probability with which each unit is drawn", fix: "poisson: 10%"})
}

func expectShape() *shape {
	every := listShape("a list of attributes each of whose declared codes occurs, as [region, age.band]", textShape("an attribute, as age or age.band"), 1, 0)
	every.empty = "at least one attribute, as [region]"
	return objectShape("{rows: [a, b]}, {every: [ATTRIBUTE, …]} or both",
		field{key: "rows", shape: listShape("the least and the most rows of the table's files, as [40000, 60000]", wholeShape("a whole number from 0", 0, 1<<53), 2, 2)},
		field{key: "every", shape: every},
	).withForms([]string{"rows"}, []string{"every"}, []string{"rows", "every"})
}

func joinShape() *shape {
	column := textShape("a column")
	join := objectShape("{csv, parquet or arrow, on, public: true}",
		field{key: "csv", shape: textShape("a CSV file, which may be compressed (.gz, .zst)").withParams()},
		field{key: "parquet", shape: textShape("a Parquet file").withParams()},
		field{key: "arrow", shape: textShape("an Arrow IPC file").withParams()},
		field{key: "delimiter", shape: delimiterShape(), needs: "csv"},
		field{key: "nulls", shape: nullsShape(), needs: "csv"},
		field{key: "on", shape: choiceShape("a column, or a list of them", onSequence(listShape("a list of columns", column, 1, 0)), onScalar(column)), required: "the key that both tables have", fix: "on: ent_id"},
		field{key: "public", shape: booleanShape("true"), required: "that the table is public: every row of it may be known to anybody, and nothing of it is protected", fix: "public: true"}).
		withForms([]string{"csv"}, []string{"parquet"}, []string{"arrow"})
	join.instead = sourceOfText
	return dictShape("public tables to join, by name", `^`+columnSyntax+`$`, join)
}

func columnsShape() *shape {
	columns := dictShape("columns by name", `^`+columnSyntax+`$`, columnShape())
	columns.least, columns.empty = 1, "at least one column"
	return columns
}

func columnShape() *shape {
	column := objectShape("from, type, a domain and policies",
		field{key: "from", shape: fromShape()},
		field{key: "type", shape: enumShape("text, integer, decimal, date, timestamp or boolean",
			string(Text), string(Integer), string(Decimal), string(Date), string(Timestamp), string(Boolean))},
		field{key: "values", shape: valuesShape()},
		field{key: "codebook", shape: textShape("a CSV file: code, label, parents").withParams()},
		field{key: "map", shape: textShape("a GeoJSON file: an area for each code").withParams(), needs: "codebook"},
		field{key: "range", shape: rangeShape()},
		field{key: "grid", shape: gridShape()},
		field{key: "step", shape: stepShape(), needs: "range"},
		field{key: "levels", shape: levelsShape()},
		field{key: "unknown", shape: policyShape()},
		field{key: "null", shape: policyShape()},
		field{key: "bounds", shape: objectShape("{suggest: 1%}: the part of the whole budget that buys a suggestion of bounds",
			field{key: "suggest", shape: numberShape("a share of the whole budget, as 1%"), required: "the part of the whole budget", fix: "suggest: 1%"}), needs: "range"},
		field{key: "derived_from", shape: textShape("an attribute of the table that decides the column, as age.band")},
	).withForms([]string{"values"}, []string{"codebook"}, []string{"range"}, []string{"grid"}, []string{"derived_from"})
	column.empty = "a domain, declared once: values, codebook, range (of numbers that are added up, with a step), grid (of places) or derived_from"
	return column
}

func valuesShape() *shape {
	says := "a list of categories, as [female, male], or {integers: [0, 23]}, or {discover: {max_length: 40}} where nobody lists them"
	whole := wholeShape("a whole number", -maxWhole, maxWhole)
	categories := listShape(says, categoryShape("a category, in quotes where YAML would read nothing"), 1, 0)
	categories.empty = "the list of all categories, as [female, male]"
	return choiceShape(says,
		onSequence(categories),
		onKey(discoverShape(), "discover"),
		onMapping(objectShape("{integers: [from, to]}",
			field{key: "integers", shape: listShape("the smallest and the largest, as [0, 23]", whole, 2, 2), required: "the smallest and the largest, as [0, 23]"})))
}

// boundShape is an end of a range: a number, a date or a timestamp.
func boundShape() *shape {
	return numberOrShape("a number, a date as 2024-01-31 or a timestamp as 2024-01-31T00:00:00",
		`^(`+document.NumberSyntax+`|`+dateSyntax+`|`+timeSyntax+`)$`)
}

func pairShape() *shape {
	return listShape("the smallest and the largest, as [0, 110]", boundShape(), 2, 2)
}

// rangeBy is the key of the column whose categories have ranges of their own.
const rangeBy = "by"

func rangeShape() *shape {
	by := dictShape("{by: COLUMN, CATEGORY: [a, b], …}", `^.+$`,
		choiceShape("a range [a, b] for each category", onSequence(pairShape()), onScalar(categoryShape("a column, or one of its levels"))))
	return choiceShape("the smallest and the largest value, as [0, 110], or for each category of a column {by: size, small: [0, 9], large: [10, 500]}",
		onSequence(pairShape()),
		onKey(by, rangeBy))
}

func gridShape() *shape {
	return objectShape("{lon, lat, box, cells}",
		field{key: "lon", shape: textShape("the column of longitudes, in degrees")},
		field{key: "lat", shape: textShape("the column of latitudes, in degrees")},
		field{key: "box", shape: listShape("the corners in degrees, as [west, south, east, north]", numberShape("a number"), 4, 4), required: "the corners in degrees, as [west, south, east, north]", fix: "box: [-87.95, 41.64, -87.52, 42.03]"},
		field{key: "cells", shape: listShape("how many columns and rows of cells, as [64, 64]", wholeShape("a whole number from 1 to 4096", 1, mostAlong), 2, 2), required: "how many columns and rows of cells, as [64, 64]", fix: "cells: [64, 64]"})
}

func stepShape() *shape {
	return numberOrShape("a number, or for timestamps a duration as 15 minutes", `^(`+document.NumberSyntax+`|`+durationSyntax+`)$`)
}

func levelsShape() *shape {
	says := "coarsenings by name, as {band: {width: 10}}"
	groups := dictShape("groups, each with the list of its categories", `^.+$`,
		listShape("a list of categories", categoryShape("a category"), 1, 0))
	groups.least, groups.empty = 1, "at least one group"
	level := choiceShape("{width: …}, {edges: […]} or groups as {young: [a, b], old: [c]}",
		onKey(objectShape("{width: …} or {edges: […]}",
			field{key: "width", shape: stepShape()},
			field{key: "edges", shape: listShape("the lower edges, as [0, 16, 65]", boundShape(), 1, 0)},
		).withForms([]string{"width"}, []string{"edges"}), "width", "edges"),
		onMapping(groups))
	names := dictShape(says, `^`+levelSyntax+`$`, level)
	return choiceShape(says+"; for a code book the list of its parent columns, coarse to fine",
		onMapping(names),
		onSequence(listShape("columns of the code book, coarse to fine", patternShape("a column of the code book", `^`+levelSyntax+`$`), 1, 0)),
		onScalar(enumShape("quadtree", "quadtree")))
}

func policyShape() *shape {
	says := "error, drop or {as: CATEGORY}"
	return choiceShape(says,
		onMapping(objectShape(says, field{key: "as", shape: categoryShape("a category"), required: "the category it counts as"})),
		onScalar(enumShape(says, "error", "drop")))
}
