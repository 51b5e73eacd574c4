package evaluate

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// This file holds the figures that are computed from sums of values.

// moments are the sums of the true rows of a cell.
type moments struct {
	scale
	rows, sum, squares float64
}

// ofMoments returns the truth of figures of moments, in the unit of the table's count.
func ofMoments(figure func(m moments, unit float64) float64) func(x *truths) (func(cell int) truth, error) {
	return func(x *truths) (func(cell int) truth, error) {
		s, err := x.scalesOf(x.asked[x.figure.Sums])
		if err != nil {
			return nil, err
		}
		counts, sums, squares := x.got[""].Counts, x.got[x.figure.Sums].Counts, x.got[x.figure.Squares].Counts
		return func(cell int) truth {
			m := moments{s(cell), float64(counts[cell]), float64(sums[cell]), float64(squares[cell])}
			return exactly(figure(m, x.unit))
		}, nil
	}
}

func sumOf(m moments, unit float64) float64 { return unit * (m.factor*m.sum + m.centre*m.rows) }

func meanOf(m moments, _ float64) float64 { return m.centre + m.factor*quotient(m.sum, m.rows) }

func varianceOf(m moments, _ float64) float64 {
	mean := quotient(m.sum, m.rows)
	return m.factor * m.factor * max(quotient(m.squares, m.rows)-mean*mean, 0)
}

func deviationOf(m moments, unit float64) float64 { return math.Sqrt(varianceOf(m, unit)) }

// quotient returns a/b, NaN for b = 0.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// scale is how sums are read: each integer is factor units of the column from the centre.
type scale struct{ factor, centre float64 }

// scalesOf returns the scales of a measurement's cells: one, or one for each stratum if its value depends on strata.
func (x *truths) scalesOf(m plan.Measurement) (func(cell int) scale, error) {
	v, release := m.Query.Counted.(counted.Values), x.comparison.plan.Release()
	step, _ := release.Table(m.Query.Table).Column(v.Column).Lattice.Step.Float64()
	of := func(minus, by int64) scale {
		return scale{step / (float64(v.Times) * float64(by)), step * float64(minus) / float64(v.Times)}
	}
	if v.Per == "" {
		one := of(v.Minus, 1)
		return func(int) scale { return one }, nil
	}
	levels, err := m.Query.Levels(release)
	if err != nil {
		return nil, err
	}
	stride := 1
	for i := len(levels) - 1; i >= 0; i-- {
		if size := levels[i].Size(); m.Query.Factors[i].Attribute == v.Per && size == len(v.By) {
			return func(cell int) scale { stratum := cell / stride % size; return of(v.Off[stratum], v.By[stratum]) }, nil
		}
		stride *= levels[i].Size()
	}
	return nil, fmt.Errorf("measurement %s does not tell the strata of its value apart", m.ID)
}
