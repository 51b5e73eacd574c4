package planner

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file describes sparse tables once their noise is known: which cells they miss, and how many are false.

// mostFalseCells bounds the mean number of cells without a row that a sparse table publishes.
const mostFalseCells = 1e7

// missedBy are the probabilities for which a sparse table states how large a cell must be.
var missedBy = []float64{0.05, 0.01, 0.001}

// saySparse states how many false cells a sparse table is expected to have, and what it misses. If the threshold lets
// too many through, it returns an error that proposes another.
func (d *draftPlan) saySparse(at int, m plan.Measurement) error {
	p, t := d.plan, &d.plan.Tables[at]
	s, noise := t.Sparse, m.Mechanism
	if err := judgeSparse(s, noise, d.tables[at]); err != nil {
		return err
	}
	published := int64(math.Ceil(s.FalseCells))
	p.Size.Cells, p.Size.Bytes = p.Size.Cells+published, p.Size.Bytes+2*plan.BytesPerCell*published
	s.Missed = missedSizes(s, noise)
	s.Bound = s.Above + noise.LeastAbove(1-t.Statistics[0].Confidence)
	return nil
}

// judgeSparse works out the false cells of a table, and returns an error if there are too many.
func judgeSparse(s *selection.AboveFacts, noise budget.Mechanism, t *workload.Table) error {
	if !noise.Kind.Pure() &&
		noise.Parameter.Cmp(new(big.Rat).SetInt64(workload.MostSigmaSquared)) >= 0 {
		return &workload.Fault{Key: "cells",
			Message: fmt.Sprintf("the noise of table %s has a standard error of 65 536 or more, in which no cell of "+
				"a sparse table can be told from none", t.Path), Expected: "more of the budget for it"}
	}
	possible := float64(t.Cells - t.Impossible)
	s.FalseCells = budget.RoundUp(float64(noise.Above(s.Above)*possible), plan.Significant)
	if s.FalseCells <= mostFalseCells {
		return nil
	}
	enough, few := noise.LeastAbove(mostFalseCells/possible), noise.LeastAbove(1/possible)
	return &workload.Fault{Key: "cells.above",
		Message: fmt.Sprintf("of the %s of table %s about %s without a row would be above %s by their noise alone",
			budget.Plural(t.Cells, "cell"), t.Path, describe.SizeText(s.FalseCells), budget.Group(s.Above)),
		Expected: fmt.Sprintf("a threshold of %d or more, or more of the budget; with %d one false cell is expected",
			enough,
			few)}
}

// missedSizes returns the probabilities with which cells are not published: for the smallest size above the
// threshold, and for those that are large enough for some probabilities.
func missedSizes(s *selection.AboveFacts, noise budget.Mechanism) []selection.Missed {
	// P(X ≤ Above − rows), for rows > Above
	chance := func(rows int64) float64 { return noise.Above(rows - s.Above - 1) }
	rows := []int64{s.Above + 1}
	for _, most := range missedBy {
		if n := s.Above + 1 + noise.LeastAbove(most); n > rows[len(rows)-1] {
			rows = append(rows, n)
		}
	}
	out := make([]selection.Missed, len(rows))
	for i, n := range rows {
		out[i] = selection.Missed{Rows: n, Chance: budget.RoundUp(chance(n), plan.Significant)}
	}
	return out
}
