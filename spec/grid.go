package spec

// This file holds the grid: a box of longitudes and latitudes parted into cells, and the reading of one.

import (
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"math/big"
	"strconv"
	"strings"
)

// Grid parts a box of longitudes and latitudes into cells: those of its axes, of each column of cells all rows. Cells are
// numbered from 0, northwards from the south-west corner and then eastwards, so that their codes ascend as texts. Edges are
// half-open, the eastern and northern ones of the box closed.
type Grid struct {
	Longitude, Latitude string // columns of the source, in degrees
	// Box is west, south, east and north, exactly, in degrees.
	Box [4]*big.Rat
	// X parts the box from west to east, Y from south to north.
	X, Y *Axis
}

// Cell is the number of the cell in column x and row y, −1 where either is −1.
func (g *Grid) Cell(x, y int) int {
	if x < 0 || y < 0 {
		return -1
	}
	return x*g.Y.Size() + y
}

// Bounds of grids: cells along an axis, and in all.
const (
	mostAlong     = 4096
	mostGridCells = 1 << 20
)

// readGrid reads a grid and the domain of its cells, nil where something is wrong with it.
func (r *reader) readGrid(c *Column, n document.Node) *Domain {
	at := n.Get("grid")
	for _, key := range []string{"from", "type"} {
		if other := n.Get(key); other.Present() {
			r.Report(other.Key, other.Path, document.Problem{
				Message:  "`" + key + "` beside `grid`: its values are cells, made of two columns of numbers",
				Expected: "the columns in the grid, as grid: {lon: pickup_lon, lat: pickup_lat, …}",
			})
			return nil
		}
	}
	g := &Grid{Longitude: "lon", Latitude: "lat"}
	if lon := at.Get("lon"); lon.Present() {
		g.Longitude = lon.Text()
	}
	if lat := at.Get("lat"); lat.Present() {
		g.Latitude = lat.Text()
	}
	if g.Longitude == g.Latitude {
		r.problem(at, document.Problem{Message: fmt.Sprintf("longitude and latitude are both %s", document.Clip(g.Longitude)), Expected: "a column for each"})
		return nil
	}
	if !r.readBox(g, at.Get("box")) {
		return nil
	}
	counts := at.Get("cells").Items()
	columns, rows := int(r.whole(counts[0])), int(r.whole(counts[1]))
	if columns*rows > mostGridCells {
		r.problem(at.Get("cells"), document.Problem{Message: fmt.Sprintf("a grid of %d cells", columns*rows), Expected: fmt.Sprintf("at most %d, as [1024, 1024]", mostGridCells)})
		return nil
	}
	var errX, errY error
	g.X, errX = newAxis(g.Box[0], g.Box[2], columns)
	g.Y, errY = newAxis(g.Box[1], g.Box[3], rows)
	if errX != nil || errY != nil {
		r.problem(at.Get("box"), document.Problem{Message: "edges of cells that need more than 61 bits", Expected: "corners with fewer digits, or other numbers of cells"})
		return nil
	}
	c.Grid, c.From = g, ""
	d := &Domain{of: c.Type, size: columns * rows, cells: columns * rows, finest: g.level("", columns, rows)}
	levels := n.Get("levels")
	if !levels.Present() {
		return d
	}
	if levels.Text() != quadtree {
		r.problem(levels, document.Problem{Message: "the levels of a grid are a quadtree", Expected: "each level half the columns and half the rows of the one before", Fix: "levels: " + quadtree})
		return nil
	}
	if columns%2+rows%2 > 0 {
		r.problem(at.Get("cells"), document.Problem{
			Message:  fmt.Sprintf("%d × %d cells cannot be halved into a quadtree", columns, rows),
			Expected: fmt.Sprintf("two even numbers; powers of two, as [64, 64], can be halved down to one cell; [%d, %d] lie near", columns+columns%2, rows+rows%2),
			Fix:      fmt.Sprintf("cells: [%d, %d]", columns+columns%2, rows+rows%2),
		})
		return nil
	}
	for by := 2; columns%by+rows%by == 0; by *= 2 {
		l := g.level(fmt.Sprintf("%dx%d", columns/by, rows/by), columns/by, rows/by)
		l.Of = make([]uint32, d.size)
		for cell := range l.Of {
			l.Of[cell] = uint32(cell/rows/by*(rows/by) + cell%rows/by)
		}
		d.levels = append(d.levels, l)
	}
	return d
}

// quadtree is how a spec writes the levels of a grid.
const quadtree = "quadtree"

// readBox reads west, south, east and north.
func (r *reader) readBox(g *Grid, n document.Node) bool {
	items := n.Items()
	limits := [4]struct {
		most int64
		p    document.Problem
	}{}
	for i := range limits {
		limits[i].most = 180
		limits[i].p = document.Problem{Message: "a longitude beyond the date line: " + document.Clip(items[i].Text()), Expected: "-180 to 180; of a place across the date line a column for each side"}
		if i%2 == 1 {
			limits[i].most = 90
			limits[i].p = document.Problem{Message: "a latitude beyond the pole: " + document.Clip(items[i].Text()), Expected: "-90 to 90; a box is [west, south, east, north]"}
		}
	}
	for i, item := range items {
		x, ok := r.number(item)
		if !ok {
			return false
		}
		if new(big.Rat).Abs(x).Cmp(big.NewRat(limits[i].most, 1)) > 0 {
			r.problem(item, limits[i].p)
			return false
		}
		g.Box[i] = x
	}
	switch {
	case g.Box[0].Cmp(g.Box[2]) >= 0:
		r.problem(n, document.Problem{
			Message:  fmt.Sprintf("the box ends in the east at %s, which is not east of %s", items[2].Text(), items[0].Text()),
			Expected: "west first, then the larger east: a box does not cross the date line; of a place across it a column for each side",
		})
	case g.Box[1].Cmp(g.Box[3]) >= 0:
		r.problem(n, document.Problem{
			Message:  fmt.Sprintf("the box ends in the north at %s, which is not north of %s", items[3].Text(), items[1].Text()),
			Expected: "[west, south, east, north], the south smaller than the north",
		})
	default:
		return true
	}
	return false
}

// level is the grid in so many columns and rows. A category is its column and its row, counted from 0 in the south-west, with
// as many digits as the last needs, as x07y31; its label is its box, rounded to a hundredth of its sides.
func (g *Grid) level(name string, columns, rows int) *Level {
	x, y := positions('x', columns), positions('y', rows)
	west, south := edgeTexts(g.Box[0], g.Box[2], columns), edgeTexts(g.Box[1], g.Box[3], rows)
	l := &Level{Name: name, Categories: make([]Category, 0, columns*rows)}
	for i := range columns {
		for k := range rows {
			l.Categories = append(l.Categories, Category{
				Code:  x[i] + y[k],
				Label: "[" + west[i] + ", " + south[k] + ", " + west[i+1] + ", " + south[k+1] + "]",
			})
		}
	}
	return l
}

// positions are the letter with 0 to n−1, all of one length.
func positions(letter byte, n int) []string {
	digits := len(strconv.Itoa(n - 1))
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%c%0*d", letter, digits, i)
	}
	return all
}

// edgeTexts are the n+1 edges of n equal cells, in as many decimal places as show a hundredth of a cell.
func edgeTexts(low, high *big.Rat, n int) []string {
	all := make([]string, n+1)
	span := new(big.Rat).Sub(high, low)
	places := 0
	for shown := new(big.Rat).Quo(span, big.NewRat(100*int64(n), 1)); shown.Cmp(big.NewRat(1, 1)) < 0; places++ {
		shown.Mul(shown, big.NewRat(10, 1))
	}
	for k := range all {
		all[k] = new(big.Rat).Add(low, new(big.Rat).Mul(span, big.NewRat(int64(k), int64(n)))).FloatString(places)
		if strings.Contains(all[k], ".") {
			all[k] = strings.TrimRight(strings.TrimRight(all[k], "0"), ".")
		}
		if all[k] == "-0" {
			all[k] = "0"
		}
	}
	return all
}
