package scan

// This file holds the weights: the column that says how often each row counts, and the multiplication by it.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// weightColumn returns the index of the table's weights among the task's columns.
func (t *task) weightColumn() (int, error) {
	w := t.table.Weight
	if w == nil {
		return 0, fmt.Errorf("table %s has no weight", t.table.Name)
	}
	for i, c := range t.columns {
		if t.holdsWeights(c) {
			return i, nil
		}
	}
	none := spec.Policy{Action: w.Null}
	return t.addNumberColumn(&spec.Column{Name: w.From, From: w.From, Unknown: none, Null: none,
		Declaration: domain.Declaration{Type: domain.Decimal, Lattice: &w.Lattice}})
}

// holdsWeights reports whether a column holds the weights of rows.
func (t *task) holdsWeights(w wantedColumn) bool {
	return t.table.Weight != nil && w.column.Lattice == &t.table.Weight.Lattice
}

// readWeight adds the weights if rows count by them.
func (t *task) readWeight(what counted.Counted) error {
	if !what.Weighted() {
		return nil
	}
	_, err := t.weightColumn()
	return err
}

// resolveWeight resolves the weight's part of a value, if the value has one. most is the largest absolute value
// without the weight; resolveWeight returns the largest with it.
func (t *task) resolveWeight(made *value, v counted.Values, most *big.Int) (*big.Int, error) {
	if !v.Weight {
		return most, nil
	}
	at, err := t.weightColumn()
	if err != nil {
		return nil, err
	}
	l := &t.table.Weight.Lattice
	made.weight, made.lightest = at, l.First
	return most.Mul(most, largerMagnitude(big.NewInt(l.First), big.NewInt(l.Last))), nil
}

// multiplyWeights multiplies what each row adds by its weight, if the value has one.
func (v *value) multiplyWeights(columns []tabulate.Codes, out []int64) {
	if v.weight < 0 {
		return
	}
	switch c := columns[v.weight]; {
	case c.U8 != nil:
		multiplyBy(c.U8, v.lightest, out)
	case c.U16 != nil:
		multiplyBy(c.U16, v.lightest, out)
	default:
		multiplyBy(c.U32, v.lightest, out)
	}
}

// multiplyBy multiplies by weights.
func multiplyBy[T uint8 | uint16 | uint32](codes []T, lightest int64, out []int64) {
	codes = codes[:len(out)]
	for i, c := range codes {
		out[i] *= lightest + int64(c)
	}
}
