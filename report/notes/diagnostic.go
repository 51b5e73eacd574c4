package notes

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what the tables of what is left out say of a bias.

// notCounted is said of what the spec did not pay to know.
const notCounted = "not known: the spec pays for no count of it"

// overBound is the diagnostic of rows beyond the bound of their unit, which a rule for the number of rows counts, and
// not of those that policies leave out.
const overBound = "rows_over_bound"

// sized says how large a bias is: what a diagnostic of its table counts, or that nobody counted.
func sized(r *report.Report, p *plan.Plan, t *spec.Table, diagnostic string, b report.Bias) report.Bias {
	b.Size = notCounted
	if e := t.Expect; e != nil && e.Rows != nil && diagnostic == overBound {
		b.Size += fmt.Sprintf("; at worst %s, as no more may be within the other rules", budget.Plural(e.Rows.Most, "row"))
	}
	path := p.Release().Diagnostics + "/" + t.Name + "/" + diagnostic
	for _, of := range r.Tables {
		if of.Path != path || of.Counts == "" {
			continue
		}
		s := of.Statistics[0]
		count, err := s.TotalUnbiased.Float64()
		if err != nil {
			break
		}
		margin := s.Margin
		b.Noisy, b.Margin = &count, &margin
		b.Size = fmt.Sprintf("%s ± %s by a noisy count that was paid for, of %s (table %s)", words.Signed(count),
			budget.Group(describe.WholeMargin(margin)), of.Counts, path)
	}
	return b
}

// toldOfClamping says whether a release tells how many values are clamped.
func toldOfClamping(r *report.Report) string {
	diagnosed := slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Counts != "" })
	return words.Either(diagnosed, "the tables of what is left out tell of, noisily", "this release does not measure")
}
