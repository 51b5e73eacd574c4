package domain

// This file holds the grid: a box of longitudes and latitudes divided into cells.

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Bounds on the cells of a grid: along one axis, and in total.
const (
	MostAlong     = 4096
	mostGridCells = 1 << 20
)

// Grid divides a box of longitudes and latitudes into cells, one for each cell of X and cell of Y. Cells are numbered
// from 0, northwards from the south-west corner and then eastwards, so that their codes ascend as texts. Cells are
// half-open; the eastern and northern edges of the box are closed.
type Grid struct {
	Longitude, Latitude string // columns of the source, in degrees
	// Box is west, south, east and north, exactly, in degrees.
	Box [4]*big.Rat
	// X divides the box from west to east, Y from south to north.
	X, Y *Axis
}

// Cell returns the number of the cell in column x and row y: −1 if either is −1.
func (g *Grid) Cell(x, y int) int {
	if x < 0 || y < 0 {
		return -1
	}
	return x*g.Y.Size() + y
}

// newLevel returns the grid divided into the given number of columns and rows. The code of a category is its column and
// row, counted from 0 in the south-west and padded to equal length, as x07y31; its label is its box, rounded to a
// hundredth of the sides of a cell.
func (g *Grid) newLevel(name string, columns, rows int) *Level {
	x, y := paddedNumbers('x', columns), paddedNumbers('y', rows)
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

// paddedNumbers returns the letter followed by 0 to n−1, all of equal length.
func paddedNumbers(letter byte, n int) []string {
	digits := len(strconv.Itoa(n - 1))
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%c%0*d", letter, digits, i)
	}
	return all
}

// edgeTexts returns the n+1 edges of n equal cells, with as many decimal places as a hundredth of a cell needs.
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
