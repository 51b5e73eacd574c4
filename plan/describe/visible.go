package describe

import (
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/spec/language"
)

// This file predicts, before any row is read, what the noise leaves visible of a table in its microdata.

// VisibleDeviations is the number of standard errors above zero that a noisy count needs for its category to be kept
// in microdata. All other categories of its column are merged into one.
const VisibleDeviations = 3

// visibleFrom returns the number of rows from which an average category of some column of the i-th microdata is kept;
// 0 if every column has one category.
func visibleFrom(p *plan.Plan, i int) int64 {
	least := 0.0
	for _, m := range p.ColumnsOf(i) {
		if rows := VisibleDeviations * math.Sqrt(m.Mechanism.Variance()) * float64(m.Cells); m.Cells > 1 &&
			(least == 0 || rows < least) {
			least = rows
		}
	}
	return int64(math.Ceil(min(least, 1<<62)))
}

// togetherFrom returns the number of rows from which an average cell of some pair of columns of the i-th microdata is
// as large as its standard error, if the rounds spend what they may on that pair only, by [AIM], or a round's part of
// it, by [MST]; 0 if no two columns have two categories.
func togetherFrom(p *plan.Plan, i int) int64 {
	s := p.Synthetic[i]
	var smallest [2]float64 // columns of two categories or more, by their number of categories
	for _, m := range p.ColumnsOf(i) {
		switch cells := float64(m.Cells); {
		case m.Cells < 2:
		case smallest[0] == 0 || cells < smallest[0]:
			smallest[0], smallest[1] = cells, smallest[0]
		case smallest[1] == 0 || cells < smallest[1]:
			smallest[1] = cells
		}
	}
	noise := s.Noise
	if s.Method == plan.AIM {
		noise.Parameter = adaptive.LeastNoiseParameter(noise, new(big.Rat).Sub(s.Block.Parameter, s.Select.Rho()))
	}
	return int64(math.Ceil(min(float64(smallest[0]*smallest[1])*math.Sqrt(noise.Variance()), 1<<62)))
}

// hiddenWarnings warns that the noise is likely to hide nearly all of what microdata are to show, if the spec states
// the number of rows. If it does not, it warns that nobody can know before the run.
func hiddenWarnings(l *language.Language, p *plan.Plan) []string {
	var w []string
	for i, s := range p.Synthetic {
		if !s.Adaptive() {
			continue
		}
		seen, together := visibleFrom(p, i), togetherFrom(p, i)
		rows := p.Release().Table(s.Table).ExpectedRows()
		if s.RowsOf != "" {
			rows = s.Rows
		}
		if rows == 0 {
			if least := leastRows(l, seen, together); least != "" {
				w = append(w, l.Text(
					"the spec does not say how many rows %s has. So nobody can say before the budget is spent "+
						"whether its microdata will be more than noise. %s. Write how many rows there are: expect: "+
						"{rows: [AT_LEAST, AT_MOST]} under the table", s.Table, least))
			}
			continue
		}
		of, help := l.Plural(rows, "row"), l.Text("give leaf %q more of the budget, or use coarser levels", s.Leaf)
		if s.Leaf == "" {
			help = l.Text("give the release a larger budget, or use coarser levels")
		}
		switch {
		case rows < seen:
			w = append(w, l.Text(
				"the microdata of %s will say little, unless its rows are in few categories: if it has %s, noise "+
					"hides an average category of every column. It takes %s rows for one to be visible; %s", s.Table,
				of, budget.Group(seen), help))
		case rows < together:
			w = append(w, l.Text(
				"the microdata of %s will say little about how columns depend on each other, unless its rows are in "+
					"few cells: if it has %s, an average cell of any pair is smaller than its noise, even if all "+
					"rounds are spent on that pair. It takes %s rows for a cell to be larger; %s", s.Table, of,
				budget.Group(together), help))
		}
	}
	return w
}

// leastRows says what the noise hides of microdata with fewer rows than these; "" if it hides nothing.
func leastRows(l *language.Language, seen, together int64) string {
	var hidden []string
	if seen > 1 {
		hidden = append(hidden, l.Text("With fewer than %s, noise hides an average category of every column",
			l.Plural(seen, "row")))
	}
	if together > 1 {
		hidden = append(hidden, l.Text(
			"With fewer than %s, noise is larger than an average cell of any pair of columns",
			l.Plural(together, "row")))
	}
	return strings.Join(hidden, ". ")
}
