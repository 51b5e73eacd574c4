package synth

import (
	"context"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the tree model: columns that depend on each other only along measured pairs.

// model is a law of rows: for every column the number of rows in each category, and for the pairs of a forest the joint
// counts. The sums of a pair's table are the counts of its columns. Given a column, the two sides of it in its tree are
// independent.
type model struct {
	total   float64
	columns [][]float64
	pairs   []pairTable
}

// pairTable is the joint counts of two columns, row-major.
type pairTable struct {
	pair   []int
	cols   int // categories of the second
	counts []float64
}

// otherColumn returns the column that the pair joins to a given one.
func (t *pairTable) otherColumn(column int) (int, bool) {
	switch column {
	case t.pair[0]:
		return t.pair[1], true
	case t.pair[1]:
		return t.pair[0], true
	}
	return 0, false
}

// conditionalCounts sets counts to those of the other column among rows with this category of column.
func (t *pairTable) conditionalCounts(column, category int, counts []float64) {
	at, stride := category*t.cols, 1
	if column == t.pair[1] {
		at, stride = category, t.cols
	}
	for i := range counts {
		counts[i] = t.counts[at+i*stride]
	}
}

// totalOf estimates the number of rows from measurements of single columns: the mean of their sums by inverse variance.
// It is unbiased; the variance comes from the law of the noise.
func totalOf(columns []measured.Measured) (total, variance float64) {
	weights := 0.0
	for _, m := range columns {
		weights += 1 / (float64(m.Values.Len()) * varianceOf(m))
	}
	for _, m := range columns {
		weight := 1 / (float64(m.Values.Len()) * varianceOf(m)) / weights
		total += float64(weight * sum(countsOf(m)))
	}
	return total, 1 / weights
}

// varianceOf returns the variance of the noise of one answer, which is never zero.
func varianceOf(m measured.Measured) float64 {
	return max(m.Measurement.Mechanism.Variance(), leastVariance)
}

// leastVariance is a lower bound for variances, so that none is zero.
const leastVariance = 0x1p-60

func countsOf(m measured.Measured) []float64 { return toFloats(m.Values.Int64Values()) }

func toFloats[N int | int64](numbers []N) []float64 {
	out := make([]float64, len(numbers))
	for i, n := range numbers {
		out[i] = float64(n)
	}
	return out
}

// fitTree fits a model to measurements of its columns, and of pairs of them that form a forest.
//
// It goes from the total to columns to pairs, which on a forest loses nothing: tables of pairs that agree on the
// columns they share always belong to a law of rows (Vorob'ev 1962). Each column gets the mean of all evidence about
// it, and then each pair the table with these columns that is nearest to its measurement; both are nonnegative.
// Categories of a column that the noise hides are fitted as one. It ends with the context, as [coupling.fit] does.
func fitTree(ctx context.Context, total float64, columns []measured.Measured, pairs [][]int,
	rounds []measured.Round) model {
	known := make([][]evidence, len(columns))
	for i, m := range columns {
		known[i] = []evidence{{countsOf(m), varianceOf(m)}}
	}
	for _, r := range rounds {
		first, second := pairMargins(r.Measured, columns[pairs[r.Choice][1]].Values.Len())
		known[pairs[r.Choice][0]] = append(known[pairs[r.Choice][0]], first)
		known[pairs[r.Choice][1]] = append(known[pairs[r.Choice][1]], second)
	}
	m := model{total: total}
	sorted := make([]classes, len(columns))
	fitted := make([][]float64, len(columns))
	for i, all := range known {
		e := pooledEvidence(all, total)
		sorted[i] = classesOf(e)
		fitted[i] = sorted[i].fittedCounts(e, total)
		m.columns = append(m.columns, sorted[i].categoryCounts(fitted[i]))
	}
	for _, r := range rounds {
		a, b := pairs[r.Choice][0], pairs[r.Choice][1]
		c := coupling{
			noisy:   meansOf(countsOf(r.Measured), sorted[a], sorted[b]),
			rowSize: sorted[a].size, colSize: sorted[b].size, rowTotal: fitted[a], colTotal: fitted[b],
		}
		m.pairs = append(m.pairs, pairTable{pairs[r.Choice], len(sorted[b].of),
			spreadPair(c.fit(ctx), sorted[a], sorted[b])})
		progress.Add(ctx, 1)
	}
	return m
}

// pairMargins returns the evidence of a measured pair about its columns.
func pairMargins(m measured.Measured, cols int) (first, second evidence) {
	counts := countsOf(m)
	rows := len(counts) / cols
	first.counts, first.variance = make([]float64, rows), float64(cols)*varianceOf(m)
	second.counts, second.variance = make([]float64, cols), float64(rows)*varianceOf(m)
	for i, c := range counts {
		first.counts[i/cols] += c
		second.counts[i%cols] += c
	}
	return first, second
}

// meansOf returns the mean counts of a cell in the classes of two columns, row-major.
func meansOf(counts []float64, a, b classes) []float64 {
	means := make([]float64, len(a.size)*len(b.size))
	for i, count := range counts {
		row, col := a.of[i/len(b.of)], b.of[i%len(b.of)]
		means[row*len(b.size)+col] += count / (a.size[row] * b.size[col])
	}
	return means
}

// spreadPair returns the joint counts of two columns' categories, given those of their classes.
func spreadPair(counts []float64, a, b classes) []float64 {
	out := make([]float64, len(a.of)*len(b.of))
	for i, row := range a.of {
		for j, col := range b.of {
			out[i*len(b.of)+j] = counts[row*len(b.size)+col] * a.share[i] * b.share[j]
		}
	}
	return out
}

// independentCounts returns the joint counts of a pair of columns if they were independent.
func (m model) independentCounts(pair []int) []float64 {
	return residual.Cross(m.columns[pair[0]], m.columns[pair[1]],
		func(a, b float64) float64 { return float64(a * (b / m.total)) })
}
