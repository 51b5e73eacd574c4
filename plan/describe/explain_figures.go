package describe

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds what the signed page says of figures other than counts.

// explainFigures writes a row for every figure of every table, with the cost of each part that it is computed from.
func explainFigures(p *plan.Plan, b *strings.Builder) {
	measured := p.Measured()
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	seen := map[string]bool{}
	some := false
	for _, table := range p.Tables {
		for _, f := range table.Figures {
			if !some {
				fmt.Fprint(b, "\nFigures other than counts\n")
				fmt.Fprintln(t, "  figure\twhat\tstd. error\t95% margin\tcomputed from")
				some = true
			}
			error, margin := qualityTexts(f.Quality)
			fmt.Fprintf(t, "  %s %s\t%s\t%s\t%s\t%s\n", table.Path, f.Name,
				statistic.OfFigure(f).Describe(language.English, f, table.By, spec.TableWords{}), error, margin,
				restsOn(f, measured, seen))
		}
	}
	defer explainWeights(p, b)
	if !some {
		return
	}
	t.Flush()
	b.WriteString("  Each is computed from noisy integers alone, also from the table's noisy count. Values beyond a " +
		"declared range are clamped to it; this shifts figures, and no margin includes it.\n")
	explainQuantiles(p, b)
	for _, table := range p.Tables {
		if table.Show > 0 && len(table.Figures) > 0 {
			fmt.Fprintf(b, "  %s: figures are withheld where the noisy %s is below %s.\n", table.Path,
				table.Statistics[0].Name,
				budget.Group(table.Show))
		}
	}
}

// explainQuantiles says how quantiles are found, and why.
func explainQuantiles(p *plan.Plan, b *strings.Builder) {
	seen := map[string]bool{}
	for _, table := range p.Tables {
		for _, f := range table.Figures {
			if !statistic.OfFigure(f).Ranked() || seen[f.Part] {
				continue
			}
			seen[f.Part] = true
			fmt.Fprintf(b, "  %s: %s\n", strings.TrimPrefix(f.Part, "values/"),
				QuantileMethodText(language.English, f.Quality, f.Column))
		}
	}
	if len(seen) > 0 {
		fmt.Fprintf(b, "  Each quantile is found in the way that is expected to give the narrower intervals. Their "+
			"margin is stated for rows that lie evenly over a tenth of the column's range. Where rows are denser it "+
			"is smaller, down to the width of a bin.\n")
	}
}

// QuantileMethodText says how a quantile of a column is found, and what the other way would give.
func QuantileMethodText(l *language.Language, q plan.Quality, column string) string {
	text := l.Text("drawn by the exponential mechanism, with the ends of the intervals.")
	switch {
	case q.Bins > 0 && q.Cell > 0:
		text = l.Text("read from noisy counts of rows by %s bins of %s, each %s wide; no interval is narrower than a bin.",
			budget.Group(q.Bins), column, l.Number(budget.DecimalNearest(q.Cell, 6)))
	case q.Bins > 0:
		text = l.Text("read from noisy counts of rows by %s bins of %s, one for each value.", budget.Group(q.Bins),
			column)
	}
	o := q.Alternative
	if o == nil {
		return text + " " + l.Text("The other way of finding quantiles is not possible here.")
	}
	rows, margin := l.Plural(WholeMargin(o.Ranks), "row"), l.Number(budget.DecimalNearest(o.Margin, 4))
	if o.Bins > 0 {
		return text + " " + l.Text("If they were read from counts of %s bins instead, quantiles would be within ±%s "+
			"of their rank, about ±%s.", budget.Group(o.Bins),
			rows, margin)
	}
	return text + " " + l.Text("If they were drawn instead, quantiles would be within ±%s of their rank, about ±%s.",
		rows, margin)
}

// qualityTexts returns the standard error and the margin in words.
func qualityTexts(q plan.Quality) (error, margin string) {
	if q.Ranks > 0 {
		return "", fmt.Sprintf("within ±%s of the rank asked for, about ±%s in a cell of %s",
			budget.Plural(WholeMargin(q.Ranks), "row"), budget.DecimalNearest(q.Margin, 4),
			budget.Plural(q.Rows, "row"))
	}
	if q.StandardError == 0 {
		return "depends on the data", ""
	}
	of := ""
	if q.Rows > 0 {
		of = fmt.Sprintf(" in a cell of %s", budget.Plural(q.Rows, "row"))
	}
	return budget.DecimalNearest(q.StandardError, 4), "±" + budget.DecimalNearest(q.Margin, 4) + of
}

// restsOn says what a figure's parts are and what they cost. Each cost appears once.
func restsOn(f plan.Figure, measured map[string]plan.Measurement, seen map[string]bool) string {
	if f.Parts() == nil {
		return "the counts"
	}
	var all []string
	for _, id := range f.Parts() {
		name := strings.TrimPrefix(id, "values/")
		if !seen[id] {
			seen[id] = true
			all = append(all, name+" ("+CostText(measured[id].Mechanism, 1)+")")
		}
	}
	if all == nil {
		return "what is there"
	}
	return strings.Join(all, ", ")
}

// figureWithAccuracy says what a figure of a table by some attributes is, with its standard error and its margin if
// these are known.
func figureWithAccuracy(f plan.Figure, by []string) string {
	error, margin := qualityTexts(f.Quality)
	switch {
	case margin == "":
		return statistic.OfFigure(f).Describe(language.English, f, by, spec.TableWords{})
	case error == "": // of a quantile
		return fmt.Sprintf("%s; 95%% margin %s", statistic.OfFigure(f).Describe(language.English, f, by,
			spec.TableWords{}), margin)
	}
	return fmt.Sprintf("%s; standard error %s, 95%% margin %s", statistic.OfFigure(f).Describe(language.English, f, by,
		spec.TableWords{}), error, margin)
}

// isOfPart reports whether a strategy is for a part of a table's figures.
func isOfPart(s strategy.Group) bool { return strings.HasPrefix(s.Tables[0], "values/") }
