package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSymmetricMatricesEqualGonum solves and inverts random matrices with gonum's and our own Cholesky factors.
func TestSymmetricMatricesEqualGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 40; n += 3 {
		ours, b := newSymmetric(n), make([]float64, n)
		for range 2 * n {
			x := make([]float64, n)
			for i := range x {
				x[i] = r.NormFloat64()
			}
			for i := range x {
				for j := range i + 1 {
					ours.add(i, j, x[i]*x[j])
				}
			}
		}
		for i := range b {
			b[i] = r.NormFloat64()
		}
		theirs := mat.NewSymDense(n, ours.a)
		var c mat.Cholesky
		if !c.Factorize(theirs) {
			t.Fatal("not positive definite")
		}
		var inverse mat.SymDense
		var solved mat.VecDense
		if err := c.InverseTo(&inverse); err != nil {
			t.Fatal(err)
		}
		if err := c.SolveVecTo(&solved, mat.NewVecDense(n, b)); err != nil {
			t.Fatal(err)
		}
		lower := factorise(ours)
		got, x := lower.inverse(), lower.solve(b)
		for i := range n {
			if math.Abs(x[i]-solved.AtVec(i)) > 1e-9*(1+math.Abs(x[i])) {
				t.Errorf("%d×%d: solution %d is %v, want %v", n, n, i, x[i], solved.AtVec(i))
			}
			for j := range n {
				if math.Abs(got.at(i, j)-inverse.At(i, j)) > 1e-9*(1+math.Abs(got.at(i, j))) {
					t.Errorf("%d×%d: inverse (%d, %d) is %v, want %v", n, n, i, j, got.at(i, j), inverse.At(i, j))
				}
			}
		}
	}
}

// TestFactorsOfIndefiniteMatricesAreFinite factorises matrices that are singular, indefinite and zero.
func TestFactorsOfIndefiniteMatricesAreFinite(t *testing.T) {
	for _, a := range [][]float64{{0}, {-1}, {1, 1, 1, 1}, {1, 2, 2, 1}, {0, 0, 0, 0}} {
		n := int(math.Sqrt(float64(len(a))))
		for _, row := range factorise(&symmetricMatrix{n, a}) {
			for _, v := range row {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%v has the factor %v", a, row)
				}
			}
		}
	}
}
