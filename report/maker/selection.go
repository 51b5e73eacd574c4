package maker

// This file holds tables that show some of their cells, as planned, and what their selections run.

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// selecting lists what a report tells of a table by which of its cells it shows: its facts, what the list of mechanisms
// has of the selection in addition to the noise of the answers, and whether charts have the largest counts first.
var selecting = [selection.Kinds]struct {
	tell         func(p *plan.Plan, t plan.Table, out *report.Table)
	mechanisms   func(m plan.Measurement) []report.Noise
	largestFirst bool
}{
	selection.KindAll:    {tell: noFacts, mechanisms: noMechanisms},
	selection.KindAbove:  {tell: sparseOf, mechanisms: noMechanisms},
	selection.KindTop:    {topOf, choicesOf, true},
	selection.KindGroups: {tell: discoveredOf, mechanisms: selectionsOf},
}

func noFacts(*plan.Plan, plan.Table, *report.Table) {}

func noMechanisms(plan.Measurement) []report.Noise { return nil }

// discoveredOf tells of a table of groups that are not listed.
func discoveredOf(p *plan.Plan, t plan.Table, out *report.Table) {
	m, _ := p.Measurement(t.Path)
	groups, ok := m.Selection.(selection.Groups)
	if !ok {
		return
	}
	d := &report.Discovered{Columns: t.Discovered.Columns, Groups: t.Discovered.Groups, AtLeast: t.Discovered.AtLeast,
		Delta:     t.Discovered.Delta,
		Selection: mechanismOf(groups.Select), Times: int64(len(groups.Steps()))}
	for _, c := range t.Discovered.Chances {
		d.Chances = append(d.Chances, report.Chance(c))
	}
	out.Discovered = d
}

// sparseOf tells of a table of the cells above a threshold.
func sparseOf(_ *plan.Plan, t plan.Table, out *report.Table) {
	s := &report.Sparse{Above: t.Sparse.Above, Declared: t.Cells, Impossible: t.Impossible,
		FalseCells: t.Sparse.FalseCells, Bound: t.Sparse.Bound}
	for _, m := range t.Sparse.Missed {
		s.Missed = append(s.Missed, report.Missed(m))
	}
	out.Sparse = s
}

// topOf tells of a table of chosen cells.
func topOf(p *plan.Plan, t plan.Table, out *report.Table) {
	m, _ := p.Measurement(t.Path)
	top, ok := m.Selection.(selection.Top)
	if !ok {
		return
	}
	out.Top = &report.Top{Of: t.Top.Of, Declared: t.Cells, Select: mechanismOf(top.Select), Sensitivity: top.Sensitivity,
		Monotone: top.Monotone,
		Choosing: t.Top.Choosing, Shortfall: t.Top.Shortfall, Attained: t.Top.Attained}
}

func choicesOf(m plan.Measurement) []report.Noise {
	return selectionNoise(m, "%s, each of its %s", m.ID, budget.Plural(int64(len(m.Selection.Steps())), "choice"))
}

func selectionsOf(m plan.Measurement) []report.Noise {
	return selectionNoise(m, "which groups of %s appear, %s, with a δ of %s each", m.ID,
		budget.Plural(int64(len(m.Selection.Steps())), "time"), words.Up(m.Selection.(selection.Groups).Delta))
}

// selectionNoise is the mechanism of a selection in the list of mechanisms, with what it is for.
func selectionNoise(m plan.Measurement, format string, of ...any) []report.Noise {
	return []report.Noise{{Mechanism: mechanismOf(m.Selection.Steps()[0]), Shifts: [][]int64{},
		Measurements: []string{fmt.Sprintf(format, of...)}}}
}

// stepsOf are the mechanisms of a measurement: its noise, and its choices, where it makes any.
func stepsOf(m plan.Measurement) []budget.Mechanism {
	steps := []budget.Mechanism{m.Mechanism}
	if top, ok := m.Selection.(selection.Top); ok {
		steps = append(steps, top.Steps()...)
	}
	return steps
}
