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

// This file holds the total as people and spreadsheets read it.

// name is the statistic's column.
func (t *Total) name() string {
	if t.Column == "" {
		return t.Statistic
	}
	return t.Column + "_" + t.Statistic
}

// each reports whether every release has rows of its own.
func (t *Total) each() bool { return len(t.Rows) > 0 && t.Rows[0].Release != "" }

// Write prints the total as text.
func (t *Total) Write(w io.Writer) error {
	keys := slices.Clone(t.By)
	if t.each() {
		keys = append([]string{"release"}, keys...)
	}
	rows := [][]string{append(slices.Clone(keys), t.name(), "standard error",
		fmt.Sprintf("%g %% interval", 100*t.Confidence))}
	for _, r := range t.Rows {
		line := slices.Clone(r.Keys)
		if t.each() {
			line = append([]string{r.Release}, line...)
		}
		value, deviation, between := "", "", "says nothing"
		d := 0
		if r.StandardError != nil {
			d = screen.Decimals(*r.StandardError, r.Law == interval.Exact)
			deviation = screen.Figure(*r.StandardError, screen.Decimals(*r.StandardError, false))
		}
		if r.Value != nil {
			value = screen.Figure(*r.Value, d)
		}
		if r.Low != nil && r.High != nil {
			between = screen.Figure(*r.Low, d) + " … " + screen.Figure(*r.High, d)
		}
		rows = append(rows, append(line, value, deviation, between))
	}
	_, err := fmt.Fprintf(w, "%s%s\n\n%s\n%s", t.title(), published.Marked(t.Status), screen.Aligned(rows, len(keys)),
		t.notes())
	return err
}

// title says what was asked, and of which releases.
func (t *Total) title() string {
	text := t.Statistic
	if t.Column != "" {
		text += " of " + t.Column
	}
	counted := "rows"
	if t.Weighted {
		counted = "weighted rows"
	}
	text += " over " + counted + " of " + t.From
	if len(t.By) > 0 {
		text += " by " + strings.Join(t.By, ", ")
	}
	for i, c := range t.Where {
		text += []string{", where ", " and "}[min(i, 1)] + c.String()
	}
	var names []string
	for _, r := range t.Releases {
		names = append(names, r.Release)
	}
	if len(names) == 1 {
		return names[0] + ": " + text
	}
	together := "together"
	if t.each() {
		together = "each"
	}
	return fmt.Sprintf("%s %s: %s\n%s", budget.Plural(int64(len(names)), "release"), together, text,
		strings.Join(names, ", "))
}

// notes say where the figures come from and what their intervals are.
func (t *Total) notes() string {
	var b strings.Builder
	for _, r := range t.Releases {
		fmt.Fprintf(&b, "%s: from table %s", r.Release, r.Table)
		if r.Bounded != "" {
			fmt.Fprintf(&b, ", which counts %s", r.Bounded)
		}
		b.WriteString(".\n")
	}
	if len(t.Releases) > 1 && !t.each() {
		b.WriteString("The noise of each release was drawn independently, so variances add up. A row that lies in several releases is counted in each.\n")
	}
	attained := map[interval.Law]float64{}
	unbounded := false
	for _, r := range t.Rows {
		if before, ok := attained[r.Law]; !ok || r.Attained < before {
			attained[r.Law] = r.Attained
		}
		unbounded = unbounded || r.Flag != ""
	}
	for _, law := range []struct {
		of   interval.Law
		says string
	}{
		{interval.Exact, "Intervals by the exact law of the noise: each covers the exact figure with a probability of %s or more.\n"},
		{interval.Bounded, "Intervals by the law of the weighted noise: each covers the exact figure with a probability of %s or more.\n"},
		{RatioLaw, "Intervals by inverting the law of the sum and the count (Fieller): each covers the exact mean with a probability of %s.\n"},
	} {
		if v, ok := attained[law.of]; ok {
			fmt.Fprintf(&b, law.says, screen.PercentDown(v))
		}
	}
	if unbounded {
		b.WriteString("Where the interval says nothing, the noise leaves open all that the mean may be.\n")
	}
	if t.Statistic != "mean" {
		b.WriteString("Figures are unbiased estimates, and may be negative. ")
	}
	return b.String() + "Intervals cover " + t.Covers + ".\n"
}

// CSV prints the total as a table whose columns are named as those of published tables, behind one of the release where
// each has rows of its own.
func (t *Total) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	s := t.name()
	keys := screen.NoFormulas(t.By)
	if t.each() {
		keys = append([]string{"release"}, keys...)
	}
	unbiased := s + statistic.Unbiased
	if t.Statistic == "mean" {
		unbiased = s
	}
	if err := c.Write(append(keys, unbiased, s+statistic.StandardError, s+statistic.Low, s+statistic.High, s+"_law",
		s+"_attained")); err != nil {
		return err
	}
	for _, r := range t.Rows {
		line := screen.NoFormulas(r.Keys)
		if t.each() {
			line = append(screen.NoFormulas([]string{r.Release}), line...)
		}
		for _, v := range []*float64{r.Value, r.StandardError, r.Low, r.High} {
			text := ""
			if v != nil {
				text = strconv.FormatFloat(*v, 'f', -1, 64)
			}
			line = append(line, text)
		}
		if err := c.Write(append(line, string(r.Law), strconv.FormatFloat(r.Attained, 'f', 6, 64))); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
