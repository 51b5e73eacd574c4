package contour_test

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/contour"
)

// Compute δ at ε = 1/2 of three counts with Gaussian noise of σ = 10.
func Example() {
	step := budget.Mechanism{
		Kind: budget.DiscreteGaussian, Parameter: big.NewRat(100, 1),
		L1: big.NewInt(1), L2Squared: big.NewInt(1),
	}
	r, err := contour.Delta([]budget.Mechanism{step, step, step}, 0.5)
	fmt.Printf("%.3e %v\n", r.Delta, err)
	// Output: 1.259e-04 <nil>
}
