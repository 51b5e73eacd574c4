package page

// This file shows the report in a terminal: the guarantee, the budget and the errors on a screen or two, and where to
// read on. Like every page it is rendered from the report alone.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
)

const (
	// mostTables is the number of tables that are listed unless all are requested.
	mostTables = 24
	// barColumns is the width of a bar.
	barColumns = 12
)

// Terminal renders the report as text for a terminal. folder is where the release is; with all it lists every table.
func Terminal(r *report.Report, look screen.Look, folder string, all bool) []byte {
	p, v := screen.NewPage(look), View{r}
	if r.Banner != "" {
		p.Line(" "+r.Banner+" ", screen.Alert)
	}
	p.Paragraph(cmp.Or(r.Title, r.Release), screen.Strong)
	p.Paragraph(v.headLine(), screen.Faint)
	if r.Population != "" {
		p.Paragraph("Population: "+r.Population, screen.Plain)
	}
	p.Heading("Privacy guarantee")
	for _, s := range v.promiseLines() {
		p.Paragraph(s, screen.Plain)
	}
	p.Heading("Error")
	for _, s := range append(v.HowClose(), r.Accuracy.More...) {
		p.Paragraph(s, screen.Plain)
	}
	v.terminalBudget(p)
	if len(r.Tables) > 0 {
		v.terminalTables(p, all)
	}
	v.terminalFigures(p, all)
	v.terminalMicrodata(p)
	v.terminalModels(p)
	if r.Comparison != "" {
		p.Heading("When two cells differ")
		p.Paragraph(r.Comparison, screen.Plain)
	}
	p.Heading("What not to do with these figures")
	for _, m := range r.Misuse {
		p.Item("• ", m)
	}
	v.terminalNext(p, folder)
	return p.Bytes()
}

// headLine says which release it is, its date, and its size.
func (r View) headLine() string {
	cells := report.Total(r.Tables, func(t report.Table) int64 { return t.Cells })
	parts := words.NonEmpty(words.When(r.Title != "", r.Release), r.Date, words.When(len(r.Tables) > 0,
		budget.Plural(int64(len(r.Tables)), "table")+" of "+budget.Plural(cells, "cell")))
	for _, m := range r.Microdata {
		parts = append(parts, budget.Plural(m.Rows, "row")+" of microdata")
	}
	return strings.Join(parts, " · ")
}

// promiseLines returns the guarantee in two lines: in the field's terms, and as its effect on probabilities. It adds a
// warning if the guarantee is weak, or protects a row rather than everything that somebody has.
func (r View) promiseLines() []string {
	g := r.Guarantee
	neighbours := words.Either(g.Replaced(), "one replaced by any other", "one added or removed")
	at := words.When(g.Definition == "zcdp", " (ε ≤ "+g.Meaning.Epsilon+" at δ = "+g.Meaning.Delta+")")
	change := words.Either(g.Replaced(), "Whatever one's values are", "With or without one")
	more := words.When(g.Meaning.Delta != "0", " (+ "+g.Meaning.Delta+")")
	guess := words.Either(g.Meaning.Guess >= 1, "may be right every time.",
		"right "+budget.Percent(g.Meaning.Guess)+" of the time, not 50%.")
	return words.NonEmpty(
		fmt.Sprintf("Protects each %s (%s): %s%s.", g.Protects, neighbours, r.Budget.Asked, at),
		fmt.Sprintf("%s: any result at most %s times as likely%s; a guess %s", change, g.Meaning.Factor, more, guess),
		words.When(g.ByRow(), notes.ProtectedSentence(r.In(), g)), notes.WeakSentence(r.In(), g),
	)
}

// terminalBudget shows where the budget went.
func (r View) terminalBudget(p *screen.Page) {
	p.Heading("Cost")
	paid := fmt.Sprintf("%s on account %s, debit %d of %s.", r.Budget.Charged, r.Budget.Receipt.Account,
		r.Budget.Receipt.Number, r.Date)
	if r.Status == report.Rehearsal {
		paid = "Nothing was spent: " + r.Budget.Charged.In(r.In()) + " on an account that is not kept."
	}
	p.Paragraph(paid, screen.Plain)
	if len(r.Budget.Leaves) < 2 {
		return
	}
	rows := make([][]screen.Cell, len(r.Budget.Leaves))
	for i, l := range r.Budget.Leaves {
		of := cmp.Or(words.When(l.Microdata != "", "microdata"), words.When(l.Model != "", "model"),
			budget.Plural(int64(l.Tables), "table")) + words.When(l.Needed, ", as targets need")
		share := 0.0
		if exact := words.Exact(l.Share); exact != nil {
			share, _ = exact.Float64()
		}
		rows[i] = screen.Cells(l.Path, screen.Bar(share, barColumns), budget.Percent(share), l.Amount.In(r.In()), of)
		rows[i][1].Style = screen.Strong
	}
	p.Table([]screen.Column{{Head: "leaf", Fold: 12}, {Head: "share"}, {Right: true},
		{Head: "amount", Right: true, Drop: 1}, {Head: "for", Drop: 2}}, rows)
}

// terminalTables lists the tables with their errors.
func (r View) terminalTables(p *screen.Page, all bool) {
	p.Heading(fmt.Sprintf("Tables, with %s intervals of %s", words.Level(r.Accuracy.Confidence), r.errorsOf()))
	named := r.AnyStatistic(func(s report.Statistic) bool { return s.Name != r.Tables[0].Statistics[0].Name })
	columns := []screen.Column{{Head: "table", Fold: 14}}
	if named {
		columns = append(columns, screen.Column{Head: "figure", Fold: 8, Drop: 4})
	}
	columns = append(columns, screen.Column{Head: "cells", Right: true}, screen.Column{Head: "std. error", Right: true,
		Drop: 6}, screen.Column{Head: "margin", Right: true},
		screen.Column{Head: "real diff.", Right: true, Drop: 2}, screen.Column{Head: "typical", Right: true},
		screen.Column{Head: "within 10%", Drop: 5}, screen.Column{Right: true, Drop: 5},
		screen.Column{Head: "could be zero", Right: true, Drop: 3}, screen.Column{Head: "verdict", Drop: 1})
	listed := r.Tables
	if !all {
		listed = r.Tables[:min(len(r.Tables), mostTables)]
	}
	var rows [][]screen.Cell
	for _, t := range listed {
		for _, s := range t.Statistics {
			rows = append(rows, r.tableRow(t, s, named))
		}
	}
	dropped := p.Table(columns, rows)
	if left := len(r.Tables) - len(listed); left > 0 {
		p.Paragraph(fmt.Sprintf("… and %s more: --all lists them.", budget.Plural(int64(left), "table")), screen.Faint)
	}
	if r.HasCellDifferences() && !slices.Contains(dropped, "real diff.") {
		cells := words.Either(r.FittedSome(), "the unbiased counts of two cells", "two cells")
		p.Paragraph("real diff.: the smallest real difference, from which on "+cells+
			" of the table, picked beforehand, differ beyond noise.", screen.Faint)
	}
	if !slices.Contains(dropped, "verdict") {
		p.Paragraph(r.VerdictText(), screen.Faint)
	}
	if said := r.OfUnbiased(); said != "" {
		p.Paragraph(said, screen.Plain)
	}
	p.Paragraph("typical: the typical margin, as half of the numbers above zero have a margin of at most this part "+
		"of them; within 10%: the share of these whose margin is at most a tenth.",
		screen.Faint)
	if len(dropped) > 0 {
		p.Paragraph("A wider terminal shows more columns.", screen.Faint)
	}
}

// tableRow returns the row of one count.
func (r View) tableRow(t report.Table, s report.Statistic, named bool) []screen.Cell {
	row, l := screen.Cells(t.Path), r.In()
	if named {
		row = append(row, screen.Cells(s.Name)...)
	}
	row = append(row, screen.Cells(budget.Group(t.Cells), words.Decimal(s.StandardError), "±"+words.Margin(s.Margin),
		distanceText(s))...)
	if s.Relative == nil {
		row = append(row, screen.Cells("–", "", "")...)
	} else {
		style := gradeOf(s.Relative.Q50)
		row = append(row, screen.Cell{Text: words.Relative(s.Relative.Q50), Style: style},
			screen.Cell{Text: screen.Bar(s.Relative.Within10, barColumns), Style: style},
			screen.Cell{Text: percentDown(s.Relative.Within10)})
	}
	verdict := t.Verdict(s)
	return append(row, screen.Cell{Text: zerosOf(l, t, s)},
		screen.Cell{Text: verdictText(l, verdict), Style: verdictStyles[verdict]})
}

// verdictStyles are the styles of the verdicts.
var verdictStyles = map[usefulness.Verdict]screen.Style{usefulness.UseCells: screen.Good,
	usefulness.AddUpFirst:     screen.Middle,
	usefulness.LargeCellsOnly: screen.Middle, usefulness.DoNotUse: screen.Poor}

// gradeOf returns the style of a relative margin. Its bounds are the bound of the share shown next to it, and that
// above which readers regard a figure as a guess.
func gradeOf(relative float64) screen.Style {
	switch {
	case relative <= 0.1:
		return screen.Good
	case relative <= 0.5:
		return screen.Middle
	}
	return screen.Poor
}

// percentDown writes a share in whole percent, rounded down, so that 100% means all.
func percentDown(part float64) string { return fmt.Sprintf("%d%%", int(math.Floor(100*part))) }

// terminalFigures lists the figures other than counts.
func (r View) terminalFigures(p *screen.Page, all bool) {
	var rows [][]screen.Cell
	l, left := r.In(), int64(0)
	for _, t := range r.Figured() {
		for _, f := range t.Figures {
			if !all && len(rows) >= mostTables {
				left++
				continue
			}
			rows = append(rows, screen.Cells(t.Path, f.Name, f.Unit, f.ErrorText(l), f.HalfText(l),
				cellsText(l, f.NoiseCells, t.Cells), cellsText(l, f.Withheld, t.Cells),
				cellsText(l, f.Unbounded, t.Cells)))
		}
	}
	if rows == nil {
		return
	}
	p.Heading("Figures other than counts, with medians over their cells")
	p.Table([]screen.Column{{Head: "table", Fold: 12}, {Head: "figure", Fold: 10}, {Head: "in", Fold: 8, Drop: 4},
		{Head: "std. error", Right: true, Drop: 3},
		{Head: "half width", Right: true}, {Head: "could be zero", Right: true, Drop: 3},
		{Head: "withheld", Right: true, Drop: 1}, {Head: "unbounded", Right: true, Drop: 2}}, rows)
	if left > 0 {
		p.Paragraph(fmt.Sprintf("… and %s more: --all lists them.", budget.Plural(left, "figure")), screen.Faint)
	}
}

// terminalMicrodata says what the microdata are and which pairs of columns they preserve.
func (r View) terminalMicrodata(p *screen.Page) {
	for _, m := range r.Microdata {
		p.Heading("Microdata of " + m.Table)
		cost := words.Either(m.Block == nil, "at no cost", "for "+budget.Percent(m.PartOfBudget)+" of the budget")
		p.Paragraph(fmt.Sprintf("%s drawn from a model, %s. %s.", budget.Plural(m.Rows, "row"), cost,
			words.Capital(m.Interval)), screen.Plain)
		p.Item("Trust: ", m.Trust)
		p.Item("Do not trust: ", m.Distrust)
	}
}

// terminalModels says what each model predicts and how well, as far as held-out rows tested it.
func (r View) terminalModels(p *screen.Page) {
	if len(r.Models) == 0 {
		return
	}
	l := r.In()
	p.Heading("Models")
	for _, m := range r.Models {
		text := m.Predicts + " from " + strings.Join(m.By, ", ")
		if m.AUC != nil {
			text += "; area under the ROC curve " + m.AUC.Text(l)
		}
		if m.Accuracy != nil {
			text += "; accuracy " + m.Accuracy.PercentText(l)
		}
		if m.AUC == nil && m.Accuracy == nil {
			text += "; not tested on held-out rows"
		}
		p.Item(m.Name+": ", text)
	}
}

// terminalNext says where to look next. Commands are on lines of their own, to be copied.
func (r View) terminalNext(p *screen.Page, folder string) {
	p.Heading("Where to look next")
	var next [][2]string
	if len(r.Tables) > 0 {
		next = append(next, [2]string{fmt.Sprintf("dprelease show %s %s", folder, r.Tables[0].Path),
			"its numbers; with --as csv, for a spreadsheet"})
	}
	if len(r.Models) > 0 {
		next = append(next, [2]string{fmt.Sprintf("dprelease predict %s/%s ROWS.csv", strings.TrimSuffix(folder, "/"),
			r.Models[0].File), "predictions for rows of a file"})
	}
	for _, line := range append(next, [][2]string{
		{fmt.Sprintf("dprelease show %s --as md", folder), "all of this report as text"},
		{fmt.Sprintf("dprelease verify %s", folder), "check it, without the data"},
		{strings.TrimSuffix(folder, "/") + "/report.html", "charts, certificate and hazards, in a browser"},
	}...) {
		p.Line("  "+line[0], screen.Strong)
		p.Item("      ", line[1])
	}
}
