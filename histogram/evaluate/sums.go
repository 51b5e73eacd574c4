package evaluate

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/statistic"
)

// This file holds the sums of values of the true rows.

// Moments returns the sums of the values of the true rows of each cell, and of their squares.
func (x *truths) Moments(sums, squares string) (func(cell int) statistic.Moments, error) {
	scales, err := x.scalesOf(x.asked[sums])
	if err != nil {
		return nil, err
	}
	return func(cell int) statistic.Moments {
		s := scales(cell)
		m := statistic.Moments{Rows: x.Rows(cell), Sum: x.Part(sums, cell), Squares: math.NaN(),
			Factor: s.factor, Centre: s.centre}
		if squares != "" {
			m.Squares = x.Part(squares, cell)
		}
		return m
	}, nil
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
			return func(cell int) scale { stratum := cell / stride % size; return of(v.Off[stratum], v.By[stratum]) },
				nil
		}
		stride *= levels[i].Size()
	}
	return nil, fmt.Errorf("measurement %s does not tell the strata of its value apart", m.ID)
}
