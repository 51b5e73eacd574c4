package tabulate

// This file holds the costs of counting, as data. BenchmarkCosts measures them and prints them in this form.

import "math"

// updates is the cost per row of a base of two super-columns, by the cells of the base: nanoseconds of one core, on
// codes as uneven as those of surveys (Zipf). Between two entries it is linear in the logarithm of cells.
var updates = []struct{ cells, ns float64 }{
	{1 << 6, 0.75},
	{1 << 12, 0.75},
	{1 << 14, 0.8},
	{1 << 16, 0.95},
	{1 << 18, 1.65},
	{1 << 20, 4.5},
	{1 << 22, 8.5},
	{1 << 24, 10},
	{1 << 28, 19},
}

const (
	loadCost    = 0.35 // ns a row for each super-column of a base beyond two
	clearCost   = 2    // ns a cell to make a worker's table, or the one of a partitioned base, and add it to the total
	projectCost = 1.3  // ns a cell of a base for each ask taken from it
	likelyRows  = 1 << 20
)

// octaves is updates at the powers of two.
var octaves = func() (at [64]float64) {
	for e := range at {
		cells, last := math.Ldexp(1, e), updates[0]
		at[e] = updates[len(updates)-1].ns
		for _, next := range updates {
			if cells <= next.cells {
				at[e] = next.ns
				if next != last {
					at[e] = last.ns + math.Log2(cells/last.cells)/math.Log2(next.cells/last.cells)*(next.ns-last.ns)
				}
				break
			}
			last = next
		}
	}
	return at
}()

// updateCost returns the cost per row of a base, in ns.
func updateCost(cells float64, columns int) float64 {
	ns := float64(max(columns-2, 0)) * loadCost
	word := math.Float64bits(cells)
	e := int(word>>52) - 1023
	if e < 0 || e >= len(octaves)-1 {
		return ns + octaves[min(max(e, 0), len(octaves)-1)]
	}
	part := float64(word&(1<<52-1)) / (1 << 52)
	return ns + octaves[e] + part*(octaves[e+1]-octaves[e])
}

const (
	// Between leastBlock and mostBlock rows are counted at a time: enough to make it worthwhile to bring a base into
	// the cache, blockRows for each of its bytes.
	leastBlock = 64 << 10
	mostBlock  = 1 << 20
	blockRows  = 1.25
	// superSize is the most codes of a super-column.
	superSize = 1 << 16
)
