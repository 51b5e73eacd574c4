package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds how the Parquet file of a table or of microdata is read from a published folder.

// parquet opens a Parquet file of the release. In one of a table every figure must lie in its own interval. Errors: *[Altered].
func (e *edition) parquet(name string) (*parquet.File, error) {
	b, err := e.read(name)
	if err != nil {
		return nil, err
	}
	f, err := openParquet(b)
	if err != nil {
		return nil, e.altered(wrongf(name, "cannot be read: %v", err))
	}
	at := slices.IndexFunc(e.plan.Tables, func(t plan.Table) bool { return t.File() == name })
	if at < 0 {
		return f, nil
	}
	if status, _ := f.Lookup("dprelease.status"); status != e.manifest.Status {
		return nil, e.altered(wrongf(name, "is marked %q, and %s %q", status, manifestFile, e.manifest.Status))
	}
	_, fitted := e.plan.Integers(e.plan.Tables[at].Path)
	if err := consistentFigures(f, e.plan.Tables[at], e.plan.Release().Table(e.plan.Tables[at].From), fitted); err != nil {
		return nil, e.altered(wrongf(name, "%v", err))
	}
	return f, nil
}

// openParquet opens a Parquet file, which anybody may have written.
func openParquet(b []byte) (f *parquet.File, err error) {
	defer unreadable(&err)
	return parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
}

// unreadable makes an error of what makes the reader of Parquet panic.
func unreadable(err *error) {
	if recover() != nil {
		*err = errors.New("it is damaged")
	}
}

// eachRow calls do for every row of a file.
func eachRow(f *parquet.File, do func(parquet.Row) error) (err error) {
	defer unreadable(&err)
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

// figureShape says how the columns of one figure of a table agree with each other.
type figureShape struct {
	name        string
	unbiased    bool    // it has an unbiased estimate, and the published value is what is shown of that
	least, most float64 // that it can be, where it has one
	rounded     bool    // to a whole number
	fitted      bool    // the published value may have been moved so that tables add up
}

// consistentFigures reports the first figure of a table that lies outside its own interval, or whose published value is not its
// unbiased estimate as it is shown.
func consistentFigures(f *parquet.File, t plan.Table, rows *spec.Table, fitted bool) error {
	var shapes []figureShape
	for _, s := range t.Statistics {
		shapes = append(shapes, figureShape{name: s.Name, unbiased: true, rounded: true, fitted: fitted, most: math.Inf(1)})
	}
	for _, n := range t.Figures {
		s := figureShape{name: n.Name, unbiased: n.Additive()}
		s.least, s.most = n.Limits(rows)
		shapes = append(shapes, s)
	}
	places := make([][5]int, len(shapes))
	for i, s := range shapes {
		for k, suffix := range [5]string{plan.Published, plan.Unbiased, plan.Low, plan.High, plan.Flag} {
			leaf, found := f.Schema().Lookup(s.name + suffix)
			if !found && (k != 1 || s.unbiased) {
				return fmt.Errorf("has no column %q", s.name+suffix)
			}
			if found && (leaf.Node.Type().Kind() == parquet.ByteArray) != (k == 4) {
				return fmt.Errorf("has another kind of column %q than tables have", s.name+suffix)
			}
			if places[i][k] = -1; found {
				places[i][k] = leaf.ColumnIndex
			}
		}
	}
	row := 0
	return eachRow(f, func(r parquet.Row) error {
		row++
		for i, s := range shapes {
			at := places[i]
			estimate := r[at[0]]
			if s.unbiased {
				estimate = r[at[1]]
			}
			if err := s.holds(r[at[0]], estimate, r[at[2]], r[at[3]], r[at[4]]); err != nil {
				return fmt.Errorf("row %d: %s %w", row, s.name, err)
			}
		}
		return nil
	})
}

// holds checks one cell: its interval, and what is published of its estimate, where there is something.
func (s figureShape) holds(published, estimate, low, high, flag parquet.Value) error {
	switch {
	case estimate.IsNull() && published.IsNull() && low.IsNull() && high.IsNull():
		return nil
	case estimate.IsNull():
		return errors.New("is published, or has an interval, without the estimate that it is made from")
	case low.IsNull() != high.IsNull():
		return errors.New("has one end of an interval without the other")
	}
	x := number(estimate)
	if !low.IsNull() && !high.IsNull() && !(number(low) <= x && x <= number(high)) {
		return fmt.Errorf("is %v, outside its own interval %v … %v", x, number(low), number(high))
	}
	if published.IsNull() {
		return nil
	}
	shown, want := number(published), x
	if s.rounded {
		want = math.Floor(want + 0.5)
	}
	moved := s.fitted && (flag.String() == string(synth.Fitted) || flag.String() == string(synth.NoiseDominates))
	if shown == want || s.unbiased && shown == math.Max(s.least, math.Min(s.most, want)) || moved && shown >= 0 {
		return nil
	}
	return fmt.Errorf("is published as %v, and its unbiased estimate is %v", shown, x)
}
