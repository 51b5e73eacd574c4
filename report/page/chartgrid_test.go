package page

// This file tests how the tables of two attributes are laid out.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec/language"
)

// gridOf draws a grid whose cell in row i and column k is 100 i + k, with an interval of 1 to either side.
func gridOf(labels, columns []string) *gridChart {
	s := &report.Series{Of: []string{"first", "second"}, Labels: labels, Columns: columns}
	for i := range labels {
		for k := range columns {
			v := float64(100*i + k)
			low, high := v-1, v+1
			s.Points = append(s.Points, report.Point{Value: &v, Low: &low, High: &high})
		}
	}
	c := seriesChart{Series: s}
	c.drawGrid(language.English)
	return c.Grid
}

func categories(letter string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s%d", letter, i))
	}
	return all
}

// The attribute with more categories goes down if they have no room side by side.
func TestGridsAreTallRatherThanWide(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		turned        bool
	}{{2, 10, true}, {3, 24, true}, {3, 4, false}, {10, 2, false}, {6, 6, false}, {12, 10, false}} {
		labels, columns := categories("r", c.rows), categories("c", c.columns)
		g := gridOf(labels, columns)
		of, down, across := "first", labels, columns
		if c.turned {
			of, down, across = "second", columns, labels
		}
		if g.Of != of || !slices.Equal(g.Columns, across) || len(g.Rows) != len(down) {
			t.Errorf("%d × %d: rows of %s, columns %v", c.rows, c.columns, g.Of, g.Columns)
			continue
		}
		for i, row := range g.Rows {
			for k, cell := range row.Cells {
				want := float64(100*i + k)
				if c.turned {
					want = float64(100*k + i)
				}
				if row.Label != down[i] || *cell.Point.Value != want {
					t.Errorf("%d × %d: row %s has %v in column %s, want %v", c.rows, c.columns, row.Label,
						*cell.Point.Value, across[k], want)
				}
			}
		}
	}
}

// A narrow page has room for the names of columns if they are short, and for few columns.
func TestWideGridsSayThatTheyScroll(t *testing.T) {
	for _, c := range []struct {
		name              string
		rows, columns     []string
		upright, scrolled bool
		over              bool
	}{
		{"few", categories("r", 6), categories("c", 4), false, false, false},
		{"long names", categories("r", 6), []string{"manufacturing", "agriculture", "hospitality", "information"}, true,
			false, false},
		{"broken names", categories("r", 6), []string{"up and down", "left or right"}, false, false, false},
		{"many", categories("r", 12), categories("c", 12), true, true, false},
		{"too many", categories("r", 24), categories("c", 21), true, true, true},
		{"many long names", categories("r", 24), slices.Repeat([]string{"manufacturing"}, 12), true, true, true},
	} {
		if g := gridOf(c.rows, c.columns); g.Upright != c.upright || g.Scrolled != c.scrolled || g.Over != c.over {
			t.Errorf("%s: upright %v, scrolled %v, over %v", c.name, g.Upright, g.Scrolled, g.Over)
		}
	}
}
