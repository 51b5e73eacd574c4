package scan

// This file holds the task: what all questions to a table need of its rows.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// task is what all questions to one table need of its rows: which columns are read, along which attributes rows are
// counted, what each row adds, and how many rows of a unit count. It knows no row.
type task struct {
	table   *spec.Table
	columns []wantedColumn // columns that the questions need
	// shared is the number of columns, from the first, that all countings of the plan read. The rows that stay are
	// chosen by these: to a question that reads others, equal rows are not interchangeable.
	shared     int
	attributes []attribute
	clamps     []clamp     // clamps of columns whose values have ranges by stratum
	values     []*value    // what rows add; the first is 1
	allowances []allowance // bounds on a unit's rows; the first is the table's own
	queries    []*query    // one per measurement of the table, in the plan's order
	tabulated  []*query    // the queries that are counted cell by cell
	diagnoses  []*query    // the queries that are answered by which rows stay
	part       bool        // the rows are a part of the table's: the counts are added to others before they are answers
}

// newTask compiles the measurements of a table. The columns that other queries to the table read come first.
func newTask(table *spec.Table, measurements []plan.Measurement, read []plan.Query) (task, error) {
	t := task{table: table, values: []*value{nil}, allowances: []allowance{{}}}
	for _, q := range read {
		if q.Table != table.Name {
			continue
		}
		if err := t.addQueryColumns(q); err != nil {
			return task{}, err
		}
	}
	t.shared = len(t.columns)
	for _, m := range measurements {
		if m.Query.Table != table.Name {
			continue
		}
		q, err := t.compileMeasurement(m)
		if err != nil {
			return task{}, err
		}
		t.queries = append(t.queries, q)
	}
	return t, nil
}

// wantedColumn is a column as it is read: as categories, or as numbers.
type wantedColumn struct {
	column  *spec.Column
	numbers bool
	widened bool // numbers beyond the range are one step beyond it, so that they can be counted
}

// newEncoder returns the encoder of the column.
func (w wantedColumn) newEncoder(table *spec.Table) (*encoding.Encoder, error) {
	if w.numbers {
		return encoding.OfNumbers(table, w.column)
	}
	return encoding.OfCategories(table, w.column)
}

// addQueryColumns adds the columns that a query reads, whether or not anything in them is counted. A column with one
// category has no residual, but rows that it leaves out must still be left out. So which rows count does not depend
// on what is asked.
func (t *task) addQueryColumns(q plan.Query) error {
	for _, f := range q.Factors {
		column := t.table.Column(f.Attribute)
		if column == nil || column.Domain == nil {
			return fmt.Errorf("table %s has no column %q", t.table.Name, f.Attribute)
		}
		level, ok := column.Domain.Level(f.Level)
		if !ok {
			return fmt.Errorf("%s: the column has no such level", f)
		}
		t.attributeIndex(column, level)
	}
	return counters[q.Counted.Kind()].read(t, q.Counted)
}

// axisOf returns the axis along which rows are counted by an attribute.
func (t *task) axisOf(a attribute) tabulate.Axis {
	if a.level == nil {
		return tabulate.Axis{Column: a.column, Size: t.columns[a.column].column.Lattice.PointCount()}
	}
	return tabulate.Axis{Column: a.column, Size: a.level.Size(), CodeOf: a.level.CategoryOf}
}

// cellsOf returns how many cells attributes have.
func (t *task) cellsOf(attributes []int) int {
	cells := 1
	for _, a := range attributes {
		cells *= t.axisOf(t.attributes[a]).Size
	}
	return cells
}

// attribute is a column of a table at a level or, if level is nil, at the lattice indexes of its values.
type attribute struct {
	column int // index of the task's column
	level  *domain.Level
}

// attributeIndex returns the index of a column at a level among the task's attributes.
func (t *task) attributeIndex(c *spec.Column, level *domain.Level) int {
	return indexOrAppend(&t.attributes, attribute{t.categoryColumn(c), level})
}

// indexOrAppend returns the index of an entry in a list, and appends the entry if the list lacks it.
func indexOrAppend[T comparable](list *[]T, entry T) int {
	if i := slices.Index(*list, entry); i >= 0 {
		return i
	}
	*list = append(*list, entry)
	return len(*list) - 1
}

// categoryColumn returns the index of a column, read as categories, among the task's columns.
func (t *task) categoryColumn(c *spec.Column) int {
	return indexOrAppend(&t.columns, wantedColumn{column: c})
}
