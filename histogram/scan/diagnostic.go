package scan

// This file holds the diagnostics: how much bounds and policies leave out.

import (
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
)

// diagnosticAllowance returns the index of the allowance whose rows a diagnostic counts. The rows that the table's
// bound keeps are subtracted from that count.
//
// Let n_u be the number of rows of a unit u that are not left out, k = max_rows, and m ≤ k the number of those rows
// that are counted, whether or not each row is a unit. The diagnostics are
//
//	units over   Σ min(n_u, k+1) − Σ min(n_u, k)    1 for each unit with more than k rows
//	rows over    Σ min(n_u, 2k) − Σ min(n_u, k)     min(n_u − k, k) for each of these units
//	left out     Σ min(d_u, k)                      d_u is the number of rows of u that are left out
//
// Guarantee: each is a sum over units of integers from 0 to 1, k and k that are functions of the unit's own rows
// alone, so its sensitivity is at most 1, k and k. Neighbours: both relations. Argument: docs/proofs/values.md.
func (t *task) diagnosticAllowance(_ plan.Query, q *query) (int, error) {
	most := uint64(max(t.table.Unit.MaxRows, 0))
	a := allowance{caps: bounding.Uncapped(), eligible: countedRows, definition: string(q.diagnostic)}
	switch q.diagnostic {
	case counted.UnitsOver:
		a.caps.Rows = most + 1
	case counted.RowsOver:
		a.caps.Rows = 2 * most
	case counted.RowsLeftOut:
		a.caps.Rows, a.eligible = most, leftOutRows
	}
	return t.addAllowance(a), nil
}

// refineDiagnostic records which diagnostic a query asks for.
func refineDiagnostic(_ *task, q *query, what counted.Counted, _ uint64) error {
	q.diagnostic = what.(counted.Diagnostic)
	return nil
}

// queueDiagnostic records a query that is answered by which rows stay, without counting cells.
func (t *task) queueDiagnostic(q *query) { t.diagnoses = append(t.diagnoses, q) }

// answerDiagnostics answers the diagnostics from the rows that stay for each allowance.
func (t *task) answerDiagnostics(stay []*bounding.KeptRows) {
	for _, q := range t.diagnoses {
		q.Counts = []int64{stay[q.allowance].Rows()}
		if q.diagnostic != counted.RowsLeftOut {
			q.Counts[0] -= stay[0].Rows()
		}
	}
}

// answerRowDiagnostics answers the diagnostics of a table in which each row is a unit. left is how many rows are left
// out; no unit exceeds the bound.
func (t *task) answerRowDiagnostics(left int64) {
	for _, q := range t.diagnoses {
		switch q.diagnostic {
		case counted.RowsLeftOut:
			q.Counts = []int64{left}
		default:
			q.Counts = []int64{0}
		}
	}
}
