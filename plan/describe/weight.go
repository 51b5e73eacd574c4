package describe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes the weights of rows, and finds where a plan reads them.

// explainWeights says what is assumed of weights.
func explainWeights(p *plan.Plan, b *strings.Builder) {
	for _, table := range p.Release().Tables {
		if table.Weight != nil {
			fmt.Fprintf(b, "\nRows of %s count by their weight %s. %s\n", table.Name, table.Weight.From,
				weightText(table.Weight))
		}
	}
}

// weightText says what is assumed of weights.
func weightText(w *spec.Weight) string {
	if w.Calibrated {
		return "Weights were calibrated: they depend on other rows, and the guarantee is for rows with weights as they are."
	}
	return "Weights are taken to be attributes of the unit, which depend on no other unit."
}

// countedRowsName returns the name of the rows that a table counts: rows, or weighted rows.
func countedRowsName(l *language.Language, t plan.Table) string {
	if t.Weighted {
		return l.Text("weighted rows")
	}
	return l.Text("rows")
}

// byWeight returns the addition to a figure's unit if rows count by their weights.
func byWeight(l *language.Language, t plan.Table) string {
	if t.Weighted {
		return ", " + l.Text("by weight")
	}
	return ""
}

// isOfAllRows reports whether a table counts the rows that its own bound keeps, or adds up weights.
func isOfAllRows(t plan.Table) bool { return t.OfRows() || t.Weighted }

// averageCell returns the number of rows of an average cell of a table; 0 if the table adds up weights, as these are
// not known.
func averageCell(p *plan.Plan, t plan.Table) float64 {
	if t.Weighted {
		return 0
	}
	if c := p.Release().Collection; c != nil {
		return float64(c.Expect) / float64(t.Cells)
	}
	return float64(p.Release().Table(t.From).ExpectedRows()) / compiled.CellsForAverage(p, t)
}

// weightRead returns the column that the weights of a table's rows are read from, if a measurement adds them up or
// rows without one are left out; otherwise nothing.
func weightRead(p *plan.Plan, t *spec.Table) []string {
	added := t.Weight != nil && slices.ContainsFunc(p.Measurements,
		func(m plan.Measurement) bool { return m.Query.Table == t.Name && m.Query.Counted.Weighted() })
	if added || t.DropsUnweighted() {
		return []string{t.Weight.From}
	}
	return nil
}

// weighsBy reports whether a query adds up weights that are read from a file column of the given column.
func weighsBy(t *spec.Table, q plan.Query, column string) bool {
	return q.Counted.Weighted() && slices.Contains(fileColumns(t, column), t.Weight.From)
}
