package query

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/statistic"
)

// This file prints a total for people and spreadsheets.

// columnName returns the name of the statistic's column.
func (t *Total) columnName() string {
	if t.Column == "" {
		return t.Statistic
	}
	return t.Column + "_" + t.Statistic
}

// isByRelease reports whether every release has rows of its own.
func (t *Total) isByRelease() bool { return len(t.Rows) > 0 && t.Rows[0].Release != "" }

// withRelease puts the release before the keys, if every release has rows of its own.
func (t *Total) withRelease(release string, keys []string) []string {
	if !t.isByRelease() {
		return keys
	}
	return append([]string{release}, keys...)
}

// Write prints the total as text.
func (t *Total) Write(w io.Writer) error {
	keys := t.withRelease("release", t.By)
	rows := [][]string{append(slices.Clone(keys), t.columnName(), "standard error",
		fmt.Sprintf("%g%% interval", 100*t.Confidence))}
	for _, r := range t.Rows {
		line := slices.Clone(t.withRelease(r.Release, r.Keys))
		value, deviation, between := "", "", "says nothing"
		if r.StandardError != nil {
			deviation = screen.Figure(*r.StandardError, screen.Decimals(*r.StandardError, false))
		}
		if r.Value != nil {
			form := screen.FormOf(*r.Value, r.Low, r.High)
			value = form.Nearest(*r.Value)
			if r.Low != nil && r.High != nil {
				between = form.Down(*r.Low) + " … " + form.Up(*r.High)
			}
		}
		rows = append(rows, append(line, value, deviation, between))
	}
	_, err := fmt.Fprintf(w, "%s%s\n\n%s\n%s", t.title(), published.StatusLine(t.Status),
		screen.Aligned(rows, len(keys)),
		t.notes())
	return err
}

// title returns the question, and the releases it was put to.
func (t *Total) title() string {
	text := t.Statistic
	if t.Column != "" {
		text += " of " + t.Column
	}
	text += " over " + rowsText(t.Weighted, t.From, t.By, t.Where)
	var names []string
	for _, r := range t.Releases {
		names = append(names, r.Release)
	}
	if len(names) == 1 {
		return names[0] + ": " + text
	}
	together := "together"
	if t.isByRelease() {
		together = "each"
	}
	return fmt.Sprintf("%s %s: %s\n%s", budget.Plural(int64(len(names)), "release"), together, text,
		strings.Join(names, ", "))
}

// notes returns where the figures come from and what their intervals are.
func (t *Total) notes() string {
	var b strings.Builder
	for _, r := range t.Releases {
		fmt.Fprintf(&b, "%s: from table %s", r.Release, r.Table)
		if r.Bounded != "" {
			fmt.Fprintf(&b, ", which counts %s", r.Bounded)
		}
		b.WriteString(".\n")
	}
	if len(t.Releases) > 1 && !t.isByRelease() {
		b.WriteString("The noise of each release was drawn independently, so variances add up. A row that lies in " +
			"several releases is counted in each.\n")
	}
	levels, unbounded := attainedConfidence{}, false
	for _, r := range t.Rows {
		levels.add(r.Law, r.Attained)
		unbounded = unbounded || r.Flag != ""
	}
	b.WriteString(levels.intervalSentences(
		lawText{interval.Exact, "Intervals by the exact law of the noise: each covers the exact figure with a " +
			"probability of %s or more.\n"},
		lawText{interval.Bounded, "Intervals by the law of the weighted noise: each covers the exact figure with a " +
			"probability of %s or more.\n"},
		lawText{RatioLaw, "Intervals by inverting the law of the sum and the count (Fieller): each covers the exact " +
			"mean with a probability of %s.\n"},
	))
	if unbounded {
		b.WriteString("Where the interval says nothing, the noise rules out no possible value of the mean.\n")
	}
	if t.Statistic != "mean" {
		b.WriteString("Figures are unbiased estimates, and may be negative. ")
	}
	return b.String() + "Intervals cover " + t.Covers + ".\n"
}

// CSV prints the total as a table whose columns are named as in published tables, after a column for the release if
// each has rows of its own.
func (t *Total) CSV(w io.Writer) error {
	suffix := statistic.Unbiased
	if t.Statistic == "mean" {
		suffix = ""
	}
	lines := [][]string{csvHead(t.withRelease("release", t.By), t.columnName(), suffix)}
	for _, r := range t.Rows {
		figures := []*float64{r.Value, r.StandardError, r.Low, r.High}
		lines = append(lines, csvLine(t.withRelease(r.Release, r.Keys), figures, r.Law, r.Attained))
	}
	return csv.NewWriter(w).WriteAll(lines)
}
