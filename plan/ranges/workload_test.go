package ranges

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// kinds are the workloads that have a form of their own, with their queries.
var kinds = []struct {
	name string
	make func(n int) *Workload
	rows func(n int) [][]float64
}{
	{"prefix", Prefix, func(n int) (rows [][]float64) {
		for to := range n {
			rows = append(rows, between(n, 0, to))
		}
		return rows
	}},
	{"all ranges", AllRanges, func(n int) (rows [][]float64) {
		for from := range n {
			for to := from; to < n; to++ {
				rows = append(rows, between(n, from, to))
			}
		}
		return rows
	}},
}

// between is the query that counts categories from to to.
func between(n, from, to int) []float64 {
	row := make([]float64, n)
	for j := from; j <= to; j++ {
		row[j] = 1
	}
	return row
}

// gram is W'W by definition.
func gram(rows [][]float64) *mat.SymDense {
	n := len(rows[0])
	v := mat.NewSymDense(n, nil)
	for _, row := range rows {
		v.SymRankOne(v, 1, mat.NewVecDense(n, row))
	}
	return v
}

// TestWorkloadsAreTheirQueries: gram matrix times chain is the identity, and norms
// and trace are those of the queries' answers.
func TestWorkloadsAreTheirQueries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kind := range kinds {
		for _, n := range []int{1, 2, 3, 11} {
			rows := kind.rows(n)
			w, v := kind.make(n), gram(rows)
			if w.Count() != float64(len(rows)) || w.Size() != n {
				t.Errorf("%s of %d: says %v queries of %d categories", kind.name, n, w.Count(), w.Size())
			}
			inverse := mat.NewDense(n, n, nil)
			for j := range n {
				sum := w.leak[j] + w.link[j]
				if j > 0 {
					sum += w.link[j-1]
					inverse.Set(j, j-1, -w.link[j-1])
					inverse.Set(j-1, j, -w.link[j-1])
				}
				inverse.Set(j, j, sum)
			}
			var product mat.Dense
			product.Mul(v, inverse)
			x, trace := make([]float64, n), 0.0
			for j := range x {
				x[j] = r.NormFloat64()
				trace += x[j] * v.At(j, j)
				for k := range n {
					if want := map[bool]float64{true: 1}[j == k]; math.Abs(product.At(j, k)-want) > 1e-12 {
						t.Errorf("%s of %d: V·V⁻¹ has %v at %d, %d", kind.name, n, product.At(j, k), j, k)
					}
				}
			}
			var norm float64
			for _, row := range rows {
				norm += dot(row, x) * dot(row, x)
			}
			if math.Abs(w.Norm(x)-norm) > 1e-12*norm || math.Abs(w.trace(x)-trace) > 1e-12*(1+math.Abs(trace)) {
				t.Errorf("%s of %d: norm %v and trace %v, by definition %v and %v", kind.name, n, w.Norm(x),
					w.trace(x), norm,
					trace)
			}
		}
	}
}

// TestRootIsTheRoot: Z·D·Z = V + κ·11' and Z·m = 1, in the largest entry to 1e-9, for
// weights between 1 and 1e-4; the rule's own error is below 1e-11.
func TestRootIsTheRoot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, kind := range kinds {
		for _, n := range []int{1, 2, 5, 40} {
			for _, kappa := range []float64{0, 7, 1000} {
				u, sum := make([]float64, n), 0.0
				for j := range u {
					u[j] = math.Pow(10, -4*r.Float64())
					sum += u[j]
				}
				for j := range u {
					u[j] /= sum
				}
				rows := kind.rows(n)
				v := gram(rows)
				w := kind.make(n)
				root := w.rootOf(u, kappa)
				z := mat.NewSymDense(n, w.rootMatrix(u, kappa))
				var square mat.Dense
				square.Mul(z, mat.NewDiagDense(n, u))
				square.Mul(&square, z)
				for j := range n {
					var one float64
					for k := range n {
						one += z.At(j, k) * root.tilt[k]
						if want := v.At(j, k) + kappa; math.Abs(square.At(j, k)-want) > 1e-9*(v.At(0,
							0)+float64(n)+kappa) {
							t.Fatalf("%s of %d, κ %v: Z·D·Z is %v at %d, %d, V has %v", kind.name, n, kappa,
								square.At(j, k), j, k, want)
						}
					}
					if math.Abs(one-1) > 1e-9 || math.Abs(root.diagonal[j]-z.At(j, j)) > 1e-9*z.At(j, j) {
						t.Fatalf("%s of %d, κ %v: (Z·m)_%d is %v, diagonal %v said to be %v", kind.name, n, kappa, j,
							one, z.At(j, j),
							root.diagonal[j])
					}
				}
			}
		}
	}
}
