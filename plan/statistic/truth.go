package statistic

import (
	"math"

	"github.com/dprelease/dprelease/plan"
)

// This file holds what a figure of the true rows is worked out from, for those who hold the truth.

// Exact are the exact answers about the true rows of a table. Only packages below histogram make them. A statistic
// returns the figure of a cell to its caller there; it keeps nothing and prints nothing (docs/proofs/evaluate.md).
type Exact interface {
	// Unit returns the unit of the table's count: what a row of weight 1 stands for.
	Unit() float64
	// Rows returns how many rows a cell has, by weight.
	Rows(cell int) float64
	// Part returns what a measurement counts in a cell.
	Part(id string, cell int) float64
	// Moments returns the sums of a column's values that two measurements add up; squares may be "".
	Moments(sums, squares string) (func(cell int) Moments, error)
	// Term returns the rows of a cell that a term takes, by weight, and the sum of their values.
	Term(t plan.Term) (func(cell int) (rows, sum float64), error)
	// Values returns the values of a column that occur in a cell, ascending, and how many rows have each. A measurement
	// of quantiles says of which column.
	Values(id string) (func(cell int) (values []float64, rows []int64), error)
	// Attributes returns the attributes of the table, and how many categories each has.
	Attributes() (by []string, sizes []int, err error)
}

// Truth is a figure of the true rows of one cell. It is an interval if every value in it is such a figure, as for
// quantiles, and NaN if there is none.
type Truth struct{ Low, High float64 }

func exactly(x float64) Truth { return Truth{x, x} }

// Moments are the sums of the values of the true rows of a cell, and of their squares, about a centre.
type Moments struct {
	Rows, Sum, Squares float64
	// Centre is in the unit of the column, and so is Factor, what 1 in a sum stands for.
	Factor, Centre float64
}

func (m Moments) mean() float64 { return m.Centre + float64(m.Factor*quotient(m.Sum, m.Rows)) }

func (m Moments) variance() float64 {
	mean := quotient(m.Sum, m.Rows)
	return m.Factor * m.Factor * max(quotient(m.Squares, m.Rows)-float64(mean*mean), 0)
}

// ofMoments returns a figure of the moments of a column.
func ofMoments(f plan.Figure, x Exact, figure func(m Moments) float64) (func(cell int) Truth, error) {
	moments, err := x.Moments(f.Sums, f.Squares)
	if err != nil {
		return nil, err
	}
	return func(cell int) Truth { return exactly(figure(moments(cell))) }, nil
}

// quotient returns a/b, NaN for b = 0.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
