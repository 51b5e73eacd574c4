package notes

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file uses the tables of what is left out to state the size of a bias.

// notCounted is the size of a bias that the spec did not pay to estimate.
var notCounted = language.Key("not known: no budget is set aside to count this")

// overBound is the diagnostic of rows beyond the bound of their unit. A condition on the number of rows bounds it, but
// not the rows that policies leave out.
const overBound = "rows_over_bound"

// withSize states how large a bias is: what a diagnostic of its table counts, or that nothing counts it.
func withSize(r *report.Report, p *plan.Plan, t *spec.Table, diagnostic string, b report.Bias) report.Bias {
	l := r.In()
	b.Size = l.Text(notCounted)
	if e := t.Expect; e != nil && e.Rows != nil && diagnostic == overBound {
		b.Size += l.Text("; at most %s, because the spec allows no more rows than that", l.Plural(e.Rows.Most, "row"))
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
		b.Size = l.Text("%s ± %s, by a noisy count that was paid for: %s (table %s)", l.Number(words.Signed(count)),
			budget.Group(describe.WholeMargin(margin)), of.Counts, path)
	}
	return b
}

// clampedText says that values are clamped, and whether a release shows how many.
func clampedText(r *report.Report) string {
	l := r.In()
	diagnosed := slices.ContainsFunc(r.Tables, func(t report.Table) bool { return t.Counts != "" })
	return words.Either(diagnosed,
		l.Text("A value outside its range counts as the nearer end. No interval includes this bias; the tables of "+
			"what is left out show it with noise."),
		l.Text("A value outside its range counts as the nearer end. No interval includes this bias, and this release "+
			"does not measure it."))
}
