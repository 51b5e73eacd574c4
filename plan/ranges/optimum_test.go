package ranges

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestKnownFigures: root mean squared errors at cost 1 of the strategies that have
// been published or measured for these workloads, by what they are.
func TestKnownFigures(t *testing.T) {
	for _, c := range []struct {
		n, kind                                 int
		identity, binary, haar, root, best, svd float64 // 0 is not known
		// Haar with noise of its own at every depth, the root and the total
		depths float64
	}{
		{100, 0, 7.106, 0, 0, 2.839, 2.2355, 2.178, 0},
		{100, 1, 5.831, 0, 0, 2.609, 2.4925, 2.467, 0},
		{256, 0, 11.336, 3.102, 3.085, 3.259, 2.5244, 2.471, 2.9768},
		{256, 1, 9.274, 3.835, 3.505, 3.024, 2.9014, 2.876, 3.4364},
		{1024, 0, 22.638, 3.686, 3.667, 3.882, 2.9555, 2.910, 3.5529},
		{1024, 1, 18.493, 4.654, 4.319, 3.644, 3.5151, 3.492, 4.2484},
	} {
		w := kinds[c.kind].make(c.n)
		check := func(name string, sum, want, digits float64) {
			t.Helper()
			if got := math.Sqrt(sum / w.Count()); want > 0 && math.Abs(got-want) > digits/2*1.01 {
				t.Errorf("%s of %d, %s: %.5f, known to be %v", kinds[c.kind].name, c.n, name, got, want)
			}
		}
		even := make([]float64, c.n)
		for j := range even {
			even[j] = 1 / float64(c.n)
		}
		check("identity", w.trace(even)*float64(c.n), c.identity, 1e-3)
		// With even weights Z is the root of V but for a factor.
		r := w.rootOf(even, 0)
		var mean, most float64
		for _, z := range r.diagonal {
			mean += z / float64(c.n)
			most = max(most, z)
		}
		check("V^½", mean*most, c.root, 1e-3)
		check("singular value bound", mean*mean, c.svd, 1e-3)
		if c.binary > 0 {
			check("binary tree", binary(t, w), c.binary, 1e-3)
		}
		if c.haar > 0 {
			// The same c at all depths, and 1 on the total.
			h, err := w.Haar(Bits)
			if err != nil {
				t.Fatal(err)
			}
			parts := make([]float64, len(h.scale))
			w.addVariances(make([]float64, c.n), 0, parts)
			sum := h.Total
			for _, v := range parts {
				sum += v
			}
			check("Haar", sum*float64(1+len(parts)), c.haar, 1e-3)
			own := math.Sqrt(h.Total) + math.Sqrt(h.Residual*float64(h.Squares))
			check("Haar by depths", own*own, c.depths, 2e-4)
		}
		o, err := w.Optimum(0)
		if err != nil {
			t.Fatal(err)
		}
		check("optimum", o.Upper, c.best, 1e-4)
	}
}

// binary is the sum of variances at cost 1 of the tree of all halves, from the root
// to the leaves, each with the same noise.
func binary(t testing.TB, w *Workload) float64 {
	t.Helper()
	n := w.Size()
	x, depth := mat.NewSymDense(n, nil), 0.0
	for size := n; size >= 1; size /= 2 {
		for from := 0; from < n; from += size {
			for j := from; j < from+size; j++ {
				for k := j; k < from+size; k++ {
					x.SetSym(j, k, x.At(j, k)+1)
				}
			}
		}
		depth++
	}
	var factor mat.Cholesky
	if !factor.Factorize(x) {
		t.Fatal("the tree has no inverse")
	}
	return traceSolve(t, &factor, w, n) * depth
}

// traceSolve is tr(V·X⁻¹) for a factored X.
func traceSolve(t testing.TB, factor *mat.Cholesky, w *Workload, n int) float64 {
	t.Helper()
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	var sum float64
	for j := range n {
		for k := range n {
			sum += inverse.At(j, k) * entry(w, j, k)
		}
	}
	return sum
}

// entry is V_jk.
func entry(w *Workload, j, k int) float64 {
	if w.mean > 0 {
		return float64(min(j, k)+1) * float64(w.n-max(j, k))
	}
	return float64(w.n - max(j, k))
}

// TestOptimumIsCertified works both bounds out anew: the eigenvalues of D^½VD^½ for
// the dual weights, and the sum of variances of the strategy, whose norms are at most 1.
func TestOptimumIsCertified(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 16, 50, 101, 300} {
		for _, kappa := range []float64{0, 1, 100, 1024} {
			for _, kind := range kinds {
				certify(t, kind.make(n), kappa)
			}
		}
	}
}

func certify(t *testing.T, w *Workload, kappa float64) {
	t.Helper()
	n := w.Size()
	o, err := w.Optimum(kappa)
	if err != nil {
		t.Errorf("%d categories, κ %v: %v", n, kappa, err)
		return
	}
	scaled, sum := mat.NewSymDense(n, nil), 0.0
	for j, u := range o.Weights {
		sum += u
		for k := j; k < n; k++ {
			scaled.SetSym(j, k, math.Sqrt(u*o.Weights[k])*(entry(w, j, k)+kappa))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(scaled, false) {
		t.Fatal("no eigenvalues")
	}
	var f float64
	for _, lambda := range eigen.Values(nil) {
		f += math.Sqrt(max(lambda, 0))
	}
	x := mat.NewSymDense(n, o.strategyMatrix())
	var most float64
	for j := range n {
		most = max(most, x.At(j, j))
	}
	var factor mat.Cholesky
	if !factor.Factorize(x) {
		t.Fatal("the strategy has no inverse")
	}
	upper := traceSolve(t, &factor, w, n)
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	upper += kappa * mat.Sum(&inverse)
	// The eigenvalues' roots carry √(rounding) of the largest, 1e-8 of f each at worst.
	if math.Abs(sum-1) > 1e-12 || most > 1+1e-9 || math.Abs(f*f-o.Lower) > 1e-6*o.Lower ||
		math.Abs(upper-o.Upper) > 1e-8*upper {
		t.Errorf("%d categories, κ %v: weights' sum %v, largest norm %v; bounds %v and %v, said to be %v and %v", n,
			kappa,
			sum, most, f*f, upper, o.Lower, o.Upper)
	}
	if gap := upper*most/(f*f) - 1; gap > 1e-4 {
		t.Errorf("%d categories, κ %v: the gap is %v", n, kappa, gap)
	}
	// The split: X has the share of 11' that leaves no room for more, and t.
	if share := 1 / mat.Sum(&inverse); math.Abs(share-o.share) > 1e-8*share {
		t.Errorf("%d categories, κ %v: a share of %v, said to be %v", n, kappa, share, o.share)
	}
	for j, tilt := range o.Tilt {
		var row float64
		for k := range n {
			row += inverse.At(j, k)
		}
		if math.Abs(row*o.share-tilt) > 1e-7 {
			t.Errorf("%d categories, κ %v: t_%d is %v, said to be %v", n, kappa, j, row*o.share, tilt)
		}
	}
}

func TestOptimumOfNoKappa(t *testing.T) {
	for _, kappa := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Prefix(3).Optimum(kappa); err == nil {
			t.Errorf("κ %v has an optimum", kappa)
		}
	}
}
