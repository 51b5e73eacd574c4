package ranges

import (
	"math"
	"slices"
)

// A Workload is the queries on a column of n ordered categories, prefix sums or all ranges, by their gram matrix V =
// W'W.
//
// The inverses of both gram matrices are tridiagonal: links −β_j between neighbours, and row sums v = V⁻¹·1 ≥ 0. This
// is the matrix of a chain of resistances β_j with leaks v_j, so everything the search needs takes O(n).
type Workload struct {
	n       int
	queries float64
	link    []float64 // β_j between categories j and j+1; the last is 0
	leak    []float64 // v_j
	// With P_j the sum of x_0 … x_j, x'Vx = square·ΣP² − mean·(ΣP)².
	square, mean float64
}

// Prefix returns the workload of the n ≥ 1 sums of categories 0 to j: V_jk = n − max(j, k).
func Prefix(n int) *Workload {
	w := &Workload{n: n, queries: float64(n), square: 1}
	w.link, w.leak = newChain(n, 1)
	w.leak[n-1] = 1
	return w
}

// AllRanges returns the workload of the n·(n+1)/2 sums of categories j to k, of n ≥ 1: V_jk = (min(j, k)+1)·(n −
// max(j, k)).
func AllRanges(n int) *Workload {
	each := 1 / float64(n+1)
	w := &Workload{n: n, queries: float64(n) * float64(n+1) / 2, square: float64(n + 1), mean: 1}
	w.link, w.leak = newChain(n, each)
	w.leak[0] += each
	w.leak[n-1] += each
	return w
}

// newChain returns the links and leaks of n categories with equal links and no leaks.
func newChain(n int, each float64) (link, leak []float64) {
	link, leak = slices.Repeat([]float64{each}, n), make([]float64, n)
	link[n-1] = 0
	return link, leak
}

// Size returns the number of categories.
func (w *Workload) Size() int { return w.n }

// Count returns the number of queries.
func (w *Workload) Count() float64 { return w.queries }

// Norm returns ‖W·x‖² = x'Vx.
func (w *Workload) Norm(x []float64) float64 {
	var sum float64
	var prefix, prefixes float64
	for _, y := range x {
		prefix += y
		prefixes += prefix
		sum += float64(prefix * prefix)
	}
	return float64(w.square*sum) - float64(w.mean*prefixes*prefixes)
}

// trace returns Σ u_j·V_jj.
func (w *Workload) trace(u []float64) float64 {
	var sum float64
	for j, x := range u {
		v := float64(w.n - j)
		if w.mean > 0 {
			v *= float64(j + 1)
		}
		sum += float64(x * v)
	}
	return sum
}

// spectralBound bounds V⁻¹ relative to diag(u): by the largest sum of absolute values of a row of diag(1/u)·V⁻¹
// (Gershgorin 1931).
func (w *Workload) spectralBound(u []float64) float64 {
	var most, before float64
	for j, x := range u {
		most = math.Max(most, (float64(2*(before+w.link[j]))+w.leak[j])/x)
		before = w.link[j]
	}
	return most
}
