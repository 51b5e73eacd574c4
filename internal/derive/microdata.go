package derive

import (
	"context"
	"encoding/json"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds published microdata: a row for each drawn row, with the columns of table keys.

// microdataStatement tells a reader who has only the file what its rows are.
const microdataStatement = "model only: every row is drawn from a model that was fitted to noisy counts; none is a " +
	"row of the confidential table or belongs to anybody, and no figure from them has an interval, since how far the " +
	"model is from the truth is not known"

// encodeMicrodata returns a table's microdata as Parquet, with their meaning and that of their release as metadata.
// Equal input gives equal bytes. Rows that are linked to rows of other tables have a column for it.
func encodeMicrodata(ctx context.Context, r *spec.Release, m synth.Microdata, release [][2]string) ([]byte, error) {
	var columns []column
	if linked := r.LinkedBy(m.Table); linked != "" {
		columns = append(columns, linkColumn(m, linked))
	}
	for _, i := range m.Written() {
		category := func(row int) int { return int(m.Codes[i][row]) }
		columns = append(columns, keyColumns(r.Words.OfTable(m.Table), m.Keys[i], category)...)
	}
	described, err := json.Marshal(columns)
	if err != nil {
		return nil, err
	}
	return encodeRows(ctx, columns, m.Rows, append([][2]string{
		{"dprelease.schema", "dprelease.microdata/1"},
		{"dprelease.table", m.Table},
		{"dprelease.columns", string(described)},
		{"dprelease.interval", "none"},
		{"dprelease.rows", microdataStatement},
	}, release...))
}

// linkColumn numbers the rows of a parent, from 1 on, and gives for the rows of its children the number of their
// parent. The numbers are in the order of the rows, which carries no information: none is an id of the data.
func linkColumn(m synth.Microdata, name string) column {
	label := "number of the row, by which rows of other microdata belong to it"
	if m.Parents != nil {
		label = "number of the row that the row belongs to"
	}
	return column{Name: name, Label: label, Statistic: "link", kind: integerKind,
		values: valuesBy(func(row int) parquet.Value { return parquet.ValueOf(int64(m.Parent(row)) + 1) })}
}
