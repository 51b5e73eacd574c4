package query

import "github.com/dprelease/dprelease/plan"

// This file holds what cannot be asked of tables of what is left out.

// lacksRows says that a table counts what is left out and not the rows of a question, nothing of other tables.
func lacksRows(t plan.Table) []lack {
	if t.Counts == "" {
		return nil
	}
	return []lack{{says: "counts " + t.Counts + ", and no others"}}
}
