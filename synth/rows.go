package synth

import (
	"context"
	"math"
	"slices"
)

// This file holds the drawing of rows from a tree model.

// draw makes n rows: column by column, each given the column before it in its tree. Counts are the expected ones,
// rounded up or down: of the rows with one category of a column, each category of the next has its expected number to
// within one, and which of these rows they are is random. No order of the rows carries anything: that of the first
// column is random, and each next one is dealt out at random among rows that are alike so far as it depends on them.
func (m model) draw(ctx context.Context, n int, r *stream) [][]uint32 {
	return m.drawGiven(ctx, make([][]uint32, len(m.columns)), n, r)
}

// drawGiven is draw where rows have some columns already, those that are not nil: the others are drawn given these.
// Where no two of these are in one tree, that is by the law of the model given all that the rows have.
func (m model) drawGiven(ctx context.Context, codes [][]uint32, n int, r *stream) [][]uint32 {
	for _, step := range m.order(codes) {
		if ctx.Err() != nil {
			return nil
		}
		if codes[step.column] != nil {
			continue
		}
		codes[step.column] = make([]uint32, n)
		if step.pair == nil {
			deal(codes[step.column], identity[uint32](n), m.columns[step.column], r)
			continue
		}
		groups := group(codes[step.parent], len(m.columns[step.parent]))
		weights := make([]float64, len(m.columns[step.column]))
		for category, rows := range groups {
			if len(rows) == 0 {
				continue
			}
			if step.pair.given(step.parent, category, weights); sum(weights) <= 0 {
				copy(weights, m.columns[step.column])
			}
			deal(codes[step.column], rows, weights, r)
		}
	}
	return codes
}

// step is a column in the order in which a model is drawn.
type step struct {
	column, parent int
	pair           *pairTable // of the two; nil for the first of a tree
}

// order is every column once, each after its parent: trees in the order of their first columns, but those first that
// rows have some column of, from that one on; breadth first.
func (m model) order(codes [][]uint32) []step {
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
				if child, ok := m.pairs[i].other(at); ok && !seen[child] {
					seen[child] = true
					steps = append(steps, step{column: child, parent: at, pair: &m.pairs[i]})
				}
			}
		}
	}
	return steps
}

// deal gives each of some rows a category: numbers by weight, rounded, and then the rows by chance.
func deal(codes []uint32, rows []uint32, weights []float64, r *stream) {
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

// apportion divides n among categories by weights, of which one is positive: each gets its part n·w/Σw rounded up or
// down, by chance, with its part as the mean. Systematic sampling (Madow 1949): parts are laid end to end, in random
// order, over marks one apart that begin at a random place, and each gets the marks that it covers.
func apportion(weights []float64, n int, r *stream) []int {
	counts := make([]int, len(weights))
	order := positive(weights)
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

// group is the places of each category, ascending.
func group[N int32 | uint32](codes []N, categories int) [][]N {
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

// identity is 0, 1 and so on, n numbers.
func identity[N int | uint32](n int) []N {
	out := make([]N, n)
	for i := range out {
		out[i] = N(i)
	}
	return out
}

// marginals of a tree: of its columns and its pairs.
func (m model) marginals(ctx context.Context, of []known, found func(i int, counts []float64)) {
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
