package budget_test

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

func Example() {
	rho, err := budget.RhoForEpsilonDelta(big.NewRat(1, 1), big.NewRat(1, 1_000_000_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	counts, err := budget.GaussianFor(big.NewInt(1), big.NewInt(1), rho)
	if err != nil {
		fmt.Println(err)
		return
	}
	margin, attained := counts.Margin(0.95)
	fmt.Printf("each count is within %d of the truth with probability %.4f\n", margin, attained)
	loss, err := budget.Compose(counts)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it costs", budget.Cost{Rho: loss.Rho()})
	// Output:
	// each count is within 11 of the truth with probability 0.9537
	// it costs ρ ≤ 0.01497295
}
