package ranges

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Column is a strategy in integers: the total, and a matrix R of n−1 integer queries of n categories, zero below
// its diagonal, to which every category contributes with nearly the same squared norm. [t G] is the inverse of [1';
// R], in floating point but of these integers, so that t·total + G·z is unbiased for z = R·counts + noise.
//
// In a marginal of several columns each residual takes, along every axis, either R or the total: squared
// sensitivities multiply, and so do their contributions to the sum of variances.
type Column struct {
	Figures
	workload *Workload
	rows     [][]int32 // row i from its diagonal on
}

// Bits is the size of integers unless their products must be smaller: the columns of R have a norm of about 2¹⁰, with
// which the error exceeds that of real numbers by 5e-4.
const Bits = 10

// Figures are what a plan needs to know of a residual in integers.
type Figures struct {
	// Squares is the largest squared L2 norm of a column of R: the squared L2 sensitivity of the n−1 integers to one
	// row. Exact.
	Squares int64
	// Norm is the largest L1 norm of a column of R. Exact.
	Norm int64
	// LargestEntry is the largest entry: R·counts is at most Reach times Σ|counts|.
	LargestEntry int64
	// Tilt is t, of sum 1.
	Tilt []float64
	// Total is ‖W·t‖², what noise of variance 1 on the total adds to the sum of variances of the workload, and Residual
	// is ‖W·G‖² (Frobenius), what noise of variance 1 on each of the n−1 integers adds.
	Total, Residual float64
}

// ErrOverflow is the error for integers that a 64-bit number cannot hold.
var ErrOverflow = errors.New("the counts are too large for the integers of this strategy")

// Column rounds the strategy to integers, with columns of norm 2^bits. It returns an error if rounding would leave
// the matrix without an inverse.
func (o *Optimum) Column(bits int) (*Column, error) {
	n, unit := o.Workload.n, math.Ldexp(1, bits)
	x := o.strategyMatrix()
	scale := float64(unit*unit) / (1 - o.share)
	for i := range x {
		x[i] = float64((x[i] - o.share) * scale)
	}
	if err := cholesky(x, n, n-1); err != nil {
		return nil, fmt.Errorf("the residual of %d categories: %w", n, err)
	}
	c := &Column{workload: o.Workload, rows: make([][]int32, n-1)}
	for i := range c.rows {
		c.rows[i] = make([]int32, n-i)
	}
	entries := make([]float64, 0, n)
	for j := range n {
		entries = entries[:0]
		for i := range min(j+1, n-1) {
			entries = append(entries, x[i*n+j])
		}
		for i, k := range roundColumn(entries, unit) {
			c.rows[i][j-i] = k
			c.LargestEntry = max(c.LargestEntry, int64(k), -int64(k))
		}
	}
	return c, c.setFigures()
}

// roundColumn rounds the entries of a column of R up or down, largest first, each so that the sum of squares so far
// is nearer to that of the entries. All columns then end with nearly the square of the unit: the largest norm counts.
func roundColumn(column []float64, unit float64) []int32 {
	order, carry := make([]int, len(column)), float64(unit*unit)
	for i, x := range column {
		order[i] = i
		carry -= float64(x * x)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(math.Abs(column[b]), math.Abs(column[a])), a-b)
	})
	out := make([]int32, len(column))
	for _, i := range order {
		size := math.Abs(column[i])
		carry += float64(size * size)
		down := math.Floor(size)
		up := down + 1
		best := down
		if math.Abs(carry-float64(up*up)) < math.Abs(carry-float64(down*down)) {
			best = up
		}
		carry -= float64(best * best)
		out[i] = int32(math.Copysign(best, column[i]))
	}
	return out
}

// setFigures works out the figures that follow from the integers.
func (c *Column) setFigures() error {
	n := c.workload.n
	squares := make([]int64, n)
	norms := make([]int64, n)
	for i, row := range c.rows {
		if row[0] == 0 {
			return fmt.Errorf("%d categories are too many for integers of this size", n)
		}
		for j, k := range row {
			squares[i+j] += int64(k) * int64(k)
			norms[i+j] += max(int64(k), -int64(k))
		}
	}
	c.Squares, c.Norm = slices.Max(squares), slices.Max(norms)
	// R·t = 0: from the last category up.
	c.Tilt = make([]float64, n)
	c.Tilt[n-1] = 1
	sum := 1.0
	for i := n - 2; i >= 0; i-- {
		c.Tilt[i] = -dot(c.rows[i][1:], c.Tilt[i+1:]) / float64(c.rows[i][0])
		sum += c.Tilt[i]
	}
	for i := range c.Tilt {
		c.Tilt[i] /= sum
	}
	c.Total = c.workload.Norm(c.Tilt)
	c.Visit(func(_ int, g []float64) { c.Residual += c.workload.Norm(g) })
	return nil
}

// Visit calls visit with the n−1 columns of G, one after the other: how the categories, from the given one on, change
// with an integer. Categories that are left out do not change. The slice is overwritten by the next call.
func (c *Column) Visit(visit func(from int, g []float64)) {
	// What R maps to one integer alone, without a last category, less its sum times t.
	g := make([]float64, c.workload.n)
	for k := range c.rows {
		clear(g)
		g[k] = 1 / float64(c.rows[k][0])
		sum := g[k]
		for i := k - 1; i >= 0; i-- {
			g[i] = -dot(c.rows[i][1:k-i+1], g[i+1:k+1]) / float64(c.rows[i][0])
			sum += g[i]
		}
		addTo(g, -sum, c.Tilt)
		visit(0, g)
	}
}

// Pairs compares the changes by two rows in different categories: facing is the largest −⟨a, b⟩, if positive, and
// apart the largest squared L2 distance.
func (c *Column) Pairs() (facing, apart int64) {
	n := c.workload.n
	inner, squares := make([]int64, n*n), make([]int64, n)
	for i, row := range c.rows {
		for j, k := range row {
			squares[i+j] += int64(k) * int64(k)
			others := inner[(i+j)*n+i:]
			for l := j + 1; l < len(row); l++ {
				others[l] += int64(k) * int64(row[l])
			}
		}
	}
	for j := range n {
		for l := j + 1; l < n; l++ {
			facing = max(facing, -inner[j*n+l])
			apart = max(apart, squares[j]+squares[l]-2*inner[j*n+l])
		}
	}
	return facing, apart
}

// Measure returns R·counts, n−1 integers, or ErrOverflow.
//
// Guarantee: one more row in one category moves the integers by at most Squares in squared L2 norm. Neighbours:
// add-remove of one row. Theorem: none beyond the definition; Squares is enumerated. Argument: docs/proofs/ranges.md.
func (c *Column) Measure(counts []int64) ([]int64, error) {
	return c.MeasureAll(counts, 1)
}

// MeasureAll measures every vector of an array. Vectors are the n categories that are stride apart; that many vectors
// are interleaved. In the result the n−1 integers are arranged in the same way.
//
// Guarantee, neighbours, theorem and argument: those of Measure, vector by vector.
func (c *Column) MeasureAll(counts []int64, stride int) ([]int64, error) {
	n := c.workload.n
	z := make([]int64, (n-1)*vectors)
	return alongAll(counts, n, n-1, stride, func(x []int64) ([]int64, error) {
		if err := c.checkFit(x); err != nil { // all four of them together
			return nil, err
		}
		for i, row := range c.rows {
			var s0, s1, s2, s3 int64
			next := x[i*vectors:]
			for _, k := range row {
				v := next[:vectors]
				next = next[vectors:]
				s0 += int64(k) * v[0]
				s1 += int64(k) * v[1]
				s2 += int64(k) * v[2]
				s3 += int64(k) * v[3]
			}
			z[i*vectors], z[i*vectors+1], z[i*vectors+2], z[i*vectors+3] = s0, s1, s2, s3
		}
		return z, nil
	})
}

// checkFit returns ErrOverflow if the integers of these counts might not fit.
func (f *Figures) checkFit(counts []int64) error {
	var sum, over uint64
	for _, x := range counts {
		size := uint64(x)
		if x < 0 {
			size = -size
		}
		if sum, over = bits.Add64(sum, size, 0); over != 0 {
			return ErrOverflow
		}
	}
	if high, low := bits.Mul64(sum, uint64(f.LargestEntry)); high != 0 || low >= 1<<63 {
		return ErrOverflow
	}
	return nil
}

// Solve returns G·z: the deviations of the n categories from Tilt times the total.
func (c *Column) Solve(z []float64) []float64 {
	if len(z) == 0 {
		return []float64{0}
	}
	return c.SolveAll(z, 1)
}

// SolveAll solves for every vector of an array. Vectors are the n−1 integers that are stride apart; that many vectors
// are interleaved. In the result the n categories are arranged in the same way.
func (c *Column) SolveAll(z []float64, stride int) []float64 {
	n := c.workload.n
	x := make([]float64, n*vectors)
	out, _ := alongAll(z, n-1, n, stride, func(z []float64) ([]float64, error) {
		var sum [vectors]float64
		clear(x)
		for i := n - 2; i >= 0; i-- {
			s0, s1, s2, s3 := z[i*vectors], z[i*vectors+1], z[i*vectors+2], z[i*vectors+3]
			row, next := c.rows[i], x[(i+1)*vectors:]
			for _, k := range row[1:] {
				v := next[:vectors]
				next = next[vectors:]
				f := float64(k)
				s0 -= float64(f * v[0])
				s1 -= float64(f * v[1])
				s2 -= float64(f * v[2])
				s3 -= float64(f * v[3])
			}
			pivot := float64(row[0])
			for v, s := range [vectors]float64{s0, s1, s2, s3} {
				x[i*vectors+v] = s / pivot
				sum[v] += s / pivot
			}
		}
		for i, t := range c.Tilt {
			for v, s := range sum {
				x[i*vectors+v] -= float64(s * t)
			}
		}
		return x, nil
	})
	return out
}

// vectors is how many vectors are processed together.
const vectors = 4

// alongAll applies a map of interleaved vectors to all those of an array, and returns the array of results. A group
// that is not full is padded with zeros.
func alongAll[T int64 | float64](in []T, from, to, stride int, apply func(in []T) ([]T, error)) ([]T, error) {
	out := make([]T, len(in)/from*to)
	side := make([]T, from*vectors)
	for first, all := 0, len(in)/from; first < all; first += vectors {
		clear(side)
		count := min(vectors, all-first)
		for v := range count {
			at := (first+v)/stride*stride*from + (first+v)%stride
			for i := range from {
				side[i*vectors+v] = in[at+i*stride]
			}
		}
		result, err := apply(side)
		if err != nil {
			return nil, err
		}
		for v := range count {
			at := (first+v)/stride*stride*to + (first+v)%stride
			for i := range to {
				out[at+i*stride] = result[i*vectors+v]
			}
		}
	}
	return out, nil
}

// Weights returns q'G: the weights of the answer to a query q of n coefficients on the n−1 integers. Its weight on
// the total is q't.
func (c *Column) Weights(query []float64) []float64 {
	part := dot(query, c.Tilt)
	left := make([]float64, len(query))
	for j, x := range query {
		left[j] = x - part
	}
	out := make([]float64, len(c.rows))
	for i, row := range c.rows {
		y := left[i] / float64(row[0])
		out[i] = y
		for j, k := range row[1:] {
			left[i+1+j] -= float64(y * float64(k))
		}
	}
	return out
}
