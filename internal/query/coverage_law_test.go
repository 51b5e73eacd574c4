package query

import (
	"math"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/mat"
)

// This file computes what a simulation of coverage expects, from definitions only: every measurement as a matrix over
// the finest cells of its table, the least-squares weights by dense matrices, and the law of a weighted sum of noise by
// convolving probabilities.

// explicit is a table of few cells in explicit form.
type explicit struct {
	release *spec.Release
	columns []*spec.Column
	counts  []float64 // of the finest cells, the last column's categories fastest
}

// newExplicit gives every finest cell a count of its own.
func newExplicit(r *spec.Release) *explicit {
	x := &explicit{release: r, columns: r.Tables[0].Columns}
	cells := 1
	for _, c := range x.columns {
		cells *= c.Domain.Size()
	}
	for i := range cells {
		x.counts = append(x.counts, float64(3+i*i%17))
	}
	return x
}

// categoriesOf returns a level's category for each category of the column.
func categoriesOf(c *spec.Column, level string) (of []int, size int) {
	l, _ := c.Domain.Level(level)
	for base := range c.Domain.Size() {
		of = append(of, l.Category(base))
	}
	return of, l.Size()
}

// factorMatrix returns the matrix of a factor by its definition: a row per integer, an entry per category of the
// column. For a residual, the entries are c·(g·x − Σ over the group), with c = most g / g, rounded.
func (x *explicit) factorMatrix(t testing.TB, c *spec.Column, f plan.Factor) [][]float64 {
	t.Helper()
	of, size := categoriesOf(c, f.Level)
	rows, group := make([][]float64, size), make([]int, size)
	for j := range rows {
		rows[j] = make([]float64, len(of))
	}
	within := make([]int, len(of))
	if f.Within != "" {
		within, _ = categoriesOf(c, f.Within)
	}
	for base, j := range of {
		rows[j][base], group[j] = 1, within[base]
	}
	switch f.Basis {
	case plan.Identity:
		return rows
	case plan.Residual:
	case plan.Ranges:
		return x.rangesMatrix(t, c, f)
	default:
		t.Fatalf("%s: no definition of the basis %q", f, f.Basis)
	}
	g, most := map[int]float64{}, 0.0
	for _, p := range group {
		g[p]++
		most = max(most, g[p])
	}
	out := make([][]float64, size)
	for j, p := range group {
		out[j] = make([]float64, len(of))
		for base, k := range of {
			if group[k] == p {
				out[j][base] = math.Round(most/g[p]) * (g[p]*rows[j][base] - 1)
			}
		}
	}
	return out
}

// measurementMatrix returns the matrix of a measurement: a row per integer, in the order of its factors.
func (x *explicit) measurementMatrix(t testing.TB, m plan.Measurement) [][]float64 {
	t.Helper()
	rows := [][]float64{slices.Repeat([]float64{1}, len(x.counts))}
	for _, f := range m.Query.Factors {
		at := slices.IndexFunc(x.columns, func(c *spec.Column) bool { return c.Name == f.Attribute })
		rows = x.timesFactor(rows, at, x.factorMatrix(t, x.columns[at], f))
	}
	return rows
}

// rangesMatrix returns the matrix of a factor of ranges. How each category counts in an integer is taken from the
// counting itself.
func (x *explicit) rangesMatrix(t testing.TB, c *spec.Column, f plan.Factor) [][]float64 {
	t.Helper()
	columns, axes, plain, err := plan.Query{Table: x.release.Tables[0].Name,
		Factors: []plan.Factor{f}}.Residual(x.release)
	if err != nil {
		t.Fatal(err)
	}
	of, size := categoriesOf(c, f.Level)
	var rows [][]float64
	for base, j := range of {
		one := make([]int64, size)
		one[j] = 1
		integers, err := residual.Exact(columns, axes, plain, one)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range integers {
			if base == 0 {
				rows = append(rows, make([]float64, len(of)))
			}
			rows[i][base] = float64(v)
		}
	}
	return rows
}

// timesFactor returns the products of rows with those of a column's factor, the latter fastest.
func (x *explicit) timesFactor(rows [][]float64, column int, factor [][]float64) [][]float64 {
	stride := 1
	for _, c := range x.columns[column+1:] {
		stride *= c.Domain.Size()
	}
	size := x.columns[column].Domain.Size()
	var out [][]float64
	for _, row := range rows {
		for _, f := range factor {
			product := make([]float64, len(row))
			for i, v := range row {
				product[i] = v * f[i/stride%size]
			}
			out = append(out, product)
		}
	}
	return out
}

// cellSum returns a sum of cells of a table as a vector over the finest cells.
func (x *explicit) cellSum(q plan.Query, selected [][]int) []float64 {
	rows := [][]float64{slices.Repeat([]float64{1}, len(x.counts))}
	for key, f := range q.Factors {
		at := slices.IndexFunc(x.columns, func(c *spec.Column) bool { return c.Name == f.Attribute })
		of, _ := categoriesOf(x.columns[at], f.Level)
		in := make([]float64, len(of))
		for base, j := range of {
			if slices.Contains(selected[key], j) {
				in[base] = 1
			}
		}
		rows = x.timesFactor(rows, at, [][]float64{in})
	}
	return rows[0]
}

// countOf returns the count of a row of a matrix.
func (x *explicit) countOf(row []float64) (sum float64) {
	for i, v := range row {
		sum += v * x.counts[i]
	}
	return sum
}

// leastSquares is the least-squares estimator from some measurements: A has their integers as rows, W = 1/variance.
type leastSquares struct {
	measured  []plan.Measurement
	design    *mat.Dense // A
	precision []float64  // W
	of        []int      // index of the measurement of each integer
	inverse   *mat.Dense // (AᵀWA)⁺
}

func (x *explicit) leastSquares(t testing.TB, measured []plan.Measurement) *leastSquares {
	t.Helper()
	l, cells := &leastSquares{measured: measured}, len(x.counts)
	normal := mat.NewSymDense(cells, nil)
	var all []float64
	for i, m := range measured {
		for _, row := range x.measurementMatrix(t, m) {
			all = append(all, row...)
			l.of, l.precision = append(l.of, i), append(l.precision, 1/m.Mechanism.Variance())
			normal.SymRankOne(normal, 1/m.Mechanism.Variance(), mat.NewVecDense(cells, row))
		}
	}
	l.design = mat.NewDense(len(l.of), cells, all)
	var eigen mat.EigenSym
	if !eigen.Factorize(normal, true) {
		t.Fatal("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	l.inverse = mat.NewDense(cells, cells, nil)
	for k, v := range values {
		if v > 1e-11*values[cells-1] {
			l.inverse.RankOne(l.inverse, 1/v, vectors.ColView(k), vectors.ColView(k))
		}
	}
	return l
}

// weights returns the weights of a sum's estimate on all integers, W·A·(AᵀWA)⁺·sum. It fails the test if the estimate
// is biased: the measurements then do not determine the sum.
func (l *leastSquares) weights(t testing.TB, sum []float64) []float64 {
	t.Helper()
	var solved, w, back mat.VecDense
	solved.MulVec(l.inverse, mat.NewVecDense(len(sum), sum))
	w.MulVec(l.design, &solved)
	for i, p := range l.precision {
		w.SetVec(i, w.AtVec(i)*p)
	}
	back.MulVec(l.design.T(), &w)
	for i, v := range sum {
		if math.Abs(back.AtVec(i)-v) > 1e-8 {
			t.Fatalf("the measurements do not hold the sum: %v of cell %d, expected %v", back.AtVec(i), i, v)
		}
	}
	return w.RawVector().Data
}

// sumOfNoise is the law of Σ weight·noise on the multiples of a step. If the weights have no common step, every group
// of equal weights is rounded to a multiple, and the sum is off by at most slack. Discrete Gaussian noise with a
// deviation of at least 100 is a normal variable rounded to a whole number, except for a distance of the laws below
// 1e-6: the sum of these is normal, and off by at most half of each weight.
type sumOfNoise struct {
	releasetest.Law
	step, slack, deviation float64
	normal                 float64 // deviation of the sum of all noise with a deviation of at least 100
}

// draws of one noise with one weight
type weighted struct {
	measurement int
	weight      float64
	count       int
}

// newSumOfNoise convolves the laws of noise. scale multiplies the noise of each measurement.
func (l *leastSquares) newSumOfNoise(weights []float64, scale func(measurement int) float64) sumOfNoise {
	var groups []weighted
	var out sumOfNoise
	for i, w := range weights {
		w = math.Abs(w * scale(l.of[i]))
		if w < 1e-10 {
			continue
		}
		out.deviation += w * w / l.precision[i]
		at := slices.IndexFunc(groups, func(g weighted) bool {
			return g.measurement == l.of[i] && math.Abs(g.weight-w) < 1e-9*w
		})
		if at < 0 {
			at = len(groups)
			groups = append(groups, weighted{l.of[i], w, 0})
		}
		groups[at].count++
	}
	out.deviation = math.Sqrt(out.deviation)
	var narrow []weighted
	for _, g := range groups {
		m := l.measured[g.measurement].Mechanism
		if m.Kind == budget.DiscreteGaussian && m.Variance() >= 1e4 {
			out.normal += g.weight * g.weight * float64(g.count) * m.Variance()
			out.slack += g.weight * float64(g.count) / 2
		} else {
			narrow = append(narrow, g)
		}
	}
	groups, out.normal = narrow, math.Sqrt(out.normal)
	var exact bool
	if out.step, exact = commonStep(groups); !exact {
		out.step = out.deviation / 3000
		out.slack += float64(len(groups)) * out.step / 2
	}
	out.Law = releasetest.Law{P: []float64{1}}
	for _, g := range groups {
		one := releasetest.NoiseLaw(l.measured[g.measurement].Mechanism)
		sum := releasetest.Law{P: []float64{1}}
		for range g.count {
			sum = sum.Plus(one).Trimmed()
		}
		out.Law = out.Law.PlusMultiples(sum, g.weight/out.step).Trimmed()
	}
	return out
}

// commonStep returns the largest 1/d, for a whole d, of which all weights are multiples; false if there is none.
func commonStep(groups []weighted) (float64, bool) {
	for d := 1.0; d <= 6000; d++ {
		if !slices.ContainsFunc(groups,
			func(g weighted) bool { return math.Abs(g.weight*d-math.Round(g.weight*d)) > 1e-7 }) {
			return 1 / d, true
		}
	}
	return 0, false
}

// probabilityWithin bounds P(|sum| ≤ m) from both sides. The bounds are equal if there is a common step, of which m may
// be a multiple up to rounding.
func (s sumOfNoise) probabilityWithin(m float64) (low, high float64) {
	if s.normal > 0 {
		at := func(m float64) (sum float64) {
			for i, p := range s.P {
				x := float64(s.From+i) * s.step
				sum += p * (math.Erf((m-x)/s.normal/math.Sqrt2) + math.Erf((m+x)/s.normal/math.Sqrt2)) / 2
			}
			return sum
		}
		return max(at(m-s.slack)-1e-5, 0), min(at(m+s.slack)+1e-5, 1)
	}
	at := func(m float64) (sum float64) {
		most := math.Floor(m/s.step + 1e-5)
		for i, p := range s.P {
			if math.Abs(float64(s.From+i)) <= most {
				sum += p
			}
		}
		return min(sum, 1)
	}
	return at(m - s.slack), at(m + s.slack)
}

// TestCoverageLaws compares the convolution with closed forms: the variance of a sum, the law of one draw, and the law
// of two draws whose weights have no common step.
func TestCoverageLaws(t *testing.T) {
	r := coverageSettings[0].compilePlan(t)
	l := newExplicit(r.Release()).leastSquares(t, r.Measurements[:1])
	one := releasetest.NoiseLaw(r.Measurements[0].Mechanism)
	for _, weights := range [][]float64{{1}, {1. / 12}, {math.Sqrt2 / 3}} {
		s := l.newSumOfNoise(weights, func(int) float64 { return 1 })
		for _, m := range []float64{0, 1, 4, 9} {
			want := 0.0
			for i, p := range one.P {
				if math.Abs(float64(one.From+i)) <= m {
					want += p
				}
			}
			low, high := s.probabilityWithin((m + 0.3) * weights[0])
			if low > want+1e-12 || high < want-1e-12 || high-low > 1e-9 {
				t.Errorf("weight %v: within %v between %v and %v, expected %v", weights[0], m, low, high, want)
			}
		}
	}
	l.of, l.precision = []int{0, 0}, []float64{l.precision[0], l.precision[0]}
	weights := []float64{1, math.Sqrt2}
	s, variance, sum := l.newSumOfNoise(weights, func(int) float64 { return 1 }), 0.0, 0.0
	for i, p := range s.P {
		variance += p * math.Pow(float64(s.From+i)*s.step, 2)
		sum += p
	}
	if want := 3 / l.precision[0]; math.Abs(variance/want-1) > 1e-4 || math.Abs(sum-1) > 1e-12 ||
		math.Abs(s.deviation-math.Sqrt(want)) > 1e-9 {
		t.Errorf("a variance of %v and a deviation of %v, expected %v and its root; probabilities of %v", variance,
			s.deviation, want, sum)
	}
}
