package synth

import (
	"context"
	"math"
	"slices"
)

// This file holds the drawing of rows from a tree model.

// drawRows draws n rows: column by column, each given the column before it in its tree. Counts are the expected ones,
// rounded up or down: among the rows with one category of a column, each category of the next column has its expected
// number to within one, and which of these rows have it is random. The order of the rows carries no information: the
// first column is in random order, and each following one is dealt at random among the rows that are equal in the
// column it depends on.
func (m model) drawRows(ctx context.Context, n int, r *stream) [][]uint32 {
	return m.drawGiven(ctx, make([][]uint32, len(m.columns)), n, r)
}

// drawGiven is drawRows for rows that already have the columns that are not nil: the others are drawn given these. If
// no two of these are in one tree, the result follows the law of the model given all that the rows have.
func (m model) drawGiven(ctx context.Context, codes [][]uint32, n int, r *stream) [][]uint32 {
	for _, step := range m.drawingOrder(codes) {
		if ctx.Err() != nil {
			return nil
		}
		if codes[step.column] != nil {
			continue
		}
		codes[step.column] = make([]uint32, n)
		if step.pair == nil {
			dealCategories(codes[step.column], identity[uint32](n), m.columns[step.column], r)
			continue
		}
		groups := groupRows(codes[step.parent], len(m.columns[step.parent]))
		weights := make([]float64, len(m.columns[step.column]))
		for category, rows := range groups {
			if len(rows) == 0 {
				continue
			}
			if step.pair.conditionalCounts(step.parent, category, weights); sum(weights) <= 0 {
				copy(weights, m.columns[step.column])
			}
			dealCategories(codes[step.column], rows, weights, r)
		}
	}
	return codes
}

// step is a column in the order in which a model is drawn.
type step struct {
	column, parent int
	pair           *pairTable // of column and parent; nil for the first column of a tree
}

// drawingOrder returns every column once, each after its parent, breadth first. Trees with a given column come first,
// starting from that column, then the others in the order of their first columns.
func (m model) drawingOrder(codes [][]uint32) []step {
	var steps []step
	seen := make([]bool, len(m.columns))
	var roots []int
	for _, given := range []bool{true, false} {
		for column := range m.columns {
			if given == (codes[column] != nil) {
				roots = append(roots, column)
			}
		}
	}
	for _, root := range roots {
		if seen[root] {
			continue
		}
		seen[root] = true
		steps = append(steps, step{column: root})
		for next := len(steps) - 1; next < len(steps); next++ {
			at := steps[next].column
			for i := range m.pairs {
				if child, ok := m.pairs[i].otherColumn(at); ok && !seen[child] {
					seen[child] = true
					steps = append(steps, step{column: child, parent: at, pair: &m.pairs[i]})
				}
			}
		}
	}
	return steps
}

// dealCategories gives each of some rows a category: the weights are rounded to numbers, which are dealt at random.
func dealCategories(codes []uint32, rows []uint32, weights []float64, r *stream) {
	dealt := make([]uint32, 0, len(rows))
	for category, count := range apportion(weights, len(rows), r) {
		for range count {
			dealt = append(dealt, uint32(category))
		}
	}
	shuffle(r, dealt)
	for i, row := range rows {
		codes[row] = dealt[i]
	}
}

// apportion divides n among categories by weights, one of which must be positive: each gets its part n·w/Σw rounded up
// or down, at random, with its part as the mean. Systematic sampling (Madow 1949): parts are laid end to end, in random
// order, over marks one apart that begin at a random position, and each gets the marks that it covers.
func apportion(weights []float64, n int, r *stream) []int {
	counts := make([]int, len(weights))
	order := positiveIndexes(weights)
	shuffle(r, order)
	total, start := sum(weights), r.unit()
	reached, marks := 0.0, 0
	for i, category := range order {
		reached += weights[category]
		passed := n
		if i < len(order)-1 {
			passed = min(n, int(math.Floor(float64(reached/total*float64(n))+start)))
		}
		counts[category] = passed - marks
		marks = passed
	}
	return counts
}

// groupRows returns the indexes of the rows of each category, ascending.
func groupRows[N int32 | uint32](codes []N, categories int) [][]N {
	sizes := make([]int, categories)
	for _, c := range codes {
		sizes[c]++
	}
	groups := make([][]N, categories)
	all := make([]N, len(codes))
	for c, size := range sizes {
		groups[c], all = all[:0:size], all[size:]
	}
	for row, c := range codes {
		groups[c] = append(groups[c], N(row))
	}
	return groups
}

// identity returns 0, 1 and so on, n numbers.
func identity[N int | uint32](n int) []N {
	out := make([]N, n)
	for i := range out {
		out[i] = N(i)
	}
	return out
}

// visitMarginals gives the counts of the tree's columns and pairs.
func (m model) visitMarginals(ctx context.Context, of []setEstimate, found func(i int, counts []float64)) {
	for i, e := range of {
		if ctx.Err() != nil {
			return
		}
		if len(e.columns) == 1 {
			found(i, m.columns[e.columns[0]])
			continue
		}
		for _, t := range m.pairs {
			if slices.Equal(t.pair, e.columns) {
				found(i, t.counts)
			}
		}
	}
}
