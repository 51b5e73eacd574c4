package maker

// This file holds sensitivities in words: how far one unit can move what is added up, where that is not rows, each as
// one.

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
)

// sensitivitiesOf are those of all measurements that figures rest on, and of the counts that are not of all rows, each
// as one.
func sensitivitiesOf(p *plan.Plan) []report.Sensitivity {
	var all []report.Sensitivity
	said := map[string]bool{}
	say := func(id string, t plan.Table) {
		if m, ok := p.Measurement(id); ok && !said[id] {
			said[id] = true
			all = append(all, sensitivityOf(p, m, t))
		}
	}
	for _, t := range p.Tables {
		if t.OfRows() && len(t.Figures) == 0 {
			continue
		}
		say(t.Statistics[0].Measurement, t)
		for _, f := range t.Figures {
			for _, id := range []string{f.Sums, f.Squares, f.Part, termPart(f.Of, false), termPart(f.Of, true),
				termPart(f.Over, false), termPart(f.Over, true)} {
				say(id, t)
			}
		}
	}
	return all
}

// termPart is the measurement of the counts, or of the sums, of a term that may not be there.
func termPart(t *plan.Term, sums bool) string {
	switch {
	case t == nil:
		return ""
	case sums:
		return t.Sums
	}
	return t.Counts
}

func sensitivityOf(p *plan.Plan, m plan.Measurement, t plan.Table) report.Sensitivity {
	s := report.Sensitivity{Measurement: report.PartText(m.ID), Of: addedUp(m.Query, t)}
	counting[m.Query.Counted.Kind()].sensitivity(p, m, &s)
	return s
}

// scaleOf is what an integer of a value stands for, in the unit of the data; of several strata in the one where that is
// the most.
func scaleOf(t *spec.Table, v counted.Values) *big.Rat {
	scale := new(big.Rat).Set(weightStep(t, v))
	for range v.Power {
		scale.Mul(scale, t.Column(v.Column).Lattice.Step)
		scale.Quo(scale, big.NewRat(v.Times, 1))
		if v.Per != "" {
			scale.Quo(scale, big.NewRat(slices.Min(v.By), 1))
		}
	}
	return scale
}

// addedUp says what a query adds up of the rows of a table.
func addedUp(q plan.Query, t plan.Table) string {
	return counting[q.Counted.Kind()].of(q, t) + byWeight(q.Counted)
}
