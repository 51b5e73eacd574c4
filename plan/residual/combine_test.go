package residual

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// dense is a linear query on a whole table as a matrix, from what the package makes of each unit vector of counts.
func (t table) dense(query func(counts table) []float64) [][]float64 {
	var out [][]float64
	for cell := range t.counts {
		one := t
		one.counts = make([]int64, len(t.counts))
		one.counts[cell] = 1
		for i, v := range query(one) {
			if cell == 0 {
				out = append(out, make([]float64, len(t.counts)))
			}
			out[i][cell] = v
		}
	}
	return out
}

func (t table) counted(axes Set) [][]float64 {
	return t.dense(func(one table) []float64 { return floats(one.marginal(axes)) })
}

func (t table) integers(axes Set, plain []bool) [][]float64 {
	return t.dense(func(one table) []float64 {
		x, err := Exact(t.Columns, axes, plain, one.marginal(axes))
		if err != nil {
			panic(err)
		}
		return floats(x)
	})
}

func floats(x []int64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// TestCombineIsLeastSquares: with residuals measured once or twice, and beside them every marginal of columns of one
// level, the variance of each cell is that of generalised least squares by dense matrices.
func TestCombineIsLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		columns   []*Column
		marginals []Set
	}{
		{[]*Column{flat(2), flat(3), flat(4)}, []Set{{}, {{0, 1, 0}}, {{0, 1, 0}, {1, 1, 0}}, {{1, 1, 0}, {2, 1, 0}},
			{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}, {{0, 1, 0}}}},
		{[]*Column{flat(3), NewColumn([]int{0, 0, 0}, []int{0, 1, 1, 2, 2}), flat(2)},
			[]Set{{{0, 1, 0}}, {{0, 1, 0}, {1, 2, 0}}, {{1, 1, 0}, {2, 1, 0}}, {{0, 1, 0}, {2, 1, 0}}}},
		{[]*Column{NewColumn([]int{0, 0}, []int{0, 1}), NewColumn([]int{0}, []int{0, 0})},
			[]Set{{{0, 2, 0}}, {{0, 1, 0}, {1, 2, 0}}}},
	} {
		w := newTable(t, r, c.columns, c.marginals...)
		var sources []Source
		var rows [][]float64
		var precisions []float64
		add := func(s Source, matrix [][]float64) {
			sources = append(sources, s)
			for _, row := range matrix {
				rows, precisions = append(rows, row), append(precisions, 1/s.Variance)
			}
		}
		for i, res := range w.Residuals {
			for range 1 + i%2 {
				add(ResidualOf(res.Axes, 1+9*r.Float64()), w.integers(res.Axes, nil))
			}
		}
		for _, m := range w.Marginals {
			if !slices.ContainsFunc(m.Axes, func(a Axis) bool { return a.Level > 1 }) {
				add(CountsOf(m.Axes, 1+9*r.Float64()), w.counted(m.Axes))
			}
		}
		combination, err := w.Combine(sources)
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range combination.Parts {
			var sum float64
			for _, p := range parts {
				sum += p.Weight
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("weights add up to %v", sum)
			}
		}
		for m, marginal := range w.Marginals {
			said := w.CellVariances(marginal.Axes, combination.Variances)
			for j, v := range variancesOf(t, rows, precisions, w.counted(marginal.Axes)) {
				if math.Abs(said[j]/v-1) > 1e-9 {
					t.Errorf("marginal %d, cell %d: variance %v, by least squares %v", m, j, said[j], v)
				}
			}
		}
	}
}

// variancesOf are the diagonal of B(AᵀWA)⁺Bᵀ.
func variancesOf(t *testing.T, rows [][]float64, precisions []float64, queries [][]float64) []float64 {
	t.Helper()
	cells := len(rows[0])
	normal := mat.NewSymDense(cells, nil)
	for i, row := range rows {
		normal.SymRankOne(normal, precisions[i], mat.NewVecDense(cells, row))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(normal, true) {
		t.Fatal("no eigenvalues")
	}
	values, vectors := eigen.Values(nil), &mat.Dense{}
	eigen.VectorsTo(vectors)
	out := make([]float64, len(queries))
	for i, q := range queries {
		for j, v := range values {
			if v > 1e-9*values[cells-1] {
				x := mat.Dot(vectors.ColView(j), mat.NewVecDense(cells, q))
				out[i] += x * x / v
			}
		}
	}
	return out
}

func TestCombineRefuses(t *testing.T) {
	w, err := NewWorkload([]*Column{NewColumn([]int{0, 0}, []int{0, 0, 1}), flat(2)},
		[]Marginal{{Set{{0, 2, 0}}, 1}, {Set{{1, 1, 0}}, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for want, sources := range map[string][]Source{
		"nothing measures the residual of": {CountsOf(Set{{Column: 1, Level: 1}}, 1)},
		"a column of several levels":       {CountsOf(Set{{Column: 0, Level: 2}}, 1)},
	} {
		if _, err := w.Combine(sources); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected one with %s", err, want)
		}
	}
}

// flat is the column with one level of n categories.
func flat(n int) *Column { return NewColumn(make([]int, n)) }
