package synth

import (
	"math"
	"testing"
)

// drawnCoupling returns a table of random counts with its sums, and noise of the given size on it.
func drawnCoupling(r *stream, rows, cols int, noise float64) coupling {
	c := coupling{noisy: make([]float64, rows*cols), rowSize: make([]float64, rows), colSize: make([]float64, cols),
		rowTotal: make([]float64, rows), colTotal: make([]float64, cols)}
	for i := range c.rowSize {
		c.rowSize[i] = float64(1 + r.below(3))
	}
	for j := range c.colSize {
		c.colSize[j] = float64(1 + r.below(3))
	}
	for i := range rows {
		for j := range cols {
			count := 0.0
			if r.below(3) > 0 {
				count = float64(r.below(200))
			}
			c.rowTotal[i] += count
			c.colTotal[j] += count
			c.noisy[i*cols+j] = count/(c.rowSize[i]*c.colSize[j]) + (r.unit()-0.5)*noise
		}
	}
	return c
}

// checkSums checks the sums of a table to 1e-9 of its total, and that no count is negative.
func checkSums(t *testing.T, x, rowTotal, colTotal []float64) {
	t.Helper()
	total := sum(rowTotal)
	rows, cols := make([]float64, len(rowTotal)), make([]float64, len(colTotal))
	for i, v := range x {
		if !(v >= 0) || math.IsInf(v, 0) {
			t.Fatalf("a count is %v", v)
		}
		rows[i/len(cols)] += v
		cols[i%len(cols)] += v
	}
	for i, want := range rowTotal {
		if math.Abs(rows[i]-want) > 1e-9*total {
			t.Errorf("row %d sums to %v, expected %v", i, rows[i], want)
		}
	}
	for j, want := range colTotal {
		if math.Abs(cols[j]-want) > 1e-9*total {
			t.Errorf("column %d sums to %v, expected %v", j, cols[j], want)
		}
	}
}

// randomCorner returns a table with the sums of c: cell after cell, in random order, gets as much as its row and column
// allow. Every corner of the set of tables with these sums arises from some order.
func (c coupling) randomCorner(r *stream) []float64 {
	rows, cols := append([]float64(nil), c.rowTotal...), append([]float64(nil), c.colTotal...)
	x := make([]float64, len(rows)*len(cols))
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	shuffle(r, order)
	for _, cell := range order {
		i, j := cell/len(cols), cell%len(cols)
		x[cell] = math.Min(rows[i], cols[j])
		rows[i] -= x[cell]
		cols[j] -= x[cell]
	}
	return x
}

// TestCouplingIsNearest compares the fitted table x with corners z of the set of tables with its sums. A point x of a
// convex set is the one nearest to y if and only if (y − x)·(z − x) ≤ 0 for every corner z, in the inner product of the
// distance: here Σ (y − x)(z − x)/size over cells of classes, y and x their sums. With 12 cells there are 12! orders
// but fewer than 1,000 corners, so 4,000 orders meet those that matter; in small tables a fit that ignores the sums of
// columns, the sizes or the non-negativity fails at once.
func TestCouplingIsNearest(t *testing.T) {
	r := seededStream([32]byte{2})
	for trial := range 40 {
		c := drawnCoupling(r, 3, 4, 60)
		x := c.fit(t.Context())
		checkSums(t, x, c.rowTotal, c.colTotal)
		total := sum(c.rowTotal)
		worst := math.Inf(-1)
		for range 4000 {
			product := 0.0
			for cell, z := range c.randomCorner(r) {
				size := c.rowSize[cell/4] * c.colSize[cell%4]
				product += (c.noisy[cell]*size - x[cell]) * (z - x[cell]) / size
			}
			worst = math.Max(worst, product)
		}
		// Sums may be wrong by 1e-9 of the total before they are corrected, and y − x is at most 60 for a cell.
		if worst > 2*60*1e-9*total*12 {
			t.Errorf("trial %d: going towards another table comes nearer, by %v", trial, worst)
		}
	}
}

// TestCouplingKeepsWhatFits: a table whose sums are already right is its own nearest.
func TestCouplingKeepsWhatFits(t *testing.T) {
	r := seededStream([32]byte{3})
	for range 40 {
		c := drawnCoupling(r, 4, 5, 0)
		for cell, v := range c.fit(t.Context()) {
			want := c.noisy[cell] * c.rowSize[cell/5] * c.colSize[cell%5]
			if math.Abs(v-want) > 1e-6*sum(c.rowTotal) {
				t.Fatalf("cell %d is %v, expected %v", cell, v, want)
			}
		}
	}
}

// TestCouplingSumsAlways: the sums hold however large the noise is and whatever rows are empty.
func TestCouplingSumsAlways(t *testing.T) {
	r := seededStream([32]byte{4})
	for trial := range 300 {
		c := drawnCoupling(r, 1+int(r.below(9)), 1+int(r.below(9)), math.Ldexp(1, int(r.below(62))))
		checkSums(t, c.fit(t.Context()), c.rowTotal, c.colTotal)
		if t.Failed() {
			t.Fatalf("in trial %d", trial)
		}
	}
}
