package describe

import (
	"math"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the advice on `show`: in which cells figures other than counts are little more than noise, and
// which noisy count withholds them there.

// wellAbove is the ratio of an average cell to the least informative size from which hardly any cell is too small.
const wellAbove = 10

// showWarnings names the marginals with figures that are not withheld in small cells, if an average cell is not much
// larger than these, or the spec does not state its size.
func showWarnings(l *language.Language, p *plan.Plan) []string {
	most, average := map[string]int64{}, map[string]float64{}
	var names []string
	for _, t := range p.Tables {
		least := leastShown(p, t)
		known := p.Release().Collection != nil && t.Cells == 1 // all respondents
		if t.Show > 0 || least == 0 || t.SomeCells() || known || strings.HasPrefix(t.Path, "bounds/") {
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
			of = " " + l.Text("(an average cell has %s)", l.Number(SizeText(average[name])))
		}
		w = append(w, l.Text(
			"in cells with a count below about %s%s, the figures of %s other than counts are little more than noise. "+
				"They are published there, unless their interval rules out no possible value. With show: "+
				"{when_count_at_least: %d} they are withheld there, by the noisy count alone",
			budget.Group(most[name]), of, name, most[name]))
	}
	return w
}

// leastShown returns about how many rows, by weight, a cell of a table needs for all its figures to be informative:
// its count and sums are not mistaken for zero, and an interval leaves open at most half of a figure's possible
// range. It is 0 for a table without figures, rounded up to two digits, and ignores figures whose error depends on
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

// leastFor returns that number for one figure of a table of these rows.
func leastFor(rows *spec.Table, f plan.Figure) float64 {
	if f.Quality.Ranks == 0 && f.Quality.Margin == 0 {
		return 0
	}
	return statistic.OfFigure(f).RowsNeeded(f, rows)
}
