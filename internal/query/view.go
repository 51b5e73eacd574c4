package query

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/statistic"
)

// This file holds the answer as people read it.

// Write prints the answer as text.
func (a *Answer) Write(w io.Writer) error {
	head := append(slices.Clone(a.By), a.Statistic, "standard error", fmt.Sprintf("%g %% interval", 100*a.Confidence))
	rows := [][]string{head}
	for _, r := range a.Rows {
		d := screen.Decimals(r.StandardError, r.whole() && a.Step == "")
		if n := r.NotAbove; n != nil {
			rows = append(rows, append(slices.Clone(r.Keys), "not above "+budget.Group(n.Threshold), "",
				"0 … "+budget.Group(n.Bound)))
			continue
		}
		rows = append(rows, append(slices.Clone(r.Keys),
			screen.Figure(r.Unbiased, d), screen.Figure(r.StandardError, screen.Decimals(r.StandardError, false)),
			screen.Figure(r.Low, d)+" … "+screen.Figure(r.High, d)))
	}
	_, err := fmt.Fprintf(w, "%s%s\n\n%s%s", a.title(), published.Marked(a.Status), screen.Aligned(rows, len(a.By)),
		a.notes())
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
	attained := map[interval.Law]float64{}
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
	if v, ok := attained[interval.Exact]; ok {
		text += fmt.Sprintf("Intervals by the exact law of the noise: each covers the exact count with a probability of %s or more.\n", screen.PercentDown(v))
	}
	if v, ok := attained[interval.Threshold]; ok {
		text += fmt.Sprintf("Cells that are not above the threshold are not published, and need not be empty: of a cell of more rows than the bound the noisy count is above it with a chance of %s or more.\n", screen.PercentDown(v))
	}
	if v, ok := attained[interval.Bounded]; ok {
		text += fmt.Sprintf("Intervals by the law of the weighted noise: each covers the exact count with a probability of %s or more.\n", screen.PercentDown(v))
	}
	same, more := 0, 0
	for _, o := range a.Others {
		switch {
		case o.Same:
			same++
		case more == 5:
		default:
			more++
			text += fmt.Sprintf("Table %s holds these counts too; its own answer would have a standard error of %s.\n", o.Table,
				screen.Figure(o.StandardError, screen.Decimals(o.StandardError, false)))
		}
	}
	if same > 0 {
		text += fmt.Sprintf("%s put together with it would give the same answer.\n",
			budget.Plural(int64(same), "other table"))
	}
	if a.Above > 0 {
		return text + fmt.Sprintf(
			"The table has the cells above %s alone: figures little above that are too large on the mean. Intervals hold over all cells, in the table or not, and cover %s.\n", budget.Group(a.Above), a.Covers)
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
	if err := c.Write(append(screen.NoFormulas(a.By), s+statistic.Unbiased, s+statistic.StandardError, s+statistic.Low,
		s+statistic.High,
		s+"_law", s+"_attained")); err != nil {
		return err
	}
	for _, r := range a.Rows {
		line := screen.NoFormulas(r.Keys)
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
func (r AnswerRow) whole() bool { return r.Law == interval.Exact }
