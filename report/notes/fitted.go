package notes

// This file describes counts that were adjusted to add up: how far they were moved, which the published figures
// determine exactly. On average over the noise that is a bias, of which one release shows one draw.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// movedText says how far the counts of a table were moved.
func movedText(l *language.Language, f *report.Fitted, cells int64) string {
	return l.Text("%s of %s moved, on the mean by %s standard errors, at most by %s", budget.Group(f.Moved),
		l.Plural(cells, "cell"), l.Number(fmt.Sprintf("%+.2f", f.Mean)), l.Number(fmt.Sprintf("%.1f", f.Largest)))
}

// movedBefore says which of the numbers the accuracy does not cover as they were published; "" if there are none.
func movedBefore(l *language.Language, m report.Adjustment, of int64) string {
	switch {
	case m.Cells == 0:
		return ""
	case of == 1:
		return " " + l.Text("(as it was before it was made to add up: %s_unbiased)", m.Name)
	case m.Cells == 1:
		return " " + l.Text("(1 of them as it was before it was made to add up: %s_unbiased)", m.Name)
	case m.Cells < of:
		return " " + l.Text("(%s of them as they were before they were made to add up: %s_unbiased)",
			budget.Group(m.Cells), m.Name)
	}
	return " " + l.Text("(as they were before they were made to add up: %s_unbiased)", m.Name)
}

// movedAfter says how far the published numbers are from those that the accuracy covers.
func movedAfter(l *language.Language, m report.Adjustment) string {
	switch {
	case m.Cells == 0:
		return ""
	case m.Most == 0:
		return " " + l.Text("Making them add up moved none.")
	}
	return " " + l.Text("To add up, the published %s was moved from there, by %s on the mean and by %s at most, and can be so much further off the exact figure. The report’s note “%s” tells it table by table.",
		m.Name, l.Number(budget.DecimalNearest(m.Mean, 2)), words.Margin(m.Most), l.Text(report.NoteOnAddingUp))
}

// fittedBias is the bias of adjusting counts to add up. The published figures determine exactly how far these counts
// were moved.
func fittedBias(r *report.Report) []report.Bias {
	l := r.In()
	says := map[string]string{
		plan.Fitted:    l.Text("Counts are rounded and fitted to add up: none is below zero, so that cells near zero are raised and large ones lowered for it, in the published column alone; the unbiased one is as it was"),
		plan.Tabulated: l.Text("Counts are those of the microdata, so that they add up: model only, in the published column alone; the unbiased one is as it was"),
	}
	var all []report.Bias
	for _, way := range []string{plan.Fitted, plan.Tabulated} {
		b := report.Bias{Cause: says[way], Direction: l.Text(eitherWay)}
		var mean, largest float64
		meanAt, largestAt := "", ""
		for _, t := range r.Tables {
			for _, s := range t.Statistics {
				if s.Fitted == nil || s.Fitted.Way != way {
					continue
				}
				b.Tables = append(b.Tables, t.Path)
				if m := s.Fitted.Mean; meanAt == "" || math.Abs(m) > math.Abs(mean) {
					mean, meanAt = m, t.Path
				}
				if far := s.Fitted.Largest; largestAt == "" || far > largest {
					largest, largestAt = far, t.Path
				}
			}
		}
		if b.Tables != nil {
			b.Size = l.Text("how far they were moved is known exactly, table by table and cell by cell, from the figures as published and unbiased: on the mean over a table's cells at most %s standard errors (%s), in one cell at most %s (%s); the mean of that over the noise is the bias",
				l.Number(fmt.Sprintf("%+.2f", mean)), meanAt, l.Number(fmt.Sprintf("%.1f", largest)), largestAt)
			all = append(all, b)
		}
	}
	return all
}

// fittedNotes say which counts add up, and for each table how far its counts were moved.
func fittedNotes(r *report.Report, p *plan.Plan) []report.Note {
	l := r.In()
	var notes []report.Note
	for _, c := range p.Consistent {
		text := strings.Join(append([]string{describe.Consistency(r.In(), c)}, describe.LeftText(r.In(), c)...), " ")
		told := report.TablesWhere(r.Tables, func(t report.Table) bool {
			return slices.Contains(c.Tables, t.Path) && t.Statistics[0].Fitted != nil
		})
		for _, t := range told[:min(len(told), maxTablesNamed)] {
			text += " " + t.Path + ": " + movedText(l, t.Statistics[0].Fitted, t.Cells-t.Impossible) + "."
		}
		if more := len(told) - maxTablesNamed; more > 0 {
			text += " " + l.Text("report.json says it for %s more.", l.Plural(int64(more), "table"))
		}
		notes = append(notes, report.Note{Heading: report.NoteOnAddingUp, Text: text})
	}
	return notes
}

// maxTablesNamed is the largest number of tables for which a page says how far their counts were moved.
const maxTablesNamed = 12

// isAllFitted reports whether all counts were adjusted to add up.
func isAllFitted(r *report.Report) bool {
	return r.FittedSome() && report.AdjustmentOf(r.Tables).Cells == r.Accuracy.Numbers
}

// raisedText says what happens to negative numbers if counts are adjusted to add up.
func raisedText(r *report.Report, s string) string {
	l := r.In()
	return words.When(r.FittedSome(),
		" "+l.Text("Where counts are made to add up (see “%[1]s”) %[2]s is moved further, and can lie outside of its interval, which is that of %[2]s_unbiased. There %[2]s_flag says fitted where %[2]s is another number than the estimate, rounded, unless the interval reaches zero: then it says noise_dominates.",
			l.Text(report.NoteOnAddingUp), s))
}

// separateText says that published counts add up although each table was measured separately.
func separateText(r *report.Report, s string) string {
	l := r.In()
	return words.When(r.FittedSome(), " "+l.Text("That is so of %s_unbiased; the published %[1]s was made to add up, as “%[2]s” says.",
		s, l.Text(report.NoteOnAddingUp)))
}
