package ranges

import (
	"fmt"
	"math"
)

// A Haar is the strategy for columns of more categories than the optimum is worked
// out for: the categories are halved again and again, and every half is compared with
// its other (Haar 1910; Xiao, Wang & Gehrke 2010). All takes O(n), or O(n·log n).
//
// The integer of a node is c·(sum of its first half − sum of its second half), with
// one c for each depth, in the proportions of least sum of variances. The total is
// divided in halves likewise: a category at depth d has 2⁻ᵈ of it. With n no power of
// two first halves are one category larger.
type Haar struct {
	Figures
	scale []int64 // c, by depth
}

// Haar returns the strategy for prefix sums or all ranges of 2 categories or more.
//
// With v_d what noise of variance 1 on the nodes of depth d, at c = 1, adds to the
// sum of variances, Σ v_d/c_d² is least for Σ c_d² given at c_d² in proportion to
// √v_d (Cauchy and Schwarz).
func (w *Workload) Haar() (*Haar, error) {
	if w.gram != nil || w.n < 2 {
		return nil, fmt.Errorf("halving is for prefix sums and all ranges of 2 categories or more")
	}
	var scale []int64
	for size := w.n; size > 1; size = (size + 1) / 2 {
		scale = append(scale, 1)
	}
	h := &Haar{Figures{Tilt: make([]float64, w.n)}, scale}
	spread(h.Tilt, 1, func(int) float64 { return 0 })
	h.Total = w.Norm(h.Tilt)
	parts := make([]float64, len(scale))
	var sum float64
	w.parts(make([]float64, w.n), 0, parts)
	for _, v := range parts {
		sum += math.Sqrt(v)
	}
	for d, v := range parts {
		c := math.Round(unit * math.Sqrt(math.Sqrt(v)/sum))
		scale[d] = int64(math.Max(c, 1))
		h.Squares += scale[d] * scale[d]
		h.Reach = max(h.Reach, scale[d])
		h.Residual += v / float64(scale[d]*scale[d])
	}
	return h, nil
}

// parts adds what the nodes of these categories add to the sum of variances, by
// depth. Queries see none of a node's noise beyond its categories, where its sum is 0.
func (w *Workload) parts(x []float64, depth int, parts []float64) {
	if len(x) < 2 {
		return
	}
	spread(x, 0, func(depth int) float64 {
		if depth == 0 {
			return 1
		}
		return 0
	})
	parts[depth] += w.Norm(x)
	first := half(len(x))
	w.parts(x[:first], depth+1, parts)
	w.parts(x[first:], depth+1, parts)
}

// half is the size of the first half.
func half(n int) int { return (n + 1) / 2 }

// spread fills x from its sum and the differences of its nodes' halves, which come
// one by one: a node before those of its first half, those before its second's.
func spread(x []float64, sum float64, difference func(depth int) float64) {
	var walk func(x []float64, sum float64, depth int)
	walk = func(x []float64, sum float64, depth int) {
		if len(x) == 1 {
			x[0] = sum
			return
		}
		d := difference(depth)
		first := half(len(x))
		walk(x[:first], (sum+d)/2, depth+1)
		walk(x[first:], (sum-d)/2, depth+1)
	}
	walk(x, sum, 0)
}

// Measure returns the n−1 integers of the nodes, or ErrOverflow.
//
// Guarantee: one more row in one category moves the integers by at most Squares in
// squared L2 norm. Neighbours: add-remove of one row.
// Theorem: none beyond the definition; a category has one node of each depth.
// Argument: docs/proofs/ranges.md.
func (h *Haar) Measure(counts []int64) ([]int64, error) {
	if err := h.fits(counts); err != nil {
		return nil, err
	}
	out := make([]int64, 0, len(counts)-1)
	var walk func(x []int64, depth int) int64
	walk = func(x []int64, depth int) int64 {
		if len(x) == 1 {
			return x[0]
		}
		at := len(out)
		out = append(out, 0)
		first := half(len(x))
		a, b := walk(x[:first], depth+1), walk(x[first:], depth+1)
		out[at] = h.scale[depth] * (a - b)
		return a + b
	}
	walk(counts, 0)
	return out, nil
}

// Solve returns G·z: how the n categories lie from Tilt times the total.
func (h *Haar) Solve(z []float64) []float64 {
	x := make([]float64, len(h.Tilt))
	next := 0
	spread(x, 0, func(depth int) float64 {
		next++
		return z[next-1] / float64(h.scale[depth])
	})
	return x
}

// Shares returns, for a query q of n coefficients, what noise of variance 1 on the
// total adds to the variance of its answer, (q't)², and what noise of variance 1 on
// each of the n−1 integers adds, ‖q'G‖².
func (h *Haar) Shares(query []float64) (total, residual float64) {
	var walk func(q []float64, depth int) float64
	walk = func(q []float64, depth int) float64 {
		if len(q) == 1 {
			return q[0]
		}
		first := half(len(q))
		a, b := walk(q[:first], depth+1), walk(q[first:], depth+1)
		y := (a - b) / float64(2*h.scale[depth])
		residual += float64(y * y)
		return (a + b) / 2
	}
	part := walk(query, 0)
	return float64(part * part), residual
}
