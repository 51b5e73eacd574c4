package ranges

import (
	"errors"
	"math"
)

// This file holds what a matrix without structure needs of linear algebra, in a fixed
// order of + − × ÷ √. Matrices are square and row-major.

var errSingular = errors.New("the matrix has no inverse")

// addTo adds x·from to a row.
func addTo(row []float64, x float64, from []float64) {
	for j, y := range from[:len(row)] {
		row[j] += float64(x * y)
	}
}

// dot returns Σ a_i·b_i, in four interleaved sums.
func dot[T int32 | float64](a []T, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(float64(a[i]) * b[i])
		s1 += float64(float64(a[i+1]) * b[i+1])
		s2 += float64(float64(a[i+2]) * b[i+2])
		s3 += float64(float64(a[i+3]) * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(float64(a[i]) * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// cholesky turns the upper triangle of a symmetric matrix a of n rows into that of U with U'U = a, in its first rows;
// the rows after them are not read, so their columns become U'⁻¹ times their former content.
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
