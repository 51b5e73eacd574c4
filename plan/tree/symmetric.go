package tree

import "math"

// This file holds the linear algebra of the few kinds of an area, in a fixed order of + − × ÷ √.

// symmetric is a symmetric matrix.
type symmetric struct {
	n  int
	at []float64 // row by row
}

// newSymmetric returns a matrix of n rows of zeros.
func newSymmetric(n int) symmetric { return symmetric{n, make([]float64, n*n)} }

// clone returns a copy.
func (s symmetric) clone() symmetric { return symmetric{s.n, append([]float64(nil), s.at...)} }

// add adds a matrix whose rows are the given ones of this one.
func (s symmetric) add(from symmetric, rows []int) {
	for i, a := range rows {
		for j, b := range rows {
			s.at[a*s.n+b] += from.at[i*from.n+j]
		}
	}
}

// times returns the product with a vector.
func (s symmetric) times(x []float64) []float64 {
	out := make([]float64, s.n)
	for i := range out {
		out[i] = dot(s.at[i*s.n:(i+1)*s.n], x)
	}
	return out
}

// dot returns Σ a_i·b_i.
func dot(a, b []float64) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// tolerance is the part of the largest diagonal entry below which what is left of a diagonal is rounding.
const tolerance = 1e-11

// invert returns a generalised inverse G of a positive semidefinite matrix P, P·G·P = P, and vectors that span what P
// maps to zero; none if P has an inverse.
//
// Method: Gauss and Jordan's elimination with the largest diagonal entry as pivot, until what is left is rounding.
func (s symmetric) invert() (symmetric, [][]float64) {
	n, a := s.n, s.clone().at
	var scale float64
	for i := range n {
		scale = max(scale, a[i*n+i])
	}
	pivots := make([]bool, n)
	for range n {
		p := -1
		for i := range n {
			if !pivots[i] && a[i*n+i] > tolerance*scale && (p < 0 || a[i*n+i] > a[p*n+p]) {
				p = i
			}
		}
		if p < 0 {
			break
		}
		pivots[p] = true
		d := 1 / a[p*n+p]
		for i := range n {
			if i == p {
				continue
			}
			factor := float64(a[i*n+p] * d)
			for j := range n {
				if j != p {
					a[i*n+j] -= float64(factor * a[p*n+j])
				}
			}
		}
		for i := range n {
			if i != p {
				a[i*n+p], a[p*n+i] = float64(a[i*n+p]*d), float64(a[p*n+i]*d)
			}
		}
		a[p*n+p] = -d
	}
	inverse := newSymmetric(n)
	var null [][]float64
	for i := range n {
		if !pivots[i] {
			v := make([]float64, n)
			v[i] = 1
			for j := range n {
				if pivots[j] {
					v[j] = -a[j*n+i]
				}
			}
			null = append(null, v)
			continue
		}
		for j := range n {
			if pivots[j] {
				inverse.at[i*n+j] = -(a[i*n+j] + a[j*n+i]) / 2
			}
		}
	}
	return inverse, null
}

// orthonormal returns vectors of unit length, at right angles to each other, that span the given ones, followed by
// those that span all else in n dimensions.
func orthonormal(n int, of [][]float64) (spanned, rest [][]float64) {
	all := make([][]float64, 0, n)
	extend := func(v []float64) bool {
		w := append([]float64(nil), v...)
		length := math.Sqrt(dot(w, w))
		for range 2 { // once more, for what rounding leaves
			for _, u := range all {
				c := dot(u, w)
				for i := range w {
					w[i] -= float64(c * u[i])
				}
			}
		}
		left := math.Sqrt(dot(w, w))
		if !(left > 1e-9*length) {
			return false
		}
		for i := range w {
			w[i] /= left
		}
		all = append(all, w)
		return true
	}
	for _, v := range of {
		extend(v)
	}
	k := len(all)
	for i := 0; i < n && len(all) < n; i++ {
		e := make([]float64, n)
		e[i] = 1
		// What a unit vector has besides the others is long enough for at least one of those that are left.
		if w := residueOf(e, all); w > 1/float64(2*n) {
			extend(e)
		}
	}
	return all[:k:k], all[k:]
}

// residueOf returns the squared length of what a vector of unit length has besides the span of orthonormal ones.
func residueOf(v []float64, of [][]float64) float64 {
	left := 1.0
	for _, u := range of {
		c := dot(u, v)
		left -= float64(c * c)
	}
	return left
}
