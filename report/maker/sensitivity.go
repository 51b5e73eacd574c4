package maker

// This file holds sensitivities in words: how far one unit can move what is added up, where that is not rows, each as
// one.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
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
	protects := p.Guarantee.Protects
	if q := m.Query.Distribution; q != nil {
		rows := "as many rows as it has there"
		if q.Weight {
			rows = "the weight that its rows have there"
		}
		s.Text = fmt.Sprintf("Counts change by %s, however far its values lie. One %s moves what is measured by at most %s, over all cells and bins together.", rows, protects, budget.GroupDigits(m.Mechanism.L1.String()))
		return s
	}
	if q := m.Query.Quantile; q != nil {
		s.Text = fmt.Sprintf("A value is drawn by how many rows lie below it. One %s bears on that with as many rows as it has there, however far its values lie.", protects)
		return s
	}
	most := new(big.Rat).Mul(new(big.Rat).SetInt(m.Mechanism.L1), scaleOf(p.Release().Table(m.Query.Table), m.Query.Value))
	s.Most = budget.FormatRat(most)
	s.Text = fmt.Sprintf("One %s moves it by at most %s, over all cells together", protects, words.Rat(s.Most))
	if v := m.Query.Value; v != nil && v.Per != "" {
		s.Text += fmt.Sprintf(", and by less where the range of its %s is narrower", v.Per)
	}
	s.Text += "."
	return s
}

// scaleOf is what an integer of a value stands for, in the unit of the data; of several strata in the one where that is
// the most.
func scaleOf(t *spec.Table, v *plan.Value) *big.Rat {
	scale := big.NewRat(1, 1)
	if v == nil {
		return scale
	}
	if v.Weight {
		scale.Mul(scale, t.Weight.Lattice.Step)
	}
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
	v := q.Value
	of := ""
	switch {
	case q.Quantile != nil:
		of = "quantiles of " + q.Quantile.Column
	case q.Distribution != nil:
		of = "rows, by bins of " + q.Distribution.Column
	case q.Distinct != nil:
		of = fmt.Sprintf("values of %s, of each unit %s at most", q.Distinct.Column, budget.Group(q.Distinct.PerUnit))
	case q.Diagnostic != "":
		return t.Counts
	case v != nil && v.Beyond:
		return t.Counts
	case v == nil || v.Column == "":
		of = "rows"
		if q.PerUnit != nil && q.PerUnit.RowsPerGroup == 1 {
			of = "units that have a row in the cell"
		}
	case v.Power == 2:
		of = "squares of the distance of " + v.Column + " from the middle of its range"
	case v.Minus == 0 && v.Per == "":
		of = v.Column
	default:
		of = "the distance of " + v.Column + " from the middle of its range, below it negative"
	}
	if v != nil && v.Weight || q.Quantile != nil && q.Quantile.Weight || q.Distribution != nil && q.Distribution.Weight {
		of += ", each by the weight of its row"
	}
	return of
}
