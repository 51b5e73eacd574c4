package graphical

// This file holds the algebra of tables over cliques: sums over some attributes, and products cell by cell.

// A walk goes over the cells of a large table in order, and with them over those of a small one, whose attributes are
// some of the large one's: runs of neighbouring attributes that are all in the small table, or all not.
type walk []run

type run struct {
	n    int  // cells of the run
	in   bool // its attributes are in the small table
	step int  // in the small table, from one cell of the run to the next
	size int  // of the large table, below one cell of the run
}

// newWalk is the walk over a clique with another that it holds.
func newWalk(d Domain, large, small Clique) walk {
	var w walk
	for _, a := range large {
		in := small.has(a)
		switch {
		case d[a] == 1:
		case len(w) > 0 && w[len(w)-1].in == in:
			w[len(w)-1].n *= d[a]
		default:
			w = append(w, run{n: d[a], in: in})
		}
	}
	step, size := 1, 1
	for i := len(w) - 1; i >= 0; i-- {
		w[i].size = size
		size *= w[i].n
		if w[i].in {
			w[i].step = step
			step *= w[i].n
		}
	}
	return w
}

// project adds the cells of a large table to those of a small one that they belong to.
func (w walk) project(large, small []float64) {
	switch {
	case len(w) == 0:
		small[0] += large[0]
	case len(w) == 1 && w[0].in:
		small = small[:len(large)]
		for i, x := range large {
			small[i] += x
		}
	case len(w) == 1:
		small[0] += sum(large)
	case len(w) == 2 && w[0].in:
		n := w[1].n
		for i := range small[:w[0].n] {
			small[i] += sum(large[i*n : (i+1)*n])
		}
	default:
		n, size := w[0].n, w[0].size
		for i := range n {
			w[1:].project(large[i*size:(i+1)*size], small[i*w[0].step:])
		}
	}
}

// multiply multiplies each cell of a large table by the small one's that it belongs to, into out, which may be large.
func (w walk) multiply(out, large, small []float64) {
	switch {
	case len(w) == 0:
		out[0] = large[0] * small[0]
	case len(w) == 1 && w[0].in:
		out, small = out[:len(large)], small[:len(large)]
		for i, x := range large {
			out[i] = x * small[i]
		}
	case len(w) == 1:
		out = out[:len(large)]
		f := small[0]
		for i, x := range large {
			out[i] = x * f
		}
	case len(w) == 2 && w[0].in && w[1].n <= 8:
		n := w[1].n
		for i, f := range small[:w[0].n] {
			for j := i * n; j < (i+1)*n; j++ {
				out[j] = large[j] * f
			}
		}
	default:
		n, size := w[0].n, w[0].size
		for i := range n {
			w[1:].multiply(out[i*size:(i+1)*size], large[i*size:(i+1)*size], small[i*w[0].step:])
		}
	}
}

// add adds to each cell of a large table the small one's that it belongs to.
func (w walk) add(large, small []float64) {
	switch {
	case len(w) == 0:
		large[0] += small[0]
	case len(w) == 1 && w[0].in:
		small = small[:len(large)]
		for i := range large {
			large[i] += small[i]
		}
	case len(w) == 1:
		for i := range large {
			large[i] += small[0]
		}
	default:
		n, size := w[0].n, w[0].size
		for i := range n {
			w[1:].add(large[i*size:(i+1)*size], small[i*w[0].step:])
		}
	}
}

// greatest sets each cell of a small table to the largest of those of a large one that belong to it.
func (w walk) greatest(large, small []float64) {
	switch {
	case len(w) == 0:
		small[0] = max(small[0], large[0])
	case len(w) == 1 && w[0].in:
		for i, x := range large {
			small[i] = max(small[i], x)
		}
	case len(w) == 1:
		for _, x := range large {
			small[0] = max(small[0], x)
		}
	default:
		n, size := w[0].n, w[0].size
		for i := range n {
			w[1:].greatest(large[i*size:(i+1)*size], small[i*w[0].step:])
		}
	}
}

// Project is the sum of a table over the attributes that a clique does not have, of those that the table is of.
func Project(d Domain, of Clique, table []float64, onto Clique) []float64 {
	out := make([]float64, int(d.Cells(onto)))
	newWalk(d, of, onto).project(table, out)
	return out
}

// sum is Σ x, in four interleaved parts.
func sum(x []float64) float64 {
	var a, b, c, e float64
	for len(x) >= 4 {
		a, b, c, e = a+x[0], b+x[1], c+x[2], e+x[3]
		x = x[4:]
	}
	for _, v := range x {
		a += v
	}
	return (a + b) + (c + e)
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
