package compiled

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what the error of a figure rests on: which parts, and with which factors.

// rested is a part that a figure rests on, with the square of the factor that its noise has in the figure.
type rested struct {
	ID      string
	Squared float64
}

// RestsOn says for a cell of how many rows the error of a figure is said, 0 for every cell, and by which factors,
// squared, the noise of the table's count and that of its parts enter the figure times these rows. Nothing enters one
// whose error depends on more.
func RestsOn(p *plan.Plan, t plan.Table, f plan.Figure, measured map[string]plan.Measurement) (rows int64,
	counts float64, parts []rested) {
	confidential := p.Release().Table(t.From)
	rows = workload.GoodRows
	if w := confidential.Weight; w != nil {
		most, _ := w.Lattice.Step.Float64()
		rows = int64(float64(workload.GoodRows*w.Lattice.Last) * most)
	}
	switch f.Kind {
	case spec.Units, spec.Distinct:
		return 0, 0, []rested{{f.Part, 1}}
	case spec.Sum, spec.Mean:
		unit, middle, half := scaleOf(confidential, measured[f.Sums].Query.Value)
		parts = []rested{{f.Sums, workload.Square(unit)}}
		if f.Kind == spec.Mean {
			return rows, workload.Square(half), parts
		}
		return 0, workload.Square(middle), parts
	case spec.Ratio:
		if f.Of.Kind != spec.Count || f.Over.Kind != spec.Count {
			break
		}
		cells := cells(*f.Of, p, &t) + cells(*f.Over, p, &t)
		if f.Of.Counts == "" {
			return rows, cells, nil
		}
		return rows, 0, []rested{{f.Of.Counts, cells}}
	}
	return rows, 0, nil
}

// cells is of how many cells of its part the term is the sum, for each cell of the table.
func cells(t plan.Term, p *plan.Plan, of *plan.Table) float64 {
	n := 1.0
	for _, c := range t.Where {
		if len(c.Categories) > 0 {
			n *= float64(len(c.Categories))
		} else {
			n *= SizeOf(p, of.From, plan.AttributeOf(c.Attribute))
		}
	}
	return n
}

// scaleOf is, in the column's unit, what an integer of the value stands for, the middle of its range, and half of its
// width; of the widest of strata.
func scaleOf(t *spec.Table, v *plan.Value) (unit, middle, half float64) {
	l := t.Column(v.Column).Lattice
	step, _ := l.Step.Float64()
	first, last := l.First, l.Last
	for i, by := range v.By {
		if by == slices.Min(v.By) {
			first, last = l.Strata[i].First, l.Strata[i].Last
		}
	}
	return step / float64(v.Times), step * float64(first+last) / 2, step * float64(last-first) / 2
}
