package ranges

import (
	"fmt"
	"math"
)

// A Haar is the strategy for columns of more categories than the optimum is worked out for: the categories are halved
// again and again, and the two halves are compared each time (Haar 1910; Xiao, Wang & Gehrke 2010). It takes O(n), or
// O(n·log n).
//
// The integer of a node is c·(sum of its first half − sum of its second half), with one c for each depth, in the
// proportions of least sum of variances. The total is divided in halves likewise: a category at depth d has 2⁻ᵈ of
// it. If n is no power of two, first halves are one category larger.
type Haar struct {
	Figures
	scale []int64 // c, by depth
}

// Haar returns the strategy of Gaussian noise for prefix sums or all ranges of 2 categories or more, in integers
// whose squares add up to about 2^(2·bits) for a row.
//
// With v_d what noise of variance 1 on the nodes of depth d, at c = 1, adds to the sum of variances, Σ v_d/c_d² is
// least for Σ c_d² given at c_d² in proportion to √v_d (Cauchy and Schwarz).
func (w *Workload) Haar(bits int) (*Haar, error) {
	return w.newHaar(bits, math.Sqrt, math.Sqrt)
}

// HaarLaplace returns the strategy of Laplace noise: Σ v_d/c_d² is least for given Σ c_d, which is the L1 sensitivity
// to one row, about 2^bits, at c_d in proportion to ∛v_d (Lagrange).
func (w *Workload) HaarLaplace(bits int) (*Haar, error) {
	return w.newHaar(bits, cubeRoot, func(part float64) float64 { return part })
}

// newHaar gives each depth the share size(v_d)/Σ size(v_d) of the sum of the depths' norms, which scaled turns into
// its integer in units of 2^bits.
func (w *Workload) newHaar(bits int, size, scaled func(float64) float64) (*Haar, error) {
	if w.n < 2 {
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
	w.addVariances(make([]float64, w.n), 0, parts)
	for _, v := range parts {
		sum += size(v)
	}
	for d, v := range parts {
		c := math.Round(math.Ldexp(scaled(size(v)/sum), bits))
		scale[d] = int64(math.Max(c, 1))
		h.Squares += scale[d] * scale[d]
		h.Norm += scale[d]
		h.LargestEntry = max(h.LargestEntry, scale[d])
		h.Residual += v / float64(scale[d]*scale[d])
	}
	return h, nil
}

// cubeRoot returns ∛x of x > 0, by Newton's iteration from a power of two within a factor of 2 above it. The
// iteration decreases until it cannot.
func cubeRoot(x float64) float64 {
	_, exponent := math.Frexp(x)
	third := exponent / 3
	if exponent > 0 && exponent%3 != 0 {
		third++
	}
	y := math.Ldexp(1, third)
	for {
		next := (2*y + x/float64(y*y)) / 3
		if !(next < y) {
			return y
		}
		y = next
	}
}

// addVariances adds the contributions of the nodes of these categories to the sum of variances, by depth. Queries see
// none of a node's noise beyond its categories, where its sum is 0.
func (w *Workload) addVariances(x []float64, depth int, parts []float64) {
	if len(x) < 2 {
		return
	}
	fillNode(x, 1)
	parts[depth] += w.Norm(x)
	first := firstHalf(len(x))
	w.addVariances(x[:first], depth+1, parts)
	w.addVariances(x[first:], depth+1, parts)
}

// firstHalf returns the size of the first half.
func firstHalf(n int) int { return (n + 1) / 2 }

// spread fills x from its sum and the differences of its nodes' halves, which are requested one by one: a node before
// those of its first half, those before its second's.
func spread(x []float64, sum float64, difference func(depth int) float64) {
	var walk func(x []float64, sum float64, depth int)
	walk = func(x []float64, sum float64, depth int) {
		if len(x) == 1 {
			x[0] = sum
			return
		}
		d := difference(depth)
		first := firstHalf(len(x))
		walk(x[:first], (sum+d)/2, depth+1)
		walk(x[first:], (sum-d)/2, depth+1)
	}
	walk(x, sum, 0)
}

// fillNode fills x, of sum 0, from the difference of its halves only.
func fillNode(x []float64, difference float64) {
	spread(x, 0, func(depth int) float64 {
		if depth > 0 {
			return 0
		}
		return difference
	})
}

// Measure returns the n−1 integers of the nodes, or ErrOverflow.
//
// Guarantee: one more row in one category moves the integers by at most Squares in
// squared L2 norm. Neighbours: add-remove of one row.
// Theorem: none beyond the definition; a category has one node of each depth.
// Argument: docs/proofs/ranges.md.
func (h *Haar) Measure(counts []int64) ([]int64, error) {
	if err := h.checkFit(counts); err != nil {
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
		first := firstHalf(len(x))
		a, b := walk(x[:first], depth+1), walk(x[first:], depth+1)
		out[at] = h.scale[depth] * (a - b)
		return a + b
	}
	walk(counts, 0)
	return out, nil
}

// MeasureAll measures every vector of an array. Vectors are the n categories that are stride apart; that many vectors
// are interleaved. In the result the n−1 integers are arranged in the same way.
//
// Guarantee, neighbours, theorem and argument: those of Measure, vector by vector.
func (h *Haar) MeasureAll(counts []int64, stride int) ([]int64, error) {
	n := len(h.Tilt)
	return alongAll(counts, n, n-1, stride, oneByOne(n, n-1, h.Measure))
}

// Solve returns G·z: the deviations of the n categories from Tilt times the total.
func (h *Haar) Solve(z []float64) []float64 {
	x := make([]float64, len(h.Tilt))
	next := 0
	spread(x, 0, func(depth int) float64 {
		next++
		return z[next-1] / float64(h.scale[depth])
	})
	return x
}

// SolveAll solves for every vector of an array. Vectors are the n−1 integers that are stride apart; that many vectors
// are interleaved. In the result the n categories are arranged in the same way.
func (h *Haar) SolveAll(z []float64, stride int) []float64 {
	n := len(h.Tilt)
	solve := func(z []float64) ([]float64, error) { return h.Solve(z), nil }
	out, _ := alongAll(z, n-1, n, stride, oneByOne(n-1, n, solve))
	return out
}

// oneByOne applies a map of one vector to interleaved vectors.
func oneByOne[T int64 | float64](from, to int, apply func([]T) ([]T, error)) func(side []T) ([]T, error) {
	one, out := make([]T, from), make([]T, to*vectors)
	return func(side []T) ([]T, error) {
		for v := range vectors {
			for i := range one {
				one[i] = side[i*vectors+v]
			}
			mapped, err := apply(one)
			if err != nil {
				return nil, err
			}
			for i, x := range mapped {
				out[i*vectors+v] = x
			}
		}
		return out, nil
	}
}

// Weights returns q'G: the weights of the answer to a query q of n coefficients on the n−1 integers. Its weight on
// the total is q't.
func (h *Haar) Weights(query []float64) []float64 {
	out := make([]float64, 0, len(query)-1)
	var walk func(q []float64, depth int) float64
	walk = func(q []float64, depth int) float64 {
		if len(q) == 1 {
			return q[0]
		}
		at := len(out)
		out = append(out, 0)
		first := firstHalf(len(q))
		a, b := walk(q[:first], depth+1), walk(q[first:], depth+1)
		out[at] = (a - b) / float64(2*h.scale[depth])
		return (a + b) / 2
	}
	walk(query, 0)
	return out
}

// Visit calls visit with the n−1 columns of G, one after the other: how the categories, from the given one on, change
// with an integer. Categories that are left out do not change. The slice is overwritten by the next call.
func (h *Haar) Visit(visit func(from int, g []float64)) {
	g := make([]float64, len(h.Tilt))
	var walk func(from, to, depth int)
	walk = func(from, to, depth int) {
		if to-from < 2 {
			return
		}
		fillNode(g[from:to], 1/float64(h.scale[depth]))
		visit(from, g[from:to])
		middle := from + firstHalf(to-from)
		walk(from, middle, depth+1)
		walk(middle, to, depth+1)
	}
	walk(0, len(g), 0)
}

// Pairs compares the changes by two rows in different categories: facing is the largest −⟨a, b⟩, if positive, and
// apart the largest squared L2 distance. Rows that separate at depth s share the nodes above, with one sign, and the
// node of depth s with opposite signs.
func (h *Haar) Pairs() (facing, apart int64) {
	var walk func(n, depth int, above int64) (below int64) // the most squares of a path's nodes below
	walk = func(n, depth int, above int64) int64 {
		if n == 1 {
			return 0
		}
		square := h.scale[depth] * h.scale[depth]
		facing = max(facing, square-above)
		first := firstHalf(n)
		a, b := walk(first, depth+1, above+square), walk(n-first, depth+1, above+square)
		apart = max(apart, a+b+4*square)
		return square + max(a, b)
	}
	walk(len(h.Tilt), 0, 0)
	return facing, apart
}
