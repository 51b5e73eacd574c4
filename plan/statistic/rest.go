package statistic

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what the error of a figure depends on: which parts, and with which factors.

// Measured are the measurements of a plan, and the confidential table of the figures.
type Measured struct {
	Rows *spec.Table
	ByID map[string]plan.Measurement
}

// ErrorSources is what the error of a figure depends on. It is empty for a figure whose error depends on more than a
// number of rows.
type ErrorSources struct {
	// PerRows reports whether the error is stated for a cell of a number of rows, with factors for the figure times
	// these rows; otherwise it is the same for every cell.
	PerRows bool
	Counts  float64 // the squared factor of the noise of the table's count
	Parts   []Share
}

// Share is a part that a figure is computed from, with the square of the factor that its noise has in the figure.
type Share struct {
	ID      string
	Squared float64
}

// leftOpen is the largest part of a figure's possible range that an informative interval covers.
const leftOpen = 0.5

// unlimited is the largest value of a figure that nothing bounds.
var unlimited = math.Inf(1)

func squareOf(x float64) float64 { return float64(x * x) }
