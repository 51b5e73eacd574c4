package plan

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the distribution: the rows of each cell counted by bins of a column's places, from which quantiles
// are read.

// Distribution says that a measurement counts the rows of each cell by bins of a column: of Width places of its range
// each, from the first on, the last bin of what is left. Where Weight, rows count by their weights in steps. There are
// as many answers for a cell as bins, next to one another.
//
// Where Total is 0 they are the counts. Else the first is Total times the rows of the cell, and the others are the
// integers of the strategy for prefix sums that Method, Kappa and Bits name, as those of a [Factor] of [Ranges].
type Distribution struct {
	Column string `json:"column"`
	Width  int64  `json:"width"`
	Weight bool   `json:"weight,omitempty"`
	Total  int64  `json:"total,omitempty"`
	Method string `json:"method,omitempty"`
	Kappa  string `json:"kappa,omitempty"`
	Bits   int    `json:"bits,omitempty"`
}

// Bins is how many bins a range has.
func (d Distribution) Bins(l *domain.Lattice) int64 { return (l.Last-l.First)/d.Width + 1 }

// factor is the strategy as that of a factor.
func (d Distribution) factor() Factor {
	return Factor{Attribute: d.Column, Basis: Ranges, Sums: prefixSums, Method: d.Method, Kappa: d.Kappa, Bits: d.Bits}
}

// Strategy is the column of the strategy for so many bins, and its axis: nil where the counts themselves are the
// answers. It fails on a strategy that there is not.
func (d Distribution) Strategy(l *domain.Lattice) (*residual.Column, residual.Axis, error) {
	if d.Total == 0 {
		return nil, residual.Axis{}, nil
	}
	ranging, err := d.factor().Ranging()
	if err != nil {
		return nil, residual.Axis{}, err
	}
	c, err := residual.NewRanged(ranging, make([]int, d.Bins(l)))
	return c, residual.Axis{Level: 1, Sums: residual.Prefixes}, err
}

// Check fails where it cannot be counted.
func (d Distribution) Check(t *spec.Table) error {
	c := t.Column(d.Column)
	switch {
	case c == nil || c.Lattice == nil:
		return fmt.Errorf("the column %q has no range", d.Column)
	case d.Width < 1 || d.Total < 0 || d.Total > limit.Reach || d.Bins(c.Lattice) > limit.Bins:
		return fmt.Errorf("the bins of %s are too narrow, or none", d.Column)
	case d.Total == 0 && (d.Method != "" || d.Kappa != "" || d.Bits != 0):
		return errors.New("counts of bins have no strategy")
	case d.Weight && t.Weight == nil:
		return errors.New("rows without weights count by them")
	}
	_, _, err := d.Strategy(c.Lattice)
	return err
}

// Moves is how far one row moves the answers of its cell: their L1 norm, the square of their L2 norm, the largest of
// them, and by how much the inner product of the moves of two rows of one cell is below 0 at most.
func (d Distribution) Moves(l *domain.Lattice) (norm, squares, reach, facing int64, err error) {
	c, axis, err := d.Strategy(l)
	if c == nil || err != nil {
		return 1, 1, 1, 0, err
	}
	m := c.Moves(axis.Level)
	return d.Total + m.Norm, d.Total*d.Total + m.Squares, max(d.Total, m.Reach), max(0, m.Facing-d.Total*d.Total), nil
}

// Prefixes are the sums of the first bins of a cell, up to each of them, as weights of the cell's answers: of every
// answer that has one, by its place.
func (d Distribution) Prefixes(l *domain.Lattice) ([][]Weighted, error) {
	n := int(d.Bins(l))
	c, axis, err := d.Strategy(l)
	if c == nil || err != nil {
		return nil, err
	}
	out, q := make([][]Weighted, n), make([]float64, n)
	for j := range n - 1 {
		q[j] = 1
		out[j] = append(out[j], Weighted{0, c.Weights(axis, 0, q, false)[0] / float64(d.Total)})
		for k, w := range c.Weights(axis, axis.Level, q, false) {
			if w != 0 {
				out[j] = append(out[j], Weighted{k + 1, w})
			}
		}
	}
	out[n-1] = []Weighted{{0, 1 / float64(d.Total)}} // the strategy's integers say nothing of all
	return out, nil
}

// Weighted is an answer of a cell, by its place, with a weight.
type Weighted struct {
	Place  int
	Weight float64
}
