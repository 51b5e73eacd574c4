package scan

// This file holds the intake: which columns of the source a pass reads, and whose they are.

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// intake is the columns of the source that a pass reads. A reader that is read from one of them, or made of one, has it
// as codes; those that are made of several share these as values.
type intake struct {
	columns []source.Column
	readers []int   // of the tally's
	places  [][]int // of each of them, its columns among the columns
	ids     int     // that of the units, −1 where it is not read
}

// declaredType is the type that a column of the source has by the spec, "" where the column is made of it by an
// expression.
func declaredType(c *spec.Column) domain.Type {
	if c.From == "" {
		return ""
	}
	return c.Type
}

// values is the place of a column that is read as its values are.
func (x *intake) values(name string) int {
	if at := slices.IndexFunc(x.columns, func(c source.Column) bool { return c.Coder == nil && c.Name == name }); at >= 0 {
		return at
	}
	x.columns = append(x.columns, source.Column{Name: name})
	return len(x.columns) - 1
}

// of are the columns of reader i of the intake's.
func (x *intake) of(i int, columns []arrow.Array) []arrow.Array {
	own := make([]arrow.Array, len(x.places[i]))
	for j, at := range x.places[i] {
		own[j] = columns[at]
	}
	return own
}
