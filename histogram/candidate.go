package histogram

// This file holds candidates: the marginals among which the rounds of an adaptive method choose, counted before the
// first round.

import (
	"context"
	"fmt"
	"runtime"

	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// candidatesOf returns the questions whose counts the rounds of a method may use: the marginal of each of its
// candidates, by category, in their order.
func candidatesOf(p *plan.Plan, s plan.Synthetic) ([]plan.Measurement, error) {
	cells, err := adaptive.Cells(p, s)
	if err != nil {
		return nil, err
	}
	all := make([]plan.Measurement, len(cells))
	for i, columns := range adaptive.Candidates(s) {
		m := plan.Measurement{ID: fmt.Sprintf("microdata/%s/candidate%d", s.Table, i+1), Leaf: s.Leaf,
			Query: plan.Query{Table: s.Table, Counted: counted.Rows{}}, Cells: cells[i], Mechanism: s.Noise,
			Selection: selection.All{}}
		for _, c := range columns {
			m.Query.Factors = append(m.Query.Factors, s.By[c])
		}
		all[i] = m
	}
	return all, nil
}

// countsByClass returns the counts of candidates by class, from the counts by category. It releases the counts of
// each candidate once they are added up.
func countsByClass(candidates [][]int, counts [][]int64, classes [][]int, sizes []int) ([][]int64, error) {
	out := make([][]int64, len(counts))
	return out, parallel.Do(context.Background(), runtime.GOMAXPROCS(0), len(counts), func(i int) error {
		of, cells := make([][]int, len(candidates[i])), []int(nil)
		for a, c := range candidates[i] {
			of[a], cells = classes[c], append(cells, sizes[c])
		}
		out[i] = classCounts(counts[i], of, cells)
		counts[i] = nil
		return nil
	})
}

// classCounts adds up counts by class. They are row-major over columns: classes[a] has the class of each category of
// column a, or is nil if each category is its own class, and sizes[a] is the number of classes.
func classCounts(counts []int64, classes [][]int, sizes []int) []int64 {
	for a := len(sizes) - 1; a >= 0; a-- { // columns after a are by class already, those before it by category
		if classes[a] == nil {
			continue
		}
		inner := 1
		for _, n := range sizes[a+1:] {
			inner *= n
		}
		categories := len(classes[a])
		outer := len(counts) / (categories * inner)
		next := make([]int64, outer*sizes[a]*inner)
		for o := range outer {
			for category, class := range classes[a] {
				from := counts[(o*categories+category)*inner:][:inner]
				to := next[(o*sizes[a]+class)*inner:][:inner]
				for i, n := range from {
					to[i] += n
				}
			}
		}
		counts = next
	}
	return counts
}
