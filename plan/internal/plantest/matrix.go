package plantest

import (
	"math"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/mat"
)

// This file holds the dense matrices that the algebra of factors is tested against.

// rangedRows returns the matrix of a factor of ranges: the integers of one row in each category.
func rangedRows(f plan.Factor, of []int) [][]float64 {
	n := slices.Max(of) + 1
	ranging, err := f.Ranging()
	if err != nil {
		panic(err)
	}
	column, err := residual.NewRanged(ranging, make([]int, n))
	if err != nil {
		panic(err)
	}
	rows := make([][]float64, column.Integers(1))
	for i := range rows {
		rows[i] = make([]float64, len(of))
	}
	for x, c := range of {
		counts := make([]int64, n)
		counts[c] = 1
		moved, err := residual.Exact([]*residual.Column{column}, residual.Set{{Column: 0, Level: 1}}, []bool{false},
			counts)
		if err != nil {
			panic(err)
		}
		for i, v := range moved {
			rows[i][x] = float64(v)
		}
	}
	return rows
}

// ShownRows returns what a table shows, as a matrix: its cells, added up along the attributes along which it
// accumulates.
func ShownRows(p *plan.Plan, table plan.Table, t *workload.Table) [][]float64 {
	rows := MatrixOf(p.Query(table).Factors)
	stride := 1
	for i := len(t.By) - 1; i >= 0; i-- {
		size := slices.Max(codes[t.By[i].String()]) + 1
		if t.Sums[i] == residual.Prefixes {
			for j := range rows {
				if j/stride%size == 0 {
					continue
				}
				for x := range rows[j] {
					rows[j][x] += rows[j-stride][x]
				}
			}
		}
		stride *= size
	}
	return rows
}

// OptimalWays returns the variances of a cell of every one-way and two-way marginal with the best noise on the
// residuals (Xiao, He, Zhang & Kifer 2023), whose Σ p/σ² is the cost: a residual of attributes τ has p = Π(1−1/n) and
// in a cell of a marginal the weight p·Π 1/n² over the attributes that it does not have.
func OptimalWays(sizes []int, cost float64) (one []float64, two [][]float64) {
	d := len(sizes)
	n, p := make([]float64, d), make([]float64, d)
	for i, size := range sizes {
		n[i], p[i] = float64(size), 1-1/float64(size)
	}
	var total float64 // Σ cells·weight of each residual
	each := make([]float64, d)
	for i := range n {
		total += 1 / n[i]
		each[i] += n[i] * p[i]
		for j := range n {
			if j == i {
				continue
			}
			each[i] += n[i] * p[i] / n[j]
			if j > i {
				total += 1 / (n[i] * n[j])
			}
		}
	}
	s := math.Sqrt(total)
	for i := range n {
		s += math.Sqrt(p[i] * each[i])
		for j := i + 1; j < d; j++ {
			s += p[i] * p[j] * math.Sqrt(n[i]*n[j])
		}
	}
	of := func(p, v float64) float64 { return math.Sqrt(p/v) * s / cost }
	one, two = make([]float64, d), make([][]float64, d)
	for i := range n {
		one[i] = of(1, total)/(n[i]*n[i]) + p[i]*of(p[i], each[i])
		two[i] = make([]float64, d)
		for j := range n {
			pair := p[i] * p[j]
			two[i][j] = of(1, total)/(n[i]*n[i]*n[j]*n[j]) + p[i]*of(p[i], each[i])/(n[j]*n[j]) +
				p[j]*of(p[j], each[j])/(n[i]*n[i]) +
				pair*of(pair, n[i]*n[j]*pair)
		}
	}
	return one, two
}

// factorRows returns the matrix of a factor by its definition: a row per category of the level, a column per code.
func factorRows(f plan.Factor) [][]float64 {
	of := codes[f.String()]
	size := slices.Max(of) + 1
	rows := make([][]float64, size)
	for j := range rows {
		rows[j] = make([]float64, len(of))
		for x, c := range of {
			if c == j {
				rows[j][x] = 1
			}
		}
	}
	switch f.Basis {
	case plan.Identity:
		return rows
	case plan.Ranges:
		return rangedRows(f, of)
	}
	group := make([]int, size) // of each category
	if f.Within != "" {
		for x, c := range of {
			group[c] = codes[spec.Attribute{Column: f.Attribute, Level: f.Within}.String()][x]
		}
	}
	g := map[int]float64{}
	var most float64
	for _, p := range group {
		g[p]++
		most = max(most, g[p])
	}
	out := make([][]float64, size)
	for j, p := range group {
		out[j] = make([]float64, len(of))
		for x, c := range of {
			if group[c] == p {
				out[j][x] = math.Round(most/g[p]) * (g[p]*rows[j][x] - 1)
			}
		}
	}
	return out
}

// MatrixOf returns a query as a matrix: a row per answer, a column per cell of crossed.
func MatrixOf(factors []plan.Factor) [][]float64 {
	rows := [][]float64{nil}
	cells := 1
	for _, c := range crossedColumns {
		cells *= len(codes[c])
	}
	rows[0] = make([]float64, cells)
	for i := range rows[0] {
		rows[0][i] = 1
	}
	for _, f := range factors {
		stride := 1
		for _, c := range crossedColumns[slices.Index(crossedColumns, f.Attribute)+1:] {
			stride *= len(codes[c])
		}
		var next [][]float64
		for _, row := range rows {
			for _, category := range factorRows(f) {
				product := make([]float64, cells)
				for i := range row {
					product[i] = row[i] * category[i/stride%len(codes[f.Attribute])]
				}
				next = append(next, product)
			}
		}
		rows = next
	}
	return rows
}

// LeastSquares returns the covariance of queries as generalised least squares estimates them from measurements:
// B(AᵀWA)⁺Bᵀ for the dense matrices of all queries. The test fails if a query cannot be estimated.
func LeastSquares(t *testing.T, measured []plan.Measurement, variances []float64, queries [][]float64) *mat.Dense {
	t.Helper()
	cells := len(queries[0])
	normal := mat.NewSymDense(cells, nil)
	for i, m := range measured {
		for _, row := range MatrixOf(m.Query.Factors) {
			normal.SymRankOne(normal, 1/variances[i], mat.NewVecDense(cells, row))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(normal, true) {
		t.Fatal("no eigenvalues")
	}
	values := eigen.Values(nil)
	var vectors, b, turned mat.Dense
	eigen.VectorsTo(&vectors)
	b.CloneFrom(mat.NewDense(len(queries), cells, nil))
	for i, q := range queries {
		b.SetRow(i, q)
	}
	turned.Mul(&b, &vectors)
	for j, v := range values {
		for i := range queries {
			x := turned.At(i, j)
			if v < 1e-9*values[cells-1] {
				if math.Abs(x) > 1e-6 {
					t.Fatalf("nothing measures query %d", i)
				}
				turned.Set(i, j, 0)
				continue
			}
			turned.Set(i, j, x/math.Sqrt(v))
		}
	}
	var covariance mat.Dense
	covariance.Mul(&turned, turned.T())
	return &covariance
}
