package scan

// This file holds the weights: the column that rows count by, and the integers that they multiply.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// weight is the place of the table's weights among the task's columns.
func (t *task) weight() (int, error) {
	w := t.table.Weight
	if w == nil {
		return 0, fmt.Errorf("table %s has no weight", t.table.Name)
	}
	for i, c := range t.columns {
		if c.column.Lattice == &w.Lattice {
			return i, nil
		}
	}
	none := spec.Policy{Action: w.Null}
	return t.number(&spec.Column{Name: w.From, From: w.From, Unknown: none, Null: none,
		Declaration: domain.Declaration{Type: domain.Decimal, Lattice: &w.Lattice}})
}

// readWeight adds the weights that rows count by, where they do.
func (t *task) readWeight(what counted.Counted) error {
	if !what.Weighted() {
		return nil
	}
	_, err := t.weight()
	return err
}

// weighted resolves the weight's part of a value, where it has one, whose largest absolute value is most without it.
// It returns the largest with it.
func (t *task) weighted(made *value, v counted.Values, most *big.Int) (*big.Int, error) {
	if !v.Weight {
		return most, nil
	}
	at, err := t.weight()
	if err != nil {
		return nil, err
	}
	l := &t.table.Weight.Lattice
	made.weight, made.lightest = at, l.First
	return most.Mul(most, larger(big.NewInt(l.First), big.NewInt(l.Last))), nil
}

// weigh multiplies what each row adds by its weight, where the value has one.
func (v *value) weigh(columns []tabulate.Codes, out []int64) {
	if v.weight < 0 {
		return
	}
	switch c := columns[v.weight]; {
	case c.Narrow != nil:
		weighed(c.Narrow, v.lightest, out)
	case c.Middle != nil:
		weighed(c.Middle, v.lightest, out)
	default:
		weighed(c.Wide, v.lightest, out)
	}
}

// weighed multiplies by weights.
func weighed[T uint8 | uint16 | uint32](codes []T, lightest int64, out []int64) {
	codes = codes[:len(out)]
	for i, c := range codes {
		out[i] *= lightest + int64(c)
	}
}
