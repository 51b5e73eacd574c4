package trace

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file prints a trace for people.

// Write prints the trace as text.
func (t *Trace) Write(w io.Writer) error {
	_, err := io.WriteString(w, t.text())
	return err
}

// text returns the trace as it is printed.
func (t *Trace) text() string {
	names := make([]string, len(t.Cell))
	for i, k := range t.Cell {
		names[i] = cmp.Or(k.Title, k.Attribute) + " = " + k.Code
		if k.Label != "" {
			names[i] += " (" + k.Label + ")"
		}
	}
	if len(names) == 0 {
		names = []string{"all rows"}
	}
	text := fmt.Sprintf("%s: table %s, %s%s\n\n", t.Release, t.Table, strings.Join(names, ", "),
		published.StatusLine(t.Status))
	switch {
	case t.Missing != nil:
		return text + t.Missing.text()
	case t.NotAbove != nil:
		return text + t.NotAbove.Text(t.Confidence, t.Attained)
	}
	text += t.leftOutText() + t.weightText() + t.sampleText()
	if t.Choice != nil {
		text += t.Choice.text() + "\n"
	}
	return text + cmp.Or(t.publicText(), t.noiseText())
}

// noiseText says which figures there are, and from what they are computed.
func (t *Trace) noiseText() string {
	d := screen.Decimals(t.StandardError, t.Law == interval.Exact)
	law := "exact law of the noise, which attains " + screen.PercentDown(t.Attained)
	switch t.Law {
	case interval.Bounded:
		law = "law of the weighted noise, which attains " + screen.PercentDown(t.Attained) + " or more"
	case interval.Score:
		law = "of the noise and of the secret sample, which attains about " + screen.PercentDown(t.Attained)
	}
	text := screen.Aligned([][]string{
		{"published", budget.Group(t.Published) + t.fittedText()},
		{"unbiased", screen.Figure(t.Unbiased, d)},
		{"standard error", screen.Figure(t.StandardError, screen.Decimals(t.StandardError, false))},
		{fmt.Sprintf("%g%% interval", 100*t.Confidence), screen.Figure(t.Low, d) + " … " + screen.Figure(t.High, d) +
			" (" +
			law + ")"},
	}, 2)
	text += fmt.Sprintf("\nMade of %s:\n", budget.Plural(int64(len(t.Contributions)), "measurement"))
	for _, o := range t.Contributions {
		text += o.text()
	}
	text += fmt.Sprintf("\nΣ weight × noisy integer = %s; published as %s (difference %s).\n", screen.Exactly(t.Sum),
		screen.Exactly(t.Unbiased), screen.Exactly(t.Difference))
	return text + t.figuresText() + "The interval covers " + t.Covers + ".\n"
}

// figuresText describes the figures of the cell other than its count.
func (t *Trace) figuresText() string {
	count := t.countName()
	var b strings.Builder
	for _, f := range t.Figures {
		b.WriteString(f.text(count))
	}
	return b.String()
}

// text returns an origin in three lines.
func (o Contribution) text() string {
	kind := o.Mechanism.Kind
	noise := kind.Name() + " noise of " + cmp.Or(kind.ParameterWord(), kind.ParameterName()+" =") + " "
	share := fmt.Sprintf("%.1f%%", 100*o.Share)
	if o.Share < 0.0005 {
		share = "< 0.1%"
	}
	integers := "each of its " + budget.Plural(o.Integers, "integer")
	if o.Integers == 1 {
		integers = "its 1 integer"
	}
	return fmt.Sprintf("\n%8s of the variance: %s\n           %s%s on %s\n           %s; contributes %s\n",
		share, o.Measurement, noise, budget.FormatRat(o.Mechanism.Parameter), integers, weightsText(o.Weights),
		screen.Shortly(o.Sum))
}

// weightsText lists the weights, largest first.
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
		parts = append(parts, budget.Plural(w.Integers, "integer")+" × "+
			screen.Minus(strconv.FormatFloat(w.Value, 'g', 4, 64)))
	}
	return strings.Join(parts, ", ")
}
