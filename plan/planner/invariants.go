package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file relates public figures to a plan: which tables they decide, and whether the cells with rows are possible.

// markInvariants records for every table whether an invariant decides its cells, which are then exact, whatever was
// measured.
func markInvariants(p *plan.Plan, tables []*workload.Table) {
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Invariant = compiled.DecidingInvariant(p, *t, tables[i]); t.Invariant == "" {
			continue
		}
		s := &t.Statistics[0]
		s.StandardError, s.Uneven, s.Median, s.OfRanges, s.Margin, s.Attained = 0, 0, 0, 0, 0, 1
	}
}

// refusePublicShares returns an error if a table has shares of public figures: computed from noisy counts, they would
// contradict the published counts.
func refusePublicShares(p *plan.Plan) error {
	for _, t := range p.Tables {
		at := slices.IndexFunc(t.Figures, func(f plan.Figure) bool { return statistic.OfFigure(f).OfTotal() })
		if at < 0 || isNoisy(t) {
			continue
		}
		return workload.LocateFault(p.Release(), "marginals."+t.Marginal, &workload.Fault{Key: "stats",
			Message: fmt.Sprintf("the counts of table %s are public figures, of invariant %s, and so is %s: nothing "+
				"has to be measured for it",
				t.Path, t.Invariant, t.Figures[at].Name),
			Expected: "statistics without shares: divide the public figures"})
	}
	return nil
}

// isNoisy reports whether the counts of a table have noise, as no invariant decides them.
func isNoisy(t plan.Table) bool { return t.Invariant == "" }

// checkInvariants returns an error if an invariant has rows in a cell that the spec declares impossible.
func checkInvariants(p *plan.Plan) error {
	for _, i := range p.Release().Invariants {
		confidential := p.Release().Table(i.Table)
		mask, err := impossible.Of(plan.MarginalOf(i.Table, attributes.CountedBy(confidential, i.By)), p.Release())
		if err != nil {
			return err
		}
		for cell, impossible := range mask.Cells() {
			if impossible && i.Counts[cell] > 0 {
				return workload.LocateFault(p.Release(), "invariants."+i.Name,
					&workload.Fault{Key: "", Message: fmt.Sprintf("invariant %s has %s where `impossible` says that "+
						"no row can be: %s",
						i.Name, budget.Plural(i.Counts[cell], "row"), cellText(confidential, i.By, cell)),
						Expected: "0 there, or another entry under `impossible`"})
			}
		}
	}
	return nil
}

// cellText names a cell by its categories.
func cellText(t *spec.Table, by []spec.Attribute, cell int) string {
	var parts []string
	for k := len(by) - 1; k >= 0; k-- {
		level, _ := t.Column(by[k].Column).Domain.Level(by[k].Level)
		parts = append(parts, fmt.Sprintf("%s = %s", by[k], level.Categories[cell%level.Size()].Code))
		cell /= level.Size()
	}
	if parts == nil {
		return "all rows"
	}
	slices.Reverse(parts)
	return strings.Join(parts, " with ")
}
