package show

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/parquet-go/parquet-go"
)

// This file prints a table for people: keys with their labels, each figure with its interval, and notes.

// shownRows is how many rows are printed unless all are requested.
const shownRows = 40

// pageView is the columns of a page with functions that return their texts for a row.
type pageView struct {
	columns []screen.Column
	cells   []func(parquet.Row) string
}

// addColumn adds a column.
func (v *pageView) addColumn(c screen.Column, cell func(parquet.Row) string) {
	v.columns, v.cells = append(v.columns, c), append(v.cells, cell)
}

// errEnough stops the reading of rows.
var errEnough = errors.New("enough rows")

// Write prints the first rows, or all of them, in the width of the terminal.
func (s *Sheet) Write(w io.Writer, look screen.Look, all bool) error {
	p := screen.NewPage(look)
	if s.Status != "RELEASE" {
		p.Line(" "+s.Status+" ", screen.Alert)
	}
	head := s.Release + ": table " + s.Table
	if s.Title != "" {
		head += ", " + s.Title
	}
	p.Paragraph(head, screen.Strong)
	view := s.newView()
	var rows [][]screen.Cell
	err := published.EachRow(s.file, func(r parquet.Row) error {
		if !all && len(rows) == shownRows {
			return errEnough
		}
		row := make([]screen.Cell, len(view.cells))
		for i, cell := range view.cells {
			row[i].Text = cell(r)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	p.Paragraph(fmt.Sprintf("%s. Intervals: %s.", budget.Plural(s.Cells, "cell"), s.Interval), screen.Faint)
	p.Blank()
	dropped := p.Table(view.columns, rows)
	if more := s.Cells - int64(len(rows)); more > 0 {
		p.Paragraph(fmt.Sprintf("… %s more: --all prints them.", budget.Plural(more, "row")), screen.Faint)
	}
	if len(dropped) > 0 {
		p.Paragraph("Left out, as the terminal is too narrow: "+strings.Join(dropped, ", ")+".", screen.Faint)
	}
	p.Blank()
	p.Paragraph("--as csv prints all columns for a spreadsheet: add up the unbiased figures, not those above."+s.trace,
		screen.Faint)
	_, err = w.Write(p.Bytes())
	return err
}

// newView returns what a page shows of a row: each key with its label, each figure with its interval, and the flags.
func (s *Sheet) newView() *pageView {
	v := &pageView{}
	places := map[string]int{}
	for i, c := range s.Columns {
		places[c.Name] = i
	}
	var flags []int
	figures := 0
	for i, c := range s.Columns {
		switch c.Statistic {
		case "key":
			label, labelled := places[c.Name+statistic.LabelSuffix]
			v.addColumn(screen.Column{Head: c.Label, Fold: 8, Right: !s.Columns[i].text && !labelled},
				func(r parquet.Row) string {
					if labelled {
						return r[i].String() + " " + r[label].String()
					}
					return r[i].String()
				})
		case "flag":
			flags = append(flags, i)
		case "label", "estimate", "standard error", "interval":
		default:
			s.addFigure(v, i, places, figures)
			figures++
		}
	}
	v.addColumn(screen.Column{Head: "note", Fold: 20, Wrap: true, Drop: 1}, func(r parquet.Row) string {
		var notes []string
		for _, i := range flags {
			if r[i].IsNull() {
				continue
			}
			note := strings.ReplaceAll(r[i].String(), "_", " ")
			if len(flags) > 1 {
				note = strings.TrimSuffix(s.Columns[i].Name, statistic.Flag) + ": " + note
			}
			notes = append(notes, note)
		}
		return strings.Join(notes, "; ")
	})
	return v
}

// addFigure adds a figure and its interval to a page. If the figures do not fit, the later ones are left out first.
func (s *Sheet) addFigure(v *pageView, i int, places map[string]int, earlier int) {
	name := s.Columns[i].Name
	low, below := places[name+statistic.Low]
	high, above := places[name+statistic.High]
	bounded := below && above
	end := func(r parquet.Row, at int) *float64 {
		if !bounded || r[at].IsNull() {
			return nil
		}
		v := published.Number(r[at])
		return &v
	}
	form := func(r parquet.Row) screen.Form {
		return screen.FormOf(published.Number(r[i]), end(r, low), end(r, high))
	}
	drop := 0
	if earlier > 0 {
		drop = 1 + earlier
	}
	v.addColumn(screen.Column{Head: name, Right: true, Drop: drop}, func(r parquet.Row) string {
		if r[i].IsNull() {
			return "–"
		}
		return form(r).Nearest(published.Number(r[i]))
	})
	if bounded {
		v.addColumn(screen.Column{Head: intervalHead(s.Interval), Right: true, Drop: drop}, func(r parquet.Row) string {
			from, to := end(r, low), end(r, high)
			if from == nil || to == nil {
				return "–"
			}
			return form(r).Down(*from) + " … " + form(r).Up(*to)
		})
	}
}

// intervalHead returns the head of a column of intervals, with the level that the file states: "95% interval".
func intervalHead(interval string) string {
	level, _, _ := strings.Cut(interval, " ")
	return level + " interval"
}
