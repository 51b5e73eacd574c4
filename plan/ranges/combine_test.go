package ranges

import (
	"math"
	"testing"
)

// An axis is a column in the marginals of the published comparisons: what its
// workload has of queries, and the figures of its strategy at column norms 1.
type axis struct {
	queries, total, residual float64
}

// identity is a column of n cells, each of them a query; the residual n·x − Σx of
// package residual is the best there is.
func identity(n int) axis {
	size := float64(n)
	return axis{size, 1 / size, (size - 1) * (size - 1) / size}
}

// sum is S = Σ over residuals τ of √v_τ, v_τ = Σ over the marginals γ that hold τ of
// Π residual · Π total; S² is the least sum of variances at cost 1. Marginals are all
// those of so many columns.
func sum(axes []axis, orders ...int) float64 {
	var s float64
	// in and out are the products over the columns before i: v of a residual is that
	// of its own columns times the sums, by how many, of products of the others' totals.
	var walk func(i, in int, residual float64, totals []float64)
	walk = func(i, in int, residual float64, totals []float64) {
		if i == len(axes) {
			var v float64
			for _, order := range orders {
				if out := order - in; out >= 0 && out < len(totals) {
					v += residual * totals[out]
				}
			}
			s += math.Sqrt(v)
			return
		}
		with := append(append([]float64{}, totals...), 0)
		for k := len(totals) - 1; k >= 0; k-- {
			with[k+1] += totals[k] * axes[i].total
		}
		walk(i+1, in, residual, with[:min(len(with), 4)])
		if in < 3 {
			walk(i+1, in+1, residual*axes[i].residual, totals)
		}
	}
	walk(0, 0, 1, []float64{1})
	return s
}

// queries is the number of all queries of these marginals.
func queries(axes []axis, orders ...int) float64 {
	by := make([]float64, len(axes)+2)
	by[0] = 1
	for i, a := range axes {
		for k := i; k >= 0; k-- {
			by[k+1] += by[k] * a.queries
		}
	}
	var n float64
	for _, order := range orders {
		n += by[order]
	}
	return n
}

// best chooses each prefix column's κ with the others as they are, until none moves,
// and returns the root mean squared error at cost 1.
func best(t testing.TB, sizes []int, numeric []bool, orders ...int) (rmse float64, kappas []float64) {
	axes := make([]axis, len(sizes))
	kappas = make([]float64, len(sizes))
	cache := map[int][]axis{}
	for i, n := range sizes {
		axes[i] = identity(n)
		if !numeric[i] {
			continue
		}
		if cache[n] == nil {
			for _, kappa := range Kappas {
				o, err := Prefix(n).Optimum(kappa)
				if err != nil {
					t.Fatal(err)
				}
				cache[n] = append(cache[n], axis{float64(n), o.Total, o.Residual})
			}
		}
		axes[i] = cache[n][0]
	}
	least := math.Inf(1)
	for moved := true; moved; {
		moved = false
		for i, n := range sizes {
			if !numeric[i] {
				continue
			}
			now := axes[i]
			for k, a := range cache[n] {
				axes[i] = a
				if s := sum(axes, orders...); s < least {
					least, now, moved = s, a, true
					kappas[i] = Kappas[k]
				}
			}
			axes[i] = now
		}
	}
	return least / math.Sqrt(queries(axes, orders...)), kappas
}

var (
	cps     = []int{50, 100, 7, 4, 2}
	adult14 = []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}
	loans   = []int{101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15}
)

func numerics(sizes []int, least int) []bool {
	out := make([]bool, len(sizes))
	for i, n := range sizes {
		out[i] = n >= least
	}
	return out
}

func TestY(t *testing.T) {
	for _, orders := range [][]int{{1}, {2}, {3}, {0, 1, 2, 3}, {1, 2, 3}} {
		r, k := best(t, cps, numerics(cps, 50), orders...)
		t.Log("cps", orders, r, k)
		for _, least := range []int{85} {
			r, k := best(t, adult14, numerics(adult14, least), orders...)
			t.Log("adult", least, orders, r, k)
		}
		for _, least := range []int{36, 51, 101} {
			r, k := best(t, loans, numerics(loans, least), orders...)
			t.Log("loans", least, orders, r, k)
		}
	}
}
