package describe

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// This file holds what the noise leaves to be seen of a table in its microdata, known before any row is read.

// VisibleDeviations is how many standard errors above zero a noisy count must be for its category to stand for itself
// in microdata: all others of its column count as one.
const VisibleDeviations = 3

// visibleFrom is from how many rows on an average category of some column of the i-th microdata stands for itself; 0
// where every column has one category.
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

// togetherFrom is from how many rows on an average cell of some pair of columns of the i-th microdata is as large as
// its standard error, where the rounds spend what they may on that pair alone, by [AIM], or a round's part of it, by
// [MST]; 0 where no two columns have two categories.
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
		noise.Parameter = adaptive.Quietest(noise, new(big.Rat).Sub(s.Block.Parameter, s.Select.Rho()))
	}
	return int64(math.Ceil(min(float64(smallest[0]*smallest[1])*math.Sqrt(noise.Variance()), 1<<62)))
}

// unseen says of microdata that the noise is likely to hide nearly all of what they are to show, where the spec says
// how many rows there are; and where it does not, that nobody can know before the run.
func unseen(p *plan.Plan) []string {
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
			if least := leastRows(seen, together); least != "" {
				w = append(w, fmt.Sprintf(
					"the spec does not say how many rows %s has, so nothing tells before the budget is spent whether its microdata are more than noise: %s; write how many there are (expect: {rows: [AT_LEAST, AT_MOST]} under the table)", s.Table, least))
			}
			continue
		}
		of, help := budget.Plural(rows, "row"), fmt.Sprintf("give leaf %q more of the budget, or use coarser levels", s.Leaf)
		if s.Leaf == "" {
			help = "give the release a larger budget, or use coarser levels"
		}
		switch {
		case rows < seen:
			w = append(w, fmt.Sprintf(
				"the microdata of %s will say little, unless its rows are in few categories: if it has %s, the noise hides an average category of every column, for which it takes %s; %s", s.Table, of, budget.Group(seen), help))
		case rows < together:
			w = append(w, fmt.Sprintf(
				"the microdata of %s will say little of how columns depend on each other, unless its rows are in few cells: if it has %s, an average cell of any pair is smaller than its noise, even where all rounds are spent on it, which takes %s; %s", s.Table, of, budget.Group(together), help))
		}
	}
	return w
}

// leastRows says what the noise hides of microdata with fewer rows than these, "" where it hides nothing.
func leastRows(seen, together int64) string {
	var hidden []string
	if seen > 1 {
		hidden = append(hidden, fmt.Sprintf("with fewer than %s the noise hides an average category of every column",
			budget.Plural(seen, "row")))
	}
	if together > 1 {
		hidden = append(hidden, fmt.Sprintf("with fewer than %s it is larger than an average cell of any pair of columns",
			budget.Plural(together, "row")))
	}
	return strings.Join(hidden, ", and ")
}
