package diff

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/describe"
)

// This file writes the page of a difference of two plans or two releases for a person.

// Write prints what changed in words: between the plans, then the cost and quality of both releases, then table by
// table the cells that changed by more than the noise explains, and the rule.
func (d *Difference) Write(w io.Writer, look screen.Look) error {
	b := &strings.Builder{}
	if err := d.Plans.Write(b); err != nil {
		return err
	}
	p := screen.NewPage(look)
	p.Verbatim(b.String())
	if c := d.Releases; c != nil {
		c.write(p)
	}
	_, err := w.Write(p.Bytes())
	return err
}

func (c *Comparison) write(p *screen.Page) {
	p.Heading("Releases")
	p.Item("  ", c.Before.text())
	p.Item("→ ", c.After.text())
	p.Heading("Budget and error")
	if c.Budget[0] == c.Budget[1] {
		p.Paragraph("Both for "+c.Budget[0]+".", screen.Plain)
	} else {
		p.Paragraph(c.Budget[0]+" → "+c.Budget[1]+".", screen.Plain)
	}
	c.writeErrors(p)
	c.writeSample(p)
	p.Heading("Figures")
	if c.Cells > 0 {
		p.Paragraph(fmt.Sprintf("%s compared. %s", budget.Plural(c.Cells, "count"), c.Rule), screen.Plain)
	}
	c.writeTables(p)
	c.writeDisjoint(p)
	for _, table := range c.Microdata {
		p.Paragraph(fmt.Sprintf(
			"Microdata of %s: not compared. Their rows are drawn from a model, so they differ also where nothing has changed.",
			table), screen.Plain)
	}
}

// writeErrors lists the margins of the tables in both releases, and the difference from which a change of a cell is
// listed.
func (c *Comparison) writeErrors(p *screen.Page) {
	var rows [][]screen.Cell
	for _, e := range c.Errors {
		row := screen.Cells(e.Table, marginText(e.Before), marginText(e.After), "", "", "")
		if e.Before > 0 && e.After > 0 && e.Before != e.After {
			row[3].Text = describe.RelativeChange(e.After/e.Before - 1)
		}
		for _, t := range c.Tables {
			if t.Path != e.Table || t.Refused != "" {
				continue
			}
			for _, s := range t.Statistics {
				if s.Name == e.Statistic {
					row[4].Text, row[5].Text = "±"+estimateText(s.Margin), budget.Group(s.Changed)
					if s.Changed > 0 {
						row[5].Style = screen.Strong
					}
				}
			}
			for _, f := range t.Figures {
				if f.Name == e.Statistic && !c.SameMeasurements {
					row[5].Text = budget.Group(f.Changed) + " apart"
				}
			}
		}
		rows = append(rows, row)
	}
	p.Table([]screen.Column{{Head: "table", Fold: 14}, {Head: "margin before", Right: true},
		{Head: "after", Right: true},
		{Right: true, Drop: 2},
		{Head: "difference beyond", Right: true, Drop: 1}, {Head: c.changedHead(), Right: true}}, rows)
}

// changedHead returns the column head for the numbers of changed cells.
func (c *Comparison) changedHead() string {
	if c.SameMeasurements {
		return "cells changed"
	}
	return "cells beyond noise"
}

// marginText formats a margin, 0 as a dash.
func marginText(m float64) string {
	if m == 0 {
		return "–"
	}
	return "±" + budget.Group(describe.WholeMargin(m))
}

// writeTables prints the tables that have something to report.
func (c *Comparison) writeTables(p *screen.Page) {
	unchanged := 0
	for _, t := range c.Tables {
		if t.Refused != "" {
			p.Blank()
			p.Paragraph(fmt.Sprintf("%s: not compared, since %s", t.Path, t.Refused), screen.Plain)
			continue
		}
		if t.changedFigures() == 0 {
			unchanged++
		}
		if t.changedFigures() > 0 || t.OnlyBefore > 0 || t.OnlyAfter > 0 {
			t.write(p, c.beyondNoise())
		}
	}
	if unchanged > 0 {
		p.Blank()
		p.Paragraph(fmt.Sprintf("In %s of %s no cell changed%s.", budget.Group(int64(unchanged)),
			budget.Plural(int64(len(c.Tables)), "table"), c.beyondNoise()), screen.Plain)
	}
}

// writeDisjoint explains disjoint intervals, if any intervals were compared.
func (c *Comparison) writeDisjoint(p *screen.Page) {
	if c.SameMeasurements {
		return
	}
	compared, changed, expected := int64(0), int64(0), 0.0
	for _, t := range c.Tables {
		for _, f := range t.Figures {
			compared, changed, expected = compared+f.Compared, changed+f.Changed, expected+f.Expected
		}
	}
	if compared == 0 {
		return
	}
	p.Blank()
	p.Paragraph(fmt.Sprintf(
		"Of %s whose error has no law of its own (other than counts, of secret samples, or of answers randomised on "+
			"devices) the intervals of both releases were compared: of %s they are apart. Noise alone sets about %s "+
			"apart at most, on the mean: the list is a hint and no test.",
		budget.Plural(compared, "figure"), budget.Group(changed), estimateText(expected)), screen.Plain)
}

// beyondNoise ends the sentence that a cell changed.
func (c *Comparison) beyondNoise() string {
	if c.SameMeasurements {
		return ""
	}
	return " by more than the noise explains"
}

// text describes a release in one line.
func (e Edition) text() string {
	text := e.Folder + " (" + e.Status
	if e.Revision > 0 {
		text += fmt.Sprintf(", revision %d", e.Revision)
	}
	return text + ", by " + e.Software + ")"
}

// ruleText explains how changes are distinguished from noise.
func (c *Comparison) ruleText() string {
	if c.SameMeasurements {
		return "Same draw: both publish the same measurements of one debit, so differences are not noise."
	}
	return fmt.Sprintf("A change of an unbiased estimate is listed where it is beyond its margin, the largest "+
		"difference that two independent draws of the noise explain. "+
		"If nothing but the noise had changed, any cell at all would be listed with a chance of at most %s: cells "+
		"share it step by step (Holm), by the laws of the noise or a bound on them. "+
		"What is beyond its margin comes from the data, from what changed in the plan or, where units have more rows "+
		"than are counted, from which of them were.", budget.Percent(c.Chance))
}

// changedFigures returns in how many cells, over all figures, the table changed.
func (t TableDifference) changedFigures() int64 {
	n := int64(0)
	for _, s := range t.Statistics {
		n += s.Changed
	}
	for _, f := range t.Figures {
		n += f.Changed
	}
	return n
}

// write prints one table: cells that only one release has, and its statistics. The text beyond ends the sentence that
// cells changed.
func (t TableDifference) write(p *screen.Page, beyond string) {
	text := fmt.Sprintf("%s: %s compared", t.Path, budget.Plural(t.Compared, "cell"))
	if t.OnlyBefore > 0 {
		text += fmt.Sprintf(", %s only before", budget.Group(t.OnlyBefore))
	}
	if t.OnlyAfter > 0 {
		text += fmt.Sprintf(", %s only after", budget.Group(t.OnlyAfter))
	}
	p.Blank()
	p.Paragraph(text, screen.Strong)
	if t.Some && t.OnlyBefore+t.OnlyAfter > 0 {
		p.Paragraph("Cells in one release alone need not have changed: which are published is drawn anew.",
			screen.Plain)
	}
	for _, s := range t.Statistics {
		if s.Changed > 0 {
			writeChanged(p, s.Name, fmt.Sprintf("%s changed%s", budget.Plural(s.Changed, "cell"), beyond), t.By,
				s.Largest,
				s.Changed)
		}
	}
	for _, f := range t.Figures {
		switch {
		case f.Changed > 0 && f.Expected == 0:
			p.Item("  ", fmt.Sprintf("%s: %s changed", f.Name, budget.Plural(f.Changed, "cell")))
		case f.Changed > 0:
			writeChanged(p, f.Name, fmt.Sprintf(
				"of %s compared %s with intervals apart, where noise sets %s apart at most, on the mean",
				budget.Plural(f.Compared, "cell"), budget.Group(f.Changed), estimateText(f.Expected)), t.By, f.Largest,
				f.Changed)
		}
	}
}

// writeChanged prints the cells of a figure that changed most.
func writeChanged(p *screen.Page, name, what string, by []string, largest []CellDifference, changed int64) {
	largest = largest[:min(len(largest), largestShown)]
	text := name + ": " + what
	if changed > int64(len(largest)) {
		text += fmt.Sprintf(", the %d that changed most:", len(largest))
	}
	p.Item("  ", text)
	columns := []screen.Column{{}} // the empty one indents
	for _, key := range by {
		columns = append(columns, screen.Column{Head: key, Fold: 8})
	}
	for _, head := range []string{"before", "after", "difference", "margin"} {
		columns = append(columns, screen.Column{Head: head, Right: true})
	}
	rows := make([][]screen.Cell, len(largest))
	for i, c := range largest {
		rows[i] = append(screen.Cells(append([]string{""}, c.Keys...)...),
			screen.Cells(estimateText(c.Before), estimateText(c.After),
				signedText(c.Difference), "±"+estimateText(c.Margin))...)
	}
	p.Table(columns, rows)
}

// CSV prints the changed cells of all tables, those that changed most first: up to a thousand of each figure.
func (d *Difference) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	records := [][]string{{"table", "cell", "figure", "before", "after", "difference", "margin", "by"}}
	for _, t := range d.Releases.Tables {
		list := func(name, by string, all []CellDifference) {
			for _, cell := range all {
				named := make([]string, len(cell.Keys))
				for i, code := range cell.Keys {
					named[i] = t.By[i] + "=" + code
				}
				record := []string{screen.NoFormula(t.Path), screen.NoFormula(strings.Join(named, ",")),
					screen.NoFormula(name)}
				for _, v := range []float64{cell.Before, cell.After, cell.Difference, cell.Margin} {
					record = append(record, strconv.FormatFloat(v, 'f', -1, 64))
				}
				records = append(records, append(record, by))
			}
		}
		for _, s := range t.Statistics {
			list(s.Name, "law of the noise", s.Largest)
		}
		for _, f := range t.Figures {
			list(f.Name, "intervals apart", f.Largest)
		}
	}
	return c.WriteAll(records)
}

// estimateText formats a figure that may be negative: a whole one in full, any other with four digits or all before
// the point.
func estimateText(v float64) string {
	if v < 0 {
		return "\u2212" + budget.DecimalNearest(-v, 4)
	}
	return budget.DecimalNearest(v, 4)
}

// signedText formats a difference with its sign.
func signedText(d float64) string {
	if d > 0 {
		return "+" + estimateText(d)
	}
	return estimateText(d)
}
