package scan

// This file holds the diagnostics: how much bounds and policies leave out.

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/plan"
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
func (t *task) diagnosed(asked plan.Query) (int, error) {
	if len(asked.Factors) > 0 || asked.Value != nil || asked.Quantile != nil || asked.Distribution != nil ||
		asked.Distinct != nil || asked.PerUnit != nil {
		return 0, errors.New("asks for what this version cannot count at once")
	}
	most := uint64(max(t.table.Unit.MaxRows, 0))
	a := allowance{caps: bounding.Uncapped(), hears: countedRows, definition: string(asked.Diagnostic)}
	switch asked.Diagnostic {
	case plan.UnitsOver:
		a.caps.Rows = most + 1
	case plan.RowsOver:
		a.caps.Rows = 2 * most
	case plan.RowsLeftOut:
		a.caps.Rows, a.hears = most, leftRows
	default:
		return 0, fmt.Errorf("asks for %q, which this version does not know", asked.Diagnostic)
	}
	return t.allow(a), nil
}

// diagnose answers the diagnostics by the rows that stay for each allowance.
func (t *task) diagnose(stay []*bounding.Kept) {
	for _, q := range t.queries {
		if q.diagnostic == "" {
			continue
		}
		q.Counts = []int64{stay[q.allowance].Rows()}
		if q.diagnostic != plan.RowsLeftOut {
			q.Counts[0] -= stay[0].Rows()
		}
	}
}

// diagnoseRows answers them where each row is a unit of its own, of which so many are left out, and none is over.
func (t *task) diagnoseRows(left int64) {
	for _, q := range t.queries {
		switch q.diagnostic {
		case "":
		case plan.RowsLeftOut:
			q.Counts = []int64{left}
		default:
			q.Counts = []int64{0}
		}
	}
}
