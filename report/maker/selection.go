package maker

// This file holds tables that show some of their cells, as planned.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
)

// discoveredOf tells of a table of groups that are not listed, nil of another.
func discoveredOf(p *plan.Plan, t plan.Table) *report.Discovered {
	m, ok := p.Measurement(t.Path)
	if t.Discovered == nil || !ok || m.Discovery == nil {
		return nil
	}
	d := &report.Discovered{Columns: t.Discovered.Columns, Groups: t.Discovered.Groups, AtLeast: t.Discovered.AtLeast,
		Delta:     t.Discovered.Delta,
		Selection: mechanismOf(m.Discovery.Select), Times: int64(len(m.Discovery.Steps()))}
	for _, c := range t.Discovered.Chances {
		d.Chances = append(d.Chances, report.Chance(c))
	}
	return d
}

// sparseOf tells of a table that is sparse, nil of another.
func sparseOf(t plan.Table) *report.Sparse {
	if t.Sparse == nil {
		return nil
	}
	s := &report.Sparse{Above: t.Sparse.Above, Declared: t.Cells, Impossible: t.Impossible,
		FalseCells: t.Sparse.FalseCells, Bound: t.Sparse.Bound}
	for _, m := range t.Sparse.Missed {
		s.Missed = append(s.Missed, report.Missed(m))
	}
	return s
}

// topOf tells of a table of chosen cells, nil of another.
func topOf(p *plan.Plan, t plan.Table) *report.Top {
	m, ok := p.Measurement(t.Path)
	if t.Top == nil || !ok || m.Top == nil {
		return nil
	}
	return &report.Top{Of: t.Top.Of, Declared: t.Cells, Select: mechanismOf(m.Top.Select), Sensitivity: m.Top.Sensitivity,
		Monotone: m.Top.Monotone,
		Choosing: t.Top.Choosing, Shortfall: t.Top.Shortfall, Attained: t.Top.Attained}
}

// stepsOf are the mechanisms of a measurement: its choices, where it makes any, and its noise.
func stepsOf(m plan.Measurement) []budget.Mechanism {
	steps := []budget.Mechanism{m.Mechanism}
	if m.Top != nil {
		steps = append(steps, m.Top.Steps()...)
	}
	return steps
}

// choiceNoise is the choices of a measurement in the list of mechanisms.
func choiceNoise(m plan.Measurement) report.Noise {
	return report.Noise{Mechanism: mechanismOf(m.Top.Select), Shifts: [][]int64{}, Measurements: []string{
		fmt.Sprintf("%s, each of its %s", m.ID, budget.Plural(m.Top.Of, "choice")),
	}}
}
