package published

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/parquet-go/parquet-go"
)

// This file reads the tables of a published release.

// Table is a table within a release.
type Table struct {
	*Release
	Planned plan.Table
	Query   plan.Query
	Levels  []*domain.Level
}

// Table finds a table and the levels of its keys.
func (e *Release) Table(path string) (t Table, found bool, err error) {
	i := slices.IndexFunc(e.Plan.Tables, func(t plan.Table) bool { return t.Path == path })
	if i < 0 {
		return t, false, nil
	}
	t = Table{Release: e, Planned: e.Plan.Tables[i]}
	t.Query = e.Plan.Query(t.Planned)
	if t.Levels, err = t.Query.Levels(e.Plan.Release()); err != nil {
		return t, false, &verdict.Unusable{File: e.NamedPath, Err: err}
	}
	return t, true, nil
}

// Estimates are the estimates of a statistic, one per cell in domain order, with their standard errors.
type Estimates struct{ Unbiased, Errors []float64 }

// Estimates reads the estimates of statistics from the published file and checks the file's keys against the domains.
func (t Table) Estimates(statistics []string) ([]Estimates, error) {
	name := t.Planned.File()
	f, err := t.Parquet(name)
	if err != nil {
		return nil, err
	}
	var columns []int
	for _, column := range append(slices.Clone(t.Planned.By), estimateColumns(statistics)...) {
		leaf, found := f.Schema().Lookup(column)
		if !found {
			return nil, &verdict.Unusable{File: filepath.Join(t.NamedPath, name),
				Err: fmt.Errorf("there is no column %q",
					column)}
		}
		columns = append(columns, leaf.ColumnIndex)
	}
	if t.Complete() && f.NumRows() != t.Planned.Cells {
		return nil, &verdict.Unusable{File: filepath.Join(t.NamedPath, name),
			Err: fmt.Errorf("%d rows, where the plan has %d cells", f.NumRows(), t.Planned.Cells)}
	}
	keys, figures := columns[:len(t.Planned.By)], columns[len(t.Planned.By):]
	out := make([]Estimates, len(statistics))
	row := 0
	err = EachRow(f, func(r parquet.Row) error {
		if t.Complete() && !t.HasKeys(r, keys, row) {
			return &verdict.Unusable{File: filepath.Join(t.NamedPath, name),
				Err: fmt.Errorf("row %d does not belong in its place in the domain", row+1)}
		}
		for i := range out {
			out[i].Unbiased = append(out[i].Unbiased, Number(r[figures[2*i]]))
			out[i].Errors = append(out[i].Errors, Number(r[figures[2*i+1]]))
		}
		row++
		return nil
	})
	return out, err
}

// Complete reports whether a table has all cells of its domain, in order.
func (t Table) Complete() bool { return !t.Planned.SomeCells() }

// Rows returns the codes of the rows of a table's file.
func (t Table) Rows() ([][]string, error) {
	var out [][]string
	err := t.EachRow(t.Planned.File(), t.Planned.By, func(r parquet.Row) error {
		codes := make([]string, len(r))
		for i, v := range r {
			codes[i] = v.String()
		}
		out = append(out, codes)
		return nil
	})
	return out, err
}

// Number returns a figure of a published file as a float64.
func Number(v parquet.Value) float64 {
	if v.Kind() == parquet.Int64 {
		return float64(v.Int64())
	}
	return v.Double()
}

// estimateColumns returns the columns of the statistics' estimates, each followed by that of its standard error.
func estimateColumns(statistics []string) []string {
	var names []string
	for _, s := range statistics {
		names = append(names, s+statistic.Unbiased, s+statistic.StandardError)
	}
	return names
}

// HasKeys reports whether the keys of a row are those of the row's index in domain order.
func (t Table) HasKeys(r parquet.Row, columns []int, row int) bool {
	for k := len(columns) - 1; k >= 0; k-- {
		size := t.Levels[k].Size()
		if r[columns[k]].String() != t.Levels[k].Categories[row%size].Code {
			return false
		}
		row /= size
	}
	return true
}

// FigureCell is what is published of a figure in one cell: its value, the unbiased one if there is one, the ends of
// its interval, its standard error and its flag. Comparing two with == compares them bit by bit.
type FigureCell struct {
	Numbers [4]uint64
	Flag    string
}

func (c FigureCell) Value() float64 { return math.Float64frombits(c.Numbers[0]) }
func (c FigureCell) Low() float64   { return math.Float64frombits(c.Numbers[1]) }
func (c FigureCell) High() float64  { return math.Float64frombits(c.Numbers[2]) }

// FigureCells reads a figure in every cell, in domain order, or in every row of a table that has only some of its
// cells.
func (t Table) FigureCells(name string) ([]FigureCell, error) {
	value := name + statistic.Published
	for _, f := range t.Planned.Figures {
		if f.Name == name && statistic.OfFigure(f).Additive() {
			value = name + statistic.Unbiased
		}
	}
	if slices.ContainsFunc(t.Planned.Statistics, func(s plan.Statistic) bool { return s.Name == name }) {
		value = name + statistic.Unbiased
	}
	columns := append(slices.Clone(t.Planned.By), value, name+statistic.Low, name+statistic.High,
		name+statistic.StandardError,
		name+statistic.Flag)
	keys := make([]int, len(t.Planned.By))
	for i := range keys {
		keys[i] = i
	}
	var out []FigureCell
	err := t.EachRow(t.Planned.File(), columns, func(r parquet.Row) error {
		if t.Complete() && !t.HasKeys(r, keys, len(out)) {
			return &verdict.Unusable{File: filepath.Join(t.NamedPath, t.Planned.File()),
				Err: fmt.Errorf("row %d does not belong in its place in the domain", len(out)+1)}
		}
		var c FigureCell
		for i := range c.Numbers {
			x := math.NaN()
			if v := r[len(keys)+i]; !v.IsNull() {
				x = Number(v)
			}
			c.Numbers[i] = math.Float64bits(x)
		}
		if v := r[len(keys)+len(c.Numbers)]; !v.IsNull() {
			c.Flag = v.String()
		}
		out = append(out, c)
		return nil
	})
	if err == nil && t.Complete() && int64(len(out)) != t.Planned.Cells {
		err = &verdict.Unusable{File: filepath.Join(t.NamedPath, t.Planned.File()),
			Err: fmt.Errorf("%d rows, where the plan has %d cells", len(out), t.Planned.Cells)}
	}
	return out, err
}

// CategoryCodes returns the codes of a level, in order.
func CategoryCodes(level *domain.Level) []string {
	codes := make([]string, len(level.Categories))
	for i, c := range level.Categories {
		codes[i] = c.Code
	}
	return codes
}
