package synth

import (
	"context"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// This file holds children: rows that are drawn given the rows of another table that they belong to.

// parentOf finds the rows that microdata belong to, and their column that says how many belong to each.
func parentOf(p *plan.Plan, asked plan.Synthetic, before []Microdata) (parent *Microdata, size int, err error) {
	at, ok := p.Parent(asked)
	if !ok || at >= len(before) || before[at].Table != asked.Parent {
		return nil, 0, fmt.Errorf("the rows of %s that they belong to are not drawn", asked.Parent)
	}
	parent = &before[at]
	given := asked.GivenBy()
	size, err = parent.column(p, asked, given[len(given)-1])
	return parent, size, err
}

// column is the place of the column that children have as a given one.
func (m *Microdata) column(p *plan.Plan, child plan.Synthetic, given plan.Factor) (int, error) {
	column := p.Release().Table(child.Table).Column(given.Attribute)
	for i, k := range m.Keys {
		if column != nil && column.Link != nil && k.Attribute.Column == column.Link.Column &&
			k.Attribute.Level == given.Level {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the rows of %s have no column for %s", m.Table, given)
}

// errManyChildren refuses more rows than can be numbered.
var errManyChildren = errors.New("they would be more than 2^31−1 rows: draw fewer rows of their parent")

// children is how many rows belong to all rows, by the column of their numbers: its categories are 0, 1, 2 and so on.
func (m *Microdata) children(size int) (int64, error) {
	n := int64(0)
	for _, c := range m.Codes[size] {
		n += int64(c)
	}
	if n > mostRows {
		return 0, errManyChildren
	}
	return n, nil
}

// drawChildren makes rows for every row of the parent, as many as it says, each given its columns. Rows of one parent
// row stand together and are drawn independently of each other, given that row; but for that their order carries
// nothing.
func (m *Microdata) drawChildren(ctx context.Context, p *plan.Plan, asked plan.Synthetic, law rowLaw,
	before []Microdata, r *stream) error {
	given, ok := law.(givenLaw)
	if !ok {
		return fmt.Errorf("by method %s no rows are drawn given others", asked.Method)
	}
	parent, size, err := parentOf(p, asked, before)
	if err != nil {
		return err
	}
	n, err := parent.children(size)
	if err != nil {
		return err
	}
	m.Rows, m.Parents = int(n), make([]uint32, 0, n)
	for row, children := range parent.Codes[size] {
		for range children {
			m.Parents = append(m.Parents, uint32(row))
		}
	}
	codes := make([][]uint32, len(asked.By))
	for i, f := range asked.GivenBy() {
		column, err := parent.column(p, asked, f)
		if err != nil {
			return err
		}
		own := make([]uint32, n)
		for row, of := range m.Parents {
			own[row] = parent.Codes[column][of]
		}
		codes[len(asked.Own())+i] = own
	}
	m.Codes = given.drawGiven(ctx, codes, m.Rows, r)
	return nil
}
