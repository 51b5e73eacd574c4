package ranges

import (
	"errors"
	"math"
)

// This file holds what a gram matrix without structure needs of linear algebra, in a
// fixed order of + − × ÷ √. Matrices are square and row-major.

var errSingular = errors.New("the matrix has no inverse")

// addTo adds x·from to a row.
func addTo(row []float64, x float64, from []float64) {
	for j, y := range from[:len(row)] {
		row[j] += float64(x * y)
	}
}

// dot is Σ a_i·b_i, in four sums side by side.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i] * b[i])
		s1 += float64(a[i+1] * b[i+1])
		s2 += float64(a[i+2] * b[i+2])
		s3 += float64(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// cholesky turns the upper triangle of a symmetric matrix a of n rows into that of U
// with U'U = a, in its first rows; those after them are not read, so that what
// stands in their columns becomes U'⁻¹ times it.
func cholesky(a []float64, n, rows int) error {
	for i := range rows {
		row := a[i*n+i : (i+1)*n]
		if !(row[0] > 0) {
			return errSingular
		}
		pivot := math.Sqrt(row[0])
		for j := range row {
			row[j] /= pivot
		}
		for k := i + 1; k < rows; k++ {
			addTo(a[k*n+k:(k+1)*n], -row[k-i], row[k-i:])
		}
	}
	return nil
}

// invert replaces a matrix by its inverse (Gauss and Jordan, largest pivot of each
// column) and returns the least power of two above the size of its determinant.
func invert(a []float64, n int) (power int, err error) {
	swaps := make([]int, n)
	mantissa := 1.0
	for i := range n {
		best := i
		for k := i + 1; k < n; k++ {
			if math.Abs(a[k*n+i]) > math.Abs(a[best*n+i]) {
				best = k
			}
		}
		swaps[i] = best
		row := a[i*n : (i+1)*n]
		if best != i {
			other := a[best*n : (best+1)*n]
			for j := range row {
				row[j], other[j] = other[j], row[j]
			}
		}
		pivot := row[i]
		if pivot == 0 {
			return 0, errSingular
		}
		m, e := math.Frexp(float64(mantissa * math.Abs(pivot)))
		mantissa, power = m, power+e
		row[i] = 1
		for j := range row {
			row[j] /= pivot
		}
		for k := range n {
			if k == i {
				continue
			}
			other := a[k*n : (k+1)*n]
			x := other[i]
			other[i] = 0
			addTo(other, -x, row)
		}
	}
	for i := n - 1; i >= 0; i-- {
		if swaps[i] == i {
			continue
		}
		for k := range n {
			a[k*n+i], a[k*n+swaps[i]] = a[k*n+swaps[i]], a[k*n+i]
		}
	}
	return power, nil
}

// turned is the orthogonal factor Q of a matrix a = Q·H with H symmetric and positive
// (Newton's iteration Q ← (μ·Q + Q'⁻¹/μ)/2, scaled by determinants: Higham 2008,
// section 8.6), to about 1e-14.
func turned(a []float64, n int) ([]float64, error) {
	q := append([]float64{}, a...)
	other := make([]float64, n*n)
	for range 60 {
		copy(other, q)
		power, err := invert(other, n)
		if err != nil {
			return nil, err
		}
		// μ is a power of two near |det Q|^(-1/n), and 1 where that is near 1.
		mu := math.Ldexp(1, -int((float64(power)-.5)/float64(n)))
		var most float64
		for i := range n {
			for j := range n {
				next := float64((float64(mu*q[i*n+j]) + other[j*n+i]/mu) / 2)
				most = math.Max(most, math.Abs(next-q[i*n+j]))
				q[i*n+j] = next
			}
		}
		if most < 1e-7 { // the next step would change it by the square
			return q, nil
		}
	}
	return nil, errSingular
}

// denseMatrix is Z for a workload of any gram matrix: with D^½·(V + κ·11')·D^½ = C'C
// and C = Q·H, the square root is H = Q'C.
func (w *Workload) denseMatrix(u []float64, kappa float64) ([]float64, error) {
	n := w.n
	c, scale := make([]float64, n*n), make([]float64, n)
	for j, x := range u {
		scale[j] = math.Sqrt(x)
	}
	for j := range n {
		for k := range n {
			c[j*n+k] = float64(scale[j]*scale[k]) * (w.gram[j*n+k] + kappa)
		}
	}
	if err := cholesky(c, n, n); err != nil {
		return nil, err
	}
	for j := range n {
		clear(c[j*n : j*n+j])
	}
	q, err := turned(c, n)
	if err != nil {
		return nil, err
	}
	z := make([]float64, n*n)
	for i := range n {
		for j := range n {
			addTo(z[j*n+i:(j+1)*n], q[i*n+j], c[i*n+i:(i+1)*n])
		}
	}
	for j := range n {
		for k := range n {
			z[j*n+k] /= float64(scale[j] * scale[k])
		}
	}
	return z, nil
}

// denseRoot is the root of a workload of any gram matrix.
func (w *Workload) denseRoot(u []float64, kappa float64) (root, error) {
	z, err := w.denseMatrix(u, kappa)
	if err != nil {
		return root{}, err
	}
	n := w.n
	out := root{make([]float64, n), make([]float64, n)}
	for j := range n {
		out.diagonal[j], out.tilt[j] = z[j*n+j], 1
	}
	if err := cholesky(z, n, n); err != nil {
		return root{}, err
	}
	// U'U·m = 1: forwards, then backwards.
	for j, x := range out.tilt {
		row := z[j*n : (j+1)*n]
		out.tilt[j] = x / row[j]
		addTo(out.tilt[j+1:], -out.tilt[j], row[j+1:])
	}
	for j := n - 1; j >= 0; j-- {
		row := z[j*n : (j+1)*n]
		out.tilt[j] = (out.tilt[j] - dot(row[j+1:], out.tilt[j+1:])) / row[j]
	}
	return out, nil
}
