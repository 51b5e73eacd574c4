package report

// This file counts the cells of tables by class of precision.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// FitClass is the number of a table's cells in a class of precision: the first class whose AtMost is not exceeded by
// their relative standard error. That is the standard error published with a figure divided by the absolute value of
// the figure, before it is shown as zero or rounded. Impossible and withheld cells are in no class.
type FitClass struct {
	Name   string `json:"name"`
	AtMost string `json:"at_most,omitempty"` // an exact fraction; "" for the last class, which takes the rest
	// From is, for counts, the least count for which every cell of the table is in this class or a better one.
	From  int64   `json:"from,omitempty"`
	Cells int64   `json:"cells"`
	Share float64 `json:"share"` // of the cells in all classes
}

// FitColumn is a class with the heading of its column.
type FitColumn struct {
	Name  string
	Bound string // bound on the relative standard error of its figures
}

// FitRow is a figure of a table with its cells by class.
type FitRow struct {
	Table, Figure string
	Classes       []FitClass
}

// FitColumns returns the classes of the release, none if the spec defines none.
func (r *Report) FitColumns() []FitColumn {
	rows := r.FitRows()
	if len(rows) == 0 {
		return nil
	}
	l, columns := r.In(), make([]FitColumn, len(rows[0].Classes))
	for i, c := range rows[0].Classes {
		columns[i] = FitColumn{Name: c.Name,
			Bound: words.Either(c.AtMost == "", l.Text("more"), l.Text("at most %s", c.Percent(l)))}
	}
	return columns
}

// FitRows returns the figures of the release that are sorted into classes, in the order of the tables.
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

// Percent returns the bound of the class as a percentage, "" for the last.
func (c FitClass) Percent(l *language.Language) string {
	r, ok := new(big.Rat).SetString(c.AtMost)
	if !ok {
		return ""
	}
	v, _ := r.Float64()
	return l.Percent(v)
}

// CellsText returns the number of cells in the class, with their share.
func (c FitClass) CellsText(l *language.Language) string {
	return words.Either(c.Cells == 0, "0", fmt.Sprintf("%s (%s)", budget.Group(c.Cells), l.Percent(c.Share)))
}

// FitFrom says for a table of counts from which count on its cells are in a class, "" if that is not known.
func (row FitRow) FitFrom(l *language.Language) string {
	var from []string
	for _, c := range row.Classes {
		if c.From > 0 {
			from = append(from, l.Text("%s from %s on", c.Name, budget.Group(c.From)))
		}
	}
	return l.List(from)
}
