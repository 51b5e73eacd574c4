package published

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file reads the Parquet files of tables and microdata from a published folder.

// Parquet opens a Parquet file of the release. If it is a table, every figure must lie in its own interval. Errors:
// *[Altered].
func (e *Release) Parquet(name string) (*parquet.File, error) {
	b, err := e.Read(name)
	if err != nil {
		return nil, err
	}
	f, err := openParquet(b)
	if err != nil {
		return nil, e.Altered(Faultf(name, "cannot be read: %v", err))
	}
	at := slices.IndexFunc(e.Plan.Tables, func(t plan.Table) bool { return t.File() == name })
	if at < 0 {
		return f, nil
	}
	if status, _ := f.Lookup("dprelease.status"); status != e.Manifest.Status {
		return nil, e.Altered(Faultf(name, "is marked %q, and %s %q", status, ManifestFile, e.Manifest.Status))
	}
	most, err := e.mostCounted(at)
	if err != nil {
		return nil, err
	}
	_, fitted := e.Plan.Integers(e.Plan.Tables[at].Path)
	rows := e.Plan.Release().Table(e.Plan.Tables[at].From)
	if err := checkFigures(f, e.Plan.Tables[at], rows, most, fitted); err != nil {
		return nil, e.Altered(Faultf(name, "%v", err))
	}
	return f, nil
}

// mostCounted returns the largest count that a table can publish: if devices randomised the answers, the number of
// respondents, which is public; otherwise there is no limit.
func (e *Release) mostCounted(table int) (float64, error) {
	if e.Plan.Release().Collection == nil {
		return math.Inf(1), nil
	}
	all, err := e.Answers(e.Plan.Measurements)
	if err != nil {
		return 0, err
	}
	return float64(synth.RespondentsOf(all, all[table])), nil
}

// openParquet opens a Parquet file, which anybody may have written.
func openParquet(b []byte) (f *parquet.File, err error) {
	defer recoverUnreadable(&err)
	return parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
}

// recoverUnreadable is deferred to turn a panic of the Parquet reader into an error.
func recoverUnreadable(err *error) {
	if recover() != nil {
		*err = errors.New("it is damaged")
	}
}

// ReadRow returns one row of a published table and the indices of its columns by name.
func ReadRow(f *parquet.File, at int64) (parquet.Row, map[string]int, error) {
	columns := map[string]int{}
	for i, c := range f.Schema().Columns() {
		columns[c[0]] = i
	}
	for _, group := range f.RowGroups() {
		if at >= group.NumRows() {
			at -= group.NumRows()
			continue
		}
		rows := group.Rows()
		if err := rows.SeekToRow(at); err != nil {
			return nil, nil, errors.Join(err, rows.Close())
		}
		buffer := make([]parquet.Row, 1)
		n, err := rows.ReadRows(buffer)
		if n == 0 {
			return nil, nil, errors.Join(fmt.Errorf("a row is missing: %w", err), rows.Close())
		}
		row := buffer[0].Clone()
		return row, columns, rows.Close()
	}
	return nil, nil, errors.New("a row is missing")
}

// EachRow calls do for every row of a file, in order, until it returns an error. The row is valid until do returns.
func EachRow(f *parquet.File, do func(parquet.Row) error) (err error) {
	defer recoverUnreadable(&err)
	buffer := make([]parquet.Row, 1024)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for n := 0; err == nil; {
			n, err = rows.ReadRows(buffer)
			for _, r := range buffer[:n] {
				if failed := do(r); failed != nil {
					return errors.Join(failed, rows.Close())
				}
			}
		}
		if closing := rows.Close(); errors.Is(err, io.EOF) {
			err = closing
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// EachRow calls do for every row of a published file with the values of the named columns, in that order.
func (e *Release) EachRow(name string, columns []string, do func(parquet.Row) error) error {
	path := filepath.Join(e.NamedPath, filepath.FromSlash(name))
	f, err := e.Parquet(name)
	if err != nil {
		return err
	}
	places := make([]int, len(columns))
	for i, column := range columns {
		leaf, found := f.Schema().Lookup(column)
		if !found {
			return &verdict.Unusable{File: path, Err: fmt.Errorf("there is no column %q", column)}
		}
		places[i] = leaf.ColumnIndex
	}
	values := make(parquet.Row, len(columns))
	return EachRow(f, func(r parquet.Row) error {
		for i, place := range places {
			values[i] = r[place]
		}
		return do(values)
	})
}
