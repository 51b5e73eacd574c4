package synth

import (
	"context"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// This file holds children: rows drawn given the parent rows that they belong to, which are rows of another table.

// parentOf returns the microdata of the parent table, and the index of their column that holds the number of children.
func parentOf(p *plan.Plan, synthetic plan.Synthetic, before []Microdata) (parent *Microdata, size int, err error) {
	at, ok := p.Parent(synthetic)
	if !ok || at >= len(before) || before[at].Table != synthetic.Parent {
		return nil, 0, fmt.Errorf("the rows of %s that they belong to are not drawn", synthetic.Parent)
	}
	parent = &before[at]
	given := synthetic.GivenColumns()
	size, err = parent.givenColumn(p, synthetic, given[len(given)-1])
	return parent, size, err
}

// givenColumn returns the index of the column of m that its children have as a given one.
func (m *Microdata) givenColumn(p *plan.Plan, child plan.Synthetic, given plan.Factor) (int, error) {
	column := p.Release().Table(child.Table).Column(given.Attribute)
	for i, k := range m.Keys {
		if column != nil && column.Link != nil && k.Attribute.Column == column.Link.Column &&
			k.Attribute.Level == given.Level {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the rows of %s have no column for %s", m.Table, given)
}

// errManyChildren is the error for more rows than can be numbered.
var errManyChildren = errors.New("they would be more than 2^31−1 rows: draw fewer rows of their parent")

// countChildren returns the number of children of all rows, from the column that holds their numbers: its categories
// are 0, 1, 2 and so on.
func (m *Microdata) countChildren(size int) (int64, error) {
	n := int64(0)
	for _, c := range m.Codes[size] {
		n += int64(c)
	}
	if n > mostRows {
		return 0, errManyChildren
	}
	return n, nil
}

// drawChildren draws the children of every row of the parent, as many as that row says, each given the parent row's
// columns. The children of a parent row are consecutive, and are drawn independently of each other given that row.
// Otherwise their order carries no information.
func (m *Microdata) drawChildren(ctx context.Context, p *plan.Plan, synthetic plan.Synthetic, law rowLaw,
	before []Microdata, r *stream) error {
	given, ok := law.(givenLaw)
	if !ok {
		return fmt.Errorf("by method %s no rows are drawn given others", synthetic.Method)
	}
	parent, size, err := parentOf(p, synthetic, before)
	if err != nil {
		return err
	}
	n, err := parent.countChildren(size)
	if err != nil {
		return err
	}
	m.Rows, m.Parents = int(n), make([]uint32, 0, n)
	for row, children := range parent.Codes[size] {
		for range children {
			m.Parents = append(m.Parents, uint32(row))
		}
	}
	codes := make([][]uint32, len(synthetic.By))
	for i, f := range synthetic.GivenColumns() {
		column, err := parent.givenColumn(p, synthetic, f)
		if err != nil {
			return err
		}
		own := make([]uint32, n)
		for row, of := range m.Parents {
			own[row] = parent.Codes[column][of]
		}
		codes[len(synthetic.OwnColumns())+i] = own
	}
	m.Codes = given.drawGiven(ctx, codes, m.Rows, r)
	return nil
}
