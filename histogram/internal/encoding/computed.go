package encoding

// This file holds computed columns: those whose values are made, row by row, of columns of the source.

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// Compute makes the values of rows of those of the columns that they are made of, which are arrays of one length and of
// the types that [source.Coder] documents. values is an array of that length and of a type that Encoder.reader reads,
// and valid as long as the inputs are; one of another type breaks the contract. misfits, nil where there are none, says
// of each row whether an input of it has a value that could not be read: such a row's value is none, whatever stands in
// values.
//
// Guarantee: the value of a row is a function of its own inputs and of what is public. Neighbours: both relations.
// Argument: docs/proofs/bounding.md.
type Compute func(inputs []arrow.Array) (values arrow.Array, misfits []domain.Fit)

// Computing is how the values of a column are made, nil for one that is read as it is.
func Computing(table *spec.Table, c *spec.Column) (Compute, error) {
	switch {
	case c.Expression != nil:
		return evaluating(table, c.Expression)
	case c.Lookup != nil:
		return lookupValues(table, c)
	case c.Grid != nil:
		return func(inputs []arrow.Array) (arrow.Array, []domain.Fit) {
			return gridCells(c.Grid, inputs[0], inputs[1]), nil
		}, nil
	}
	return nil, nil
}

// values are those of a column, given those that it is made of.
func (e *Encoder) values(inputs []arrow.Array) (arrow.Array, []domain.Fit) {
	if e.compute == nil {
		return inputs[0], nil
	}
	return e.compute(inputs)
}

// Diagnosis is what the operator is told of a row's value: the value, or those that it is made of.
func (e *Encoder) Diagnosis(inputs []arrow.Array, row int) string {
	texts := make([]string, len(inputs))
	for i, name := range e.Column.Inputs() {
		texts[i] = strings.Clone(inputs[i].ValueStr(row)) // the column's memory is used again
		if e.compute != nil {
			texts[i] = name + " " + texts[i]
		}
	}
	return strings.Join(texts, ", ")
}
