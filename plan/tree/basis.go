package tree

import "math"

// This file holds the coordinates in which components come apart: the mean along each attribute, and deviations from
// it.

// basis turns cells of a kind into coordinates and back. The coordinates of an attribute of n categories are its sum
// divided by √n, and for k = 1 to n−1 the sum of the first k less k times the next, divided by √(k(k+1)) (Helmert).
// They are orthonormal, so that noise that is independent and of one variance remains so.
type basis struct {
	sizes []int
	norms [][]float64 // of each attribute's coordinates, 1/√n and 1/√(k(k+1))
}

// newBasis returns the basis of attributes of these sizes.
func newBasis(sizes []int) basis {
	b := basis{sizes: sizes}
	for _, n := range sizes {
		norms := make([]float64, n)
		norms[0] = 1 / math.Sqrt(float64(n))
		for k := 1; k < n; k++ {
			norms[k] = 1 / math.Sqrt(float64(k*(k+1)))
		}
		b.norms = append(b.norms, norms)
	}
	return b
}

// transform turns an array over some attributes, row by row, into coordinates, or back if it is inverse.
func (b basis) transform(x []float64, axes Axes, inverse bool) {
	stride := 1
	for i := len(b.sizes) - 1; i >= 0; i-- {
		if axes>>i&1 == 0 {
			continue
		}
		n := b.sizes[i]
		for outer := 0; outer < len(x); outer += n * stride {
			for inner := range stride {
				if inverse {
					helmertBack(x[outer+inner:], stride, b.norms[i])
				} else {
					helmert(x[outer+inner:], stride, b.norms[i])
				}
			}
		}
		stride *= n
	}
}

// helmert replaces the entries of x that are a stride apart by their coordinates.
func helmert(x []float64, stride int, norms []float64) {
	sum := x[0]
	for k := 1; k < len(norms); k++ {
		next := x[k*stride]
		x[k*stride] = float64((sum - float64(float64(k)*next)) * norms[k])
		sum += next
	}
	x[0] = float64(sum * norms[0])
}

// helmertBack is the inverse of helmert.
func helmertBack(x []float64, stride int, norms []float64) {
	// The entry of k is mean − k·c_k·norm_k + Σ_{later} c·norm.
	later := float64(x[0] * norms[0])
	for k := len(norms) - 1; k >= 1; k-- {
		part := float64(x[k*stride] * norms[k])
		x[k*stride] = later - float64(float64(k)*part)
		later += part
	}
	x[0] = later
}

// componentsOf lists, for each coordinate of an array over some attributes, its component: the attributes along which
// it is no mean.
func (b basis) componentsOf(axes Axes) []int {
	out := []int{0}
	for i, n := range b.sizes {
		if axes>>i&1 == 0 {
			continue
		}
		next := make([]int, 0, len(out)*n)
		for _, c := range out {
			for k := range n {
				if k > 0 {
					next = append(next, c|1<<i)
				} else {
					next = append(next, c)
				}
			}
		}
		out = next
	}
	return out
}

// places lists, for each coordinate of an array over some attributes, its index among the coordinates over all.
func (b basis) places(axes Axes) []int {
	out := []int{0}
	for i, n := range b.sizes {
		if axes>>i&1 == 0 {
			for j := range out {
				out[j] *= n
			}
			continue
		}
		next := make([]int, 0, len(out)*n)
		for _, at := range out {
			for k := range n {
				next = append(next, at*n+k)
			}
		}
		out = next
	}
	return out
}
