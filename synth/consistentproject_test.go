package synth

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// optimum returns the projection by enumeration: for every set of cells that may be positive it solves the linear
// conditions; of the feasible solutions it takes the one with the least objective.
func optimum(y []float64, impossible []bool, margins []marginal) []float64 {
	rows := 0
	for _, m := range margins {
		rows += len(m.sums)
	}
	var best []float64
	least := math.Inf(1)
	for support := range 1 << len(y) {
		a, rest := mat.NewDense(rows, len(y), nil), mat.NewVecDense(rows, nil)
		slack := make([]float64, rows)
		row := 0
		for _, m := range margins {
			for s, sum := range m.sums {
				rest.SetVec(row, sum)
				slack[row] = m.slackOf(s)
				for i, of := range m.of {
					if int(of) == s && support>>i&1 == 1 {
						a.Set(row, i, 1)
						rest.SetVec(row, rest.AtVec(row)-y[i])
					}
				}
				row++
			}
		}
		var normal mat.Dense
		normal.Mul(a, a.T())
		for i, s := range slack {
			normal.Set(i, i, normal.At(i, i)+s)
		}
		var svd mat.SVD
		if !svd.Factorize(&normal, mat.SVDThin) {
			continue
		}
		u, x := mat.NewVecDense(rows, nil), mat.NewVecDense(len(y), nil)
		if rank := svd.Rank(1e-10); rank > 0 {
			svd.SolveVecTo(u, rest, rank)
		}
		x.MulVec(a.T(), u)
		cells, objective, ok := make([]float64, len(y)), 0.0, true
		for i := range y {
			if support>>i&1 == 1 {
				cells[i] = y[i] + x.AtVec(i)
				ok = ok && cells[i] > -1e-9 && (impossible == nil || !impossible[i])
			}
			objective += (cells[i] - y[i]) * (cells[i] - y[i]) / 2
		}
		for _, m := range margins {
			for s, sum := range sumsBy(cells, m.of, len(m.sums)) {
				off := sum - m.sums[s]
				if k := m.slackOf(s); k > 0 {
					objective += off * off / (2 * k)
				} else {
					ok = ok && math.Abs(off) < 1e-7
				}
			}
		}
		if ok && objective < least {
			least, best = objective, cells
		}
	}
	return best
}

// TestProjectionIsNearest compares projections of small tables with the optimum by enumeration: sums of rows and
// columns of a real table, impossible cells, and sums with slack.
func TestProjectionIsNearest(t *testing.T) {
	r := seededStream([32]byte{41})
	rows, columns := []int32{0, 0, 0, 1, 1, 1}, []int32{0, 1, 2, 0, 1, 2}
	for n := range 60 {
		y, truth := make([]float64, 6), make([]float64, 6)
		var impossible []bool
		if n%3 > 0 {
			impossible = make([]bool, 6)
			impossible[r.below(6)] = true
		}
		for i := range y {
			if impossible == nil || !impossible[i] {
				truth[i] = float64(r.below(4))
			}
			y[i] = truth[i] + 12*(r.unit()-0.5)
		}
		margins := []marginal{{of: rows, sums: sumsBy(truth, rows, 2)}, {of: columns, sums: sumsBy(truth, columns, 3)}}
		if n%3 == 2 { // columns have slack
			margins[1].slack = []float64{0.5, 2, 0.1}
			for i := range margins[1].sums {
				margins[1].sums[i] += 3 * (r.unit() - 0.5)
			}
		}
		want := optimum(y, impossible, margins)
		got, _ := projectOnMargins(t.Context(), y, impossible, margins, 0)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Fatalf("projection %d of %v: %v, the nearest is %v", n, y, got, want)
			}
		}
	}
}

// TestProjectionHasItsSums: fixed sums are kept, to a millionth, if nearly all must be zero, and if all must.
func TestProjectionHasItsSums(t *testing.T) {
	r := seededStream([32]byte{42})
	const side = 12
	var rows, columns []int32
	for i := range int32(side * side) {
		rows, columns = append(rows, i/side), append(columns, i%side)
	}
	for _, filled := range []uint64{0, 1, 3, side * side} {
		truth, y := make([]float64, side*side), make([]float64, side*side)
		for range filled {
			truth[r.below(side*side)] += 1000
		}
		for i := range y {
			y[i] = truth[i] + 200*(r.unit()-0.5)
		}
		x, _ := projectOnMargins(t.Context(), y, nil, []marginal{{of: rows, sums: sumsBy(truth, rows, side)},
			{of: columns, sums: sumsBy(truth, columns, side)}}, 0)
		for _, of := range [][]int32{rows, columns} {
			for s, sum := range sumsBy(x, of, side) {
				if want := sumsBy(truth, of, side)[s]; math.Abs(sum-want) > 1e-6*max(1, want) {
					t.Errorf("%d filled: a sum is %v, not %v", filled, sum, want)
				}
			}
		}
		if least := slices.Min(x); least < 0 {
			t.Errorf("%d filled: a cell is %v", filled, least)
		}
	}
}
