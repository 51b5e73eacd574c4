package scan

// This file holds the columns of the source that a pass reads, and the readers that they are for.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// passColumns is the columns of the source that a pass reads. A reader of a single column has that column as codes.
// Readers that compute their values from several columns share these as values.
type passColumns struct {
	columns       []source.Column
	readers       []int   // indexes of the tally's readers
	sourceIndexes [][]int // by reader, the indexes of its inputs in columns
	ids           int     // index of the column of the units' ids, −1 if it is not read
}

// declaredType returns the type that a source column has by the spec, and "" for a column computed by an expression.
func declaredType(c *spec.Column) domain.Type {
	if c.From == "" {
		return ""
	}
	return c.Type
}

// valueColumn returns the index of a column that is read as values, and adds the column if it is new.
func (x *passColumns) valueColumn(name string) int {
	if at := slices.IndexFunc(x.columns, func(c source.Column) bool {
		return c.Coder == nil &&
			c.Name == name
	}); at >= 0 {
		return at
	}
	x.columns = append(x.columns, source.Column{Name: name})
	return len(x.columns) - 1
}

// inputsOf returns the input columns of reader i of the pass.
func (x *passColumns) inputsOf(i int, columns []arrow.Array) []arrow.Array {
	own := make([]arrow.Array, len(x.sourceIndexes[i]))
	for j, at := range x.sourceIndexes[i] {
		own[j] = columns[at]
	}
	return own
}
