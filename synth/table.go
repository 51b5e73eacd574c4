package synth

import (
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// Table is a published table: a row per combination of its keys' categories, in domain order, the last key's categories
// changing fastest; of a sparse table, a row for each cell above its threshold.
type Table struct {
	Path       string
	Marginal   string
	Keys       []Key
	Statistics []Statistic
	Numbers    []Number // figures other than counts, in the plan's order
	Cells      int
	// Reports are the reports that were counted for a question put to respondents, and Respondents how many of these
	// there are in all; nil and 0 for other tables.
	Reports     *measured.Reports
	Respondents int64
	// Forms are how many reports each form of a question has, of which devices drew one; nil for other tables.
	Forms []int64
	// CellIndices are the indexes, in domain order, of the cells that have a row: in a sparse table ascending, in a
	// table of chosen cells in the order of their choice; nil if all cells have a row.
	CellIndices []uint64
}

// Key is an attribute of a table with its categories. Type is the type of its column.
type Key struct {
	Attribute spec.Attribute
	Type      domain.Type
	Level     *domain.Level
}

// Category returns the category of a key in a row of the table.
func (t Table) Category(row, key int) domain.Category {
	return t.Keys[key].Level.Categories[t.CategoriesOf(key)(row)]
}

// CategoriesOf returns a function that gives the category of a key in a row, as an index into its level.
func (t Table) CategoriesOf(key int) func(row int) int {
	size, stride := uint64(t.Keys[key].Level.Size()), uint64(1)
	for _, later := range t.Keys[key+1:] {
		stride *= uint64(later.Level.Size())
	}
	if t.CellIndices == nil {
		return func(row int) int { return int(uint64(row) / stride % size) }
	}
	return func(row int) int { return int(t.CellIndices[row] / stride % size) }
}

// Number is a figure other than the count, in every cell.
type Number struct {
	plan.Figure
	FigureColumns
}

// keysOf returns the keys of a query's factors, with the labels of their categories.
func keysOf(r *spec.Release, q plan.Query) ([]Key, error) {
	levels, err := q.Levels(r)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(levels))
	for i, f := range q.Factors {
		attribute := spec.Attribute{Column: f.Attribute, Level: f.Level}
		keys[i] = Key{
			Attribute: attribute,
			Type:      r.Table(q.Table).Column(f.Attribute).KeyType(),
			Level:     r.Words.Labelled(q.Table, attribute.String(), levels[i]),
		}
	}
	return keys, nil
}
