package maker

// This file describes tables that show some of their cells, as planned, and the mechanisms of their selections.

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// selectionsByKind holds for each kind of selection: how to add its facts to a table, the entries of its selection in
// the list of mechanisms in addition to the noise of the answers, and whether charts begin with the largest counts.
var selectionsByKind = [selection.Kinds]struct {
	addFacts     func(p *plan.Plan, t plan.Table, came synth.Table, out *report.Table)
	mechanisms   func(l *language.Language, m plan.Measurement) []report.Noise
	largestFirst bool
}{
	selection.KindAll:    {addFacts: noFacts, mechanisms: noMechanisms},
	selection.KindAbove:  {addFacts: addSparse, mechanisms: noMechanisms},
	selection.KindTop:    {addTop, choiceNoise, true},
	selection.KindGroups: {addFacts: addDiscovered, mechanisms: groupSelectionNoise},
	selection.KindTexts:  {addFacts: addFound, mechanisms: noMechanisms, largestFirst: true},
}

func noFacts(*plan.Plan, plan.Table, synth.Table, *report.Table) {}

func noMechanisms(*language.Language, plan.Measurement) []report.Noise { return nil }

// addDiscovered describes a table of groups that are not listed.
func addDiscovered(p *plan.Plan, t plan.Table, _ synth.Table, out *report.Table) {
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

// addFound describes a table of texts that were found, with what could be found in the reports that came.
func addFound(p *plan.Plan, t plan.Table, came synth.Table, out *report.Table) {
	m, _ := p.Measurement(t.Path)
	facts := *t.Texts
	facts.Respondents, facts.DetectionLimit = came.Respondents, m.DetectionLimit(came.Respondents, came.Forms[1:])
	out.Texts = &facts
}

// addSparse describes a table of the cells above a threshold.
func addSparse(_ *plan.Plan, t plan.Table, _ synth.Table, out *report.Table) {
	s := &report.Sparse{Above: t.Sparse.Above, Declared: t.Cells, Impossible: t.Impossible,
		FalseCells: t.Sparse.FalseCells, Bound: t.Sparse.Bound}
	for _, m := range t.Sparse.Missed {
		s.Missed = append(s.Missed, report.Missed(m))
	}
	out.Sparse = s
}

// addTop describes a table of selected cells.
func addTop(p *plan.Plan, t plan.Table, _ synth.Table, out *report.Table) {
	m, _ := p.Measurement(t.Path)
	top, ok := m.Selection.(selection.Top)
	if !ok {
		return
	}
	out.Top = &report.Top{Of: t.Top.Of, Declared: t.Cells, Select: mechanismOf(top.Select),
		Sensitivity: top.Sensitivity,
		Monotone:    top.Monotone,
		Choosing:    t.Top.Choosing, Shortfall: t.Top.Shortfall, Attained: t.Top.Attained}
}

func choiceNoise(l *language.Language, m plan.Measurement) []report.Noise {
	return selectionNoise(m, l.Text("%s, each of its %s", m.ID, l.Plural(int64(len(m.Selection.Steps())), "choice")))
}

func groupSelectionNoise(l *language.Language, m plan.Measurement) []report.Noise {
	return selectionNoise(m, l.Text("which groups of %s appear, %s, with a δ of %s each", m.ID,
		l.Plural(int64(len(m.Selection.Steps())), "time"),
		l.Number(words.RoundedUp(m.Selection.(selection.Groups).Delta))))
}

// selectionNoise returns the entry of a selection in the list of mechanisms, with its purpose.
func selectionNoise(m plan.Measurement, purpose string) []report.Noise {
	return []report.Noise{{Mechanism: mechanismOf(m.Selection.Steps()[0]), Shifts: [][]int64{},
		Measurements: []string{purpose}}}
}

// stepsOf returns the mechanisms of a measurement: its noise, and its selections, if it makes any.
func stepsOf(m plan.Measurement) []budget.Mechanism {
	steps := []budget.Mechanism{m.Mechanism}
	if top, ok := m.Selection.(selection.Top); ok {
		steps = append(steps, top.Steps()...)
	}
	return steps
}
