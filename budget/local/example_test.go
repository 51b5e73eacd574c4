package local_test

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget/local"
)

// Ask 20 000 respondents one of 100 categories at ε = 1, and say how many have the one that 6000 reports hold.
func Example() {
	r, err := local.New(big.NewRat(1, 1), 100)
	c := local.Count{Randomiser: r, Respondents: 20_000, Reports: 20_000}
	low, high := c.Interval(6000, 0.95)
	fmt.Println(r.Support, err)
	fmt.Printf("%.0f ± %.0f, from %d to %d\n", c.Estimate(6000), c.Deviation(c.Estimate(6000)), low, high)
	// Output:
	// 27 <nil>
	// 2768 ± 273, from 2232 to 3305
}
