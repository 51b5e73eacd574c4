package domain

// This file reads a grid.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/spec/document"
)

// readGrid reads a grid and the domain of its cells. It returns nil if a problem was reported.
func (r *Reader) readGrid(c *Declaration, n document.Node) *Domain {
	at := n.Get("grid")
	for _, key := range []string{"from", "type"} {
		if other := n.Get(key); other.Present() {
			r.WrongKey(other, document.Problem{
				Message:  "`" + key + "` with `grid`: its values are cells, made of two columns of numbers",
				Expected: "the columns in the grid, as grid: {lon: pickup_lon, lat: pickup_lat, …}",
			})
			return nil
		}
	}
	g := &Grid{Longitude: at.Get("lon").TextOr("lon"), Latitude: at.Get("lat").TextOr("lat")}
	if g.Longitude == g.Latitude {
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("longitude and latitude are both %s",
			document.Clip(g.Longitude)),
			Expected: "a column for each"})
		return nil
	}
	if !r.readBox(g, at.Get("box")) {
		return nil
	}
	counts := at.Get("cells").Items()
	columns, rows := int(counts[0].WholeNumber()), int(counts[1].WholeNumber())
	if columns*rows > mostGridCells {
		r.AddProblem(at.Get("cells"), document.Problem{Message: fmt.Sprintf("a grid of %d cells", columns*rows),
			Expected: fmt.Sprintf("at most %d, such as [1024, 1024]", mostGridCells)})
		return nil
	}
	var errX, errY error
	g.X, errX = newAxis(g.Box[0], g.Box[2], columns)
	g.Y, errY = newAxis(g.Box[1], g.Box[3], rows)
	if errX != nil || errY != nil {
		r.AddProblem(at.Get("box"), document.Problem{Message: "edges of cells that need more than 61 bits",
			Expected: "corners with fewer digits, or other numbers of cells"})
		return nil
	}
	c.Grid = g
	d := &Domain{typ: c.Type, size: columns * rows, gridCells: columns * rows, finest: g.newLevel("", columns, rows)}
	levels := n.Get("levels")
	if !levels.Present() {
		return d
	}
	if levels.Text() != quadtree {
		r.AddProblem(levels, document.Problem{Message: "the levels of a grid are a quadtree",
			Expected: "each level half the columns and half the rows of the one before", Fix: "levels: " + quadtree})
		return nil
	}
	if columns%2+rows%2 > 0 {
		r.AddProblem(at.Get("cells"), document.Problem{
			Message: fmt.Sprintf("%d × %d cells cannot be halved into a quadtree", columns, rows),
			Expected: fmt.Sprintf("two even numbers; powers of two, such as [64, 64], can be halved down to one "+
				"cell; [%d, %d] lie near",
				columns+columns%2, rows+rows%2),
			Fix: fmt.Sprintf("cells: [%d, %d]", columns+columns%2, rows+rows%2),
		})
		return nil
	}
	for by := 2; columns%by+rows%by == 0; by *= 2 {
		l := g.newLevel(fmt.Sprintf("%dx%d", columns/by, rows/by), columns/by, rows/by)
		l.CategoryOf = make([]uint32, d.size)
		for cell := range l.CategoryOf {
			l.CategoryOf[cell] = uint32(cell/rows/by*(rows/by) + cell%rows/by)
		}
		d.levels = append(d.levels, l)
	}
	return d
}

// quadtree is the value of a grid's levels in a spec.
const quadtree = "quadtree"

// readBox reads the west, south, east and north of a box.
func (r *Reader) readBox(g *Grid, n document.Node) bool {
	items := n.Items()
	for i, item := range items {
		x, ok := r.Number(item)
		if !ok {
			return false
		}
		most, p := int64(180), document.Problem{Message: "a longitude beyond the date line: " +
			document.Clip(item.Text()),
			Expected: "-180 to 180; of a place across the date line a column for each side"}
		if i%2 == 1 {
			most, p = 90, document.Problem{Message: "a latitude beyond the pole: " + document.Clip(item.Text()),
				Expected: "-90 to 90; a box is [west, south, east, north]"}
		}
		if new(big.Rat).Abs(x).Cmp(big.NewRat(most, 1)) > 0 {
			r.AddProblem(item, p)
			return false
		}
		g.Box[i] = x
	}
	switch {
	case g.Box[0].Cmp(g.Box[2]) >= 0:
		r.AddProblem(n, document.Problem{
			Message: fmt.Sprintf("the box ends in the east at %s, which is not east of %s", items[2].Text(),
				items[0].Text()),
			Expected: "west first, then the larger east: a box does not cross the date line; of a place across it a " +
				"column for each side",
		})
	case g.Box[1].Cmp(g.Box[3]) >= 0:
		r.AddProblem(n, document.Problem{
			Message: fmt.Sprintf("the box ends in the north at %s, which is not north of %s", items[3].Text(),
				items[1].Text()),
			Expected: "[west, south, east, north], the south smaller than the north",
		})
	default:
		return true
	}
	return false
}
