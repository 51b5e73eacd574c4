// Package ranges works out the best strategy of Gaussian noise for the prefix sums, or for all ranges, of a column of
// ordered categories, alone or together with the other columns of a marginal.
//
// It owns the search for these strategies, their errors and their integers.
//
// A strategy is a matrix X = A'A: the queries A of the categories are measured with one noise. Its column norms, the
// diagonal of X, are 1, and the workload of queries W, of gram matrix V = W'W, has the sum of variances tr(V·X⁻¹) at
// a cost of 1. The package finds the X for which that sum is least, with a lower bound for all strategies
// ([Workload.Optimum]); splits it into the total and a matrix R of all else, so that columns multiply as those of
// package residual do; and rounds R to integers, whose estimate is still exactly unbiased ([Optimum.Column]).
//
// The search takes O(n) a round for prefix sums and all ranges, and nothing is kept from run to run: 256 categories
// take about 10 ms, 1024 about 70. The integers take n³/3 products: half a second at 1024 categories, 3 at 2048; for
// more there is [Workload.Haar], whose error is a fifth larger.
//
// The package computes with sizes only: it never sees data except in Measure and MeasureAll. Costs are in "pcost": 2ρ
// of the steps together, for one unit of one row. Its figures are the same on every machine: it uses + − × ÷ √ and
// powers of two in a fixed order, and fuses no product into a sum.
package ranges
