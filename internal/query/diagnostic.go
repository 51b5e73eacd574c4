package query

import "github.com/dprelease/dprelease/plan"

// This file holds what cannot be asked of tables that count what is left out.

// lacksRows reports that a table counts what is left out, rather than rows. It returns nil for other tables.
func lacksRows(t plan.Table) []lack {
	if t.Counts.IsZero() {
		return nil
	}
	return []lack{{says: "counts " + t.Counts.String() + ", and no others"}}
}
