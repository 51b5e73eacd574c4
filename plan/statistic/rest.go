package statistic

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what the error of a figure rests on: which parts, and with which factors.

// Measured are the measurements of a plan, and the confidential table that figures are of.
type Measured struct {
	Rows *spec.Table
	ByID map[string]plan.Measurement
}

// Rest is what the error of a figure rests on. Nothing enters one whose error depends on more than a number of rows.
type Rest struct {
	// PerRows says that the error is said for a cell of a number of rows, and that the factors are those of the figure
	// times these rows; else it is the same for every cell.
	PerRows bool
	Counts  float64 // the square of the factor that the noise of the table's count has
	Parts   []Share
}

// Share is a part that a figure rests on, with the square of the factor that its noise has in the figure.
type Share struct {
	ID      string
	Squared float64
}

// leftOpen is the part of all that a figure can be that its interval leaves open, at most, where it says something.
const leftOpen = 0.5

// unlimited is the most that a figure can be where nothing bounds it.
var unlimited = math.Inf(1)

func squareOf(x float64) float64 { return float64(x * x) }
