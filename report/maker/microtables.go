package maker

// This file describes microdata whose model is made from the tables of a release, and rows that are drawn into several
// files.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// addMeasured describes what an adaptive method measured, and its cost.
func addMeasured(m *report.Microdata, p *plan.Plan, s plan.Synthetic) error {
	choice, noise, block := mechanismOf(s.Select), mechanismOf(s.Noise), mechanismOf(s.Block)
	m.Choice, m.Noise, m.Block = &choice, &noise, &block
	steps := []budget.Mechanism{s.Block}
	for i, f := range s.By {
		asked, ok := p.Measurement(s.Column(i))
		if !ok {
			return fmt.Errorf("the plan does not measure its column %s", f)
		}
		steps = append(steps, asked.Mechanism)
		by := mechanismOf(asked.Mechanism)
		m.Columns = append(m.Columns, report.Column{Name: f.String(), Cells: asked.Cells, Mechanism: &by,
			StandardError: math.Sqrt(asked.Mechanism.Variance())})
	}
	var err error
	m.Loss, m.PartOfBudget, err = lossOfAll(steps, p.Cost)
	return err
}

// addUnmeasured describes the columns of microdata that measure and cost nothing.
func addUnmeasured(m *report.Microdata, p *plan.Plan, s plan.Synthetic, drawn synth.Microdata) {
	if m.Loss.Rho = "0"; p.Cost.Epsilon != nil {
		m.Loss = report.Amount{Epsilon: "0"}
	}
	left := tabulation.UnmeasuredColumns(p, s)
	for i, f := range s.By {
		m.Columns = append(m.Columns, report.Column{Name: f.String(), Cells: int64(drawn.Keys[i].Level.Size()),
			Unmeasured: slices.Contains(left, f)})
	}
}

// ofTablesText says what the model is made from, and how.
func ofTablesText(l *language.Language, m report.Microdata, s plan.Synthetic, drawn synth.Microdata) string {
	sets := l.Plural(int64(len(m.Sets)), "set")
	of := l.Text("The model is made from the tables of the release that contain these columns: %s of columns.", sets)
	if s.Adaptive() {
		of = l.Text("The model is made from all that was measured, that is, the tables of the release and the "+
			"answers to the questions of the method: %s of columns. Whoever published the rows asked for this model "+
			"instead of a model by method %s. It costs nothing, because nothing more is measured.",
			sets, s.Method)
	}
	return of + " " + words.Either(drawn.Shape == synth.Tree,
		l.Text("They are fitted together in a single model (a junction tree)."),
		l.Text("A single model of all of them (a junction tree) would be too large. So the counts of each set are "+
			"made possible and consistent with the counts of single columns, and rows are changed until they have "+
			"these counts, as nearly as they can have all of them (gradual update)."))
}

// unmeasuredColumns returns the columns that no table contains.
func unmeasuredColumns(m report.Microdata) (names []string) {
	for _, c := range m.Columns {
		if c.Unmeasured {
			names = append(names, c.Name)
		}
	}
	return names
}

func trustTablesText(l *language.Language, m report.Microdata) string {
	names := m.Together(l)
	says := l.Text("The counts of these columns together were measured: %s.", strings.Join(names, "; "))
	switch {
	case len(names) == 0:
		says = l.Text("The counts of single columns were measured, and no pair of columns.")
	case len(names) > maxNamedSets:
		says = l.Text("The counts of %d sets of columns together were measured, which the table names.", len(names))
	}
	return says + " " +
		l.Text("In the rows these counts are close to the true ones, apart from the noise of the measurements and "+
			"the chance error of drawing rows.")
}

func distrustTablesText(l *language.Language, m report.Microdata, drawn synth.Microdata) string {
	says := setsOnlyText(l)
	switch {
	case len(m.Together(l)) == 0:
		says = noDependenceText(l)
	case drawn.Shape == synth.Gradual:
		says = l.Text("What the rows show about how other columns depend on each other. This was not measured: the " +
			"rows show what the measured sets imply together, and what is left of the rows with which the method began.")
	}
	names := unmeasuredColumns(m)
	switch len(names) {
	case 0:
		return says
	case 1:
		return says + " " + l.Text("Also do not trust what they show about %s: no table contains this column, so all "+
			"its categories are equally likely, whatever the data are.",
			names[0])
	}
	return says + " " + l.Text("Also do not trust what they show about %s: no table contains these columns, so all "+
		"their categories are equally likely, whatever the data are.",
		strings.Join(names, ", "))
}

// parallelText says what several files of rows show.
func parallelText(l *language.Language) string {
	return l.Text("The rows are drawn several times from one model, each time into a separate file; the figures " +
		"here are for the first file. The differences between the files show how much chance the drawing of rows " +
		"adds to a figure, and only that. The noise of what was measured, and what the model leaves out, are the " +
		"same in all files. So a figure can be nearly the same in all of them and still far from the truth.")
}
