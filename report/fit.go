package report

// This file holds the cells of tables by what they are precise enough for, in the classes that the spec has.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report/internal/words"
)

// FitClass is how many cells of a table are in a class of fitness: the first whose AtMost their relative standard error
// does not pass. That is the standard error beside a figure divided by the figure without its sign, before it is shown
// as zero or rounded. Impossible and withheld cells are in no class.
type FitClass struct {
	Name   string `json:"name"`
	AtMost string `json:"at_most,omitempty"` // an exact fraction; "" of the last class, which takes the rest
	// From is, of counts, from which count on a cell of the table is in this class or a better one, whichever cell it is.
	From  int64   `json:"from,omitempty"`
	Cells int64   `json:"cells"`
	Share float64 `json:"share"` // of the cells in all classes
}

// FitColumn is a class with what heads its column.
type FitColumn struct {
	Name  string
	Bound string // what the relative standard error of its figures is
}

// FitRow is a figure of a table with its cells by class.
type FitRow struct {
	Table, Figure string
	Classes       []FitClass
}

// FitColumns are the classes of the release, none where the spec has none.
func (r *Report) FitColumns() []FitColumn {
	rows := r.FitRows()
	if len(rows) == 0 {
		return nil
	}
	columns := make([]FitColumn, len(rows[0].Classes))
	for i, c := range rows[0].Classes {
		columns[i] = FitColumn{Name: c.Name, Bound: words.Either(c.AtMost == "", "more", "at most "+c.Percent())}
	}
	return columns
}

// FitRows are the figures of the release that are sorted into classes, in the order of the tables.
func (r *Report) FitRows() []FitRow {
	var rows []FitRow
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if s.Fit != nil {
				rows = append(rows, FitRow{t.Path, s.Name, s.Fit})
			}
		}
		for _, f := range t.Figures {
			if f.Fit != nil {
				rows = append(rows, FitRow{t.Path, f.Name, f.Fit})
			}
		}
	}
	return rows
}

// Percent is the bound of the class as a percentage, "" of the last.
func (c FitClass) Percent() string {
	r, ok := new(big.Rat).SetString(c.AtMost)
	if !ok {
		return ""
	}
	v, _ := r.Float64()
	return budget.Percent(v)
}

// CellsText is how many cells are in the class, with their share.
func (c FitClass) CellsText() string {
	return words.Either(c.Cells == 0, "0", fmt.Sprintf("%s (%s)", budget.Group(c.Cells), budget.Percent(c.Share)))
}

// FitFrom says of a table of counts from which count on its cells are in a class, "" where that is not known.
func (row FitRow) FitFrom() string {
	var from []string
	for _, c := range row.Classes {
		if c.From > 0 {
			from = append(from, fmt.Sprintf("%s from %s on", c.Name, budget.Group(c.From)))
		}
	}
	return words.List(from)
}
