package spec

import "slices"

// This file holds the link: which other rows of a unit hold the value of a column.

// Link says that the value of a column is in other rows of the same unit, not in the row itself.
type Link struct {
	// Table is the table of these rows.
	Table string
	// Column is the column there that holds the value, in the only row of the unit; "" means that the value is the
	// number of the unit's rows there that are counted.
	Column string
}

// linkedName returns the name that a column of a parent has among the columns of a child.
func linkedName(parent, column string) string { return parent + "." + column }

// microdataOf returns the microdata of a table, nil if there are none.
func (r *Release) microdataOf(table string) *Synthetic {
	i := slices.IndexFunc(r.Synthetic, func(s Synthetic) bool { return s.Table == table })
	if i < 0 {
		return nil
	}
	return &r.Synthetic[i]
}

// ParentOf returns the parent of a table in its microdata, "" if it has none. Rows whose unit has no row in the parent
// are left out of all counts.
func (r *Release) ParentOf(table string) string {
	if s := r.microdataOf(table); s != nil {
		return s.Parent
	}
	return ""
}
