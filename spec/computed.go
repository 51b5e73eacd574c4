package spec

// This file holds computed columns: those whose values are made, row by row, of columns of the source.

// Lookup is a column of a public table, looked up by the key of the row.
type Lookup struct {
	// Join is the name of a public table among those that the column's table is joined to.
	Join string
	// Column is a column of it.
	Column string
	// On are the columns of the key, which are read of the source.
	On []string
}

// Inputs are the columns of the source that the column's values are made of: one for a column that is read as it is, none
// for one that another decides.
func (c *Column) Inputs() []string {
	switch {
	case c.Expression != nil:
		return c.Expression.Sources()
	case c.Lookup != nil:
		return c.Lookup.On
	case c.Grid != nil:
		return []string{c.Grid.Longitude, c.Grid.Latitude}
	case c.From != "":
		return []string{c.From}
	}
	return nil
}
