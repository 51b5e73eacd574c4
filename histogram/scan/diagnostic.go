package scan

// This file holds the diagnostics: how much bounds and policies leave out.

import (
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// diagnosed is the allowance whose rows a diagnostic counts, of which those that the table's bound keeps are taken off.
//
// With n_u rows of a unit that are not left out, k = max_rows and m ≤ k of them counted, where each row is a unit or
// not,
//
//	units over   Σ min(n_u, k+1) − Σ min(n_u, k)    is 1 for each unit of more than k
//	rows over    Σ min(n_u, 2k) − Σ min(n_u, k)     is min(n_u − k, k) for each of these
//	left out     Σ min(d_u, k)                      of d_u rows that are left out, of those that are of a unit
//
// Guarantee: each is a sum over units of integers from 0 to 1, k and k that are functions of the unit's own rows alone,
// so that no neighbour moves it further. Neighbours: both relations. Argument: docs/proofs/values.md.
func (t *task) diagnosed(_ plan.Query, q *query) (int, error) {
	most := uint64(max(t.table.Unit.MaxRows, 0))
	a := allowance{caps: bounding.Uncapped(), hears: countedRows, definition: string(q.diagnostic)}
	switch q.diagnostic {
	case counted.UnitsOver:
		a.caps.Rows = most + 1
	case counted.RowsOver:
		a.caps.Rows = 2 * most
	case counted.RowsLeftOut:
		a.caps.Rows, a.hears = most, leftRows
	}
	return t.allow(a), nil
}

// refineDiagnostic notes what is left out that a query counts.
func refineDiagnostic(_ *task, q *query, what counted.Counted, _ uint64) error {
	q.diagnostic = what.(counted.Diagnostic)
	return nil
}

// diagnosis notes that which rows stay answers a query.
func (t *task) diagnosis(q *query) { t.diagnoses = append(t.diagnoses, q) }

// diagnose answers the diagnostics by the rows that stay for each allowance.
func (t *task) diagnose(stay []*bounding.Kept) {
	for _, q := range t.diagnoses {
		q.Counts = []int64{stay[q.allowance].Rows()}
		if q.diagnostic != counted.RowsLeftOut {
			q.Counts[0] -= stay[0].Rows()
		}
	}
}

// diagnoseRows answers them where each row is a unit of its own, of which so many are left out, and none is over.
func (t *task) diagnoseRows(left int64) {
	for _, q := range t.diagnoses {
		switch q.diagnostic {
		case counted.RowsLeftOut:
			q.Counts = []int64{left}
		default:
			q.Counts = []int64{0}
		}
	}
}
