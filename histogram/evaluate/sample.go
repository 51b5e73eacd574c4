package evaluate

// This file holds the expected score of a random subset of the true rows, a yardstick for the distance of microdata.

import (
	"maps"
	"math"
	"slices"
)

// SubsampleShares are the sizes, as shares of the true rows, of the subsets whose expected distance is reported.
var SubsampleShares = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// subsampleDistances returns the expected Σ|share − true share| of a simple random sample without replacement of each
// size in SubsampleShares.
func subsampleDistances(truth []int64) []float64 {
	cells := map[int64]int64{} // by how many rows they have
	for _, t := range truth {
		cells[t]++
	}
	rows := total(truth)
	out := make([]float64, len(SubsampleShares))
	for i, share := range SubsampleShares {
		drawn := max(1, int64(math.Round(share*float64(rows))))
		for _, marked := range slices.Sorted(maps.Keys(cells)) {
			out[i] += float64(cells[marked]) * meanDeviation(rows, marked, min(drawn, rows)) / float64(drawn)
		}
	}
	return out
}

// meanDeviation returns E|X − E X| of the number X of marked among drawn of rows: with ν = ⌊E X⌋ + 1 it is 2ν(rows −
// marked − drawn + ν)/rows · P(X = ν), as (x − E X)P(x) is the difference of neighbouring terms x(rows − marked −
// drawn + x)/rows · P(x).
func meanDeviation(rows, marked, drawn int64) float64 {
	if rows == 0 || marked == 0 || drawn == 0 {
		return 0
	}
	v := int64(math.Floor(float64(marked)*float64(drawn)/float64(rows))) + 1
	left := rows - marked - drawn + v
	if v > marked || v > drawn || left < 0 {
		return 0
	}
	p := math.Exp(logChoose(marked, v) + logChoose(rows-marked, drawn-v) - logChoose(rows, drawn))
	return 2 * float64(v) * float64(left) / float64(rows) * p
}

// logChoose returns the logarithm of the binomial coefficient.
func logChoose(n, k int64) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}
