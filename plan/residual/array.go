package residual

// This file holds arrays: row-major over axes, with the last axis's categories the fastest.

// Outer returns the products of one value of each list, the last list's the fastest: 1 for no list, and the list
// itself for one.
func Outer[T int64 | float64](lists ...[]T) []T {
	out := []T{1}
	for i, list := range lists {
		if i == 0 {
			out = list
			continue
		}
		next := make([]T, 0, len(out)*len(list))
		for _, x := range out {
			for _, y := range list {
				next = append(next, T(x*y))
			}
		}
		out = next
	}
	return out
}

// Cross returns f of each element of one list with each of another, the other's the fastest.
func Cross[X, Y, Z any](xs []X, ys []Y, f func(x X, y Y) Z) []Z {
	out := make([]Z, 0, len(xs)*len(ys))
	for _, x := range xs {
		for _, y := range ys {
			out = append(out, f(x, y))
		}
	}
	return out
}

// upTo returns 0 to n−1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// addProducts adds x times the product of one factor of each axis to each cell.
func addProducts(cells []float64, factors [][]float64, x float64) {
	var walk func(cells []float64, i int, product float64)
	walk = func(cells []float64, i int, product float64) {
		if i == len(factors) {
			cells[0] += float64(product * x)
			return
		}
		if i == len(factors)-1 {
			for j, f := range factors[i] {
				cells[j] += float64(float64(product*f) * x)
			}
			return
		}
		stride := len(cells) / len(factors[i])
		for j, f := range factors[i] {
			walk(cells[j*stride:(j+1)*stride], i+1, float64(product*f))
		}
	}
	walk(cells, 0, 1)
}

// broadcast repeats an array along the axes on which it has one category and sizes has more.
func broadcast(x []float64, have, sizes []int) []float64 {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	out := make([]float64, n)
	var walk func(to, from []float64, i int)
	walk = func(to, from []float64, i int) {
		if i == len(sizes) {
			to[0] = from[0]
			return
		}
		stride, step := len(to)/sizes[i], len(from)/have[i]
		for j := range have[i] {
			walk(to[j*stride:(j+1)*stride], from[j*step:(j+1)*step], i+1)
		}
		if have[i] == 1 {
			for filled := stride; filled < len(to); filled *= 2 {
				copy(to[filled:], to[:filled])
			}
		}
	}
	walk(out, x, 0)
	return out
}

// permuted returns an array with its axes in another order: those that were at order[0], order[1], …
func permuted(x []float64, sizes, order []int) []float64 {
	sorted := true
	for i, o := range order {
		sorted = sorted && i == o
	}
	if sorted {
		return x
	}
	strides := make([]int, len(sizes))
	stride := 1
	for i := len(sizes) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= sizes[i]
	}
	out := make([]float64, 0, len(x))
	var walk func(i, from int)
	walk = func(i, from int) {
		if i == len(order) {
			out = append(out, x[from])
			return
		}
		for range sizes[order[i]] {
			walk(i+1, from)
			from += strides[order[i]]
		}
	}
	walk(0, 0)
	return out
}

// sumAlong adds up an array along an axis of n categories whose neighbours are stride apart.
func sumAlong(x []float64, n, stride int) []float64 {
	out := make([]float64, len(x)/n)
	for base := 0; base < len(out); base += stride {
		sums := out[base : base+stride]
		for j := range n {
			from := base*n + j*stride
			for i, v := range x[from : from+stride] {
				sums[i] += v
			}
		}
	}
	return out
}

// transformRows returns an array with other rows along an axis of n categories whose neighbours are stride apart. add
// computes the new rows of each block.
func transformRows(x []float64, n, rows, stride int, add func(to, from []float64)) []float64 {
	out := make([]float64, len(x)/n*rows)
	for base, to := 0, 0; base < len(x); base, to = base+n*stride, to+rows*stride {
		add(out[to:to+rows*stride], x[base:base+n*stride])
	}
	return out
}

// accumulate replaces the rows of an axis by their prefix sums.
func accumulate(x []float64, stride int) {
	for i := stride; i < len(x); i++ {
		x[i] += x[i-stride]
	}
}

// spreadOver adds to each cell the value of an array that has some of its axes, at the same categories, times the
// product of a part of each other axis; the parts of an axis that the array has are nil.
func spreadOver(cells, x []float64, sizes []int, parts [][]float64) {
	var walk func(to, from []float64, i int, part float64)
	walk = func(to, from []float64, i int, part float64) {
		if i == len(sizes) {
			to[0] += float64(from[0] * part)
			return
		}
		last := i == len(sizes)-1
		stride := len(to) / sizes[i]
		switch {
		case last && parts[i] == nil:
			for j, v := range from {
				to[j] += float64(v * part)
			}
		case last:
			v := from[0]
			for j, p := range parts[i] {
				to[j] += float64(v * float64(part*p))
			}
		case parts[i] == nil:
			step := len(from) / sizes[i]
			for j := range sizes[i] {
				walk(to[j*stride:(j+1)*stride], from[j*step:(j+1)*step], i+1, part)
			}
		default:
			for j, p := range parts[i] {
				walk(to[j*stride:(j+1)*stride], from, i+1, float64(part*p))
			}
		}
	}
	walk(cells, x, 0, 1)
}
