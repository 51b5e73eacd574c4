package spec

import "slices"

// This file holds the link: where the values are that other rows of a unit have.

// Link says of a column that its value is not in the row, but in other rows of the same unit.
type Link struct {
	// Table is where these rows are.
	Table string
	// Column is the column there whose value it is, in the one row that the unit has; "": the value is how many rows the
	// unit has there that are counted.
	Column string
}

// linked is the name of a parent's column among those of a child.
func linked(parent, column string) string { return parent + "." + column }

// microdataOf finds the microdata of a table, nil where there are none.
func (r *Release) microdataOf(table string) *Synthetic {
	i := slices.IndexFunc(r.Synthetic, func(s Synthetic) bool { return s.Table == table })
	if i < 0 {
		return nil
	}
	return &r.Synthetic[i]
}

// ParentOf is the table that the rows of a table belong to in its microdata, "" where they belong to none: those whose
// unit has no row there are left out of all that is counted.
func (r *Release) ParentOf(table string) string {
	if s := r.microdataOf(table); s != nil {
		return s.Parent
	}
	return ""
}
