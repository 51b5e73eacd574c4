package encoding

// This file holds computed columns, whose values are computed row by row from columns of the source.

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// Compute computes the values of rows from their inputs, which are arrays of one length and of the types that
// [source.Coder] documents. values is an array of that length and of a type that Encoder.codeReader reads; an array
// of another type breaks the contract. It is valid as long as the inputs are. misfits, nil if there are none, says of
// each row whether an input of it has a value that could not be read: such a row has no value, whatever values holds
// for it.
//
// Guarantee: the value of a row is a function of its own inputs and of what is public. Neighbours: both relations.
// Argument: docs/proofs/bounding.md.
type Compute func(inputs []arrow.Array) (values arrow.Array, misfits []domain.Fit)

// Computing returns how the values of a column are computed, nil for a column that is read as it is.
func Computing(table *spec.Table, c *spec.Column) (Compute, error) {
	switch {
	case c.Expression != nil:
		return expressionValues(table, c.Expression)
	case c.Lookup != nil:
		return lookupValues(table, c)
	case c.Grid != nil:
		return func(inputs []arrow.Array) (arrow.Array, []domain.Fit) {
			return gridCells(c.Grid, inputs[0], inputs[1]), nil
		}, nil
	}
	return nil, nil
}

// computeValues returns the values of a column, given its inputs.
func (e *Encoder) computeValues(inputs []arrow.Array) (arrow.Array, []domain.Fit) {
	if e.compute == nil {
		return inputs[0], nil
	}
	return e.compute(inputs)
}

// Diagnosis returns the value of a row for the operator's diagnostics, or the inputs from which it is computed.
func (e *Encoder) Diagnosis(inputs []arrow.Array, row int) string {
	texts := make([]string, len(inputs))
	for i, name := range e.Column.Inputs() {
		texts[i] = strings.Clone(inputs[i].ValueStr(row)) // the column's memory is reused
		if e.compute != nil {
			texts[i] = name + " " + texts[i]
		}
	}
	return strings.Join(texts, ", ")
}
