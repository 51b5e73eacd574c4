package page

// This file draws a series of two attributes: a table with a shade behind each figure.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/shading"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// gridChart shades the cells of two attributes. The one with more categories goes down, unless there is room for it
// across: a page is scrolled down more easily than sideways.
type gridChart struct {
	Of      string // the attribute whose categories are the rows
	Columns []string
	Rows    []gridRow
	Form    screen.Form // of its figures
	// On a narrow page, Upright writes the names of the columns upwards, and Scrolled is wider than the page. Over is
	// wider than every page.
	Upright, Scrolled, Over bool
}

// gridRow is a row of cells.
type gridRow struct {
	Label string
	Cells []gridCell
}

// gridCell is a cell: hatched, with shade 0, if it has no figure or could be zero.
type gridCell struct {
	Shade int
	Point report.Point
}

func (c *seriesChart) drawGrid(l *language.Language) {
	down, across := len(c.Labels), len(c.Columns)
	grid := &gridChart{Of: c.Of[0], Columns: c.Columns, Form: c.Form()}
	labels, at := c.Labels, func(row, column int) int { return row*across + column }
	if across > besideColumns && across > down {
		grid.Of, grid.Columns = c.Of[1], c.Labels
		labels, at = c.Columns, func(row, column int) int { return column*across + row }
	}
	s := shading.New(c.descendingFigures(), shading.Most)
	for i, label := range labels {
		row := gridRow{Label: label}
		for k := range grid.Columns {
			p := c.Points[at(i, k)]
			cell := gridCell{Point: p}
			if p.IsSure() {
				cell.Shade = s.All[s.Class(*p.Value)]
			}
			row.Cells = append(row.Cells, cell)
		}
		grid.Rows = append(grid.Rows, row)
	}
	grid.Upright = grid.width(l, true) > gridRunes
	grid.Scrolled = grid.width(l, false) > gridRunes
	grid.Over = grid.pixels(l) > widePixels
	c.Grid = grid
}

const (
	gridRunes  = 40  // number of characters of a grid that fit side by side on a narrow page
	widePixels = 960 // width of a wide page
)

// width returns the number of characters that a grid takes side by side on a narrow page, where lines are broken
// wherever they may be; with the names of its columns, or with its cells alone.
func (g *gridChart) width(l *language.Language, named bool) int {
	total := 0
	for _, row := range g.Rows {
		total = max(total, longestWord(row.Label))
	}
	for k, name := range g.Columns {
		most := 0
		if named {
			most = longestWord(name)
		}
		for _, row := range g.Rows {
			p := row.Cells[k].Point
			marked := len([]rune(p.Text(l, g.Form))) + len([]rune(words.When(p.Unsure(l) != "", "○ ")))
			most = max(most, marked, longestWord(intervalText(l, p, g.Form))*3/4)
		}
		total += most + 1
	}
	return total
}

// pixels estimates the width of a grid on a wide page, from the width of characters in common fonts: bold ones for
// figures, smaller ones for intervals.
func (g *gridChart) pixels(l *language.Language) int {
	const letter, digit, gap, leastLabel = 7, 9, 17, 80
	total := leastLabel
	for _, row := range g.Rows {
		total = max(total, letter*len([]rune(row.Label))+gap)
	}
	for k, name := range g.Columns {
		most := letter * longestWord(name)
		for _, row := range g.Rows {
			p := row.Cells[k].Point
			figure := p.Text(l, g.Form) + words.When(p.Unsure(l) != "", "○ ")
			groups := strings.Count(figure, "\u202f") // spaces that are narrower than digits
			most = max(most, digit*len([]rune(figure))-groups*digit*2/3, letter*longestWord(intervalText(l, p, g.Form)))
		}
		total += most + gap
	}
	return total
}

// longestWord returns the number of characters of a text that no line break can part.
func longestWord(text string) (most int) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '–' || r == '-' }) {
		most = max(most, len([]rune(word)))
	}
	return most
}

// descendingFigures returns the figures that are shaded.
func (s seriesChart) descendingFigures() []float64 {
	var values []float64
	for _, p := range s.Points {
		if p.IsSure() {
			values = append(values, *p.Value)
		}
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	return values
}
