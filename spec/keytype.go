package spec

import "github.com/dprelease/dprelease/spec/domain"

// This file holds what columns whose categories nobody lists are as keys of tables.

// wholeLength is how many characters every whole number has that fits into 64 bits whatever its digits and sign are.
const wholeLength = 18

// KeyType is the type of a column's categories as keys of published tables. Those that nobody lists are integers where
// all of them would fit into 64 bits, and else texts: what type they have does not depend on which of them are
// selected.
func (c *Column) KeyType() domain.Type {
	if c.Domain != nil && c.Domain.Discover() != nil && c.Domain.Discover().MaxLength > wholeLength {
		return domain.Text
	}
	return c.Type
}

// Discovers are the columns of a table whose categories are not listed, among those that a marginal is by.
func (t *Table) Discovers(by []Attribute) (all []*Column) {
	for _, a := range by {
		if c := t.Column(a.Column); c != nil && c.Domain != nil && c.Domain.Discover() != nil {
			all = append(all, c)
		}
	}
	return all
}
