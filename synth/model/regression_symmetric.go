package model

// This file holds symmetric matrices and their Cholesky factors. Sums run in a fixed order and no product is fused into
// a sum, so that all machines compute the same bits: regressions are published and recomputed by whoever verifies them.
// (Kernels of gonum add up in an order that depends on the processor; tests compare with it.)

import "math"

// symmetricMatrix is a symmetric n×n matrix, both triangles stored, row-major.
type symmetricMatrix struct {
	n int
	a []float64
}

// newSymmetric returns a matrix of zeros.
func newSymmetric(n int) *symmetricMatrix { return &symmetricMatrix{n, make([]float64, n*n)} }

// row returns row i.
func (m *symmetricMatrix) row(i int) []float64 { return m.a[i*m.n : (i+1)*m.n] }

// at returns the entry (i, j).
func (m *symmetricMatrix) at(i, j int) float64 { return m.a[i*m.n+j] }

// add adds x to the entries (i, j) and (j, i), which may be the same.
func (m *symmetricMatrix) add(i, j int, x float64) {
	m.a[i*m.n+j] += x
	if i != j {
		m.a[j*m.n+i] += x
	}
}

// times returns the product with a vector.
func (m *symmetricMatrix) times(x []float64) []float64 {
	out := make([]float64, m.n)
	for i := range out {
		out[i] = dotProduct(m.row(i), x)
	}
	return out
}

// form returns x'·m·y.
func (m *symmetricMatrix) form(x, y []float64) float64 { return dotProduct(x, m.times(y)) }

// congruent returns m·x·m.
func (m *symmetricMatrix) congruent(x *symmetricMatrix) *symmetricMatrix {
	half, out := make([][]float64, m.n), newSymmetric(m.n)
	for i := range m.n {
		half[i] = x.times(m.row(i))
		for j := range i + 1 {
			out.add(i, j, dotProduct(half[i], m.row(j)))
		}
	}
	return out
}

// dotProduct returns Σ x·y.
func dotProduct(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// choleskyFactor is a lower triangular matrix L with L·L' positive definite: row i has i+1 entries.
type choleskyFactor [][]float64

// solveLower returns L⁻¹·b for the first rows of L.
func (l choleskyFactor) solveLower(b []float64) []float64 {
	out := make([]float64, len(l))
	for i, row := range l {
		out[i] = (b[i] - dotProduct(row[:i], out[:i])) / row[i]
	}
	return out
}

// solveUpper returns L'⁻¹·b.
func (l choleskyFactor) solveUpper(b []float64) []float64 {
	out := make([]float64, len(l))
	copy(out, b)
	for i := len(l) - 1; i >= 0; i-- {
		out[i] /= l[i][i]
		for j, v := range l[i][:i] {
			out[j] -= float64(v * out[i])
		}
	}
	return out
}

// solve returns (L·L')⁻¹·b.
func (l choleskyFactor) solve(b []float64) []float64 { return l.solveUpper(l.solveLower(b)) }

// inverse returns (L·L')⁻¹.
func (l choleskyFactor) inverse() *symmetricMatrix {
	n := len(l)
	out := newSymmetric(n)
	unit := make([]float64, n)
	for i := range n {
		unit[i] = 1
		copy(out.row(i), l.solve(unit))
		unit[i] = 0
	}
	for i := range n {
		for j := range i {
			out.a[i*n+j] = out.at(j, i)
		}
	}
	return out
}

// factorise returns the Cholesky factor of a matrix. A pivot that is not above 10⁻¹² of its diagonal entry is raised to
// that, or to 10⁻³⁰⁰ where the entry is not positive: for matrices that are positive definite but for rounding.
func factorise(m *symmetricMatrix) choleskyFactor {
	l := make(choleskyFactor, 0, m.n)
	for i := range m.n {
		row := l.solveLower(m.row(i)[:i])
		pivot := m.at(i, i) - dotProduct(row, row)
		l = append(l, append(row, math.Sqrt(max(pivot, 1e-12*m.at(i, i), 1e-300))))
	}
	return l
}
