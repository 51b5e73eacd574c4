package describe

import (
	"fmt"
	"math"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the advice on `show`: in which cells figures beside counts are little more than noise, and which
// noisy count withholds them there.

// wellAbove is how many times that size an average cell is where hardly any is so small.
const wellAbove = 10

// unshown names the marginals with figures beside counts that nothing withholds in small cells, where an average cell
// is not far larger than those, or the spec does not say how large it is.
func unshown(p *plan.Plan) []string {
	most, average := map[string]int64{}, map[string]float64{}
	var names []string
	for _, t := range p.Tables {
		least := leastShown(p, t)
		if t.Show > 0 || least == 0 || t.SomeCells() || strings.HasPrefix(t.Path, "bounds/") {
			continue
		}
		cell := averageCell(p, t)
		if _, ok := most[t.Marginal]; !ok {
			names = append(names, t.Marginal)
			average[t.Marginal] = cell
		}
		most[t.Marginal], average[t.Marginal] = max(most[t.Marginal], least), min(average[t.Marginal], cell)
	}
	var w []string
	for _, name := range names {
		if average[name] >= float64(wellAbove*most[name]) {
			continue
		}
		of := ""
		if average[name] > 0 {
			of = fmt.Sprintf(" (an average cell has %s)", SizeText(average[name]))
		}
		w = append(w, fmt.Sprintf(
			"where the count of a cell is below about %s%s the figures of %s beside it are little more than noise, and are published unless the noise leaves every value open: "+
				"show: {when_count_at_least: %d} withholds them there, by the noisy count alone", budget.Group(most[name]), of,
			name,
			most[name]))
	}
	return w
}

// leastShown is about how many rows, by weight, a cell of a table needs for all its figures to say something: that its
// count and what can be added up are not taken for zero, and that an interval leaves open at most half of what a figure
// can be. It is 0 for a table without figures, rounded up to two digits, and leaves out figures whose error depends on
// more than a number of rows.
func leastShown(p *plan.Plan, t plan.Table) int64 {
	if len(t.Figures) == 0 {
		return 0
	}
	least := t.Statistics[0].Margin
	for _, f := range t.Figures {
		least = max(least, leastFor(p.Release().Table(t.From), f))
	}
	return int64(math.Round(budget.RoundUp(max(math.Ceil(least), 1), 2)))
}

// leastFor is that number for one figure of a table of these rows.
func leastFor(rows *spec.Table, f plan.Figure) float64 {
	if f.Quality.Ranks == 0 && f.Quality.Margin == 0 {
		return 0
	}
	return statistic.OfFigure(f).Telling(f, rows)
}
