package scan

// This file holds the task: what all questions to a table ask of its rows.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// task is what all questions to one table ask of its rows: which columns are read, along which attributes rows are
// counted, what each adds, and how many rows of a unit count. It knows no row.
type task struct {
	table      *spec.Table
	columns    []wanted // that the questions need
	attributes []attribute
	clamps     []clamp     // of columns whose values have ranges by stratum
	values     []*value    // that rows add; the first is 1
	allowances []allowance // that queries bound a unit's rows by; the first is the table's own bound
	queries    []*query    // one per measurement of the table, in the plan's order
	tabulated  []*query    // those of them that are counted cell by cell, and
	diagnoses  []*query    // those that which rows stay answers
}

// newTask compiles the measurements of a table, and adds the columns that other queries to it read.
func newTask(table *spec.Table, measurements []plan.Measurement, read []plan.Query) (task, error) {
	t := task{table: table, values: []*value{nil}, allowances: []allowance{{}}}
	for _, m := range measurements {
		if m.Query.Table != table.Name {
			continue
		}
		q, err := t.compile(m)
		if err != nil {
			return task{}, err
		}
		t.queries = append(t.queries, q)
	}
	for _, q := range read {
		if q.Table != table.Name {
			continue
		}
		if err := t.read(q); err != nil {
			return task{}, err
		}
	}
	return t, nil
}

// wanted is a column as it is read: as categories, or as numbers.
type wanted struct {
	column  *spec.Column
	numbers bool
}

// encoder says which codes a column has.
func (w wanted) encoder(table *spec.Table) (*encoding.Encoder, error) {
	if w.numbers {
		return encoding.OfNumbers(table, w.column)
	}
	return encoding.OfCategories(table, w.column)
}

// Read adds the columns that a query reads, whether or not anything of them is counted: a column of one category has no
// residual, and its rows that are left out are left out all the same. So which rows count does not depend on what is
// asked.
func (t *task) read(q plan.Query) error {
	for _, f := range q.Factors {
		column := t.table.Column(f.Attribute)
		if column == nil || column.Domain == nil {
			return fmt.Errorf("table %s has no column %q", t.table.Name, f.Attribute)
		}
		level, ok := column.Domain.Level(f.Level)
		if !ok {
			return fmt.Errorf("%s: the column has no such level", f)
		}
		t.attribute(column, level)
	}
	return counters[q.Counted.Kind()].read(t, q.Counted)
}

// axis is an attribute as rows are counted along it.
func (t *task) axis(a attribute) tabulate.Axis {
	if a.level == nil {
		return tabulate.Axis{Column: a.column, Size: t.columns[a.column].column.Lattice.Places()}
	}
	return tabulate.Axis{Column: a.column, Size: a.level.Size(), Of: a.level.Of}
}

// cellsOf is how many cells attributes have.
func (t *task) cellsOf(attributes []int) int {
	cells := 1
	for _, a := range attributes {
		cells *= t.axis(t.attributes[a]).Size
	}
	return cells
}

// attribute is a column of a table at a level or, where level is nil, at the places of its values.
type attribute struct {
	column int // among the task's columns
	level  *domain.Level
}

// attribute is the place of a column at a level among the task's attributes.
func (t *task) attribute(c *spec.Column, level *domain.Level) int {
	return place(&t.attributes, attribute{t.column(c), level})
}

// place is where an entry stands in a list, which it is added to where it is not there.
func place[T comparable](list *[]T, entry T) int {
	if i := slices.Index(*list, entry); i >= 0 {
		return i
	}
	*list = append(*list, entry)
	return len(*list) - 1
}

// column is the place of a column among the task's, as categories.
func (t *task) column(c *spec.Column) int { return place(&t.columns, wanted{c, false}) }
