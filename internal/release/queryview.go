package release

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file holds the answer and the trace as people read them.

// Write prints the answer as text.
func (a *Answer) Write(w io.Writer) error {
	head := append(slices.Clone(a.By), a.Statistic, "standard error", fmt.Sprintf("%g %% interval", 100*a.Confidence))
	rows := [][]string{head}
	for _, r := range a.Rows {
		d := decimals(r.StandardError, r.whole() && a.Step == "")
		if n := r.NotAbove; n != nil {
			rows = append(rows, append(slices.Clone(r.Keys), "not above "+budget.Group(n.Threshold), "", "0 … "+budget.Group(n.Bound)))
			continue
		}
		rows = append(rows, append(slices.Clone(r.Keys),
			figureText(r.Unbiased, d), figureText(r.StandardError, decimals(r.StandardError, false)), figureText(r.Low, d)+" … "+figureText(r.High, d)))
	}
	_, err := fmt.Fprintf(w, "%s%s\n\n%s%s", a.title(), marked(a.Status), aligned(rows, len(a.By)), a.notes())
	return err
}

// title says what was asked.
func (a *Answer) title() string {
	counted := "rows"
	if a.Weighted {
		counted = "weighted rows"
	}
	text := a.Release + ": " + a.Statistic + " of " + counted + " of " + a.From
	if len(a.By) > 0 {
		text += " by " + strings.Join(a.By, ", ")
	}
	for i, c := range a.Where {
		if i == 0 {
			text += ", where "
		} else {
			text += " and "
		}
		text += c.String()
	}
	return text
}

// notes say where the answer comes from and what its intervals are.
func (a *Answer) notes() string {
	least, most := a.Rows[0].Cells, a.Rows[0].Cells
	attained := map[Law]float64{}
	for _, r := range a.Rows {
		least, most = min(least, r.Cells), max(most, r.Cells)
		if before, ok := attained[r.Law]; !ok || r.Attained < before {
			attained[r.Law] = r.Attained
		}
	}
	cells := budget.Plural(int64(most), "cell")
	if least < most {
		cells = fmt.Sprintf("%d to %s", least, cells)
	}
	if a.Invariant != "" {
		return fmt.Sprintf("\nFrom table %s, %s a figure: figures that were public before, of invariant %s, or sums of these. They have no noise, and nothing says that they are those of the data.\n", a.Table, cells, a.Invariant)
	}
	text := fmt.Sprintf("\nFrom table %s, %s a figure; noise of %s.\n", a.Table, cells, listed(a.Measurements))
	if a.Bounded != "" {
		text += fmt.Sprintf("The table counts %s; no other table holds these counts.\n", a.Bounded)
	}
	if v, ok := attained[ExactLaw]; ok {
		text += fmt.Sprintf("Intervals by the exact law of the noise: each covers the exact count with a probability of %s or more.\n", percentDown(v))
	}
	if v, ok := attained[ThresholdLaw]; ok {
		text += fmt.Sprintf("Cells that are not above the threshold are not published, and need not be empty: of a cell of more rows than the bound the noisy count is above it with a chance of %s or more.\n", percentDown(v))
	}
	if v, ok := attained[BoundedLaw]; ok {
		text += fmt.Sprintf("Intervals by the law of the weighted noise: each covers the exact count with a probability of %s or more.\n", percentDown(v))
	}
	same, more := 0, 0
	for _, o := range a.Others {
		switch {
		case o.Same:
			same++
		case more == 5:
		default:
			more++
			text += fmt.Sprintf("Table %s holds these counts too; its own answer would have a standard error of %s.\n", o.Table, figureText(o.StandardError, decimals(o.StandardError, false)))
		}
	}
	if same > 0 {
		text += fmt.Sprintf("%s put together with it would give the same answer.\n", budget.Plural(int64(same), "other table"))
	}
	if a.Above > 0 {
		return text + fmt.Sprintf("The table has the cells above %s alone: figures little above that are too large on the mean. Intervals hold over all cells, in the table or not, and cover %s.\n", budget.Group(a.Above), a.Covers)
	}
	return text + "Figures are unbiased estimates, and may be negative. Intervals cover " + a.Covers + ".\n"
}

// listed names measurements.
func listed(ids []string) string {
	const most = 4
	if len(ids) > most {
		return fmt.Sprintf("%d measurements, put together by least squares (%s …)", len(ids), strings.Join(ids[:2], ", "))
	}
	if len(ids) > 1 {
		return fmt.Sprintf("%d measurements, put together by least squares (%s)", len(ids), strings.Join(ids, ", "))
	}
	return "measurement " + strings.Join(ids, "")
}

// CSV prints the answer as a table whose columns are named as those of published tables.
func (a *Answer) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	s := a.Statistic
	if err := c.Write(append(noFormulas(a.By), s+plan.Unbiased, s+plan.StandardError, s+plan.Low, s+plan.High, s+"_law", s+"_attained")); err != nil {
		return err
	}
	for _, r := range a.Rows {
		line := noFormulas(r.Keys)
		figures := []float64{r.Unbiased, r.StandardError, r.Low, r.High}
		if r.NotAbove != nil { // there is no estimate
			line, figures = append(line, "", ""), figures[2:]
		}
		for _, v := range figures {
			line = append(line, strconv.FormatFloat(v, 'f', -1, 64))
		}
		if err := c.Write(append(line, string(r.Law), strconv.FormatFloat(r.Attained, 'f', 6, 64))); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// whole tells a figure that is a sum of noisy integers.
func (r AnswerRow) whole() bool { return r.Law == ExactLaw }

// Write prints the trace as text.
func (t *Trace) Write(w io.Writer) error {
	names := make([]string, len(t.Cell))
	for i, k := range t.Cell {
		names[i] = k.Attribute + " = " + k.Code
		if k.Label != "" {
			names[i] += " (" + k.Label + ")"
		}
	}
	if len(names) == 0 {
		names = []string{"all rows"}
	}
	if m := t.Missing; m != nil {
		_, err := fmt.Fprintf(w, "%s: table %s, %s%s\n\n%s", t.Release, t.Table, strings.Join(names, ", "), marked(t.Status), m.text())
		return err
	}
	if n := t.NotAbove; n != nil {
		_, err := fmt.Fprintf(w, "%s: table %s, %s%s\n\n%s", t.Release, t.Table, strings.Join(names, ", "), marked(t.Status), n.text(t.Confidence, t.Attained))
		return err
	}
	d := decimals(t.StandardError, t.Law == ExactLaw)
	law := "exact law of the noise, which attains " + percentDown(t.Attained)
	switch t.Law {
	case BoundedLaw:
		law = "law of the weighted noise, which attains " + percentDown(t.Attained) + " or more"
	case ScoreLaw:
		law = "of the noise and of the secret sample, which attains about " + percentDown(t.Attained)
	}
	text := fmt.Sprintf("%s: table %s, %s%s\n\n", t.Release, t.Table, strings.Join(names, ", "), marked(t.Status))
	switch {
	case t.Counts != "":
		text += "Counted are " + t.Counts + ".\n"
	case t.Weighted:
		text += "Rows count by their weights.\n"
	}
	text += t.sampleText()
	if t.Choice != nil {
		text += t.Choice.text() + "\n"
	}
	if t.Invariant != "" {
		_, err := fmt.Fprintf(w, "%s%s\nIt is a figure that was public before, of invariant %s, or a sum of such figures: it is made of no measurement, and has no noise. Nothing says that the data have the same figure.\n%s", text, aligned([][]string{{"published", budget.Group(t.Published)}}, 2), t.Invariant, t.figuresText())
		return err
	}
	text += aligned([][]string{
		{"published", budget.Group(t.Published) + t.fittedText()},
		{"unbiased", figureText(t.Unbiased, d)},
		{"standard error", figureText(t.StandardError, decimals(t.StandardError, false))},
		{fmt.Sprintf("%g %% interval", 100*t.Confidence), figureText(t.Low, d) + " … " + figureText(t.High, d) + " (" + law + ")"},
	}, 2)
	text += fmt.Sprintf("\nMade of %s:\n", budget.Plural(int64(len(t.Bearings)), "measurement"))
	for _, o := range t.Bearings {
		text += o.text()
	}
	text += fmt.Sprintf("\nΣ weight × noisy integer = %s; published as %s (difference %s).\n", exactly(t.Sum), exactly(t.Unbiased), exactly(t.Difference))
	text += t.figuresText()
	_, err := io.WriteString(w, text+"The interval covers "+t.Covers+".\n")
	return err
}

// figuresText says what the cell has beside its count.
func (t *Trace) figuresText() string {
	count := "the count"
	if t.Invariant != "" {
		count = "the count as it was measured"
	}
	var b strings.Builder
	for _, f := range t.Figures {
		b.WriteString(f.text(count))
	}
	return b.String()
}

// text is an origin in three lines.
func (o Origin) text() string {
	noise := "discrete Gaussian noise of σ² = "
	if o.Mechanism.Kind == budget.DiscreteLaplace {
		noise = "discrete Laplace noise of scale "
	}
	share := fmt.Sprintf("%.1f %%", 100*o.Share)
	if o.Share < 0.0005 {
		share = "< 0.1 %"
	}
	integers := "each of its " + budget.Plural(o.Integers, "integer")
	if o.Integers == 1 {
		integers = "its 1 integer"
	}
	return fmt.Sprintf("\n%8s of the variance: %s\n           %s%s on %s\n           %s; brings %s\n",
		share, o.Measurement, noise, budget.FormatRat(o.Mechanism.Parameter), integers, weightsText(o.Weights), shortly(o.Sum))
}

// weightsText names the weights, largest first.
func weightsText(weights []compiled.Weight) string {
	const most = 6
	var parts []string
	for i, w := range weights {
		if i == most {
			rest := int64(0)
			for _, w := range weights[i:] {
				rest += w.Integers
			}
			parts = append(parts, fmt.Sprintf("%s of smaller weights", budget.Plural(rest, "integer")))
			break
		}
		parts = append(parts, budget.Plural(w.Integers, "integer")+" × "+minus(strconv.FormatFloat(w.Value, 'g', 4, 64)))
	}
	return strings.Join(parts, ", ")
}

// aligned sets rows in columns, the first ones to the left and the others to the right.
func aligned(rows [][]string, left int) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], screen.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-screen.Width(cell))
			if i > 0 {
				line += "   "
			}
			if i < left {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// marked is the mark of what is no release.
func marked(status string) string {
	if status == "RELEASE" {
		return ""
	}
	return "\n" + status
}

// decimals is how many a figure is printed with: none of a whole one, else so many that three digits of its error show.
func decimals(deviation float64, whole bool) int {
	if whole || !(deviation > 0) {
		return 0
	}
	return max(0, min(9, 2-int(math.Floor(math.Log10(deviation)))))
}

// figureText prints a figure with a true minus sign and groups of digits.
func figureText(v float64, decimals int) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, rest, point := strings.Cut(text, ".")
	out := budget.GroupDigits(whole)
	if point {
		out += "." + rest
	}
	if v < 0 && strings.Trim(text, "0.") != "" {
		return "−" + out
	}
	return out
}

// shortly prints seven digits of a figure.
func shortly(v float64) string { return minus(strconv.FormatFloat(v, 'g', 7, 64)) }

// exactly prints all digits of a figure.
func exactly(v float64) string { return minus(strconv.FormatFloat(v, 'g', -1, 64)) }

func minus(text string) string { return strings.ReplaceAll(text, "-", "−") }

// percentDown is a probability in percent, rounded down.
func percentDown(p float64) string {
	return strconv.FormatFloat(math.Floor(p*1e4)/1e2, 'f', 2, 64) + " %"
}
