package maker

// This file states sensitivities in words, for questions other than counts of rows, each as one.

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// sensitivitiesOf returns the sensitivities of all measurements that figures use, and of counts other than counts of
// rows, each as one.
func sensitivitiesOf(p *plan.Plan) []report.Sensitivity {
	var all []report.Sensitivity
	isDone := map[string]bool{}
	say := func(id string, t plan.Table) {
		if m, ok := p.Measurement(id); ok && !isDone[id] {
			isDone[id] = true
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

// termPart returns the measurement of the counts, or of the sums, of a term, "" for a nil term.
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
	s := report.Sensitivity{Measurement: report.PartText(m.ID), Of: addedUp(languageOf(p), m.Query, t)}
	wordsByKind[m.Query.Counted.Kind()].sensitivity(p, m, &s)
	return s
}

// scaleOf returns the value of one integer of a measurement, in the unit of the data; with strata, the largest over the
// strata.
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

// addedUp says what a query adds up over the rows of a table.
func addedUp(l *language.Language, q plan.Query, t plan.Table) string {
	return wordsByKind[q.Counted.Kind()].counted(l, q, t)
}
