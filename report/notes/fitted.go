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
	return l.Text("%s of %s moved, on average by %s standard errors, at most by %s", budget.Group(f.Moved),
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
	return " " + l.Text("To add up, the published %s was moved from there, by %s on average and by %s at most. It "+
		"can be that much further from the exact figure. The report’s note “%s” gives the distances table by table.",
		m.Name, l.Number(budget.DecimalNearest(m.Mean, 2)), words.Margin(m.Most), l.Text(report.NoteOnAddingUp))
}

// fittedBias is the bias of adjusting counts to add up. The published figures determine exactly how far these counts
// were moved.
func fittedBias(r *report.Report) []report.Bias {
	l := r.In()
	says := map[string]string{
		plan.Fitted: l.Text("Counts are rounded and fitted to add up, in the published column only; the unbiased " +
			"column stays as it was. No count is below zero, so cells near zero are raised, and large cells are " +
			"lowered in return"),
		plan.Tabulated: l.Text("Counts are taken from the microdata so that they add up, which makes them figures " +
			"of a model, in the published column only; the unbiased column stays as it was"),
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
			b.Size = l.Text("the published and the unbiased figures show exactly how far each cell was moved: on "+
				"average over the cells of a table by at most %s standard errors (%s), in a single cell by at most "+
				"%s (%s). The average of this over the noise is the bias",
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
			text += " " + l.Text("report.json has this for %s more.", l.Plural(int64(more), "table"))
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
		" "+l.Text("Where counts are made to add up (see “%[1]s”), %[2]s is moved further and can be outside the "+
			"interval, which belongs to %[2]s_unbiased. In these tables %[2]s_flag says fitted if %[2]s differs from "+
			"the rounded estimate; but if the interval reaches zero, it says noise_dominates.",
			l.Text(report.NoteOnAddingUp), s))
}

// separateText says that published counts add up although each table was measured separately.
func separateText(r *report.Report, s string) string {
	l := r.In()
	return words.When(r.FittedSome(), " "+l.Text("This concerns %s_unbiased; the published %[1]s was made to add up "+
		"(see “%[2]s”).",
		s, l.Text(report.NoteOnAddingUp)))
}
